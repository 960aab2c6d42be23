"""What the jobs share: the options of work, and how what is given is read."""

from __future__ import annotations

import difflib
import inspect
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TypeAlias

from screentest.core.aspects import Aspect, all_aspects
from screentest.core.calls import Progress, Silent
from screentest.core.errors import BadOption
from screentest.core.item import Clip, Item, Script
from screentest.inputs.importers import Corpus, examine_inputs
from screentest.present.results import Certificates, Scores
from screentest.run.execute import Retry
from screentest.run.session import File, ModelOptions, Settings, open_engine
from screentest.run.tasks import Engine
from screentest.video.limits import Limits

Videos: TypeAlias = File | Item | Iterable[File | Item]
"""Manifests, videos, folders of videos, items; one or several."""


class WorkOptions(ModelOptions, total=False):
    """Models, and who does the work."""

    workers: int | None
    """Processes; one per processor where not given."""
    engine: Engine | str
    """``local``, ``ray``, or an engine that is open already."""
    address: str
    """The Ray cluster."""
    gpus: float
    """On Ray: GPUs, or the part of one, for each host of models."""
    progress: Progress | bool | None
    """Who shows how far it is; False: nobody. Without one, a terminal or notebook shows it."""
    retry: str
    """Which failures of earlier starts are tried again: transient, all or none."""


def refuse_unknown(job: Callable[..., object], work: Mapping[str, object]) -> None:
    """Raise where a job was given an option that it does not have: nothing is ignored."""
    own = [name for name in inspect.signature(job).parameters if name != "work"]
    known = [*own, *typing.get_type_hints(WorkOptions)]
    for name in work:
        if name not in known:
            near = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.7)
            advice = f"Did you mean {near[0]!r}?" if near else f"Options: {', '.join(known)}."
            raise BadOption(f"{job.__name__} has no option {name!r}", advice=advice)
    templates = work.get("prompts")
    if "prompt" in own and templates is not None and not _is_folder(templates):
        raise BadOption(
            f"prompts is a folder of templates, not {_kind(templates)}",
            advice="What videos were asked to show is prompt=: one text, or one for each clip.",
        )


def _is_folder(given: object) -> bool:
    return isinstance(given, str | PathLike) and Path(given).is_dir()


def _kind(given: object) -> str:
    return repr(given)[:60] if isinstance(given, str | PathLike) else f"a {type(given).__name__}"


def retry_of(work: WorkOptions) -> str:
    """Which failures of earlier starts are tried again."""
    wanted = work.get("retry", Retry.TRANSIENT.value)
    if wanted not in list(Retry):
        raise BadOption(f"invalid --retry {wanted!r}", advice=f"One of {', '.join(Retry)}.")
    return wanted


def engine_of(
    work: WorkOptions, settings: Settings, *, timeout: float | None = None
) -> AbstractContextManager[tuple[Engine, Settings]]:
    """The engine that does the work, and the settings as they are on it."""
    return open_engine(
        work.get("engine") or "local",
        settings,
        workers=work.get("workers"),
        address=work.get("address", ""),
        gpus=work.get("gpus", 1.0),
        timeout=timeout,
    )


def progress_of(given: Progress | bool | None) -> Progress:
    """Who shows how far it is."""
    from screentest._util.progress import watched

    if given is False:
        return Silent()
    return watched() if given is None or given is True else given


def path_of(file: File | None) -> Path | None:
    """The path, where one was given."""
    return None if file is None else Path(file)


def folders_of(runs: Sequence[File | Scores | Certificates]) -> list[Path]:
    """The folders of runs, or of what came of them."""
    found = [one.run if isinstance(one, Scores | Certificates) else Path(one) for one in runs]
    folders = [one for one in found if one is not None]
    if len(folders) < len(found):
        raise BadOption(
            "scores of frames in memory have no run", advice="Score them with out=FOLDER."
        )
    return folders


def items_of(videos: Videos, prompt: str = "") -> list[Item]:
    """The items that are given, and those of manifests, folders and files."""
    return list(inputs_of(videos, prompt).items)


def inputs_of(videos: Videos, prompt: str = "", layout: str = "") -> Corpus:
    """The same, with what their folders lack or have too much."""
    given = [videos] if isinstance(videos, str | PathLike | Item) else list(videos)
    items = [one for one in given if isinstance(one, Item)]
    files = [Path(one) for one in given if not isinstance(one, Item)]
    found = examine_inputs(files, prompt, layout or None)
    return replace(found, items=(*items, *found.items))


def aspects_of(names: Sequence[str]) -> list[Aspect] | None:
    """Aspects by name; None for all."""
    try:
        return [Aspect(name) for name in names] or None
    except ValueError as error:
        known = ", ".join(aspect.value for aspect in all_aspects())
        raise BadOption(f"{error}", advice=f"Aspects: {known}.") from None


def limits_of(max_file_size: float) -> Limits:
    """Limits of decoding, with files of so many GB at most."""
    if not 1e-6 <= max_file_size <= 1e6:  # NaN is neither
        raise BadOption(f"invalid file size {max_file_size:g} GB: must be in [0.000001, 1000000]")
    return Limits(file_bytes=round(max_file_size * 1e9))


def script_of(path: Path) -> Script:
    """A script from a file with one caption a line."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadOption(f"the script {path} cannot be read: {error}") from None
    captions = [line.strip() for line in lines if line.strip()]
    if not captions:
        raise BadOption(f"{path} has no captions", advice="Write one caption a line.")
    return Script(tuple(Clip(caption) for caption in captions))
