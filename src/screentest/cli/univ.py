"""``screentest univ``: the benchmark's files, tables, costs and the make-up of a corpus."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from screentest.cli._options import JsonOption, PricesOption, PromptsOption

if TYPE_CHECKING:
    from screentest.metrics.univ.tasks import Task
    from screentest.suites.univ.costs import TaskCost
    from screentest.suites.univ.foreseeing import Foreseen
    from screentest.suites.univ.tables import Row

RunsArgument = Annotated[
    list[Path],
    typer.Argument(metavar="RUN…", help="Runs of `score --suite univ`.", show_default=False),
]
TaskOption = Annotated[
    str, typer.Option("--task", metavar="NAME", help="v2t, t2v, r2v, tv2v, rv2v or v2v.")
]


def command(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
    group.callback()(about)
    group.command("import")(import_benchmark)
    for function in (table, cost, estimate, distribution, schema):
        group.command()(function)
    app.add_typer(group, name="univ")


def about() -> None:
    """Prepare UniVBench, count its costs, print its tables.

    \b
    Examples:
      screentest univ import UniVBench/ wan/ --task t2v --model wan \\
          --out wan.jsonl
      screentest score wan.jsonl --suite univ --task t2v \\
          --model chat=openai:NAME
      screentest univ table scores/ --chart radar.svg
    """


def import_benchmark(
    benchmark: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder with full_list/ and R2V/.")
    ],
    videos: Annotated[
        Path, typer.Argument(metavar="RESULTS", help="A model's results: N.mp4, or N.txt for v2t.")
    ],
    task: TaskOption,
    out: Annotated[Path, typer.Option(metavar="FILE", help="The manifest.")],
    model: Annotated[str, typer.Option(metavar="NAME", help="Whose results they are.")] = "",
    language: Annotated[
        str, typer.Option(metavar="en|cn", help="Which instructions to take.")
    ] = "en",
    as_json: JsonOption = False,
) -> None:
    """Write a manifest of one model's results at one task.

    Results that are missing are listed; they are not scored, and never zeros.

    \b
    Examples:
      screentest univ import UniVBench/ wan/ --task t2v --model wan \\
          --out wan.jsonl
    """
    from screentest.cli._console import out as console
    from screentest.cli._console import plural, print_json, shown
    from screentest.cli._tables import print_heading, print_indented
    from screentest.core import BadOption, UserError
    from screentest.corpus import write_manifest
    from screentest.corpus.univ import read_univbench

    chosen = _task(task)
    if language not in ("en", "cn"):
        raise BadOption(f"--language cannot be {language!r}", advice="en or cn.")
    if not videos.is_dir():
        raise BadOption(f"{videos} is no folder of results")
    bench = read_univbench(benchmark, language=language)
    items = bench.items(chosen.value, videos, model=model)
    if not items:
        kind = "N.txt" if chosen.value == "v2t" else "N.mp4"
        raise UserError(
            f"no result in {videos} belongs to a case of {benchmark} for {task}",
            advice=f"Results are called {kind}, by the number of their case.",
        )
    write_manifest(out, items)
    missing = bench.missing(chosen.value, videos)
    problems = [str(problem) for problem in bench.problems]
    if as_json:
        print_json(
            {
                "manifest": str(out),
                "items": len(items),
                "missing": missing,
                "problems": problems,
            }
        )
        return
    for title, lines in (("Missing", missing), ("Problems", problems)):
        if lines:
            print_heading(f"{title}: {len(lines):,}")
        for line in lines[:20]:
            print_indented(line)
        if len(lines) > 20:
            print_indented(f"and {len(lines) - 20:,} more (--json lists all)")
    told = f"{shown(str(out))}: {plural(len(items), 'item')} of {plural(len(bench.cases), 'case')}"
    console().print(told, soft_wrap=True)


def table(
    runs: RunsArgument,
    by: Annotated[str, typer.Option(metavar="GROUP", help="The group that makes a row.")] = "model",
    chart: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw it as a radar: .svg or .png.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Print tasks and models by dimension, in per cent.

    \b
    Examples:
      screentest univ table scores/
      screentest univ table scores/ --chart radar.svg
    """
    from screentest.cli._console import print_json
    from screentest.core import UserError
    from screentest.evaluate.results import read_results
    from screentest.run import RunReader
    from screentest.suites.charts import save
    from screentest.suites.univ.drawing import task_radars
    from screentest.suites.univ.tables import table as tabulated

    rows: list[Row] = []
    for run in runs:
        with RunReader(run) as reader:
            found = tabulated(read_results(reader), by)
        if not found:
            raise UserError(
                f"{run} has no value of univ", advice="Score with --suite univ --task NAME."
            )
        rows += found
    if chart is not None:
        save(task_radars(rows), chart)
    if as_json:
        print_json([_row_object(row) for row in rows])
    else:
        _print_table(rows, by, chart)


