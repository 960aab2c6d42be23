"""From answers to the table of a benchmark: averages and categories, each with its interval.

The published averages are micro: all questions of all prompts in one pool. The macro average
gives every prompt the same weight. Intervals come from resampling prompts, since the questions
of one prompt are about one video.

Benchmarks are prompts with questions: how their categories are spread, and smaller ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from screentest._util.collect import grouped
from screentest._util.text import one_line
from screentest.core import BadOption, Cell, Column, Outcome, Reason, Summary, Table
from screentest.present.charts import COLOURS, MOST_LETTERS, new_figure, save, styled
from screentest.stats import Difference, holm, holm_levels, paired_difference, summarise
from screentest.suites.etva.graph import ASKED, Category
from screentest.suites.etva.questions import QuestionSet

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray


MICRO, MACRO = "all questions", "mean of prompts"


@dataclass(frozen=True, slots=True)
class JudgedQuestion:
    """One question about one video, and its answer."""

    prompt: str
    """Which prompt, by number or id."""
    category: Category
    answer: Outcome[bool]
    question: str = ""
    model: str = ""
    """Whose video it was."""


@dataclass(frozen=True, slots=True)
class Averages:
    """What the answers of one model come to."""

    model: str
    micro: Outcome[Summary]
    """Over all questions."""
    macro: Outcome[Summary]
    """Over prompts."""
    categories: Mapping[Category, Outcome[Summary]]
    counts: Mapping[Category, tuple[int, int, int]]
    """Yes, answered, asked."""

    @property
    def total(self) -> tuple[int, int, int]:
        """Yes, answered and asked of all categories together."""
        yes, answered, asked = zip(*self.counts.values(), strict=True)
        return sum(yes), sum(answered), sum(asked)


def averages(
    judged: Sequence[JudgedQuestion], *, model: str = "", signature: str = "etva"
) -> Averages:
    """Return the averages of some answers."""
    by_category = {
        category: [item for item in judged if item.category is category] for category in Category
    }
    return Averages(
        model,
        micro=_pooled(judged, signature),
        macro=_summary(_per_prompt(judged), None, signature),
        categories={kind: _pooled(subset, signature) for kind, subset in by_category.items()},
        counts={kind: _count(subset) for kind, subset in by_category.items()},
    )


def averages_by_model(
    judged: Iterable[JudgedQuestion], *, signature: str = "etva"
) -> list[Averages]:
    """Return the averages of each model, in order of appearance."""
    models = grouped((item.model, item) for item in judged)
    return [averages(subset, model=model, signature=signature) for model, subset in models.items()]


def average_table(rows: Iterable[Averages]) -> Table:
    """Return a row per model and average; a category that nothing was asked about has none."""
    lines: list[tuple[Cell, ...]] = []
    for row in rows:
        lines.append((row.model, MICRO, *_cells(row.micro), *row.total, _why(row.micro)))
        lines.append((row.model, MACRO, *_cells(row.macro), None, None, None, _why(row.macro)))
        for kind, outcome in row.categories.items():
            if row.counts[kind][2]:
                counts = row.counts[kind]
                lines.append((row.model, kind.value, *_cells(outcome), *counts, _why(outcome)))
    return Table(
        "averages",
        "Averages",
        (
            *("model", Column("part", "of")),
            *(Column("score"), Column("low", "from"), Column("high", "to")),
            *("yes", "answered", "asked", Column("reason", detail=True)),
        ),
        lines,
    )


def side_by_side(rows: Sequence[Averages]) -> Table:
    """One line per average and category, one column per model."""
    parts = {MICRO: [row.micro for row in rows], MACRO: [row.macro for row in rows]}
    parts |= {kind.value: [row.categories[kind] for row in rows] for kind in Category}
    return Table(
        "side_by_side",
        "Side by side",
        (Column("part", "of"), *(Column(row.model or "all") for row in rows)),
        [
            (part, *(_cells(outcome)[0] for outcome in outcomes))
            for part, outcomes in parts.items()
            if any(outcome.ok for outcome in outcomes)
        ],
    )


def difference_table(judged: Iterable[JudgedQuestion]) -> Table:
    """Compare every two models on the questions that both answered, over prompts."""
    answers: dict[str, dict[tuple[str, str], list[float]]] = {}
    for item in judged:
        answered = answers.setdefault(item.model, {})
        if item.answer.ok:
            answered.setdefault((item.prompt, item.question), []).append(
                float(item.answer.unwrap())
            )
    # A model may have several videos of one prompt.
    models = {
        model: {key: sum(answer) / len(answer) for key, answer in answered.items()}
        for model, answered in answers.items()
    }
    pairs: list[tuple[str, str, Difference]] = []
    for first, second in combinations(models, 2):
        both = [key for key in models[first] if key in models[second]]
        if not both:
            continue
        result = paired_difference(
            [models[first][key] for key in both],
            [models[second][key] for key in both],
            [prompt for prompt, _ in both],
        )
        pairs.append((first, second, result))
    adjusted = holm([matches.p_value for *_, matches in pairs])
    rows: list[tuple[Cell, ...]] = []
    for (first, second, result), p, level in zip(
        pairs, adjusted, holm_levels(adjusted), strict=True
    ):
        ends = result.at(level).interval
        low, high = (ends.low, ends.high) if ends is not None else (None, None)
        rows.append((first, second, result.value, low, high, result.pairs, result.sources, p))
    return Table(
        "differences",
        "Differences between models",
        (
            *("model", "other", Column("difference"), Column("low", "from"), Column("high", "to")),
            *("questions", "prompts", Column("p", digits=4)),
        ),
        rows,
        note="On the questions that both answered, over prompts; p and interval by Holm.",
    )


def _cells(outcome: Outcome[Summary]) -> tuple[Cell, Cell, Cell]:
    result = outcome.value
    return (None, None, None) if result is None else (result.value, result.low, result.high)


def _why(outcome: Outcome[Summary]) -> str | None:
    return None if outcome.failure is None else str(outcome.failure)


def _pooled(judged: Sequence[JudgedQuestion], signature: str) -> Outcome[Summary]:
    values: list[Outcome[float]] = [item.answer.map(float) for item in judged]
    return _summary(values, [item.prompt for item in judged], signature)


def _summary(
    values: Iterable[Outcome[float]], sources: Sequence[str] | None, signature: str
) -> Outcome[Summary]:
    listed = list(values)
    if not listed:
        return Outcome.failed(Reason.NOT_APPLICABLE, "no question of this kind")
    return summarise(listed, signature=signature, sources=sources, bounds=(0.0, 1.0))


def _per_prompt(judged: Sequence[JudgedQuestion]) -> Iterator[Outcome[float]]:
    """Yield the share of yes of each prompt, among the questions that have an answer."""
    for subset in grouped((item.prompt, item) for item in judged).values():
        yes, answered, asked = _count(subset)
        message = f"none of {asked} questions has an answer"
        failed: Outcome[float] = Outcome.failed(Reason.NOT_APPLICABLE, message)
        yield Outcome.of(yes / answered) if answered else failed


def _count(judged: Sequence[JudgedQuestion]) -> tuple[int, int, int]:
    answers = [item.answer.unwrap() for item in judged if item.answer.ok]
    return sum(answers), len(answers), len(judged)


Distribution = Mapping[Category, int]
_TRIES = 5
"""How often a draw begins anew; the best one is taken."""


def distribution(sets: Sequence[QuestionSet]) -> dict[Category, int]:
    """Return how many questions of each category there are.

    >>> from screentest.suites.etva.rules.writer import write_by_rules
    >>> spread = distribution([write_by_rules("A red fox runs."), write_by_rules("A dog.")])
    >>> spread[Category.EXISTENCE], spread[Category.COLOR]
    (2, 1)
    """
    counts = Counter(question.category for item in sets for question in item.questions)
    return {kind: counts[kind] for kind in Category}


def shown_categories(spread: Iterable[Distribution]) -> list[Category]:
    """Return the paper's ten, and the label of the larger benchmark where it occurs."""
    listed = list(spread)
    return [kind for kind in Category if kind in ASKED or any(item[kind] for item in listed)]


def category_shares(counts: Distribution) -> dict[Category, float]:
    """Return the share of each category; all 0 where there are no questions."""
    total = sum(counts.values())
    return {category: count / total if total else 0.0 for category, count in counts.items()}


def distance(one: Distribution, other: Distribution) -> float:
    """Return the share of questions that would have to change for two to be distributed alike."""
    first, second = category_shares(one), category_shares(other)
    return sum(abs(first[category] - second[category]) for category in Category) / 2


def sub_benchmark(sets: Sequence[QuestionSet], count: int, *, seed: int = 0) -> list[QuestionSet]:
    """``count`` prompts whose questions are spread over the categories as all are.

    A random draw, then prompts are exchanged for others as long as that brings the two
    distributions together. The same seed draws the same prompts; they stand in their old order.
    """
    if not 1 <= count <= len(sets):
        raise BadOption.of("prompts", count, f"1 to {len(sets)}")
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
