"""What comes after a run of UniVBench: its table, and what it cost."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from screentest.cli.options import JsonOption

if TYPE_CHECKING:
    from screentest.suites.univ.tables import Row, TaskCost

RunsArgument = Annotated[
    list[Path],
    typer.Argument(metavar="RUN…", help="Runs of `score --suite univ`.", show_default=False),
]


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
      screentest suite univ table scores/
      screentest suite univ table scores/ --chart radar.svg
    """
    from screentest.cli.console import print_json
    from screentest.core import UserError
    from screentest.reports.charts import save
    from screentest.run import RunReader
    from screentest.scores.results import read_results
    from screentest.suites.univ.tables import table as tabulated
    from screentest.suites.univ.tables import task_radars

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
    from screentest.cli.console import out as console
    from screentest.cli.console import shown
    from screentest.cli.tables import print_indented
    from screentest.cli.tables import table as drawn
    from screentest.suites.univ.vocabulary import Dimension

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
      screentest suite univ cost scores/
    """
    from screentest.cli.console import out as console
    from screentest.cli.console import print_json
    from screentest.cli.tables import table as drawn
    from screentest.core import UserError
    from screentest.run import RunReader
    from screentest.suites.univ.tables import PUBLISHED, task_costs

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


COMMANDS = {"table": table, "cost": cost}
