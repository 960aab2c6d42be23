"""The table of the benchmark: a row per task and model, eight dimensions and their average.

All in per cent: points out of ten times ten, shares of a checklist times a hundred. A mean
stands beside how many cases it is of; the average is that of the dimensions, and is left out
where one of them has no value for a reason other than that the ground truth lacks it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from screentest.core import Reason
from screentest.core.calls import CallStatus
from screentest.reports.charts import radar
from screentest.run import RunReader
from screentest.run.ledger import Call
from screentest.score.results import Results, Value
from screentest.suites.univ.pieces import UnivTask
from screentest.suites.univ.schema import Description
from screentest.suites.univ.vocabulary import (
    ALL_SUBDIMENSIONS,
    OWNER,
    TITLES,
    VOCABULARIES,
    Dimension,
    classify,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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

    task: UnivTask
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
    order = list(UnivTask)
    return sorted(rows, key=lambda row: (order.index(row.task), row.metric, row.model))


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


# What a corpus is made of: how often each term of each sub-dimension is seen (figure B4).

OTHER = "other words"
_SHOWN = 12
_COLOUR, _FADED = "#4878a8", "#b8c4d0"


@dataclass(frozen=True, slots=True)
class TermCounts:
    """How often each term is said of one sub-dimension."""

    name: str
    counts: Mapping[str, int]
    """By term, the most frequent first; free text that no term covers is one of them."""
    silent: int
    """Shots of which nothing is said."""

    @property
    def said(self) -> int:
        """All statements."""
        return sum(self.counts.values())


def distribution(shots: Iterable[Description]) -> dict[str, TermCounts]:
    """All 21 sub-dimensions; those without a vocabulary are only said or silent."""
    listed = list(shots)
    counts: dict[str, Counter[str]] = {name: Counter() for name in ALL_SUBDIMENSIONS}
    silent: Counter[str] = Counter()
    for shot in listed:
        seen = set()
        for name, term in _terms(shot):
            counts[name][term] += 1
            seen.add(name)
        silent.update(set(ALL_SUBDIMENSIONS) - seen)
    return {
        name: TermCounts(name, dict(_sorted(counts[name])), silent[name])
        for name in ALL_SUBDIMENSIONS
    }


def _terms(shot: Description) -> Iterable[tuple[str, str]]:
    # Scenes and actions are told in words and sorted by their kind.
    kinds = {
        "background_scene": [str(scene.kind) for scene in shot.scenes],
        "action_event": [str(action.kind) for action in shot.actions],
    }
    for name, some in kinds.items():
        for kind in some:
            yield name, _term(name, kind)
    for name, text in shot.by_subdimension():
        if name in ALL_SUBDIMENSIONS and name not in kinds and text.strip():
            yield name, _term(name, text)


def _term(name: str, text: str) -> str:
    vocabulary = VOCABULARIES.get(name)
    if vocabulary is None:
        return "said"
    found = classify(vocabulary, text)
    return OTHER if found is None else found.value


def _sorted(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda pair: (pair[0] == OTHER, -pair[1], pair[0]))


def draw_distribution(spreads: Mapping[str, TermCounts]) -> Figure:
    """A small chart for each of the 21."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    columns = 3
    rows = -(-len(spreads) // columns)
    figure = Figure(figsize=(11, 2.3 * rows))
    FigureCanvasAgg(figure)
    for place, spread in enumerate(spreads.values(), start=1):
        axes = figure.add_subplot(rows, columns, place)
        shown = list(spread.counts.items())[:_SHOWN]
        bars = [*shown, ("nothing said", spread.silent)]
        colours = [_COLOUR] * len(shown) + [_FADED]
        axes.barh(range(len(bars)), [count for _, count in bars], color=colours, height=0.7)
        axes.set_yticks(range(len(bars)), [name for name, _ in bars], fontsize=7)
        axes.invert_yaxis()
        axes.tick_params(axis="x", labelsize=7)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        title = spread.name.replace("_", ": ", 1).replace("_", " ")
        axes.set_title(f"{title} ({spread.said:,})", fontsize=9, loc="left")
        axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    return figure


# The benchmark's radar: a panel per task, an axis per dimension, a line per model.


def task_radars(rows: Sequence[Row]) -> Figure:
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
