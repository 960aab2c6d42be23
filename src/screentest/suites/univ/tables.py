"""The table of the benchmark: a row per task and model, eight dimensions and their average.

All in per cent: points out of ten times ten, shares of a checklist times a hundred. A mean
stands beside how many cases it is of; the average is that of the dimensions, and is left out
where one of them has no value for a reason other than that the ground truth lacks it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from screentest.core import Column, Reason, Table
from screentest.core.calls import CallStatus
from screentest.core.options import split_value_name
from screentest.reports.charts import radar
from screentest.run import RunReader
from screentest.run.ledger import Call
from screentest.scores.results import Results, Value
from screentest.suites.univ.pieces import UnivTask
from screentest.suites.univ.vocabulary import (
    OWNER,
    TITLES,
    Dimension,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SHORT = ("subj", "back", "act", "cam", "col", "light", "style", "pos")


@dataclass(frozen=True, slots=True)
class DimensionMean:
    """A mean in per cent, and of how many cases."""

    percent: float | None
    scored: int
    total: int
    """Those still to come are among them."""
    lacking: int = 0
    """Cases whose ground truth has no such item; they are not expected to be scored."""


@dataclass(frozen=True, slots=True)
class TaskRow:
    """One model at one task, judged in one way."""

    task: UnivTask
    metric: str
    """With its options: the same task judged whole and by shot is two rows."""
    model: str
    cells: Mapping[Dimension, DimensionMean]
    average: float | None
    """The unweighted mean of the dimensions that have a value."""
    dimensions: int
    """How many those are."""

    @property
    def name(self) -> str:
        """The task, and the level it was judged at where that is not the whole video."""
        level = re.search(r"\blevel=(shots|both)\b", self.metric)
        return f"{self.task.value} {level[1]}" if level else self.task.value


def table(results: Results, by: str = "model") -> list[TaskRow]:
    """Rows in the order of tasks, then of how they were judged, then of models."""
    found: dict[tuple[str, str], list[Value]] = {}
    for value in results.values:
        if task_of(value.metric) is not None:
            found.setdefault((value.metric, results.group(value.item, by)), []).append(value)
    waiting: Counter[tuple[str, str, str]] = Counter()
    for item, name in results.pending:
        metric, output = split_value_name(name)
        if task_of(metric) is not None:
            place = (metric, results.group(item, by))
            found.setdefault(place, [])
            waiting[*place, output] += 1
    rows = [
        _row(metric, model, values, {one: waiting[metric, model, one] for one in Dimension})
        for (metric, model), values in found.items()
    ]
    order = list(UnivTask)
    return sorted(rows, key=lambda row: (order.index(row.task), row.metric, row.model))


def dimension_table(rows: Sequence[TaskRow], by: str = "model") -> Table:
    """The layout of the published table."""
    lines = []
    for row in rows:
        cells = [row.cells[one] for one in Dimension]
        scored = min(cell.scored + cell.lacking for cell in cells)
        total = max(cell.total for cell in cells)
        means = [cell.percent for cell in cells]
        lines.append((row.name, row.model or None, *means, row.average, scored, total, row.metric))
    return Table(
        "univ",
        "UniVBench by task and dimension, per cent",
        (
            *("task", by),
            *(Column(one.value, short, 1) for one, short in zip(Dimension, _SHORT, strict=True)),
            Column("average", "avg", 1),
            *("scored", "total", Column("metric", detail=True)),
        ),
        lines,
        _note(rows),
    )


def _note(rows: Sequence[TaskRow]) -> str:
    every = [cell for row in rows for cell in row.cells.values()]
    notes = []
    if any(cell.percent is None and cell.lacking == cell.total for cell in every):
        notes.append("–: the ground truth says nothing about it; the average leaves it out.")
    if any(row.average is None for row in rows):
        notes.append("No average: a dimension was not scored. `screentest score` says why.")
    return " ".join(notes)


def subdimensions(results: Results, by: str = "model") -> dict[str, dict[str, float]]:
    """By model, the sub-dimensions of V2T in per cent; only those that have a value."""
    found: dict[str, dict[str, list[float]]] = {}
    for value in results.values:
        if task_of(value.metric) is UnivTask.V2T and value.output in OWNER and value.outcome.ok:
            model = found.setdefault(results.group(value.item, by), {})
            points = percent(UnivTask.V2T, value.outcome.unwrap().value)
            model.setdefault(value.output, []).append(points)
    return {
        model: {name: math.fsum(points) / len(points) for name, points in parts.items()}
        for model, parts in sorted(found.items())
    }


def task_of(metric: str) -> UnivTask | None:
    """The task that a metric scores; None for any other metric.

    >>> task_of("univ_t2v:level=shots"), task_of("flicker")
    (<UnivTask.T2V: 't2v'>, None)
    """
    name = metric.partition(":")[0]
    return next((task for task in UnivTask if task.metric == name), None)


def percent(task: UnivTask, value: float) -> float:
    """A value of a task's metric in per cent.

    >>> percent(UnivTask.T2V, 7.5), percent(UnivTask.V2T, 0.75)
    (75.0, 75.0)
    """
    return value * (100 if task is UnivTask.V2T else 10)


def _row(
    metric: str, model: str, values: Sequence[Value], waiting: Mapping[Dimension, int]
) -> TaskRow:
    task = task_of(metric)
    assert task is not None
    cells = {}
    for dimension in Dimension:
        mine = [value for value in values if value.output == dimension.value]
        numbers = [percent(task, v.outcome.unwrap().value) for v in mine if v.outcome.ok]
        lacking = sum(
            v.outcome.failure is not None and v.outcome.failure.reason is Reason.NOT_APPLICABLE
            for v in mine
        )
        mean = math.fsum(numbers) / len(numbers) if numbers else None
        cells[dimension] = DimensionMean(
            mean, len(numbers), len(mine) + waiting[dimension], lacking
        )
    had = [cell.percent for cell in cells.values() if cell.percent is not None]
    whole = all(cell.percent is not None or cell.lacking == cell.total for cell in cells.values())
    average = math.fsum(had) / len(had) if had and whole else None
    return TaskRow(task, metric, model, cells, average, len(had))


# What judging cost: tokens and seconds per case and task, from the ledger of a run.

PUBLISHED: Mapping[UnivTask, tuple[int, int]] = {
    UnivTask.V2V: (25104, 45),
    UnivTask.TV2V: (25898, 62),
    UnivTask.R2V: (16743, 44),
    UnivTask.RV2V: (27534, 55),
    UnivTask.T2V: (19567, 49),
    UnivTask.V2T: (1413, 27),
}
"""Table D1: tokens in and out together, and seconds, of one case."""


@dataclass(frozen=True, slots=True)
class TaskCost:
    """What one case of a task takes on average."""

    task: UnivTask
    cases: int
    calls: float
    tokens_in: float
    tokens_out: float
    seconds: float
    """Of waiting for the model, calls one after the other."""
    failed: int = 0
    """Calls that were not answered; their time is in the seconds."""

    @property
    def tokens(self) -> float:
        """In and out together."""
        return self.tokens_in + self.tokens_out


def task_costs(run: RunReader) -> list[TaskCost]:
    """The cost table of a run, in the order of tasks; each case counts once."""
    cases: dict[UnivTask, set[str]] = {}
    for record in run.records():
        task = task_of(record.key.evaluator)
        if task is not None and record.requests:
            cases.setdefault(task, set()).add(record.key.item)
    calls: dict[UnivTask, list[Call]] = {}
    for call in run.calls():
        task = _task_of_call(call)
        if task is not None:
            calls.setdefault(task, []).append(call)
    return [
        _cost(task, len(cases.get(task, ())), calls[task]) for task in UnivTask if task in calls
    ]


def _task_of_call(call: Call) -> UnivTask | None:
    suite, _, rest = call.intent.purpose.partition(".")
    name = rest.partition(".")[0]
    return UnivTask(name) if suite == "univ" and name in set(UnivTask) else None


def _cost(task: UnivTask, cases: int, calls: Sequence[Call]) -> TaskCost:
    receipts = [call.receipt for call in calls if call.receipt is not None]
    per = max(1, cases)
    return TaskCost(
        task,
        cases,
        len(calls) / per,
        math.fsum(one.tokens_in or 0 for one in receipts) / per,
        math.fsum(one.tokens_out or 0 for one in receipts) / per,
        math.fsum(one.latency for one in receipts) / per,
        sum(one.status is not CallStatus.ANSWERED for one in receipts),
    )


# The benchmark's radar: a panel per task, an axis per dimension, a line per model.


def task_radars(rows: Sequence[TaskRow]) -> Figure:
    """All tasks of a table; what has no value is a gap."""
    panels: dict[str, dict[str, dict[str, float]]] = {}
    for row in rows:
        values = {
            dimension.value: cell.percent / 100
            for dimension, cell in row.cells.items()
            if cell.percent is not None
        }
        panels.setdefault(row.name.upper(), {})[row.model] = values
    return radar(panels, {one.value: TITLES[one] for one in Dimension})
