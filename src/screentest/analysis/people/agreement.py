"""Agreement of scores with people, whatever the votes are.

Marks of several raters for each value (:func:`score_agreement`), marks of several models for each
prompt (:func:`prompt_correlation`), answers to questions (:func:`answers_alike`). Values of one
video or prompt hang together, so intervals are over videos or prompts.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from screentest.core import NoValue, Outcome, Reason, attempt
from screentest.stats import (
    Correlation,
    Difference,
    Interval,
    bootstrap_mean,
    krippendorff,
    mean_interval,
    paired_difference,
    share_interval,
    spearman,
    wilson,
)

Unit: TypeAlias = tuple[str, str]
"""An item and the name of a value."""
Scores: TypeAlias = Mapping[Unit, float]
Votes: TypeAlias = Mapping[Unit, Sequence[float]]
Ratings: TypeAlias = Mapping[str, Mapping[str, float]]
"""Prompt → model → a number, higher is better."""
Measure: TypeAlias = Callable[[Sequence[float], Sequence[float]], Outcome[Correlation]]


@dataclass(frozen=True, slots=True)
class Share:
    """A share of points with its interval."""

    value: float
    interval: Interval
    n: int


def share_of(points: Sequence[float], clusters: Sequence[str]) -> Share:
    """Return the share of points, with an interval over clusters."""
    return Share(sum(points) / len(points), share_interval(points, clusters), len(points))


def answers_alike(ours: Mapping[str, bool], people: Mapping[str, bool]) -> Outcome[Share]:
    """Return the share of questions that both answer alike, by the questions' names.

    >>> answers_alike({"q1": True, "q2": False, "q3": True}, {"q1": True, "q2": True}).value.value
    0.5
    """
    both = ours.keys() & people.keys()
    if not both:
        return Outcome.failed(Reason.NOT_APPLICABLE, "no question has both answers")
    same = sum(ours[name] == people[name] for name in both)
    return Outcome.of(Share(same / len(both), wilson(same, len(both)), len(both)))


# Marks of several raters for each value.


@dataclass(frozen=True, slots=True)
class ScoreAgreement:
    """A judge beside raters."""

    within: Share
    """Of values, those on which the judge is within the tolerance of the raters' median."""
    wilson: Interval
    """Of the same share, as if every value stood for itself."""
    bias: float
    """The judge less the median, on average: above 0, it is too kind."""
    bias_interval: Interval | None
    """None where all values are of one item."""
    rank: Outcome[float]
    """Spearman's correlation of judge and median."""
    people: Outcome[float]
    """Krippendorff's alpha of the raters, interval level."""
    with_judge: Outcome[float]
    """The same with the judge as one rater more."""
    votes_each: float


def score_agreement(
    judge: Scores, votes: Votes, *, tolerance: float, seed: int = 0
) -> ScoreAgreement:
    """Compare a judge with raters on the values that both have."""
    units = sorted(unit for unit in votes if unit in judge and votes[unit])
    if not units:
        raise NoValue(
            Reason.NOT_APPLICABLE,
            "no value has both the judge's points and a vote",
            advice="Names of items and values in the votes must be those of the run.",
        )
    items = [item for item, _ in units]
    scores = [judge[unit] for unit in units]
    rated = [list(votes[unit]) for unit in units]
    medians = [statistics.median(marks) for marks in rated]
    gaps = [score - median for score, median in zip(scores, medians, strict=True)]
    same = [float(abs(gap) <= tolerance + 1e-9) for gap in gaps]
    return ScoreAgreement(
        within=share_of(same, items),
        wilson=wilson(round(sum(same)), len(units)),
        bias=statistics.fmean(gaps),
        bias_interval=attempt(lambda: bootstrap_mean(gaps, items, seed=seed)).value,
        rank=spearman(scores, medians).map(lambda result: result.value),
        people=krippendorff(rated, level="interval"),
        with_judge=krippendorff(
            [[*marks, score] for marks, score in zip(rated, scores, strict=True)], level="interval"
        ),
        votes_each=statistics.fmean(map(len, rated)),
    )


@dataclass(frozen=True, slots=True)
class SelfPreference:
    """Kindness of a judge to its own results, beyond that of others and that to all."""

    judge: str
    own: str
    """The model whose results are its own."""
    value: float
    interval: Interval | None
    """Welch's, over items; None where there are too few."""
    own_items: int
    other_items: int


