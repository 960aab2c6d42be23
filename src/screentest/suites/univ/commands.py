"""Commands of the suite univ: import, captions, costs, tables."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import screentest
from screentest._util.text import plural
from screentest.analysis.runs import read_results
from screentest.cli.console import out as console
from screentest.cli.console import print_json, shown
from screentest.cli.errors import until_stopped
from screentest.cli.options import ENGINE, MODELS, WORKERS, DamagedOption, JsonOption, shares
from screentest.cli.tables import (
    columns,
    print_heading,
    print_indented,
    print_models,
    show,
    show_manifest,
)
from screentest.core import BadOption, Cell, Table, UserError
from screentest.inputs.importers import read_inputs
from screentest.inputs.manifest import write_manifest
from screentest.present.charts import must_be_chart, save
from screentest.present.results import Scores
from screentest.run.database import FILE
from screentest.run.reader import RunReader
from screentest.run.session import Settings, settings_of
from screentest.suites.univ.captions import (
    BUILTIN,
    CHAT,
    PLAIN,
    Captioned,
    captions_of,
    read_shots,
    write_captions,
)
from screentest.suites.univ.data import read_univbench
from screentest.suites.univ.pieces import UnivTask
from screentest.suites.univ.released import read_released
from screentest.suites.univ.schema import description_schema
from screentest.suites.univ.tables import (
    TaskStandings,
    dimension_table,
    draw_distribution,
    task_costs,
    task_radars,
    task_standings,
)
from screentest.suites.univ.tables import distribution as count_terms

TaskOption = Annotated[
    UnivTask, typer.Option("--task", metavar="NAME", help="v2t, t2v, r2v, tv2v, rv2v or v2v.")
]
RunsArgument = Annotated[
    list[Path], typer.Argument(metavar="RUNS…", help="Runs of `score`, or released results.")
]
_SHOWN_TERMS = 4
_SCORE_FIRST = "Score with --suite univ:task=NAME."


def import_benchmark(
    benchmark: Path,
    videos: Path,
    task: TaskOption,
    out: Path,
    model: str = "",
    language: Literal["en", "cn"] = "en",
    as_json: JsonOption = False,
) -> None:
    """Write a manifest of one model's results at one task."""
    if not videos.is_dir():
        raise BadOption(f"{videos} is not a folder of results")
    bench = read_univbench(benchmark, language=language)
    items = bench.items(task.value, videos, model=model)
    if not items:
        kind = "N.txt" if task is UnivTask.V2T else "N.mp4"
        raise UserError(
            f"no result in {videos} belongs to a case of {benchmark} for {task}",
            advice=f"Results are called {kind}, by the number of their case.",
        )
    missing, problems = bench.missing(task.value, videos), bench.mixed(task.value, videos)
    cases = plural(len(bench.cases), "case")
    write_manifest(out, items)
    problems += bench.problems
    show_manifest(out, len(items), cases, missing, problems, as_json=as_json)


def table(
    runs: RunsArgument,
    by: str = "model",
    task: UnivTask | None = None,
    chart: Path | None = None,
    as_json: JsonOption = False,
) -> None:
    """Print tasks and models by dimension, in per cent."""
    if chart is not None:
        must_be_chart(chart)
    tasks: list[TaskStandings] = []
    for run in runs:
        if run.is_dir() and not (run / FILE).is_file():
            result = task_standings(read_released(run, task), by)
        else:
            with RunReader(run) as reader:
                result = task_standings(read_results(reader), by)
        if not result:
            raise UserError(f"{run} has no value of univ", advice=_SCORE_FIRST)
        tasks += result
    if chart is not None:
        save(task_radars(tasks), chart)
    show(dimension_table(tasks, by), as_json=as_json)
    if chart is not None and not as_json:
        console().print(shown(str(chart)), soft_wrap=True)


