"""Benchmarks of prompts with questions: how their categories are spread, and smaller ones.

>>> from screentest.metrics.etva.rules import write_by_rules
>>> spread = distribution([write_by_rules("A red fox runs."), write_by_rules("A dog.")])
>>> spread[Category.EXISTENCE], spread[Category.COLOR]
(2, 1)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from screentest.core import BadOption
from screentest.metrics.etva.categories import Category
from screentest.metrics.etva.questions import QuestionSet

if TYPE_CHECKING:
    from numpy.typing import NDArray

Distribution = Mapping[Category, int]
_TRIES = 5
"""How often a draw begins anew; the best one is taken."""


def distribution(sets: Sequence[QuestionSet]) -> dict[Category, int]:
    """How many questions of each category there are."""
    counts = dict.fromkeys(Category, 0)
    for one in sets:
        for question in one.questions:
            counts[question.category] += 1
    return counts


def shares(counts: Distribution) -> dict[Category, float]:
    """The share of each category; all 0 where there are no questions."""
    total = sum(counts.values())
    return {category: count / total if total else 0.0 for category, count in counts.items()}


def distance(one: Distribution, other: Distribution) -> float:
    """How far two distributions are apart: the share of questions that would have to change."""
    first, second = shares(one), shares(other)
    return sum(abs(first[category] - second[category]) for category in Category) / 2


def sub_benchmark(sets: Sequence[QuestionSet], count: int, *, seed: int = 0) -> list[QuestionSet]:
    """``count`` prompts whose questions are spread over the categories as all are.

    A random draw, then prompts are exchanged for others as long as that brings the two
    distributions together. The same seed draws the same prompts; they stand in their old order.
    """
    if not 1 <= count <= len(sets):
        raise BadOption(
            f"{count} prompts cannot be drawn from {len(sets)}",
            advice=f"Draw 1 to {len(sets)}.",
        )
    rows = np.array([[*distribution([one]).values()] for one in sets], np.float64)
    dice = np.random.default_rng(seed)
    draws = [_draw(rows, count, dice) for _ in range(_TRIES)]
    chosen = min(draws, key=lambda draw: (_apart(rows, draw), tuple(np.flatnonzero(draw))))
    return [one for one, taken in zip(sets, chosen, strict=True) if taken]


def _draw(rows: NDArray[np.float64], count: int, dice: np.random.Generator) -> NDArray[np.bool_]:
    chosen = np.zeros(len(rows), bool)
    chosen[dice.permutation(len(rows))[:count]] = True
    wanted = rows.sum(axis=0) / max(1.0, rows.sum())
    while count < len(rows):
        held = rows[chosen].sum(axis=0)
        inside, outside = np.flatnonzero(chosen), np.flatnonzero(~chosen)
        # The sums after every possible exchange: out × in × category.
        sums = held - rows[inside][:, None] + rows[outside][None]
        totals = np.maximum(sums.sum(axis=2, keepdims=True), 1.0)
        apart = np.abs(sums / totals - wanted).sum(axis=2) / 2
        best = np.unravel_index(int(apart.argmin()), apart.shape)
        if apart[best] >= _apart(rows, chosen) - 1e-12:
            break
        chosen[inside[best[0]]], chosen[outside[best[1]]] = False, True
    return chosen


def _apart(rows: NDArray[np.float64], chosen: NDArray[np.bool_]) -> float:
    held, every = rows[chosen].sum(axis=0), rows.sum(axis=0)
    first, second = held / max(1.0, held.sum()), every / max(1.0, every.sum())
    return float(np.abs(first - second).sum() / 2)