def self_preference(
    judges: Mapping[str, Scores],
    makers: Mapping[str, str],
    own: Mapping[str, str],
    people: Votes | None = None,
) -> list[SelfPreference]:
    """By judge: (judge − others) on its own results, less the same on all other results.

    ``makers`` has the model that made each item, ``own`` the model of each judge. The others
    are the people where there are votes, else all other judges.
    """
    result = []
    for name, maker in own.items():
        by_item: dict[str, list[float]] = {}
        for unit, score in judges[name].items():
            others = list((people or {}).get(unit, ()))
            if people is None:
                others = [
                    judge[unit] for each, judge in judges.items() if each != name and unit in judge
                ]
            if others:
                by_item.setdefault(unit[0], []).append(score - statistics.fmean(others))
        gaps = {item: statistics.fmean(values) for item, values in by_item.items()}
        mine = [gap for item, gap in gaps.items() if makers.get(item) == maker]
        rest = [gap for item, gap in gaps.items() if makers.get(item, maker) != maker]
        if not mine or not rest:
            raise NoValue(
                Reason.NOT_APPLICABLE,
                f"{name} has judged no result of {'any other' if mine else 'its own'} model beside"
                " others",
                advice="Votes, or a second judge, must cover results of both kinds.",
            )
        value = statistics.fmean(mine) - statistics.fmean(rest)
        result.append(SelfPreference(name, maker, value, _welch(mine, rest), len(mine), len(rest)))
    return result


def _welch(mine: list[float], rest: list[float]) -> Interval | None:
    """Welch's interval of a difference of means; None where one side has no spread to go by."""
    if min(len(mine), len(rest)) < 2 or max(statistics.stdev(mine), statistics.stdev(rest)) == 0:
        return None
    from scipy.stats import ttest_ind

    ends = ttest_ind(mine, rest, equal_var=False).confidence_interval(0.95)
    return Interval(float(ends.low), float(ends.high))


# Marks of several models for each prompt.


@dataclass(frozen=True, slots=True)
class PromptCorrelation:
    """The mean of the prompts' correlations."""

    mean: float
    interval: Interval | None
    """Over prompts; None where there are too few."""
    defined: int
    undefined: int
    """Prompts whose numbers are all equal on one side, or too few to correlate."""


def prompt_correlation(
    scores: Ratings, ratings: Ratings, measure: Measure, *, zeros: bool = False
) -> Outcome[PromptCorrelation]:
    """Correlate each prompt over the models that both rated, and average.

    A prompt whose numbers are all equal on one side has no correlation and is left out; with
    ``zeros`` it counts as 0, which pulls every average towards 0.
    """
    result = _by_prompt(scores, ratings, measure)
    defined = [value for value in result.values() if value is not None]
    undefined = len(result) - len(defined)
    values = [*defined, *[0.0] * undefined] if zeros else defined
    if not values:
        return Outcome.failed(
            Reason.NOT_APPLICABLE, f"not one of {undefined} prompts has a correlation"
        )
    ends = mean_interval(values) if len(values) > 2 and np.ptp(values) > 0 else None
    interval = ends and Interval(max(-1.0, ends.low), min(1.0, ends.high))
    return Outcome.of(PromptCorrelation(float(np.mean(values)), interval, len(defined), undefined))


def closer_to_people(
    first: Ratings, second: Ratings, ratings: Ratings, measure: Measure, *, zeros: bool = False
) -> Outcome[Difference]:
    """By how much the first correlates better with people, over the prompts that both have.

    With ``zeros`` a prompt without a correlation counts as 0 on its side.
    """
    item, other = (_by_prompt(scores, ratings, measure) for scores in (first, second))
    both = [
        (item[name], other[name])
        for name in item
        if name in other and (zeros or None not in (item[name], other[name]))
    ]
    if not both:
        return Outcome.failed(Reason.NOT_APPLICABLE, "no prompt has both correlations")
    return Outcome.of(
        paired_difference([left or 0.0 for left, _ in both], [right or 0.0 for _, right in both])
    )


def _by_prompt(scores: Ratings, ratings: Ratings, measure: Measure) -> dict[str, float | None]:
    result: dict[str, float | None] = {}
    for prompt in sorted(scores.keys() & ratings.keys()):
        models = sorted(scores[prompt].keys() & ratings[prompt].keys())
        sides = ([side[prompt][name] for name in models] for side in (scores, ratings))
        outcome = measure(*sides)
        result[prompt] = outcome.value.value if outcome.value is not None else None
    return result
