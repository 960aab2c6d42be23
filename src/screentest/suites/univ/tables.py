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

from screentest.core import Reason
from screentest.evaluate.results import Results, Value
from screentest.metrics.univ.dimensions import OWNER, Dimension
from screentest.metrics.univ.tasks import Task


@dataclass(frozen=True, slots=True)
class Cell:
    """A mean in per cent, and of how many cases."""

    percent: float | None
    scored: int
    total: int
    """Those still to come are among them."""
    lacking: int = 0
    """Cases whose ground truth has no such item; they are not expected to be scored."""


@dataclass(frozen=True, slots=True)
class Row:
    """One model at one task, judged in one way."""

    task: Task
    metric: str
    """With its options: the same task judged whole and by shot is two rows."""
    model: str
    cells: Mapping[Dimension, Cell]
    average: float | None
    """The unweighted mean of the dimensions that have a value."""
    dimensions: int
    """How many those are."""

    @property
    def name(self) -> str:
        """The task, and the level it was judged at where that is not the whole video."""
        level = re.search(r"\blevel=(shots|both)\b", self.metric)
        return f"{self.task.value} {level[1]}" if level else self.task.value


def table(results: Results, by: str = "model") -> list[Row]:
    """Rows in the order of tasks, then of how they were judged, then of models."""
    found: dict[tuple[str, str], list[Value]] = {}
    for value in results.values:
        if task_of(value.metric) is not None:
            found.setdefault((value.metric, results.group(value.item, by)), []).append(value)
    waiting: Counter[tuple[str, str, str]] = Counter()
    for item, name in results.pending:
        metric, _, output = name.rpartition(".")
        if task_of(metric) is not None:
            place = (metric, results.group(item, by))
            found.setdefault(place, [])
            waiting[*place, output] += 1
    rows = [
        _row(metric, model, values, {one: waiting[metric, model, one] for one in Dimension})
        for (metric, model), values in found.items()
    ]
    order = list(Task)
    return sorted(rows, key=lambda row: (order.index(row.task), row.metric, row.model))


def subdimensions(results: Results, by: str = "model") -> dict[str, dict[str, float]]:
    """By model, the sub-dimensions of V2T in per cent; only those that have a value."""
    found: dict[str, dict[str, list[float]]] = {}
    for value in results.values:
        if task_of(value.metric) is Task.V2T and value.output in OWNER and value.outcome.ok:
            model = found.setdefault(results.group(value.item, by), {})
            points = percent(Task.V2T, value.outcome.unwrap().value)
            model.setdefault(value.output, []).append(points)
    return {
        model: {name: math.fsum(points) / len(points) for name, points in parts.items()}
        for model, parts in sorted(found.items())
    }


def task_of(metric: str) -> Task | None:
    """The task that a metric scores; None for any other metric.

    >>> task_of("univ_t2v:level=shots"), task_of("flicker")
    (<Task.T2V: 't2v'>, None)
    """
    name = metric.partition(":")[0]
    return next((task for task in Task if task.metric == name), None)


def percent(task: Task, value: float) -> float:
    """A value of a task's metric in per cent.

    >>> percent(Task.T2V, 7.5), percent(Task.V2T, 0.75)
    (75.0, 75.0)
    """
    return value * (100 if task is Task.V2T else 10)


def published_average(points: Sequence[float]) -> float:
    """Table 4's average: the mean of eight dimensions out of ten, in per cent.

    >>> published_average([7, 8, 6, 7, 8, 8, 9, 7])
    75.0
    """
    if len(points) != len(Dimension):
        raise ValueError(f"an average is of {len(Dimension)} dimensions, not {len(points)}")
    return 10 * math.fsum(points) / len(points)


def agrees_with_print(cells: Sequence[float], printed: float, *, places: int = 1) -> bool:
    """Whether a printed average can be that of these cells, all in per cent and rounded."""
    unit = 10.0**-places
    return abs(math.fsum(cells) / len(cells) - printed) <= unit + 1e-9


def is_imputed(cells: Mapping[Dimension, float], one: Dimension, *, places: int = 1) -> bool:
    """Whether a cell is no more than the mean of the others, to the printed places."""
    others = [value for name, value in cells.items() if name is not one]
    # The cell is rounded to half a unit, and so is each of the others.
    return abs(cells[one] - math.fsum(others) / len(others)) <= 10.0**-places + 1e-9


def _row(metric: str, model: str, values: Sequence[Value], waiting: Mapping[Dimension, int]) -> Row:
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
        cells[dimension] = Cell(mean, len(numbers), len(mine) + waiting[dimension], lacking)
    had = [cell.percent for cell in cells.values() if cell.percent is not None]
    whole = all(cell.percent is not None or cell.lacking == cell.total for cell in cells.values())
    average = math.fsum(had) / len(had) if had and whole else None
    return Row(task, metric, model, cells, average, len(had))
