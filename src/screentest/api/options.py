"""What the jobs share: options of work, opening a run, and reading what is given.

Messages name a parameter in backticks, with a value where one helps: `out`, `models="light"`. The
command line prints them as its own flags (``cli/errors.py``).
"""

from __future__ import annotations

import difflib
import inspect
import os
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from decimal import Decimal
from numbers import Real
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

from screentest._util.text import lines, plural
from screentest.api import progress_of
from screentest.core.errors import BadOption
from screentest.core.item import Clip, File, Item, Script
from screentest.inputs.importers import examine_inputs
from screentest.inputs.parted import Corpus
from screentest.measure.evaluators import Evaluator
from screentest.measure.tasks import sign_all
from screentest.run.database import FILE
from screentest.run.execute import Retry
from screentest.run.lease import PATIENCE
from screentest.run.notes import MODELS
from screentest.run.session import Session, Settings, Tools, WorkOptions, cap_of, open_engine
from screentest.run.store import RunStore
from screentest.video.limits import Limits

Videos: TypeAlias = File | Item | Iterable[File | Item]
"""Manifests, videos, folders of videos, items; one or several."""


_KINDS: dict[Any, str] = {
    str: "suite detector layout",
    str | None: "device address retry",
    str | PathLike | None: "out prompts prices",
    str | Sequence | None: "models model",
    str | Real | Decimal | None: "max_cost",
    int | None: "workers",
    Real | None: "gpus",
    Settings | None: "settings",
}


def refuse_unknown(job: Callable[..., object], work: Mapping[str, object]) -> None:
    """Raise where a job was given an option that it does not have, or one of a wrong type."""
    parameters = [name for name in inspect.signature(job).parameters if name != "work"]
    options = [*parameters, *typing.get_type_hints(WorkOptions)]
    for name in work:
        if name not in options:
            near = difflib.get_close_matches(name.lower(), options, n=1, cutoff=0.7)
            advice = f"Did you mean {near[0]!r}?" if near else f"Options: {', '.join(options)}."
            raise BadOption(f"{job.__name__} has no option {name!r}", advice=advice, param=name)
    templates = work.get("prompts")
    if "prompt" in parameters and templates is not None and not _is_folder(templates):
        given = templates if isinstance(templates, str | PathLike) else type(templates)
        advice = "The text that videos were made from is `prompt`."
        raise BadOption.of("prompts", given, "a folder of templates", advice=advice)
    for kind, names in _KINDS.items():
        for name in work.keys() & names.split():
            if not isinstance(work[name], kind):
                spoken = getattr(kind, "__name__", kind)
                raise BadOption.of(name, work[name], str(spoken))


def _is_folder(given: object) -> bool:
    # Path raises where a text is too long for a name.
    return isinstance(given, str | PathLike) and os.path.isdir(given)  # noqa: PTH112


def retry_of(work: WorkOptions) -> str:
    """Read which failures of earlier starts are tried again."""
    retry = work.get("retry", Retry.TRANSIENT.value)
    if retry not in list(Retry):
        raise BadOption.of("retry", retry, f"one of {', '.join(Retry)}")
    return retry


class OpenRun(Session):
    """A run that is open for writing, in words where they are printed."""

    @property
    def models(self) -> str:
        """One line on the backends that were used."""
        return str((self.store.note(MODELS) or {}).get("summary", ""))

    @property
    def spent(self) -> str:
        """One line on what chat models took; empty where nothing was asked."""
        spending = self.store.spending()
        if not spending.calls:
            return ""
        words = f"{plural(spending.calls, 'call')}, {spending.tokens_in:,} tokens in,"
        words += f" {spending.tokens_out:,} out"
        if spending.unpriced == spending.calls:
            return f"{words}; what they cost is not known without a price list"
        words += f"; cost {spending.cost:.4f}"
        if spending.unpriced:
            words += f" without {spending.unpriced:,} of unknown price"
        if spending.at_risk:
            words += f", at most {spending.at_risk:.4f} more at risk"
        return words


@contextmanager
def open_run(
    folder: Path,
    command: str,
    arguments: Mapping[str, Any],
    work: WorkOptions,
    settings: Settings,
    evaluators: Iterable[Evaluator] = (),
    wait: float = PATIENCE,
) -> Iterator[OpenRun]:
    """Open the run in ``folder``, made where there is none, and the engine that works for it.

    Where one of the ``evaluators`` cannot open what it needs, no folder is made.
    """
    cap, retry = cap_of(work, settings), retry_of(work)
    progress = progress_of(work.get("progress"))
    with open_engine(work, settings) as (engine, settings):
        if not (folder / FILE).is_file():
            tools = Tools(settings)
            with closing(tools.models):
                sign_all(evaluators, tools)
        with RunStore(
            folder, command=command, arguments=arguments, max_cost=cap, retry=retry, wait=wait
        ) as store:
            yield OpenRun(store, settings, engine, progress)


def items_of(videos: Videos) -> list[Item]:
    """Read the items of manifests, folders and files, beside those that are given as such."""
    return list(inputs_of(videos).items)


def inputs_of(videos: Videos, prompt: str = "", layout: str = "") -> Corpus:
    """Read the same as a corpus: with the problems of its folders."""
    given = [videos] if isinstance(videos, str | PathLike | Item) else list(videos)
    items = [video for video in given if isinstance(video, Item)]
    files = [Path(video) for video in given if not isinstance(video, Item)]
    corpus = examine_inputs(files, prompt, layout or None)
    return replace(corpus, items=(*items, *corpus.items))


def limits_of(max_file_size: float) -> Limits:
    """Limits of decoding, with files of so many GB at most."""
    if not 1e-6 <= max_file_size <= 1e6:  # NaN is neither
        raise BadOption.of("max_file_size", max_file_size, "0.000001 to 1000000 GB")
    return Limits(file_bytes=round(max_file_size * 1e9))


def script_of(path: Path) -> Script:
    """Read a script from a file with one caption a line."""
    try:
        written = lines(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise BadOption(f"the script {path} cannot be read: {error}") from None
    captions = [line.strip() for line in written if line.strip()]
    if not captions:
        raise BadOption(f"{path} has no captions", advice="Write one caption a line.")
    return Script(tuple(Clip(caption) for caption in captions))
