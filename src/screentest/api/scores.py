"""Scoring videos: files into a run, frames in memory into a result."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack

from screentest.analysis.results import read_results
from screentest.analysis.suites import SuiteItems, read_suite
from screentest.api.options import (
    Videos,
    WorkOptions,
    engine_of,
    inputs_of,
    limits_of,
    path_of,
    progress_of,
    refuse_unknown,
    retry_of,
)
from screentest.core.errors import BadOption, Stopped
from screentest.core.item import Item
from screentest.core.signature import parse, write_options
from screentest.inputs.fields import ProblemKind
from screentest.inputs.importers import Corpus
from screentest.inputs.remote import Cache
from screentest.measure.earlier import beside_earlier
from screentest.measure.evaluators import metric_names, resolve
from screentest.measure.tasks import score_items
from screentest.models.chat.costs import MemoryLedger
from screentest.models.weights import cache_folder
from screentest.present.results import Scores
from screentest.run import InlineEngine, RunReader, RunStore
from screentest.run.database import FILE
from screentest.run.session import MODELS, File, Settings, cap_of, open_tools, settings_of

if TYPE_CHECKING:
    from screentest.analysis.forecast import Forecast
    from screentest.hooks.contract import Hook

Hooks: TypeAlias = "str | Hook | Sequence[str | Hook]"
"""Hooks by name with options (``wandb:project=clips``), or hooks themselves."""


def score(
    videos: Videos = (),
    *,
    frames: Any = None,
    fps: str | int | float | Fraction | None = None,
    value_range: tuple[float, float] | None = None,
    ids: str | Sequence[str] = (),
    step: int | None = None,
    hooks: Hooks = (),
    suite: str = "core",
    metrics: str | Sequence[str] = (),
    prompt: str | Sequence[str] = "",
    layout: str = "",
    data: File | None = None,
    generated: File | None = None,
    model_name: str = "",
    out: File | None = None,
    add: bool = False,
    replace: bool = False,
    detector: str = "default",
    allow_damaged: bool = False,
    max_file_size: float = 100.0,
    allow_remote: bool = False,
    cache_limit: float = 20.0,
    **work: Unpack[WorkOptions],
) -> Scores:
    """Score videos with a suite (``name`` or ``name:option=value,…``), or with single metrics.

    ``videos`` are manifests, videos, folders, or items. How a folder is laid out is recognised;
    ``layout`` names it where it is not (``numbered``, ``numbered:first=1``).

    ``out`` is the run's folder, ``scores`` where none is given. Where it holds videos or metrics
    that are not asked for now, ``add`` keeps them beside the new ones and ``replace`` leaves them
    out; without either that is refused. ``data`` are a suite's own files,
    such as its prompts; ``generated`` the folder of videos that the generator ``model_name`` made
    of them. With ``allow_remote`` videos may have addresses (http, s3, gs); at most
    ``cache_limit`` GB of them are kept at a time. Files above ``max_file_size`` GB are not read.

    ``frames`` instead of videos is a clip in memory, or a batch of them: a NumPy array, a torch
    tensor, or a list of arrays, PIL pictures or clips, ``fps`` frames a second. They are scored in
    this process and without a folder; with ``out`` they are added to a run, as lossless files, and
    the result is of these clips alone. A step, or an id, that the run has with other frames is
    refused; ``replace`` puts the new ones in their place and keeps all others.
    Layout and range of values are recognised, or refused with what was seen: then say ``layout``
    (``NCTHW``, ``THWC``…) and ``value_range`` (what is black and what is white). ``prompt`` and
    ``ids`` are one for each clip. ``step`` says when in a training they were made. ``hooks`` are
    handed the result, with the videos.
    """
    refuse_unknown(score, work)
    given = (metrics,) if isinstance(metrics, str) else tuple(metrics)
    settings = settings_of(
        work, detector=detector, allow_damaged=allow_damaged, limits=limits_of(max_file_size)
    )
    if add and replace:
        raise BadOption("--add and --replace say the opposite", advice="Give one of them.")
    job = _Job(settings, work, given, suite, retry_of(work), add=add, replace=replace)
    if frames is not None:
        from screentest.api.clips import added_items, held_items, read_clips

        if data or generated or model_name or videos != ():
            raise BadOption("frames are scored alone: give no videos and no files of a suite")
        clips, words = read_clips(
            frames,
            fps=fps,
            layout=layout,
            value_range=value_range,
            prompt=prompt,
            ids=ids,
            step=step,
        )
        job.about = {"layout": words}
        if out is not None:
            job.names()  # a misspelled one leaves nothing behind
            named = step is not None or bool(ids)
            added = added_items(clips, Path(out), named=named, replace_same=replace)
            # Each step of a training is scored by a call of its own.
            job.add, job.replace = True, False
            return _tell(hooks, job.added(Path(out), added), added, step)
        job.refuse_options_of_runs()
        with held_items(clips) as items:
            return _tell(hooks, job.in_memory(items), items, step)
    if hasattr(videos, "shape"):
        raise BadOption("an array is not a file", advice="Give it as frames=, with fps.")
    for name, option in {"fps": fps, "value_range": value_range, "ids": ids}.items():
        if option:
            raise BadOption(f"{name} is for frames in memory, and there are none")
    if not isinstance(prompt, str):
        raise BadOption("one prompt is for all videos", advice="A manifest has one for each.")
    read = _suite_items(suite, data, generated, model_name, metrics=bool(given))
    inputs = inputs_of(videos, prompt, layout)
    given_items = [*inputs.items, *read.items]
    if not given_items:
        raise BadOption("there is nothing to score", advice="Give a manifest, videos or frames.")
    if read.options:
        job.suite = _with_options(suite, read.options)
    cache = Cache(cache_folder() / "videos", round(cache_limit * 1e9)) if allow_remote else None
    job.about = {
        "missing": (*read.missing, *_told(inputs, missing=True)),
        "problems": (*read.problems, *_told(inputs, missing=False)),
        "layout": inputs.seen,
    }
    scores = job.into_run(Path("scores" if out is None else out), given_items, cache)
    return _tell(hooks, scores, given_items, step)


def forecast_score(
    videos: Videos = (),
    *,
    suite: str = "core",
    metrics: str | Sequence[str] = (),
    prompt: str = "",
    layout: str = "",
    data: File | None = None,
    generated: File | None = None,
    model_name: str = "",
    out: File = "scores",
    **work: Unpack[WorkOptions],
) -> Forecast:
    """Forecast ``score`` with the same options; starts nothing.

    Where ``out`` is a run that has scored some videos, what they took is taken as a measure.
    """
    from screentest.analysis.forecast import forecast_score as forecast

    refuse_unknown(forecast_score, work)
    given = (metrics,) if isinstance(metrics, str) else tuple(metrics)
    read = _suite_items(suite, data, generated, model_name, metrics=bool(given))
    inputs = inputs_of(videos, prompt, layout)
    items = [*inputs.items, *read.items]
    if not items:
        raise BadOption("there is nothing to score", advice="Give a manifest, or videos.")
    settings = settings_of(work)
    names = _Job(settings, work, given, suite, retry_of(work)).names()
    lost = (*read.missing, *_told(inputs, missing=True))
    with RunReader(Path(out)) if (Path(out) / FILE).is_file() else nullcontext() as run:
        return forecast(
            items,
            names,
            settings,
            run,
            workers=work.get("workers"),
            without_video=len(lost),
            layout=inputs.seen.splitlines(),
        )


@dataclass
class _Job:
    """What to measure, and with what."""

    settings: Settings
    work: WorkOptions
    metrics: tuple[str, ...]
    """Given one by one; else those of the suite."""
    suite: str
    retry: str
    add: bool = False
    replace: bool = False
    about: dict[str, Any] = field(default_factory=dict)
    """What the result says of the input: how it was read, what is missing."""

    def names(self) -> list[str]:
        """The metrics by spec."""
        named = metric_names(self.metrics)
        names = named if self.metrics else list(read_suite(self.suite).metrics)
        for name in names:
            resolve(name)  # a misspelled name leaves no run behind
        return names

    def refuse_options_of_runs(self) -> None:
        """Raise where an option needs a run, or processes besides this one."""
        for name in ("workers", "engine", "address", "gpus", "max_cost"):
            if self.work.get(name) not in (None, ""):
                raise BadOption(
                    f"{name} needs a run: frames in memory are scored in this process",
                    advice="Give out=FOLDER, too.",
                )

    def in_memory(self, items: Sequence[Item]) -> Scores:
        """Score items whose frames are in memory; no folder is touched."""
        from screentest.api.memory import score_clips

        suites = () if self.metrics else (self.suite,)
        # One clip takes less time than a bar takes to be read.
        shown = progress_of(self.work.get("progress") if len(items) > 1 else False)
        found = score_clips(items, self.names(), self.settings, suites=suites, progress=shown)
        return Scores(None, found, **self.about)

    def added(self, folder: Path, items: Sequence[Item]) -> Scores:
        """Score clips of a training into its run; what they got, without what the run has besides.

        In this process, unless others are asked for: they would import the script of the training.
        """
        if not any(self.work.get(name) for name in ("workers", "engine", "address")):
            self.work = {**self.work, "engine": InlineEngine()}
        try:
            scores = self.into_run(folder, items)
        finally:
            open_tools(self.settings).attach(MemoryLedger())  # that of the run is closed
        asked = {resolve(name).name for name in self.names()}
        return narrowed(scores, {item.id for item in items}, asked)

    def into_run(
        self,
        folder: Path,
        items: Sequence[Item],
        cache: Cache | None = None,
    ) -> Scores:
        """Score items into a run, or go on with it."""
        names = self.names()
        if (folder / FILE).is_file() and not self.replace:
            items = beside_earlier(folder, items, names, add=self.add)
        cap = cap_of(self.work, self.settings)
        arguments = {
            "suite": "" if self.metrics else self.suite,
            "metrics": names,
            "models": self.settings.models,
        }
        with (
            engine_of(self.work, self.settings) as (engine, settings),
            RunStore(
                folder, command="score", arguments=arguments, max_cost=cap, retry=self.retry
            ) as store,
        ):
            if self.add:
                store.keep_earlier({item.id for item in items}, names)
            done = score_items(
                store,
                items,
                names,
                settings,
                engine=engine,
                progress=progress_of(self.work.get("progress")),
                cache=cache,
            )
            results = read_results(store)
            used, spent = store.note(MODELS), str(store.spending())
        scores = Scores(
            folder,
            results,
            pending=done.pending,
            changed=done.changed,
            models=used["summary"],
            spent=spent,
            **self.about,
        )
        return Stopped.unless_done(scores, done.exit_code)


def _tell(hooks: Hooks, scores: Scores, new: Sequence[Item], step: int | None) -> Scores:
    """Hand what was just scored to the hooks, while frames in memory are still there."""
    if hooks:
        from screentest.hooks.contract import open_hooks

        open_hooks(hooks).log(scores, [item.id for item in new], step)
    return scores


def narrowed(scores: Scores, items: Collection[str], metrics: Collection[str]) -> Scores:
    """What some items of a run got by some metrics."""
    whole = scores.results
    values = tuple(one for one in whole.values if one.item in items and one.metric in metrics)
    pending = tuple(one for one in whole.pending if one[0] in items)
    names = {*(one.name for one in values), *(name for _, name in pending)}
    results = dataclasses.replace(
        whole,
        items={name: item for name, item in whole.items.items() if name in items},
        values=values,
        outputs={name: info for name, info in whole.outputs.items() if name in names},
        pending=pending,
    )
    return dataclasses.replace(scores, results=results)


def _told(found: Corpus, *, missing: bool) -> list[str]:
    """The problems of folders as lines: videos that are missing, or the others."""
    return [str(one) for one in found.problems if (one.kind is ProblemKind.MISSING) == missing]


def sample_films() -> list[Item]:
    """The films that come with the package."""
    from screentest.sample import sample_videos

    return [video.item for video in sample_videos()]


def _suite_items(
    suite: str, data: File | None, generated: File | None, model_name: str, *, metrics: bool
) -> SuiteItems:
    """What a suite's own files hold; nothing where none are given."""
    if model_name and generated is None:
        raise BadOption("--model-name says who made --videos", advice="Give --videos DIR, too.")
    if data is None:
        if generated is not None:
            raise BadOption("--videos belong to a suite's prompts", advice="Give --data, too.")
        return SuiteItems(())
    if metrics:
        raise BadOption("--data belongs to a suite, not to single metrics")
    read = read_suite(suite).read
    if read is None:
        raise BadOption(f"the suite {suite} has no files of its own", advice="Give a manifest.")
    return read(Path(data), path_of(generated), model_name)


def _with_options(spec: str, options: Mapping[str, str]) -> str:
    """A suite with more options.

    >>> _with_options("toy:level=7", {"records": "a,b.json"})
    'toy:level=7,records="a,b.json"'
    """
    name, given = parse(spec)
    return f"{name}:{write_options({**given, **options})}"
