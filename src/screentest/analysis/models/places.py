"""The models that are first or last in a metric so far, significant or not: no claims."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TypeVar

from screentest.analysis.models.comparison import ModelComparison
from screentest.analysis.models.rows import MetricRow, ModelValue, State, apart

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Rank:
    """One model in one metric, with the one it is compared with."""

    row: MetricRow
    other: ModelValue
    """Who comes next; of one that is between the others, who is first."""
    gap: float
    """How far apart the two are, of the whole spread."""


def first_in(comparison: ModelComparison, model: str) -> list[Rank]:
    """Metrics in which a model alone has the best mean, the widest lead first."""
    return _ordered(_ends(comparison, model, last=False))


def last_in(comparison: ModelComparison, model: str) -> list[Rank]:
    """Metrics in which a model alone has the worst mean, the widest gap first."""
    return _ordered(_ends(comparison, model, last=True))


def behind_in(comparison: ModelComparison, model: str) -> list[Rank]:
    """Metrics in which a model is behind the middle of the others, the widest gap first."""
    return _ordered(_middle(comparison, model))


def first_and_last(comparison: ModelComparison, row: MetricRow) -> tuple[str, str]:
    """Return the only first and the only last model in a metric; empty where that is shared."""
    first, last = (
        next((name for name in comparison.models if any(_of(row, comparison, name, last=end))), "")
        for end in (False, True)
    )
    return first, last


def _of(row: MetricRow, comparison: ModelComparison, model: str, *, last: bool) -> Iterator[bool]:
    return (rank.row is row for rank in _ends(comparison, model, last=last))


def _ends(comparison: ModelComparison, model: str, *, last: bool) -> Iterator[Rank]:
    for row, mean, others in _open(comparison, model):
        sign = row.sign * (-1 if last else 1)
        # The nearest of the others: where it is as good, or as bad, the place is shared.
        other = max(others, key=lambda item: sign * (item.mean or 0.0))
        gap = sign * (mean - (other.mean or 0.0))
        if gap > 0 and apart(mean, other.mean, row.least):
            yield Rank(row, other, gap / (row.spread or 1.0))


def _middle(comparison: ModelComparison, model: str) -> Iterator[Rank]:
    for row, mean, others in _open(comparison, model):
        sign = row.sign
        middle = median(other.mean or 0.0 for other in others)
        if sign * (middle - mean) > 0 and apart(mean, middle, row.least):
            first = max(others, key=lambda other: sign * (other.mean or 0.0))
            yield Rank(row, first, sign * (middle - mean) / (row.spread or 1.0))


def _open(
    comparison: ModelComparison, model: str
) -> Iterator[tuple[MetricRow, float, list[ModelValue]]]:
    """Rows in which there is a difference, with the model's mean and those it is fair to compare.

    Less noise in blurred pictures is no reason to call the others noisy, nor the blurred one best.
    """
    for row in comparison.rows:
        owed = {
            (pair.worse if pair.better == model else pair.better)
            for pair in row.pairs
            if pair.explanation and model in (pair.better, pair.worse)
        }
        mean = row.of(model).mean
        others = [
            value
            for value in row.values
            if value.mean is not None and value.model not in owed and value.model != model
        ]
        if row.state in (State.SIGNIFICANT, State.UNDECIDED) and mean is not None and others:
            yield row, mean, others


def _ordered(ranks: Iterator[Rank]) -> list[Rank]:
    """Order ranks by their gap; heuristics come last, and before them metrics without a margin."""
    ordered = sorted(
        ranks, key=lambda item: (bool(item.row.stand_ins), item.row.margin is None, -item.gap)
    )
    return spread_out(ordered, lambda item: item.row.metric)


def spread_out(given: Sequence[T], metric: Callable[[T], str]) -> list[T]:
    """In the same order, but the first of each metric before the second of any: three numbers of
    one freeze do not hide the rest.

    >>> spread_out(["a1", "a2", "b1", "a3"], lambda one: one[0])
    ['a1', 'b1', 'a2', 'a3']
    """
    had: Counter[str] = Counter()
    turns = []
    for item in given:
        turns.append(had[metric(item)])
        had[metric(item)] += 1
    return [item for _, item in sorted(zip(turns, given, strict=True), key=lambda pair: pair[0])]