def _row_object(row: Row) -> dict[str, Any]:
    return {
        "task": row.task.value,
        "metric": row.metric,
        "model": row.model,
        "average": row.average,
        "dimensions": {
            dimension.value: {
                "percent": cell.percent,
                "scored": cell.scored,
                "total": cell.total,
                "not_in_truth": cell.lacking,
            }
            for dimension, cell in row.cells.items()
        },
    }


def _print_table(rows: list[Row], by: str, chart: Path | None) -> None:
    from screentest.cli._console import out as console
    from screentest.cli._console import shown
    from screentest.cli._tables import print_indented
    from screentest.cli._tables import table as drawn
    from screentest.metrics.univ.dimensions import Dimension

    lines = []
    for row in rows:
        cells = [row.cells[dimension] for dimension in Dimension]
        fewest = min(cell.scored + cell.lacking for cell in cells)
        lines.append(
            (
                row.name,
                row.model or "–",
                *("–" if cell.percent is None else f"{cell.percent:.1f}" for cell in cells),
                "–" if row.average is None else f"{row.average:.1f}",
                f"{fewest:,}/{max(cell.total for cell in cells):,}",
            )
        )
    short = ("Subj", "Back", "Act", "Cam", "Col", "Light", "Style", "Pos")
    columns = ["Task", by.capitalize(), *(f">{name}" for name in short), ">Avg", ">Scored"]
    console().print(drawn(columns, lines))
    every = [cell for row in rows for cell in row.cells.values()]
    if any(cell.percent is None and cell.lacking == cell.total for cell in every):
        print_indented("–: the ground truth says nothing about it; the average leaves it out.")
    if any(row.average is None for row in rows):
        print_indented("No average: a dimension was not scored. `screentest score` says why.")
    if chart is not None:
        console().print(shown(str(chart)), soft_wrap=True)


def cost(runs: RunsArgument, as_json: JsonOption = False) -> None:
    """Print the tokens and seconds that a case took.

    The last column is what the paper's judge took.

    \b
    Examples:
      screentest univ cost scores/
    """
    from screentest.cli._console import out as console
    from screentest.cli._console import print_json
    from screentest.cli._tables import table as drawn
    from screentest.core import UserError
    from screentest.run import RunReader
    from screentest.suites.univ.costs import PUBLISHED, task_costs

    costs: list[TaskCost] = []
    for run in runs:
        with RunReader(run) as reader:
            found = task_costs(reader)
        if not found:
            raise UserError(
                f"{run} has no call of univ", advice="Score with --suite univ --task NAME."
            )
        costs += found
    if as_json:
        print_json(
            [
                {
                    "task": one.task.value,
                    "cases": one.cases,
                    "calls_per_case": one.calls,
                    "tokens_in_per_case": one.tokens_in,
                    "tokens_out_per_case": one.tokens_out,
                    "seconds_per_case": one.seconds,
                    "failed_calls": one.failed,
                }
                for one in costs
            ]
        )
        return
    rows = [
        (
            one.task.value,
            f"{one.cases:,}",
            f"{one.calls:.1f}",
            f"{one.tokens_in:,.0f}",
            f"{one.tokens_out:,.0f}",
            f"{one.tokens:,.0f}",
            f"{one.seconds:.1f}",
            f"{PUBLISHED[one.task][0]:,} / {PUBLISHED[one.task][1]}",
        )
        for one in costs
    ]
    columns = ["Task", ">Cases", ">Calls", ">In", ">Out", ">Tokens", ">Seconds", ">Paper"]
    console().print(drawn(columns, rows))


