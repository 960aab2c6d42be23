"""Pairs needed for a difference, the difference that pairs can show, filtered pairs.

Two systems on the same pairs differ only through the pairs on which one is right and the
other wrong. Their share is the discordance ψ; the difference of accuracies δ is what is left
when those for and against cancel. The formula is Connor's (1987) for McNemar's test, with 1/δ
pairs more because the exact test moves in whole pairs, which costs it about one of them.

>>> sample_size(0.05, discordance=0.30)
960
>>> round(detectable_difference(960, discordance=0.30), 3)
0.05
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import NormalDist

from screentest.core import NoValue, Reason
from screentest.stats.arrays import Labels, Numbers, proportion, some
from screentest.stats.intervals import by_source, critical

POWER = 0.8
LEVEL = 0.05


def sample_size(
    difference: float,
    *,
    discordance: float,
    power: float = POWER,
    level: float = LEVEL,
    design_effect: float = 1.0,
) -> int:
    """Pairs needed to find ``difference`` with probability ``power``.

    ``design_effect`` is by how much clusters inflate the variance: 1 for one pair per source.
    """
    if design_effect <= 0:
        raise ValueError(f"invalid design effect {design_effect}")
    return math.ceil(design_effect * _pairs(difference, discordance, power, level) - 1e-9)


def detectable_difference(
    pairs: int,
    *,
    discordance: float,
    power: float = POWER,
    level: float = LEVEL,
    design_effect: float = 1.0,
) -> float:
    """Return the smallest difference that ``pairs`` find with probability ``power``.

    Raises NoValue where even the largest possible difference would be missed too often.
    """
    if pairs < 1 or design_effect <= 0:
        raise ValueError(f"invalid {pairs} pairs with a design effect of {design_effect}")
    effective = pairs / design_effect
    if _pairs(discordance, discordance, power, level) > effective:
        raise NoValue(
            Reason.NOT_APPLICABLE,
            f"{pairs} pairs are too few to find any difference at this discordance",
            advice="Add pairs, or accept a lower power.",
        )
    from scipy.optimize import brentq

    def excess(difference: float) -> float:
        return _pairs(difference, discordance, power, level) - effective

    return float(brentq(excess, 1e-9, discordance, xtol=1e-12))


def design_effect(values: Numbers, sources: Labels) -> float:
    """By how much the variance of a mean grows because values of one source resemble.

    >>> design_effect([1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0], list("aabbccddeeff")) > 2
    True
    """
    array = some(values)
    sums, sizes = by_source(array, sources)
    spread = float(array.var(ddof=1)) if array.size > 1 else 0.0
    if sums.size < 2 or spread == 0:
        raise NoValue(
            Reason.NOT_APPLICABLE,
            "values that do not vary, or of one source, have no design effect",
        )
    pull = sums - array.mean() * sizes
    clustered = sums.size / (sums.size - 1) * float(pull @ pull) / array.size**2
    return clustered / (spread / array.size)


def expected_discordance(first_accuracy: float, second_accuracy: float) -> float:
    """Return the discordance of two systems that err independently of each other.

    Real systems stumble over the same pairs, so this is a cautious guess where none is known.

    >>> round(expected_discordance(0.8, 0.7), 2)
    0.38
    """
    for accuracy in (first_accuracy, second_accuracy):
        if not 0 <= accuracy <= 1:
            raise ValueError(f"invalid accuracy {accuracy}: must be in [0, 1]")
    return first_accuracy * (1 - second_accuracy) + second_accuracy * (1 - first_accuracy)


def _pairs(difference: float, discordance: float, power: float, level: float) -> float:
    size = abs(difference)
    if not 0 < size <= discordance <= 1:
        raise ValueError(
            f"a difference of {difference} cannot come from {discordance:.0%} discordant pairs"
        )
    sure = critical(1 - proportion(level, "level"))
    strong = NormalDist().inv_cdf(proportion(power, "power"))
    spread = math.sqrt(discordance - size * size)
    plain = (sure * math.sqrt(discordance) + strong * spread) ** 2 / (size * size)
    return plain + 1 / size


# Which degraded pairs people confirm, by the filter of the SLVMEval paper's appendix A.5.

CLEAR, WEAK, FAILED = "A", "B", "C"
"""The degradation succeeded in all chosen clips; in some, or weakly; in none."""


@dataclass(frozen=True, slots=True)
class Retention:
    """One row of the paper's Table 3."""

    initial: int
    failed: int
    """Left out because someone said C."""
    weak: int
    """Left out because A did not outnumber B."""

    def __post_init__(self) -> None:
        if min(self.failed, self.weak) < 0 or self.failed + self.weak > self.initial:
            raise ValueError(
                f"cannot leave {self.failed} and {self.weak} out of {self.initial} pairs"
            )

    @property
    def final(self) -> int:
        """Pairs that stay."""
        return self.initial - self.failed - self.weak

    @property
    def rate(self) -> float | None:
        """The share that stays; None where there was nothing to begin with."""
        return self.final / self.initial if self.initial else None

    def __add__(self, other: Retention) -> Retention:
        return Retention(
            self.initial + other.initial, self.failed + other.failed, self.weak + other.weak
        )

    def __str__(self) -> str:
        rate = f" ({self.rate:.1%})" if self.rate is not None else ""
        return f"{self.final} of {self.initial} kept{rate}"


@dataclass(frozen=True, slots=True)
class FilteredPairs:
    """Pairs by what became of them, each in the order of their ids."""

    kept: tuple[str, ...]
    failed: tuple[str, ...]
    weak: tuple[str, ...]

    @property
    def retention(self) -> Retention:
        """Counts of those that stayed."""
        initial = len(self.kept) + len(self.failed) + len(self.weak)
        return Retention(initial, len(self.failed), len(self.weak))


def filter_pairs(answers: Mapping[str, Iterable[str]]) -> FilteredPairs:
    """Keep a pair iff nobody said C and more said A than B.

    A pair that nobody rated is not confirmed, so it counts as weak.

    >>> kept = filter_pairs({"p1": "AAAAB", "p2": "AAAAC", "p3": "ABBBA"})
    >>> kept.kept, kept.failed, kept.weak
    (('p1',), ('p2',), ('p3',))
    >>> print(kept.retention)
    1 of 3 kept (33.3%)
    """
    places: dict[str, list[str]] = {CLEAR: [], WEAK: [], FAILED: []}
    for pair in sorted(answers):
        counts = Counter(answers[pair])
        unknown = counts.keys() - {CLEAR, WEAK, FAILED}
        if unknown:
            raise ValueError(f"{sorted(unknown)[0]!r} on {pair} is none of A, B and C")
        if counts[FAILED] > 0:
            places[FAILED].append(pair)
        else:
            places[CLEAR if counts[CLEAR] > counts[WEAK] else WEAK].append(pair)
    return FilteredPairs(tuple(places[CLEAR]), tuple(places[FAILED]), tuple(places[WEAK]))
