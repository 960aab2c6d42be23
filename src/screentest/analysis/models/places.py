"""The models that are first or last in a metric so far, significant or not: no claims."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeVar

from screentest.analysis.models.rows import MetricRow, State, apart

T = TypeVar("T")


def first_and_last(row: MetricRow) -> tuple[str, str]:
    """The only first and the only last model in a metric; empty where that is shared.

    Less noise in blurred pictures is no reason to call the others noisy, nor the blurred one best.
    """
    if row.state not in (State.SIGNIFICANT, State.UNDECIDED):
        return "", ""
    return _only(row, row.sign), _only(row, -row.sign)


def _only(row: MetricRow, sign: int) -> str:
    """The model whose mean, times ``sign``, is above that of all it is fair to compare with."""
    means = {value.model: value.mean for value in row.values if value.mean is not None}
    explained = [{pair.better, pair.worse} for pair in row.pairs if pair.explanation]
    for model, mean in means.items():
        others = [
            other
            for name, other in means.items()
            if name != model and {name, model} not in explained
        ]
        nearest = max(others, key=lambda other: sign * other, default=None)
        if nearest is not None and sign * (mean - nearest) > 0 and apart(mean, nearest, row.least):
            return model
    return ""


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
