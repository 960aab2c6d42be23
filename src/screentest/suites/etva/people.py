"""Agreement with people: per prompt over the models that both rated, then averaged.

The paper's way. A prompt whose scores or ratings are all equal has no correlation: such
prompts are counted and left out of the average. ``Compat.UPSTREAM`` counts them as 0, as the
released code does, which pulls every average towards 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from screentest.core import Outcome, Reason
from screentest.stats import Correlation, Interval, kendall, mean_interval, spearman, wilson
from screentest.suites.etva.answers import Compat

Ratings = Mapping[str, Mapping[str, float]]
"""Prompt → model → a number, higher is better."""


@dataclass(frozen=True, slots=True)
class PerPrompt:
    """The mean of the prompts' correlations."""

    mean: float
    interval: Interval | None
    """Over prompts; None where there are too few."""
    defined: int
    undefined: int
    """Prompts whose numbers are all equal on one side, or too few to correlate."""


@dataclass(frozen=True, slots=True)
class WithPeople:
    """Rank correlations of scores with ratings by people."""

    kendall: Outcome[PerPrompt]
    spearman: Outcome[PerPrompt]


def with_people(scores: Ratings, ratings: Ratings, *, compat: Compat = Compat.STRICT) -> WithPeople:
    """Kendall's τ-b and Spearman's ρ of every prompt that both have, averaged."""
    return WithPeople(
        _averaged(scores, ratings, kendall, compat), _averaged(scores, ratings, spearman, compat)
    )


@dataclass(frozen=True, slots=True)
class AnswerAccuracy:
    """How often the machine answers as people do."""

    same: int
    total: int
    """Questions that both answered."""
    interval: Interval

    @property
    def share(self) -> float:
        """The share answered alike."""
        return self.same / self.total


def answer_accuracy(
    ours: Mapping[str, bool], people: Mapping[str, bool]
) -> Outcome[AnswerAccuracy]:
    """The share of questions that both answer alike, by the questions' names.

    >>> answer_accuracy({"q1": True, "q2": False, "q3": True}, {"q1": True, "q2": True}).value.share
    0.5
    """
    both = ours.keys() & people.keys()
    if not both:
        return Outcome.failed(Reason.NOT_APPLICABLE, "no question has both answers")
    same = sum(ours[name] == people[name] for name in both)
    return Outcome.of(AnswerAccuracy(same, len(both), wilson(same, len(both))))


def _averaged(
    scores: Ratings,
    ratings: Ratings,
    measure: Callable[[Sequence[float], Sequence[float]], Outcome[Correlation]],
    compat: Compat,
) -> Outcome[PerPrompt]:
    values: list[float] = []
    undefined = 0
    for prompt in sorted(scores.keys() & ratings.keys()):
        models = sorted(scores[prompt].keys() & ratings[prompt].keys())
        found = measure(
            [scores[prompt][name] for name in models], [ratings[prompt][name] for name in models]
        )
        if found.ok:
            values.append(found.unwrap().value)
        else:
            undefined += 1
            if compat is Compat.UPSTREAM:
                values.append(0.0)
    if not values:
        message = f"not one of {undefined} prompts has a correlation"
        return Outcome.failed(Reason.NOT_APPLICABLE, message)
    interval = mean_interval(values) if len(values) > 2 and np.ptp(values) > 0 else None
    defined = len(values) if compat is Compat.STRICT else len(values) - undefined
    return Outcome.of(PerPrompt(float(np.mean(values)), interval, defined, undefined))
