"""The jobs of the command line from Python: score, build, certify, report.

>>> import screentest
>>> from screentest.sample import sample_videos
>>> film = sample_videos()[1].item
>>> scores = screentest.score(film, metrics=["contrast", "frozen"], out="scores")
>>> scores.value("frenchgp_1906", "contrast").outcome.unwrap().value.__round__(2)
0.31
>>> bed = screentest.build(film, out="bed", aspects=["aesthetics"], clips=1, long_side=160)
>>> made = screentest.certify("contrast", bed, out="certificates")
>>> made.of("contrast").overall.unwrap().value
1.0
>>> screentest.report(scores, made, out="report.html")
PosixPath('report.html')

What is finished stays in the run's folder: the same call again goes on where the last one was.
Ctrl-C finishes what is in flight and raises KeyboardInterrupt.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from screentest.certificates.cases import read_cases
from screentest.certificates.matrix import matrix
from screentest.certificates.plan import Plan
from screentest.certificates.plan import certify as _certify
from screentest.core import Aspect, Item, Progress
from screentest.judges.from_metrics import judges_of_suite
from screentest.manifests.importers import read_corpus, read_inputs
from screentest.reports.charts import matrix_chart, save
from screentest.reports.data import read_report
from screentest.reports.formats import write_tables
from screentest.reports.html import PageOptions, write_html
from screentest.results import BuiltTestbed, Certificates, Scores
from screentest.run import LocalEngine, RunStore
from screentest.run.session import Settings, read_settings
from screentest.scores.results import read_results
from screentest.scores.suite import read_suite
from screentest.scores.tasks import score_items
from screentest.testbeds.builder import build_testbed
from screentest.testbeds.join import Joined, join_sources
from screentest.testbeds.options import BuildOptions, read_models

if TYPE_CHECKING:
    from screentest.run import Engine

__all__ = ["build", "certify", "report", "score"]

File: TypeAlias = str | PathLike[str]
Videos: TypeAlias = File | Item | Iterable[File | Item]
"""Manifests, videos, folders of videos, items; one or several."""


def score(
    videos: Videos,
    *,
    suite: str = "core",
    metrics: Sequence[str] = (),
    prompt: str = "",
    out: File = "scores",
    models: Sequence[str] = (),
    settings: Settings | None = None,
    prices: File | None = None,
    max_cost: float | Decimal | None = None,
    workers: int | None = None,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> Scores:
    """Score videos with a suite, or with single metrics.

    ``models`` are chosen as on the command line, ``chat=openai:NAME``; ``settings`` say all
    that, and more, at once. ``max_cost`` needs ``prices``.
    """
    names = list(metrics) or list(read_suite(suite).metrics)
    chosen = settings or read_settings(models, prices=_path(prices))
    cap = None if max_cost is None else chosen.cap(max_cost)
    folder = Path(out)
    with RunStore(
        folder,
        command="score",
        arguments={"suite": "" if metrics else suite, "metrics": names},
        max_cost=cap,
    ) as store:
        done = score_items(
            store,
            _items(videos, prompt),
            names,
            chosen,
            engine=engine or LocalEngine(workers=workers),
            progress=progress,
        )
        results = read_results(store)
    _stop_where_asked(done.exit_code)
    return Scores(folder, results)


def build(
    films: Videos,
    *,
    out: File = "testbed",
    aspects: Sequence[str] = (),
    placebos: Sequence[str] = (),
    clips: int | Sequence[int] = 5,
    min_clips: int | None = None,
    severities: Sequence[float] = (1.0,),
    long_side: int | None = 512,
    fps: int | float | Fraction | None = None,
    seed: int = 7,
    models: Sequence[str] = (),
    workers: int | None = None,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> BuiltTestbed:
    """Build a testbed of captioned films: pairs of an intact and a harmed video.

    ``aspects`` are all ten where none is named. A film with fewer eligible clips than ``clips``
    is skipped with the reason, or harmed in those it has where they are ``min_clips``.
    """
    known = BuildOptions()
    options = BuildOptions(
        degradations=tuple(aspects) or known.degradations,
        placebos=tuple(placebos),
        seed=seed,
        clips=(clips,) if isinstance(clips, int) else tuple(clips),
        least_clips=min_clips,
        severities=tuple(severities),
        long_side=long_side,
        rate=None if fps is None else Fraction(fps).limit_denominator(1001),
        models=read_models(None, models),
    )
    folder = Path(out)
    sources = _films(films, folder, options, workers, progress)
    done = build_testbed(
        sources.items,
        folder,
        options,
        engine=engine or LocalEngine(workers=workers),
        progress=progress,
        lost=sources.failed,
    )
    _stop_where_asked(done.exit_code)
    return BuiltTestbed(folder, done.testbed, (*sources.faults, *done.remarks))


def certify(
    judges: str | Sequence[str],
    testbeds: File | BuiltTestbed | Sequence[File | BuiltTestbed],
    *,
    suite: str = "",
    chart: File | None = None,
    out: File = "certificates",
    aspects: Sequence[str] = (),
    placebos: bool = True,
    models: Sequence[str] = (),
    settings: Settings | None = None,
    prices: File | None = None,
    max_cost: float | Decimal | None = None,
    workers: int | None = None,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> Certificates:
    """Measure how often judges, or metrics, prefer the intact video of a pair.

    With ``suite``, every value of that suite's metrics is a judge as well; ``chart`` is a file
    into which the judges are drawn by aspects.
    """
    chosen = settings or read_settings(models, prices=_path(prices))
    names = (judges,) if isinstance(judges, str) else tuple(judges)
    names += tuple(judges_of_suite(suite)) if suite else ()
    given = [testbeds] if isinstance(testbeds, str | PathLike | BuiltTestbed) else testbeds
    folders = [one.folder if isinstance(one, BuiltTestbed) else Path(one) for one in given]
    wanted = [Aspect(name) for name in aspects] or None
    plan = Plan(tuple(read_cases(folders, aspects=wanted, placebos=placebos)), names)
    cap = None if max_cost is None else chosen.cap(max_cost)
    folder = Path(out)
    arguments = {"judges": list(names), "testbeds": [str(one.absolute()) for one in folders]}
    with RunStore(folder, command="certify", arguments=arguments, max_cost=cap) as store:
        done = _certify(
            store,
            plan,
            chosen,
            engine=engine or LocalEngine(workers=workers),
            progress=progress,
        )
    _stop_where_asked(done.exit_code)
    if chart is not None:
        save(matrix_chart(matrix(done.certificates)), Path(chart))
    return Certificates(folder, done.certificates, done.pending)


def report(
    *runs: File | Scores | Certificates,
    out: File = "report.html",
    tables: File | None = None,
    by: str = "",
    title: str = "screentest report",
    pictures: int = 200,
    embed: bool = False,
    progress: Progress | None = None,
) -> Path:
    """Write one page of one or several runs, and where ``tables`` is given every table."""
    folders = [one.run if isinstance(one, Scores | Certificates) else Path(one) for one in runs]
    read = read_report(folders, by=by)
    page = Path(out)
    write_html(read, page, PageOptions(title, pictures, embed), progress=progress)
    if tables is not None:
        write_tables(read, Path(tables))
    return page


def _path(file: File | None) -> Path | None:
    return None if file is None else Path(file)


def _items(videos: Videos, prompt: str = "") -> list[Item]:
    given = [videos] if isinstance(videos, str | PathLike | Item) else list(videos)
    items = [one for one in given if isinstance(one, Item)]
    files = [Path(one) for one in given if not isinstance(one, Item)]
    return [*items, *(read_inputs(files, prompt) if files else [])]


def _films(
    films: Videos,
    out: Path,
    options: BuildOptions,
    workers: int | None,
    progress: Progress | None,
) -> Joined:
    """Films with captions: items, a manifest, or the folder of a download."""
    if not isinstance(films, str | PathLike):
        return Joined(tuple(_items(films)))
    corpus = read_corpus(Path(films))
    if not corpus.parted:
        return Joined(corpus.items)
    return join_sources(
        corpus.parted,
        out.absolute(),
        long_side=options.long_side,
        gaps=True,
        workers=workers,
        progress=progress,
    )


def _stop_where_asked(exit_code: int) -> None:
    if exit_code:
        raise KeyboardInterrupt("stopped; the same call again goes on")