def estimate(
    inputs: Annotated[
        list[Path], typer.Argument(metavar="ITEMS…", help="Manifests of items to be judged.")
    ],
    task: TaskOption,
    level: Annotated[str, typer.Option(metavar="NAME", help="video, shots or both.")] = "video",
    truth: Annotated[
        str, typer.Option(metavar="PATH", help="The ground truth of v2t: a folder or a file.")
    ] = "",
    model: Annotated[
        str, typer.Option("--model-name", metavar="NAME", help="The judge, as --prices has it.")
    ] = "",
    prices: PricesOption = None,
    prompts: PromptsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say what judging would take, before anything is asked.

    \b
    Examples:
      screentest univ estimate wan.jsonl --task t2v
      screentest univ estimate wan.jsonl --task t2v --level shots \\
          --model-name gpt-5 --prices prices.toml
    """
    from dataclasses import asdict
    from typing import cast, get_args

    from screentest.cli._console import print_json
    from screentest.cli._options import items_of, settings_of
    from screentest.core import BadOption
    from screentest.evaluate import Tools
    from screentest.metrics.univ.pieces import Level
    from screentest.metrics.univ.text_task import univ_v2t
    from screentest.suites.univ.foreseeing import foresee

    chosen = _task(task)
    if level not in get_args(Level):
        raise BadOption(f"--level cannot be {level!r}", advice="One of video, shots, both.")
    if (chosen.value == "v2t") != bool(truth):
        raise BadOption("the task v2t, and no other, needs --truth")
    if bool(model) != (prices is not None):
        raise BadOption("--model-name and --prices go together")
    settings = settings_of(None, prompts=prompts, prices=prices)
    price = settings.prices.of(model)
    if model and price is None:
        raise BadOption(f"{prices} has no price for {model!r}")
    found = foresee(
        items_of(inputs),
        chosen,
        Tools(settings),
        level=cast("Level", level),
        truth=univ_v2t(truth=truth) if truth else None,
        price=price,
    )
    if as_json:
        print_json(asdict(found) | {"most_cost": str(found.most_cost or "") or None})
    else:
        _print_foreseen(found)


def _print_foreseen(found: Foreseen) -> None:
    from screentest.cli._tables import print_facts, print_heading, print_indented

    cost = "unknown: no price" if found.most_cost is None else f"at most {found.most_cost:.4f}"
    print_facts(
        [
            ("cases", f"{found.cases:,}"),
            ("calls", f"{found.calls:,}"),
            ("pictures", f"{found.pictures:,}"),
            ("tokens in", f"about {found.tokens_in:,}"),
            ("tokens out", f"at most {found.most_tokens_out:,}"),
            ("cost", cost),
        ]
    )
    if found.left_out:
        print_heading("Would not be scored")
    for item, why in found.left_out:
        print_indented(f"{item}: {why}")


def distribution(
    captions: Annotated[
        list[Path], typer.Argument(metavar="FILES…", help="captions.jsonl of `screentest caption`.")
    ],
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw it: .svg or .png.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Count what a corpus is made of, over all 21 sub-dimensions.

    \b
    Examples:
      screentest univ distribution captions/captions.jsonl --out corpus.svg
    """
    from screentest.cli._console import out as console
    from screentest.cli._console import print_json, shown
    from screentest.cli._tables import table as drawn
    from screentest.suites.charts import save
    from screentest.suites.univ.captioning import read_shots
    from screentest.suites.univ.distribution import distribution as counted
    from screentest.suites.univ.distribution import draw_distribution

    spreads = counted([shot for path in captions for shot in read_shots(path)])
    if out is not None:
        save(draw_distribution(spreads), out)
    if as_json:
        print_json(
            {
                name: {"counts": dict(one.counts), "silent": one.silent}
                for name, one in spreads.items()
            }
        )
        return
    rows = [
        (
            name.replace("_", " "),
            ", ".join(f"{term} {count:,}" for term, count in list(one.counts.items())[:4]) or "–",
            f"{one.silent:,}",
        )
        for name, one in spreads.items()
    ]
    console().print(drawn(["Sub-dimension", "Seen most", ">Silent"], rows))
    if out is not None:
        console().print(shown(str(out)), soft_wrap=True)


def schema() -> None:
    """Print the JSON Schema of a description.

    \b
    Examples:
      screentest univ schema > description.schema.json
    """
    from screentest.cli._console import print_json
    from screentest.metrics.univ.schema import description_schema

    print_json(description_schema())


def _task(name: str) -> Task:
    from screentest.core import BadOption
    from screentest.metrics.univ.tasks import Task

    try:
        return Task(name)
    except ValueError:
        known = ", ".join(task.value for task in Task)
        raise BadOption(f"there is no task {name!r}", advice=f"One of {known}.") from None
