"""Scoring videos: files into a run; frames in memory into a result, or into a run."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from contextvars import copy_context
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack

from screentest._util.text import lines
from screentest.analysis.models.margins import clips_to_encode
from screentest.analysis.results import ORIGINAL, REENCODED, Results
from screentest.analysis.runs import read_results
from screentest.analysis.suites import SuiteItems, read_suite
from screentest.api import names_of, path_of, progress_of, texts_of
from screentest.api.options import OpenRun, Videos, inputs_of, limits_of, open_run, refuse_unknown
from screentest.core.errors import BadOption, Stopped
from screentest.core.item import File, Item
from screentest.core.metric import ChecksItems
from screentest.core.registry import build
from screentest.core.signature import metric_names, parse, write_options
from screentest.inputs.fields import ProblemKind
from screentest.inputs.layouts.contents import LARGEST_ARCHIVE
from screentest.measure.evaluators import Evaluator, resolve
from screentest.measure.tasks import beside_earlier, score_items
from screentest.models.chat.costs import MemoryLedger
from screentest.models.roles import CHAT
from screentest.present.results import Scores
from screentest.run.database import FILE
from screentest.run.engine import InlineEngine
from screentest.run.execute import Execution
from screentest.run.lease import PATIENCE
from screentest.run.reader import RunReader
from screentest.run.session import Settings, WorkOptions, open_tools, settings_of
from screentest.run.store import RunStore

if TYPE_CHECKING:
    from screentest.analysis.forecast import Forecast
    from screentest.hooks.contract import Hook, HookSet

Hooks: TypeAlias = "str | Hook | Sequence[str | Hook]"
"""Hooks by name with options (``wandb:project=clips``), or hooks themselves."""
_RATES = (18.0, 26.0)
"""Rate factors to encode clips with: about the range that people save videos with."""
_OF_RUNS = ("workers", "engine", "address", "gpus", "max_cost")
"""Options of work that need a run."""


def score(
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
    add: bool = False,
    replace: bool = False,
    step: int | None = None,
    hooks: Hooks = (),
    detector: str = "default",
    allow_damaged: bool = False,
    max_file_size: float = 100.0,
    own_margins: bool = True,
    evidence: Sequence[File] = (),
    **work: Unpack[WorkOptions],
) -> Scores:
    """Score videos with a suite, or with single metrics.

    Args:
        videos: Manifests, videos, folders, or items.
        suite: A suite: NAME, or NAME:option=value,…
        metrics: Metrics instead of a suite; one with options is given alone.
        prompt: The text that all videos were made from.
        layout: The layout of a folder that is not recognised, such as ``numbered:first=1``.
        data: The suite's own files, such as its prompts.
        generated: A generator's videos for ``data``, named by id.
        model_name: The generator of ``generated``.
        out: The run's folder.
        add: Keep the other videos and metrics that ``out`` holds.
        replace: Drop the other videos and metrics that ``out`` holds.
        step: When in a training the videos were made; for ``hooks``.
        hooks: Trackers that are handed the scores and the videos.
        detector: The detector of shots.
        allow_damaged: Score what can be decoded of a damaged video.
        max_file_size: A larger file is not read.
        own_margins: Of several models, encode up to 12 clips anew to learn what re-encoding
            changes in them. Else that is known from the films of the package.
        evidence: Runs of ``certify``: certificates of your own, shown beside the numbers.
        **work: Models, engine, workers, progress: see ``WorkOptions``.

    Returns:
        The scores of all videos of the run.
    """
    refuse_unknown(score, work)
    _open(hooks)
    if add and replace:
        raise BadOption("`add` and `replace` are mutually exclusive")
    if hasattr(videos, "shape"):
        raise BadOption("an array is not a file", advice="Use screentest.score_frames.")
    if not isinstance(prompt, str):
        raise BadOption(
            "`prompt` is one text for all videos", advice="A manifest has one for each."
        )
    single = names_of(metrics)
    certified = tuple(str(path_of(folder)) for folder in evidence)
    for own in certified:
        RunReader(Path(own)).close()  # one that is no run is refused before any work
    settings = settings_of(
        work, detector=detector, allow_damaged=allow_damaged, limits=limits_of(max_file_size)
    )
    context = copy_context()
    context.run(LARGEST_ARCHIVE.set, settings.limits.file_bytes)
    items, suite, about = context.run(
        _read, videos, prompt, layout, suite, single, data, generated, model_name
    )
    built = _metrics(single, suite, items)
    folder, starts = Path(out), 0
    if (folder / FILE).is_file() and not replace:
        with RunReader(folder) as earlier:
            starts = sum(bool(start.ended) for start in earlier.starts())
        items = beside_earlier(folder, items, [metric.name for metric in built], add=add)
    scores = _into_run(
        folder,
        items,
        built,
        "" if single else suite,
        settings,
        work,
        add=add,
        starts=None if replace else starts,
        about=about,
        own_margins=own_margins,
    )
    results = dataclasses.replace(scores.results, certified=certified)
    return _log(hooks, dataclasses.replace(scores, results=results), items, step)


def score_frames(
    frames: Any,
    *,
    fps: str | int | float | Fraction,
    layout: str = "",
    value_range: tuple[float, float] | None = None,
    prompt: str | Sequence[str] = "",
    ids: str | Sequence[str] = (),
    step: int | None = None,
    hooks: Hooks = (),
    suite: str = "core",
    metrics: str | Sequence[str] = (),
    out: File | None = None,
    replace: bool = False,
    detector: str = "default",
    **work: Unpack[WorkOptions],
) -> Scores:
    """Score clips that are in memory, in this process.

    Args:
        frames: A clip or a batch of clips: a NumPy array, a torch tensor, or a list of arrays,
            PIL pictures or clips.
        fps: Frames a second.
        layout: The axes (``NCTHW``, ``THWC``…), where they are not recognised.
        value_range: The values of black and of white, where they are not recognised.
        prompt: The text that the clips were made from: one for all, or one for each.
        ids: Names, one for each clip.
        step: When in a training the clips were made.
        hooks: Trackers that are handed the scores and the videos.
        suite: A suite: NAME, or NAME:option=value,…
        metrics: Metrics instead of a suite; one with options is given alone.
        out: The folder of a run that the clips are added to, as lossless files. None keeps nothing.
        replace: Replace clips of the same step or id in the run; else other frames are refused.
        detector: The detector of shots.
        **work: Models, progress; with ``out`` also engine and workers: see ``WorkOptions``.

    Returns:
        The scores of these clips alone; with ``step`` and ``out``, the alarms of all steps so far.
    """
    from screentest.api.clips import added_items, held_items, read_clips, score_clips
    from screentest.watch.alarms import alarms, series_of

    refuse_unknown(score_frames, dict(work, suite=suite, detector=detector, layout=layout, out=out))
    _open(hooks)
    progress_of(work.get("progress"))
    for option in _OF_RUNS if out is None else ():
        if work.get(option) not in (None, ""):
            raise BadOption(f"`{option}` needs a run", advice="Give `out`, its folder.")
    single = names_of(metrics)
    settings = settings_of(work, detector=detector)
    ids = texts_of("ids", ids)
    clips, words = read_clips(frames, fps, layout, value_range, prompt, ids, step)
    built = _metrics(single, suite)
    names = [metric.name for metric in built]
    build("detector", detector)  # nor does this
    suite = "" if single else suite
    if out is None:
        with held_items(clips) as present:
            # One clip takes less time than a bar takes to be read.
            progress = progress_of(work.get("progress") if len(present) > 1 else False)
            results = score_clips(present, names, settings, suite=suite, progress=progress)
            return _log(hooks, Scores(None, results, layout=words), present, step)
    folder, named = Path(out), step is not None or bool(ids)
    if work.get("workers") is None and not (work.get("engine") or work.get("address")):
        work["engine"] = InlineEngine()  # other processes would import the script of the training

    def add(store: RunStore) -> list[Item]:
        items[:] = added_items(clips, store, named=named, replace_same=replace)
        items[:] = beside_earlier(folder, items, names, add=True)
        return items

    items: list[Item] = []
    try:
        scores = _into_run(
            folder, add, built, suite, settings, work, add=True, about={"layout": words}
        )
    finally:
        open_tools(settings).attach(MemoryLedger())  # that of the run is closed
    mine = scores.results.only({item.id for item in items}, names)
    raised = () if step is None else alarms(series_of(scores.results), scores.results.outputs)
    scores = dataclasses.replace(scores, results=mine, alarms=raised)
    return _log(hooks, scores, items, step)


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
    """Forecast ``score`` with the same options; start nothing.

    Where ``out`` is a run that has scored some videos, what they took is taken as a measure.
    """
    from screentest.analysis.forecast import forecast_score as forecast

    refuse_unknown(forecast_score, work)
    single = names_of(metrics)
    items, suite, about = _read(videos, prompt, layout, suite, single, data, generated, model_name)
    with RunReader(Path(out)) if (Path(out) / FILE).is_file() else nullcontext() as run:
        return forecast(
            items,
            [metric.name for metric in _metrics(single, suite, items)],
            settings_of(work),
            run,
            workers=work.get("workers"),
            without_video=len(about["missing"]),
            layout=lines(about["layout"]),
        )


def _read(
    videos: Videos,
    prompt: str,
    layout: str,
    suite: str,
    metrics: Sequence[str],
    data: File | None,
    generated: File | None,
    model_name: str,
) -> tuple[Sequence[Item], str, dict[str, Any]]:
    """Read the videos that are given, and those of the suite's own files.

    Returns the items, the suite with the options that its files give it, and facts for the result.
    """
    if model_name and generated is None:
        raise BadOption("`model_name` needs `generated`, the folder of that model's videos")
    if generated is not None and data is None:
        raise BadOption("`generated` needs `data`, the prompts of the suite")
    if metrics and data is not None:
        raise BadOption("`data` belongs to a suite, and `metrics` takes the place of one")
    theirs = SuiteItems(())
    if data is not None:
        read = read_suite(suite).read
        if read is None:
            raise BadOption(f"the suite {suite} has no files of its own")
        theirs = read(Path(data), path_of(generated), model_name)
        if theirs.options:
            name, options = parse(suite)
            suite = f"{name}:{write_options({**options, **theirs.options})}"
    corpus = inputs_of(videos, prompt, layout)
    if not corpus.items and not theirs.items:
        raise BadOption("there is nothing to score", advice="Give a manifest, or videos.")
    problems: dict[bool, list[str]] = {True: [], False: []}
    for problem in corpus.problems:
        problems[problem.kind is ProblemKind.MISSING].append(str(problem))
    about = {
        "missing": (*theirs.missing, *problems[True]),
        "problems": (*theirs.problems, *problems[False]),
        "layout": corpus.seen,
    }
    return [*corpus.items, *theirs.items], suite, about


def _metrics(metrics: Sequence[str], suite: str, items: Sequence[Item] = ()) -> list[Evaluator]:
    """Build single metrics, or the suite's: a misspelled name or unknown item leaves no run."""
    names = metric_names(metrics) if metrics else read_suite(suite).metrics
    built = [resolve(name) for name in names]
    for metric in built:
        if isinstance(metric.thing, ChecksItems):
            metric.thing.check_items(items)
    return built


