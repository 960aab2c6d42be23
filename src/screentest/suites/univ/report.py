"""UniVBench in a report: the published table's layout, and a radar for each task."""

from __future__ import annotations

from collections.abc import Iterable

from screentest.core.options import split_value_name
from screentest.core.table import Chart
from screentest.reports.charts import Range, radar_chart
from screentest.reports.data import Report
from screentest.reports.leaderboard import Line
from screentest.suites.univ.pieces import TITLES as TASK_TITLES
from screentest.suites.univ.pieces import UnivTask
from screentest.suites.univ.tables import TaskRow, subdimensions, table, task_of
from screentest.suites.univ.vocabulary import ALL_SUBDIMENSIONS, TITLES, Dimension

PERCENT: Range = (0.0, 100.0, True)


def is_of_univ(value: str) -> bool:
    """Whether a value belongs to one of the six tasks: such have charts of their own."""
    return task_of(split_value_name(value)[0]) is not None


def dimension_rows(report: Report) -> tuple[tuple[str, ...], list[tuple[str | float | None, ...]]]:
    """Columns and rows: a task and a model, eight dimensions and their average, in per cent."""
    group = report.by or "model"
    columns = ("task", group, *(TITLES[one].lower() for one in Dimension), "average", "scored")
    rows: list[tuple[str | float | None, ...]] = [
        (
            row.name,
            row.model,
            *(row.cells[one].percent for one in Dimension),
            row.average,
            f"{min(c.scored + c.lacking for c in row.cells.values())}"
            f"/{max(c.total for c in row.cells.values())}",
        )
        for row in table(report.results, group)
    ]
    return columns, rows


def subdimension_rows(
    report: Report,
) -> tuple[tuple[str, ...], list[tuple[str | float | None, ...]]]:
    """V2T alone is scored in 21 parts."""
    group = report.by or "model"
    columns = (group, *(name.replace("_", " ") for name in ALL_SUBDIMENSIONS))
    rows: list[tuple[str | float | None, ...]] = [
        (model, *(values.get(name) for name in ALL_SUBDIMENSIONS))
        for model, values in subdimensions(report.results, group).items()
    ]
    return columns, rows


def task_charts(report: Report) -> list[Chart]:
    """One radar per task and level in which there are values, be it of one model alone."""
    by_task: dict[tuple[UnivTask, str], list[TaskRow]] = {}
    for row in table(report.results, report.by or "model"):
        if any(cell.percent is not None for cell in row.cells.values()):
            by_task.setdefault((row.task, row.name), []).append(row)
    found = [
        radar_chart(
            _lines(rows),
            {TITLES[one]: PERCENT for one in Dimension},
            title=f"{name.upper()}: {TASK_TITLES[task]}, per cent",
            least=1,
        )
        for (task, name), rows in by_task.items()
    ]
    return [chart for chart in found if chart is not None]


def _lines(rows: Iterable[TaskRow]) -> list[Line]:
    return [
        Line(TITLES[one], row.model or "all", cell.percent, None, None, cell.scored, cell.total)
        for row in rows
        for one, cell in row.cells.items()
    ]
