"""From answers to the table of a benchmark: averages and categories, each with its interval.

The published averages are micro: all questions of all prompts in one pool. The macro average
gives every prompt the same weight. Intervals come from resampling prompts, since the questions
of one prompt are about one video.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from screentest.core import Outcome, Reason, Summary
from screentest.suites.etva.graph import Category


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
class Row:
    """One line of a table."""

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


def tabulate(judged: Sequence[JudgedQuestion], *, model: str = "", signature: str = "etva") -> Row:
    """The table row of some answers."""
    by_category = {
        category: [one for one in judged if one.category is category] for category in Category
    }
    return Row(
        model,
        micro=_pooled(judged, signature),
        macro=_summary(_per_prompt(judged).values(), None, signature),
        categories={kind: _pooled(some, signature) for kind, some in by_category.items()},
        counts={kind: _count(some) for kind, some in by_category.items()},
    )


def rows_by_model(judged: Iterable[JudgedQuestion], *, signature: str = "etva") -> list[Row]:
    """A row for each model, in order of appearance."""
    models: dict[str, list[JudgedQuestion]] = {}
    for one in judged:
        models.setdefault(one.model, []).append(one)
    return [tabulate(some, model=model, signature=signature) for model, some in models.items()]


def _pooled(judged: Sequence[JudgedQuestion], signature: str) -> Outcome[Summary]:
    values: list[Outcome[float]] = [one.answer.map(float) for one in judged]
    return _summary(values, [one.prompt for one in judged], signature)


def _summary(
    values: Iterable[Outcome[float]], sources: Sequence[str] | None, signature: str
) -> Outcome[Summary]:
    from screentest.stats.aggregate import summarise

    listed = list(values)
    if not listed:
        return Outcome.failed(Reason.NOT_APPLICABLE, "no question of this kind")
    return summarise(listed, signature=signature, sources=sources, bounds=(0.0, 1.0))


def _per_prompt(judged: Sequence[JudgedQuestion]) -> dict[str, Outcome[float]]:
    """The share of yes of each prompt, among the questions that have an answer."""
    prompts: dict[str, list[JudgedQuestion]] = {}
    for one in judged:
        prompts.setdefault(one.prompt, []).append(one)
    return {name: _share(some) for name, some in prompts.items()}


def _share(judged: Sequence[JudgedQuestion]) -> Outcome[float]:
    yes, answered, asked = _count(judged)
    if not answered:
        return Outcome.failed(Reason.NOT_APPLICABLE, f"none of {asked} questions has an answer")
    return Outcome.of(yes / answered)


def _count(judged: Sequence[JudgedQuestion]) -> tuple[int, int, int]:
    answers = [one.answer.unwrap() for one in judged if one.answer.ok]
    return sum(answers), len(answers), len(judged)
