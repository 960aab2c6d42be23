"""Films until a judge is found, and the accuracy that so many films find.

A claim has to beat chance, and each kind of placebo by itself (:mod:`screentest.stats.claims`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from statistics import NormalDist

from screentest.stats.arrays import proportion
from screentest.stats.intervals import critical
from screentest.stats.power import LEVEL, POWER
from screentest.stats.signflip import fewest_sources

CHANCE = 0.5
COIN = 0.25
"""The variance of a film's placebo points where one placebo is answered by the toss of a coin."""
MOST_FILMS = 100_000


def films_needed(
    accuracy: float,
    *,
    level: float = LEVEL,
    power: float = POWER,
    noise: float = 0.0,
    kinds: int = 1,
) -> int:
    """Films, with one pair each, on which a judge of this accuracy is distinguished from chance.

    The smallest number from which on the exact sign test at ``level`` finds it with probability
    ``power``. The test moves in whole films, so its power rises like a saw: a number after
    which it falls below ``power`` once more is not enough.

    A claim has to beat the placebos, too. ``noise`` is the variance of a fair judge's points on the
    placebos of one film and kind: 0 where it ties on them, ``COIN`` where it tosses a coin on one.
    That comparison is McNemar's, and its films those of Connor's formula. Of several such ``kinds``
    each has to be beaten, so that each is missed in only so small a part of the certificates.

    >>> films_needed(0.9), films_needed(0.75), films_needed(0.6)
    (12, 35, 210)
    >>> films_needed(0.9, noise=COIN), films_needed(0.75, noise=COIN), films_needed(0.6, noise=COIN)
    (25, 67, 422)
    """
    if not 0.5 < accuracy <= 1:
        raise ValueError(f"invalid accuracy {accuracy}: must be in (0.5, 1]")
    if not 0 <= noise <= COIN:
        raise ValueError(f"invalid noise {noise}: must be in [0, {COIN}]")
    alone = _films_alone(accuracy, proportion(level, "level"), power)
    if not noise:
        return alone
    return max(alone, _films_beside(accuracy, level, power, noise, kinds))


@cache
def _films_beside(accuracy: float, level: float, power: float, noise: float, kinds: int) -> int:
    """Films on which so many kinds of placebo are beaten, and chance as well."""
    gap, square = accuracy - CHANCE, COIN + noise
    subset = films_beyond(gap, square, level, power_of_each(power, kinds))
    # Where chance is not told, the placebos are beaten in vain.
    missed = min((1 - power) / 2, 1 - found(accuracy, subset, level))
    return films_beyond(gap, square, level, power_of_each(power + missed, kinds))


def power_of_each(power: float, kinds: int) -> float:
    """Power that each of several tests needs for all to succeed with this power, at the worst."""
    if kinds < 1:
        raise ValueError(f"invalid number of kinds {kinds}: must be at least 1")
    return 1 - (1 - power) / kinds


@cache
def _films_alone(accuracy: float, level: float, power: float) -> int:
    enough = next(count for count in _doubling() if found(accuracy, count, level) >= power)
    # The teeth of the saw are short against the doubling, so none is beyond twice the number.
    weak = [count for count in range(1, 2 * enough) if found(accuracy, count, level) < power]
    return max(weak, default=0) + 1


def films_beyond(gap: float, square: float, level: float, power: float) -> int:
    """Films until the sign-flip test finds a mean of ``gap``, the mean square being ``square``.

    Connor's formula, with 1/gap films more because the test moves in whole films.
    """
    strong = NormalDist().inv_cdf(proportion(power, "power"))
    spread = math.sqrt(max(0.0, square - gap * gap))
    plain = (critical(1 - level) * math.sqrt(square) + strong * spread) ** 2 / (gap * gap)
    return max(fewest_sources(level), math.ceil(plain + 1 / gap - 1e-9))


def found(accuracy: float, films: int, level: float = LEVEL) -> float:
    """Return the chance that the exact test at ``level`` tells a judge of this accuracy from
    chance.

    >>> round(found(0.9, 12), 2), found(1.0, 5)
    (0.89, 0.0)
    """
    from scipy.stats import binom

    # The fewest right answers that are too many for chance, two-sided.
    fewest = int(binom.isf(level / 2, films, CHANCE)) + 1
    return float(binom.sf(fewest - 1, films, accuracy))


@cache
def smallest_found(
    films: int,
    *,
    level: float = LEVEL,
    power: float = POWER,
    noise: float = 0.0,
    kinds: int = 1,
) -> float | None:
    """Return the lowest accuracy, in whole per cent, that so many films tell from chance.

    None where not even a judge that is always right is found: that takes six films at the least.
    ``noise`` is that of the placebos, of so many ``kinds``, which it has to beat as well.

    >>> smallest_found(12), smallest_found(35), smallest_found(5), smallest_found(35, noise=COIN)
    (0.87, 0.74, None, 0.84)
    """

    def is_found(accuracy: float) -> bool:
        if found(accuracy, films, level) < power:
            return False
        return not noise or _films_beside(accuracy, level, power, noise, kinds) <= films

    accuracies = (percent / 100 for percent in range(51, 101))
    return next((item for item in accuracies if films and is_found(item)), None)


def _doubling() -> Sequence[int]:
    return [2**step for step in range(MOST_FILMS.bit_length())]
