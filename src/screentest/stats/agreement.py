"""How far raters agree beyond chance.

Ratings are given unit by unit: each unit is the list of what its raters said. A rating that
is missing is simply not in the list.

>>> round(krippendorff([[1, 1], [2, 2], [1, 2], [2, 2]], level="nominal").unwrap(), 3)
0.533
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from screentest.core import NoValue, Outcome, Reason
from screentest.stats.aggregate import micro_mean
from screentest.stats.arrays import Floats
from screentest.stats.intervals import Interval, bootstrap_accuracy

Units: TypeAlias = Sequence[Sequence[Hashable]]
Level: TypeAlias = Literal["nominal", "ordinal", "interval"]


def krippendorff(units: Units, *, level: Level = "nominal") -> Outcome[float]:
    """Krippendorff's α: 1 is full agreement, 0 what chance gives; any raters, gaps allowed.

    ``ordinal`` and ``interval`` need numbers. Units with fewer than two ratings say nothing
    about agreement and are left out.
    """
    rated = [list(unit) for unit in units if len(unit) >= 2]
    if not rated:
        return _undefined("no unit has two ratings")
    categories = _categories(rated, level)
    if len(categories) < 2:
        return _undefined("all ratings are the same, so chance would agree as well")
    place = {category: number for number, category in enumerate(categories)}
    coincidences = np.zeros((len(categories), len(categories)))
    for unit in rated:
        counts = np.bincount([place[rating] for rating in unit], minlength=len(categories))
        pairs = np.outer(counts, counts) - np.diag(counts)
        coincidences += pairs / (len(unit) - 1)
    totals = coincidences.sum(axis=1)
    distance = _distances(categories, totals, level)
    observed = float((coincidences * distance).sum())
    expected = float((np.outer(totals, totals) * distance).sum()) / float(totals.sum() - 1)
    return Outcome.of(1 - observed / expected)


def fleiss(units: Units) -> Outcome[float]:
    """Fleiss' κ of equally many raters per unit, who need not be the same people."""
    if not units or len(units[0]) < 2:
        return _undefined("no unit has two ratings")
    raters = len(units[0])
    if any(len(unit) != raters for unit in units):
        return _undefined(
            "units have unequally many ratings", "Use Krippendorff's alpha, which allows it."
        )
    counts = [Counter(unit) for unit in units]
    agreed = sum(n * (n - 1) for unit in counts for n in unit.values())
    observed = agreed / (len(units) * raters * (raters - 1))
    pooled = sum(counts, Counter[Hashable]())
    ratings = len(units) * raters
    chance = sum((n / ratings) ** 2 for n in pooled.values())
    if len(pooled) < 2:
        return _undefined("all ratings are the same, so chance would agree as well")
    return Outcome.of((observed - chance) / (1 - chance))


def cohen(first: Sequence[Hashable], second: Sequence[Hashable]) -> Outcome[float]:
    """Cohen's κ of two raters who rated the same units."""
    if len(first) != len(second):
        raise ValueError(f"cannot pair {len(first)} ratings with {len(second)}")
    if not first:
        return _undefined("no unit has two ratings")
    n = len(first)
    observed = sum(one == other for one, other in zip(first, second, strict=True)) / n
    left, right = Counter(first), Counter(second)
    chance = sum(left[rating] * right[rating] for rating in left) / (n * n)
    if len(left.keys() | right.keys()) < 2:
        return _undefined("all ratings are the same, so chance would agree as well")
    return Outcome.of((observed - chance) / (1 - chance))


@dataclass(frozen=True, slots=True)
class PercentAgreement:
    """The share of pairs of raters who say the same, averaged over units."""

    value: float
    interval: Interval
    """Bootstrap over units, since ratings of one unit are not independent."""
    units: int


def percent_agreement(units: Units, *, seed: int = 0) -> PercentAgreement:
    """Plain agreement; read it beside κ or α, since chance alone can make it high."""
    shares = [
        sum(n * (n - 1) for n in Counter(unit).values()) / (len(unit) * (len(unit) - 1))
        for unit in units
        if len(unit) >= 2
    ]
    if not shares:
        raise NoValue(Reason.NOT_APPLICABLE, "no unit has two ratings")
    value = micro_mean(shares)
    interval = bootstrap_accuracy(shares, seed=seed).holding(value)
    return PercentAgreement(value, interval, len(shares))


def _categories(rated: list[list[Hashable]], level: Level) -> Sequence[Hashable]:
    found = {rating for unit in rated for rating in unit}
    if level == "nominal":
        return sorted(found, key=lambda rating: (str(type(rating)), str(rating)))
    numbers = [rating for rating in found if isinstance(rating, int | float)]
    if len(numbers) < len(found) or not np.isfinite(numbers).all():
        raise ValueError(f"{level} agreement needs ratings that are finite numbers")
    return sorted(numbers)


def _distances(categories: Sequence[Hashable], totals: Floats, level: Level) -> Floats:
    size = len(categories)
    if level == "nominal":
        return 1 - np.eye(size)
    if level == "interval":
        values = np.array(categories, dtype=np.float64)
    else:
        # An ordinal step is as wide as the ratings on it.
        values = np.cumsum(totals) - totals / 2
    return np.subtract.outer(values, values) ** 2


def _undefined(why: str, advice: str = "") -> Outcome[float]:
    return Outcome.failed(Reason.NOT_APPLICABLE, why, advice)
