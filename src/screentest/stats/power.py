"""Pairs and films needed, the accuracy that films can show, filtered pairs.

Two systems on the same pairs differ only through the pairs on which one is right and the
other wrong. Their share is the discordance ψ; the difference of accuracies δ is what is left
when those for and against cancel. The formula is Connor's (1987) for McNemar's test, with 1/δ
pairs more because the exact test moves in whole pairs, which costs it about one of them.

>>> sample_size(0.05, discordance=0.30)
960
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist

from screentest.core import NoValue, Reason
from screentest.stats.arrays import Labels, Numbers, proportion, some
from screentest.stats.intervals import by_source, critical
from screentest.stats.signflip import LEVEL, POWER, fewest_sources


def sample_size(
    difference: float, *, discordance: float, power: float = POWER, design_effect: float = 1.0
) -> int:
    """Pairs needed to find ``difference`` with probability ``power``.

    ``design_effect`` is by how much clusters inflate the variance: 1 for one pair per source.
    """
    if design_effect <= 0:
        raise ValueError(f"invalid design effect {design_effect}")
    size = abs(difference)
    if not 0 < size <= discordance <= 1:
        raise ValueError(
            f"a difference of {difference} cannot come from {discordance:.0%} discordant pairs"
        )
    return math.ceil(design_effect * _connor(size, discordance, LEVEL, power) - 1e-9)


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


def _connor(gap: float, square: float, level: float, power: float) -> float:
    """Connor's formula for a mean of ``gap`` of points whose mean square is ``square``."""
    strong = NormalDist().inv_cdf(proportion(power, "power"))
    spread = math.sqrt(max(0.0, square - gap * gap))
    plain = (critical(1 - level) * math.sqrt(square) + strong * spread) ** 2 / (gap * gap)
    return plain + 1 / gap


# Films until a judge is found, and the accuracy that so many films find. A claim has to beat
# chance, and each kind of placebo by itself (:mod:`screentest.stats.claims`).

CHANCE = 0.5
COIN = 0.25
"""The variance of a film's placebo points where one placebo is answered by the toss of a coin."""
MOST_FILMS = 100_000


def films_needed(accuracy: float, *, level: float = LEVEL, noise: float = 0.0) -> int:
    """Films, with one pair each, on which a judge of this accuracy is distinguished from chance.

    The smallest number from which on the exact sign test at ``level`` finds it four times in
    five. The test moves in whole films, so its power rises like a saw: a number after which it
    falls below that once more is not enough.

    A claim has to beat the placebos, too. ``noise`` is the variance of a fair judge's points on the
    placebos of one film and kind: 0 where it ties on them, ``COIN`` where it tosses a coin on one.
    That comparison is McNemar's, and its films those of Connor's formula. Two of them are asked
    for: of kinds that it tosses coins on, about one is a bar of its own beside the mean.

    >>> films_needed(0.9), films_needed(0.75), films_needed(0.6)
    (12, 35, 210)
    >>> films_needed(0.9, noise=COIN), films_needed(0.75, noise=COIN), films_needed(0.6, noise=COIN)
    (31, 85, 536)
    """
    if not 0.5 < accuracy <= 1:
        raise ValueError(f"invalid accuracy {accuracy}: must be in (0.5, 1]")
    if not 0 <= noise <= COIN:
        raise ValueError(f"invalid noise {noise}: must be in [0, {COIN}]")
    alone = _films_alone(accuracy, proportion(level, "level"))
    return max(alone, _films_beside(accuracy, level, noise)) if noise else alone


@cache
def _films_beside(accuracy: float, level: float, noise: float) -> int:
    """Films on which the placebos are beaten, and chance as well."""
    gap, square = accuracy - CHANCE, COIN + noise
    subset = films_beyond(gap, square, level, power_of_both(POWER))
    # Where chance is not told, the placebos are beaten in vain.
    missed = min((1 - POWER) / 2, 1 - found(accuracy, subset, level))
    return films_beyond(gap, square, level, power_of_both(POWER + missed))


def power_of_both(power: float) -> float:
    """Power that each of two tests needs for both to succeed with this power, at the worst."""
    return 1 - (1 - power) / 2


@cache
def _films_alone(accuracy: float, level: float) -> int:
    doubling = [2**step for step in range(MOST_FILMS.bit_length())]
    enough = next(count for count in doubling if found(accuracy, count, level) >= POWER)
    # The teeth of the saw are short against the doubling, so none is beyond twice the number.
    weak = [count for count in range(1, 2 * enough) if found(accuracy, count, level) < POWER]
    return max(weak, default=0) + 1


def films_beyond(gap: float, square: float, level: float, power: float) -> int:
    """Films until the sign-flip test finds a mean of ``gap``, the mean square being ``square``.

    Connor's formula, with 1/gap films more because the test moves in whole films.
    """
    return max(fewest_sources(level), math.ceil(_connor(gap, square, level, power) - 1e-9))


def found(accuracy: float, films: int, level: float = LEVEL) -> float:
    """Return the power of the exact test at ``level`` for a judge of this accuracy.

    >>> round(found(0.9, 12), 2), found(1.0, 5)
    (0.89, 0.0)
    """
    from scipy.stats import binom

    # The fewest right answers that are too many for chance, two-sided.
    fewest = int(binom.isf(level / 2, films, CHANCE)) + 1
    return float(binom.sf(fewest - 1, films, accuracy))


@cache
def smallest_found(films: int, *, level: float = LEVEL, noise: float = 0.0) -> float | None:
    """Return the lowest accuracy, in whole per cent, that so many films tell from chance.

    None where not even a judge that is always right is found: that takes six films at the least.
    ``noise`` is that of the placebos, which it has to beat as well.

    >>> smallest_found(12), smallest_found(35), smallest_found(5), smallest_found(35, noise=COIN)
    (0.87, 0.74, None, 0.88)
    """

    def is_found(accuracy: float) -> bool:
        if found(accuracy, films, level) < POWER:
            return False
        return not noise or _films_beside(accuracy, level, noise) <= films

    accuracies = (percent / 100 for percent in range(51, 101))
    return next((item for item in accuracies if films and is_found(item)), None)


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