def _into_run(
    folder: Path,
    items: Sequence[Item] | Callable[[RunStore], Sequence[Item]],
    metrics: Sequence[Evaluator],
    suite: str,
    settings: Settings,
    work: WorkOptions,
    *,
    add: bool,
    starts: int | None = None,
    about: Mapping[str, Any],
    own_margins: bool = False,
) -> Scores:
    """Score items, or those that are made once this process alone writes the run."""
    names = [metric.name for metric in metrics]
    patience = 600.0 if callable(items) else PATIENCE  # processes of a training queue
    arguments = {
        "suite": suite,
        "metrics": names,
        "models": settings.models,
        "own_margins": own_margins,
    }
    with open_run(folder, "score", arguments, work, settings, metrics, patience) as run:
        items = items(run.store) if callable(items) else items
        if starts is not None and len(run.store.starts()) > starts + 1:
            # Another process has written since we looked.
            items = beside_earlier(folder, items, names, add=add)
        if add:
            run.store.keep_earlier({item.id for item in items}, names)
        done = score_items(
            run.store, items, names, run.settings, engine=run.engine, progress=run.progress
        )
        results = read_results(run.store)
        if own_margins and done.exit_code == 0:
            results, copied = _with_margins(folder, results, metrics, run)
            done += copied
        scores = Scores(
            folder,
            results,
            pending=done.pending,
            changed=done.changed,
            models=run.models,
            spent=run.spent,
            **about,
        )
    return Stopped.unless_done(scores, done.exit_code)


