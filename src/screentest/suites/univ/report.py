"""UniVBench in a report: the published table's layout, and a radar for each task."""

from __future__ import annotations

from screentest.core.options import split_value_name
from screentest.core.table import Cell, Chart
from screentest.reports.charts import Range, radar_chart
from screentest.reports.data import Report
from screentest.reports.leaderboard import Line
from screentest.suites.univ.pieces import TITLES as TASK_TITLES
from screentest.suites.univ.suite import subdimension_tables, task_of
from screentest.suites.univ.tables import TaskStandings, dimension_table, task_standings
from screentest.suites.univ.vocabulary import TITLES, Dimension

PERCENT: Range = (0.0, 100.0, True)


def is_of_univ(value: str) -> bool:
    """Whether a value belongs to one of the six tasks: such have charts of their own."""
    return task_of(split_value_name(value)[0]) is not None


def dimension_rows(report: Report) -> tuple[tuple[str, ...], list[tuple[Cell, ...]]]:
    """Columns and rows: a task and a model, eight dimensions and their average, in per cent."""
    group = report.by or "model"
    table = dimension_table(task_standings(report.results, group), group).short()
    return tuple(column.name for column in table.columns), list(table.rows)


def subdimension_rows(report: Report) -> tuple[tuple[str, ...], list[tuple[Cell, ...]]]:
    """V2T alone is scored in 21 parts."""
    (parts,) = subdimension_tables(report.results, report.by)
    return tuple(column.title or column.name for column in parts.columns), list(parts.rows)


def task_charts(report: Report) -> list[Chart]:
    """One radar per task and level in which there are values, be it of one model alone."""
    found = []
    for one in task_standings(report.results, report.by or "model"):
        task = task_of(one.metric)
        assert task is not None
        found.append(
            radar_chart(
                _lines(one),
                {TITLES[dimension]: PERCENT for dimension in Dimension},
                title=f"{one.name.upper()}: {TASK_TITLES[task]}, per cent",
                least=1,
            )
        )
    return [chart for chart in found if chart is not None]


def _lines(task: TaskStandings) -> list[Line]:
    return [
        Line(level.title, one.group or "all", level.value, None, None, level.scored, level.total)
        for one in task.models
        for level in one.levels
        if len(level.path) > 1
    ]
