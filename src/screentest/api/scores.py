"""Scoring videos: files into a run, frames in memory into a result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Unpack

from screentest.api.options import (
    Videos,
    WorkOptions,
    engine_of,
    inputs_of,
    limits_of,
    path_of,
    retry_of,
)
from screentest.core.errors import BadOption, Stopped
from screentest.core.item import Item
from screentest.core.signature import parse, write_options
from screentest.manifests.fields import ProblemKind
from screentest.manifests.importers import Corpus
from screentest.models.weights import cache_folder
from screentest.results import Scores
from screentest.run import RunStore
from screentest.run.session import MODELS, File, cap_of, settings_of
from screentest.scores.evaluators import metric_names, resolve
from screentest.scores.remote import Cache
from screentest.scores.results import read_results
from screentest.scores.suite import SuiteItems, read_suite
from screentest.scores.tasks import score_items


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
    ``data`` are a suite's own files, such as its prompts; ``generated`` the folder of videos that
    the generator ``model_name`` made of them. With ``allow_remote`` videos may have addresses
    (http, s3, gs); at most ``cache_limit`` GB of them are kept at a time. Files above
    ``max_file_size`` GB are not read.
    """
    retry = retry_of(work)
    given = (metrics,) if isinstance(metrics, str) else tuple(metrics)
    read = _suite_items(suite, data, generated, model_name, metrics=bool(given))
    inputs = inputs_of(videos, prompt, layout)
    if not inputs.items and not read.items:
        raise BadOption("there is nothing to score", advice="Give a manifest, or videos.")
    if read.options:
        suite = _with_options(suite, read.options)
    names = metric_names(given) if given else list(read_suite(suite).metrics)
    for name in names:
        resolve(name)  # a misspelled name leaves no run behind
    settings = settings_of(
        work,
        detector=detector,
        allow_damaged=allow_damaged,
        limits=limits_of(max_file_size),
    )
    cap = cap_of(work, settings)
    folder = Path(out)
    arguments = {"suite": "" if given else suite, "metrics": names, "models": settings.models}
    with (
        engine_of(work, settings) as (engine, settings),
        RunStore(folder, command="score", arguments=arguments, max_cost=cap, retry=retry) as store,
    ):
        done = score_items(
            store,
            [*inputs.items, *read.items],
            names,
            settings,
            engine=engine,
            progress=work.get("progress"),
            cache=Cache(cache_folder() / "videos", round(cache_limit * 1e9))
            if allow_remote
            else None,
        )
        results = read_results(store)
        used = store.note(MODELS)
    scores = Scores(
        folder,
        results,
        pending=done.pending,
        changed=done.changed,
        missing=(*read.missing, *_told(inputs, missing=True)),
        problems=(*read.problems, *_told(inputs, missing=False)),
        layout=inputs.seen,
        models=used["summary"],
    )
    return Stopped.unless_done(scores, done.exit_code)


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