def _with_margins(
    folder: Path, results: Results, metrics: Sequence[Evaluator], run: OpenRun
) -> tuple[Results, Execution]:
    """Measure clips of the models once more, encoded anew: the differences are its margins."""
    clips = clips_to_encode(results)
    free = [
        metric.name
        for metric in metrics
        if CHAT not in {role.partition(".")[0] for role in metric.info.roles}
    ]
    if not clips or not free:
        return results, Execution(0, 0, 0)
    copies, rates = [], {}
    for clip in clips:
        for rate in _RATES:
            copy = f"{clip.id}~crf{rate:g}"
            copies.append(dataclasses.replace(clip, id=copy, groups={ORIGINAL: clip.id}))
            rates[copy] = rate
    with RunStore(folder / REENCODED, command="score") as store:
        done = score_items(
            store, copies, free, run.settings, engine=run.engine, progress=run.progress, crf=rates
        )
    return read_results(run.store), done


def _log(hooks: Hooks, scores: Scores, items: Sequence[Item], step: int | None) -> Scores:
    """Hand the items that were just scored to the hooks, while their frames are in memory."""
    if opened := _open(hooks):
        opened.log(scores, [item.id for item in items], step)
    return scores


def _open(hooks: Hooks) -> HookSet | None:
    """Open hooks; what is none is refused before any work."""
    if isinstance(hooks, list | tuple | str) and not hooks:
        return None
    from screentest.hooks.contract import open_hooks

    return open_hooks(hooks)
