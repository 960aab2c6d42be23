"""Does the judge say what people say? And does it favour its own kind?

A share of what was judged is drawn and rated by people, several each, who do not see the
judge's points. Judge and people agree on a value where the judge lies within a tolerance of the
people's median. Values of one video hang together, so intervals resample videos.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from screentest.core import NoValue, Outcome, Reason
from screentest.stats import (
    Interval,
    bootstrap_accuracy,
    bootstrap_mean,
    krippendorff,
    spearman,
    wilson,
)

Unit: TypeAlias = tuple[str, str]
"""An item and the name of a value."""
Scores: TypeAlias = Mapping[Unit, float]
Votes: TypeAlias = Mapping[Unit, Sequence[float]]


@dataclass(frozen=True, slots=True)
class Agreement:
    """A judge beside people."""

    units: int
    agreeing: int
    within: Interval
    """Of the share that agrees; from resampling items."""
    wilson: Interval
    """The same as if every value stood for itself."""
    bias: float
    """The judge less the people, on average: above 0, it is too kind."""
    bias_interval: Interval | None
    """None where all values are of one item."""
    rank: Outcome[float]
    """Spearman's correlation of judge and median."""
    people: Outcome[float]
    """Krippendorff's alpha of the people among themselves, interval level."""
    with_judge: Outcome[float]
    """The same with the judge as one rater more."""
    votes_each: float

    @property
    def share(self) -> float:
        """The share of values on which judge and people agree."""
        return self.agreeing / self.units


@dataclass(frozen=True, slots=True)
class SelfPreference:
    """How much kinder a judge is to its own than others are, beyond how kind it is to all."""

    judge: str
    own: str
    """The model whose results are its own."""
    value: float
    interval: Interval | None
    """Welch's, over items; None where there are too few."""
    own_items: int
    other_items: int


def draw_sample(items: Sequence[str], share: float, *, seed: int = 7) -> list[str]:
    """A share of the items, one at least, the same for the same seed whatever their order.

    >>> len(draw_sample([f"case {n}" for n in range(40)], 0.1))
    4
    """
    if not 0 < share <= 1:
        raise ValueError(f"{share} is no share of a sample")
    listed = sorted(set(items))
    if not listed:
        return []
    count = max(1, math.ceil(len(listed) * share - 1e-9))
    return sorted(random.Random(seed).sample(listed, count))


def agree(judge: Scores, votes: Votes, *, tolerance: float, seed: int = 0) -> Agreement:
    """Compare a judge with people on the values that both gave."""
    units = sorted(unit for unit in votes if unit in judge and votes[unit])
    if not units:
        raise NoValue(
            Reason.NOT_APPLICABLE,
            "no value has both the judge's points and a vote",
            advice="Names of items and values in the votes must be those of the run.",
        )
    medians = {unit: statistics.median(votes[unit]) for unit in units}
    same = {unit: float(abs(judge[unit] - medians[unit]) <= tolerance + 1e-9) for unit in units}
    differences = {unit: judge[unit] - medians[unit] for unit in units}
    agreeing = round(sum(same.values()))
    rated = [list(votes[unit]) for unit in units]
    ranks = spearman([judge[unit] for unit in units], [medians[unit] for unit in units])
    return Agreement(
        units=len(units),
        agreeing=agreeing,
        within=bootstrap_accuracy(list(same.values()), [item for item, _ in units], seed=seed),
        wilson=wilson(agreeing, len(units)),
        bias=statistics.fmean(differences.values()),
        bias_interval=_over_items(differences, seed),
        rank=ranks.map(lambda found: found.value),
        people=krippendorff(rated, level="interval"),
        with_judge=krippendorff([[*votes[unit], judge[unit]] for unit in units], level="interval"),
        votes_each=statistics.fmean(len(one) for one in rated),
    )


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
    found = []
    for name, maker in own.items():
        gaps = _gaps(name, judges, people)
        mine = [gap for item, gap in gaps.items() if makers.get(item) == maker]
        rest = [gap for item, gap in gaps.items() if makers.get(item, maker) != maker]
        if not mine or not rest:
            lacking = "its own" if not mine else "any other"
            raise NoValue(
                Reason.NOT_APPLICABLE,
                f"{name} has judged no result of {lacking} model beside others",
                advice="Votes, or a second judge, must cover results of both kinds.",
            )
        value = statistics.fmean(mine) - statistics.fmean(rest)
        found.append(SelfPreference(name, maker, value, _welch(mine, rest), len(mine), len(rest)))
    return found


def _gaps(name: str, judges: Mapping[str, Scores], people: Votes | None) -> dict[str, float]:
    """By item: how much more the judge gives than the others, over its values."""
    by_item: dict[str, list[float]] = {}
    for unit, score in judges[name].items():
        if people is not None:
            others = list(people.get(unit, ()))
        else:
            others = [one[unit] for judge, one in judges.items() if judge != name and unit in one]
        if others:
            by_item.setdefault(unit[0], []).append(score - statistics.fmean(others))
    return {item: statistics.fmean(gaps) for item, gaps in by_item.items()}


def _over_items(values: Mapping[Unit, float], seed: int) -> Interval | None:
    items = [item for item, _ in values]
    if len(set(items)) < 2:
        return None
    return bootstrap_mean(list(values.values()), items, seed=seed)


def _welch(mine: list[float], rest: list[float]) -> Interval | None:
    """Welch's interval of a difference of means; None where one side has no spread to go by."""
    if min(len(mine), len(rest)) < 2 or max(statistics.stdev(mine), statistics.stdev(rest)) == 0:
        return None
    from scipy.stats import ttest_ind

    found = ttest_ind(mine, rest, equal_var=False).confidence_interval(0.95)
    return Interval(float(found.low), float(found.high))
