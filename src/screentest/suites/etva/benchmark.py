"""Benchmarks of prompts with questions: how their categories are spread, and smaller ones.

>>> from screentest.suites.etva.rules import write_by_rules
>>> spread = distribution([write_by_rules("A red fox runs."), write_by_rules("A dog.")])
>>> spread[Category.EXISTENCE], spread[Category.COLOR]
(2, 1)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from screentest._util.text import one_line
from screentest.core import BadOption
from screentest.present.charts import (
    COLOURS,
    MOST_LETTERS,
    new_figure,
    save,
    styled,
)
from screentest.suites.etva.graph import ASKED, Category
from screentest.suites.etva.questions import QuestionSet

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray


Distribution = Mapping[Category, int]
_TRIES = 5
"""How often a draw begins anew; the best one is taken."""


def distribution(sets: Sequence[QuestionSet]) -> dict[Category, int]:
    """Return how many questions of each category there are."""
    counts = dict.fromkeys(Category, 0)
    for item in sets:
        for question in item.questions:
            counts[question.category] += 1
    return counts


def shown_categories(spread: Iterable[Distribution]) -> list[Category]:
    """Return the paper's ten, and the label of the larger benchmark where it occurs."""
    listed = list(spread)
    return [kind for kind in Category if kind in ASKED or any(item[kind] for item in listed)]


def category_shares(counts: Distribution) -> dict[Category, float]:
    """Return the share of each category; all 0 where there are no questions."""
    total = sum(counts.values())
    return {category: count / total if total else 0.0 for category, count in counts.items()}


def distance(one: Distribution, other: Distribution) -> float:
    """Return how far two distributions are apart: the share of questions that would have to
    change."""
    first, second = category_shares(one), category_shares(other)
    return sum(abs(first[category] - second[category]) for category in Category) / 2


def sub_benchmark(sets: Sequence[QuestionSet], count: int, *, seed: int = 0) -> list[QuestionSet]:
    """``count`` prompts whose questions are spread over the categories as all are.

    A random draw, then prompts are exchanged for others as long as that brings the two
    distributions together. The same seed draws the same prompts; they stand in their old order.
    """
    if not 1 <= count <= len(sets):
        raise BadOption(
            f"invalid number of prompts {count}: there are {len(sets)}",
            advice=f"Draw 1 to {len(sets)}.",
        )
    rows = np.array([[*distribution([item]).values()] for item in sets], np.float64)
    rng = np.random.default_rng(seed)
    draws = [_draw(rows, count, rng) for _ in range(_TRIES)]
    chosen = min(draws, key=lambda draw: (_apart(rows, draw), tuple(np.flatnonzero(draw))))
    return [item for item, taken in zip(sets, chosen, strict=True) if taken]


def _draw(rows: NDArray[np.float64], count: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    chosen = np.zeros(len(rows), bool)
    chosen[rng.permutation(len(rows))[:count]] = True
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


def plot_distributions(benchmarks: Mapping[str, Distribution], path: Path) -> None:
    """Draw the share of each category in one or more benchmarks, into ``path``."""
    save(_bars(benchmarks), path)


@styled
def _bars(benchmarks: Mapping[str, Distribution]) -> Figure:
    figure = new_figure(8, 4, layout="constrained")
    axes = figure.add_subplot()
    kinds = shown_categories(benchmarks.values())
    width = 0.8 / max(1, len(benchmarks))
    for number, (name, counts) in enumerate(benchmarks.items()):
        result = category_shares(counts)
        places = [place + (number + 0.5) * width - 0.4 for place in range(len(kinds))]
        values = [result[category] for category in kinds]
        label = f"{one_line(name, MOST_LETTERS)} ({sum(counts.values()):,} questions)"
        axes.bar(places, values, width, label=label, color=COLOURS[number % len(COLOURS)])
    axes.set_xticks(range(len(kinds)), [category.value for category in kinds], rotation=30)
    axes.set_ylabel("share of questions")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    return figure