def costs(runs: RunsArgument, as_json: JsonOption = False) -> None:
    """Print the tokens and seconds that a case took."""
    rows: list[tuple[Cell, ...]] = []
    for run in runs:
        with RunReader(run) as reader:
            subset = task_costs(reader)
        if not subset:
            raise UserError(f"{run} has no call of univ", advice=_SCORE_FIRST)
        rows += subset
    shown = columns("costs", None, __file__)
    show(Table("costs", "What a case took", shown, rows), as_json=as_json)


def distribution(
    captions: list[Path], out: Path | None = None, as_json: JsonOption = False
) -> None:
    """Count what a corpus is made of, over all 21 sub-dimensions."""
    if out is not None:
        must_be_chart(out)
    counted = count_terms([shot for path in captions for shot in read_shots(path)])
    if out is not None:
        save(draw_distribution(counted), out)
    rows = [
        (name.replace("_", " "), term, count)
        for name, item in counted.items()
        for term, count in [
            *list(item.counts.items())[: None if as_json else _SHOWN_TERMS],
            ("nothing said", item.silent),
        ]
    ]
    heads = ("sub-dimension", "term", "shots")
    note = f"Of each, the {_SHOWN_TERMS} most frequent terms; --json has all."
    show(Table("distribution", "Terms", heads, rows, note), as_json=as_json)
    if out is not None and not as_json:
        console().print(shown(str(out)), soft_wrap=True)


def schema() -> None:
    """Print the JSON Schema of a description."""
    print_json(description_schema())


By = Literal["auto", "chat", "plain", "builtin"]


@shares(MODELS, WORKERS, ENGINE)
def caption(
    inputs: list[Path],
    out: Path = Path("captions"),
    by: By = "auto",
    fps: float = 2.0,
    whole: bool = False,
    detector: str = "default",
    allow_damaged: DamagedOption = False,
    as_json: JsonOption = False,
    **work: Any,
) -> None:
    """Describe videos shot by shot, and write their scripts."""
    settings = settings_of(work, detector=detector, allow_damaged=allow_damaged)
    metric = _metric(by, settings, fps, whole)
    items = read_inputs(inputs)
    given = work | {"settings": settings}
    job = partial(screentest.score, items, metrics=[metric], out=out, **given)
    scores, exit_code = until_stopped(job)
    captioned = captions_of(scores.results)
    written = write_captions(out, items, captioned) if captioned.videos else []
    show(_table(captioned), as_json=as_json)
    if not as_json:
        _print_end(captioned, written, scores)
    if exit_code or not captioned.videos:
        raise typer.Exit(exit_code or 1)


def _metric(by: By, settings: Settings, fps: float, whole: bool) -> str:
    chosen = any(choice.role == "chat" for choice in settings.models)
    if by in ("chat", "plain") and not chosen:
        raise BadOption("no chat model is chosen", advice="Add --model chat=openai:NAME.")
    if by == "builtin" or not chosen:
        if whole:
            raise BadOption("--whole is for a chat model: pixels are looked at shot by shot")
        return BUILTIN
    if by == "plain":
        return f"{PLAIN}:fps={fps:g}"
    return f"{CHAT}:fps={fps:g}" + (",shots=false" if whole else "")


def _table(captioned: Captioned) -> Table:
    """Return a row for each video: records have the whole description, people see the script."""
    rows = []
    for name, video in captioned.videos.items():
        lost = captioned.missing.get(name, 0)
        shots = f"{len(video.shots):,}" + (f", {lost:,} missing" if lost else "")
        text = " ".join(video.script.split()) or "Nothing was recognised."
        rows.append({**video.model_dump(), "video": name, "count": shots, "text": text})
    return Table.of("captions", "Captions", columns("captions", None, __file__), rows)


def _print_end(captioned: Captioned, written: list[Path], scores: Scores) -> None:
    if captioned.failures:
        print_heading("Not described")
    for name, failure in captioned.failures.items():
        print_indented(f"{name}: {failure}")
    console().print()
    if scores.pending:
        words = f"{plural(scores.pending, 'video')} still to be described: start the command again"
        print_indented(words, indent=0)
    print_models(scores.models)
    for path in written:
        console().print(shown(str(path)), soft_wrap=True)
