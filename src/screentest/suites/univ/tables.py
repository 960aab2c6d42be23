"""The tables of the benchmark: tasks and models by dimension, and what judging cost."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from screentest._util.collect import grouped
from screentest.analysis.results import Results
from screentest.analysis.standings import Standing, standings
from screentest.core import Cell, Column, Table
from screentest.core.calls import CallStatus
from screentest.core.signature import split_value_name
from screentest.present.charts import COLOURS, new_figure, radar, styled
from screentest.run.ledger import Call
from screentest.run.reader import RunReader
from screentest.suites.univ.pieces import UnivTask
from screentest.suites.univ.schema import Description
from screentest.suites.univ.suite import suite_of, task_name, task_of
from screentest.suites.univ.vocabulary import (
    ALL_SUBDIMENSIONS,
    PAPER_NAMES,
    TITLES,
    VOCABULARIES,
    Dimension,
    classify,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OTHER = "other words"
_SHOWN = 12
_FADED = "#b8c4d0"


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
        return sum(self.counts.values())


def distribution(shots: Iterable[Description]) -> dict[str, TermCounts]:
    """Return all 21 sub-dimensions; those without a vocabulary are only said or silent."""
    listed = [grouped(_terms(shot)) for shot in shots]
    result = {}
    for name in ALL_SUBDIMENSIONS:
        counts = Counter(term for terms in listed for term in terms.get(name, ()))
        silent = sum(name not in terms for terms in listed)
        result[name] = TermCounts(name, dict(sorted(counts.items(), key=_rank)), silent)
    return result


def _terms(shot: Description) -> Iterable[tuple[str, str]]:
    # Scenes and actions are described in words and sorted by their kind.
    kinds = {
        "background_scene": [str(scene.kind) for scene in shot.scenes],
        "action_event": [str(action.kind) for action in shot.actions],
    }
    for name, subset in kinds.items():
        for kind in subset:
            yield name, _term(name, kind)
    for name, text in shot.by_subdimension():
        if name in ALL_SUBDIMENSIONS and name not in kinds and text.strip():
            yield name, _term(name, text)


def _term(name: str, text: str) -> str:
    vocabulary = VOCABULARIES.get(name)
    if vocabulary is None:
        return "said"
    result = classify(vocabulary, text)
    return OTHER if result is None else result.value


def _rank(counted: tuple[str, int]) -> tuple[bool, int, str]:
    return counted[0] == OTHER, -counted[1], counted[0]


@styled
def draw_distribution(spreads: Mapping[str, TermCounts]) -> Figure:
    """Return a small chart for each of the 21."""
    from matplotlib.ticker import MaxNLocator

    columns = 3
    rows = -(-len(spreads) // columns)
    figure = new_figure(11, 2.3 * rows)
    for place, spread in enumerate(spreads.values(), start=1):
        axes = figure.add_subplot(rows, columns, place)
        shown = list(spread.counts.items())[:_SHOWN]
        bars = [*shown, ("nothing said", spread.silent)]
        colours = [COLOURS[0]] * len(shown) + [_FADED]
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


_SHORT = ("subj", "back", "act", "cam", "col", "light", "style", "pos")


@dataclass(frozen=True, slots=True)
class TaskStandings:
    """One task judged in one way: what each model comes to."""

    metric: str
    """With its options: the same task judged whole and by shot is two of these."""
    models: Sequence[Standing]

    @property
    def name(self) -> str:
        """The task, and the level it was judged at."""
        return task_name(self.metric)


def task_standings(results: Results, by: str = "model") -> list[TaskStandings]:
    """In the order of tasks, then of how they were judged."""
    waiting = (split_value_name(name)[0] for _, name in results.pending)
    metrics = {*(value.metric for value in results.values), *waiting}
    order = list(UnivTask)
    available = [(task, metric) for metric in metrics if (task := task_of(metric)) is not None]
    return [
        TaskStandings(metric, standings(results, suite_of(metric), by))
        for _, metric in sorted(available, key=lambda pair: (order.index(pair[0]), pair[1]))
    ]


def dimension_table(tasks: Sequence[TaskStandings], by: str = "model") -> Table:
    """Return the layout of the published table."""
    rows = []
    for task in tasks:
        for model in task.models:
            means = {level.path[-1]: level.value for level in model.levels}
            dimensions = [means[dimension.value] for dimension in Dimension]
            top = model.top
            counts = (f"{top.scored}/{top.total}", top.scored, top.total, task.metric)
            rows.append((task.name, model.group or None, *dimensions, top.value, *counts))
    every = [level for task in tasks for item in task.models for level in item.levels]
    lacking = any(level.value is None and len(level.path) > 1 for level in every)
    unscored = any(level.value is None and len(level.path) == 1 for level in every)
    notes = (
        "–: not scored, or the ground truth says nothing about it." if lacking else "",
        "No average: a dimension was not scored. `screentest score` says why." if unscored else "",
    )
    return Table(
        "univ",
        "UniVBench by task and dimension, per cent",
        (
            *("task", by),
            *(Column(item.value, short, 1) for item, short in zip(Dimension, _SHORT, strict=True)),
            Column("average", "avg", 1),
            # Both counts in one column: names of models need the width.
            Column("counts", "scored", derived=True, align="right"),
            *(Column(name, detail=True) for name in ("scored", "total", "metric")),
        ),
        rows,
        " ".join(note for note in notes if note),
    )


def task_radars(tasks: Sequence[TaskStandings]) -> Figure:
    """Return a panel per task, an axis per dimension, a line per model, gaps without values."""
    panels: dict[str, dict[str, dict[str, float]]] = {}
    for task in tasks:  # runs of several models may have the same task
        panels.setdefault(task.name.upper(), {}).update(
            {
                model.group: {
                    level.path[-1]: level.value / 100
                    for level in model.levels
                    if level.value is not None and len(level.path) > 1
                }
                for model in task.models
            }
        )
    return radar(panels, {item.value: TITLES[item] for item in Dimension})


PUBLISHED: Mapping[str, Sequence[int]] = PAPER_NAMES["costs"]
"""Table D1: tokens in and out together, and seconds, of one case."""


def task_costs(run: RunReader) -> list[tuple[Cell, ...]]:
    """Return what one case of a task takes on average, beside what the paper's judge took.

    Seconds are those of waiting for the model, calls one after the other, failed ones too.
    """
    cases: dict[UnivTask, set[str]] = {}
    for record in run.records():
        task = task_of(record.key.evaluator)
        if task is not None and record.requests:
            cases.setdefault(task, set()).add(record.key.item)
    calls = grouped((_task_of_call(call), call) for call in run.calls())
    return [
        (task.value, *_cost(len(cases.get(task, ())), calls[task]), *PUBLISHED[task])
        for task in UnivTask
        if task in calls
    ]


def _task_of_call(call: Call) -> UnivTask | None:
    suite, _, rest = call.intent.purpose.partition(".")
    name = rest.partition(".")[0]
    return UnivTask(name) if suite == "univ" and name in set(UnivTask) else None


def _cost(cases: int, calls: Sequence[Call]) -> tuple[Cell, ...]:
    receipts = [call.receipt for call in calls if call.receipt is not None]
    per = max(1, cases)
    tokens_in = math.fsum(receipt.tokens_in or 0 for receipt in receipts) / per
    tokens_out = math.fsum(receipt.tokens_out or 0 for receipt in receipts) / per
    seconds = math.fsum(receipt.latency for receipt in receipts) / per
    failed = sum(receipt.status is not CallStatus.ANSWERED for receipt in receipts)
    return cases, len(calls) / per, tokens_in, tokens_out, tokens_in + tokens_out, seconds, failed
