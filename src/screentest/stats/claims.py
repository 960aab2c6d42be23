"""Claims: what may be said of a judge without a coin earning it.

The unit is the source film: pairs that were made of one film stand or fall together, and ten
of them are not ten witnesses. Of each group of pairs (an operator, or an aspect with all its
operators) one of four things is said:

- *sees*: the intact video is preferred more often than by chance, and more often than the judge
  prefers an untouched copy to an edited one in which nothing is wrong (its placebos);
- *prefers the harm*: the same, the other way round;
- *no better than chance*: neither, the interval holds chance, and the films are enough that a
  judge which is right in three of four would have been found by both tests;
- *cannot tell*: anything else, with why, and how many more films would settle it.

Both comparisons are sign-flip tests over films, exact for points of pairs; a claim needs both,
so its p-value is the larger one. The p-values of all groups of a certificate are corrected
together by Holm's method: a judge that chooses blindly earns any claim at all in at most one
certificate of twenty. ``bench/calibration.py`` measures that.

>>> right = {f"film {n}": 1.0 for n in range(12)}
>>> [one.words for one in claims([right, dict(list(right.items())[:4])])]
['sees', 'cannot tell: 18 more films are needed']
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from statistics import NormalDist

import numpy as np

from screentest.stats.arrays import Floats, proportion
from screentest.stats.intervals import Interval, critical, share_interval
from screentest.stats.paired import holm
from screentest.stats.power import LEVEL, POWER
from screentest.stats.signflip import fewest_sources, sign_flip_p

CHANCE = 0.5
WORTH_FINDING = 0.75
"""Half-way between chance and always right: a judge that is as good as that should be found."""
COIN = 0.25
"""The variance of a film's placebo points where one placebo is answered by the toss of a coin."""
_ANSWERED = 0.5
"""Of the films whose placebos a judge was put, those on which it must have an answer."""
_MOST_FILMS = 100_000


class Claim(StrEnum):
    """What is said of a judge on one group of pairs."""

    SEES = "sees"
    PREFERS_HARM = "prefers the harm"
    CHANCE = "no better than chance"
    CANNOT_TELL = "cannot tell"
    MIXED = "sees some, prefers others"
    """Of a family of operators: it sees them on the whole, but prefers the harm of some."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A claim with what it rests on."""

    claim: Claim
    films: int
    """Sources with an answer: the number of independent witnesses."""
    accuracy: float | None
    """The mean over films of the share of points; None where there are none."""
    p_value: float
    """The larger of those against chance and against the placebos, Holm's over all groups."""
    needed: int | None
    """Films, in all, on which a judge is found four times in five: one that is as good as this one
    seems, or right in three of four, whichever takes fewer. None: more films would not help."""
    placebo: float | None = None
    """How often the same films' untouched copies were preferred to harmless edits."""
    unit: str = "film"
    """What is counted in ``films``: with people's votes it is the prompt."""
    why: str = ""
    """Why nothing can be told, where it is not the number of films alone."""

    @property
    def more(self) -> int:
        """How many more films are needed before something can be said."""
        return max(0, (self.needed or 0) - self.films)

    @property
    def words(self) -> str:
        """The claim as a person reads it."""
        if not self.films:  # not even one answer: no number of films would help
            return "not tested"
        if self.claim is not Claim.CANNOT_TELL:
            return self.claim.value
        many = f"{self.more:,} more {self.unit}{'s are' if self.more != 1 else ' is'} needed"
        reasons = "; ".join(filter(None, [self.why, many if self.more else ""]))
        return f"{self.claim.value}: {reasons}" if reasons else self.claim.value


Points = Mapping[str, float]
"""By source film: the mean points that a judge earned on its pairs, ½ being chance."""
PlaceboPoints = Mapping[str, float | None]
"""The same of a film's placebos; None where they were put to the judge and it failed on all."""


def claims(
    groups: Sequence[Points],
    placebos: Sequence[PlaceboPoints] = (),
    *,
    intervals: Sequence[Interval | None] = (),
    level: float = LEVEL,
    unit: str = "film",
) -> list[Finding]:
    """One finding for each group, corrected together.

    ``placebos``, one for each group, are the points that the judge gave to untouched copies of the
    same films against harmless edits. A film without an answer there is no witness in that
    comparison; a judge that fails on most of those it was put earns no claim. ``intervals`` are
    those that are shown beside the claims; else they are computed from the points.
    """
    harmless = placebos or [{}] * len(groups)
    tests = [_Test.of(*both) for both in zip(groups, harmless, strict=True)]
    adjusted = holm([one.p_value for one in tests])
    beyond_chance = holm([one.p_chance for one in tests])
    shown = list(intervals) or [None] * len(groups)
    each = level / max(1, len(groups))
    findings = []
    for points, test, interval, p, told_from_chance in zip(
        groups, tests, shown, adjusted, beyond_chance, strict=True
    ):
        needed: int | None = test.enough(each)
        why = ""
        if p <= level and test.toward:
            claim = Claim.SEES if test.toward > 0 else Claim.PREFERS_HARM
        elif test.could_tell(each) and _is_chance(points, test, interval, level):
            claim = Claim.CHANCE
        else:
            claim = Claim.CANNOT_TELL
            needed, why = _unsettled(test, each, unit, told_from_chance <= level)
        mean = test.mean if points else None
        findings.append(Finding(claim, len(points), mean, p, needed, test.placebo, unit, why))
    return findings


def _is_chance(points: Points, test: _Test, shown: Interval | None, level: float) -> bool:
    """Whether neither the test, uncorrected, nor the interval speaks against chance."""
    if test.p_chance <= level:
        return False
    interval = share_interval(list(points.values()), list(points)) if shown is None else shown
    return interval.low <= CHANCE <= interval.high


def _unsettled(test: _Test, level: float, unit: str, beyond: bool) -> tuple[int | None, str]:
    """How many films would settle it, and why it is open; ``beyond``: it is told from chance."""
    count = test.against_chance.size
    bar = "placebo" if unit == "film" else "control"
    answered = test.against_placebo.size
    if test.failed and not answered:
        return None, f"the judge has no answer on any {bar}"
    if test.failed or (answered < count and not test.could_tell(level)):
        return None, f"only {answered:,} of {count:,} {unit}s have an answer on a {bar}"
    seen = test.needed_as_seen(level)
    if beyond and test.placebo is not None:
        both = f"{100 * test.mean:.0f}% against {100 * test.placebo:.0f}%"
        return seen, f"not told from its {bar}{'s' * (unit == 'film')} ({both})"
    # What a judge of 75% would need is of no help to one that had as many.
    enough = None if test.could_tell(level) else test.enough(level)
    needed = min((one for one in (seen, enough) if one and one > count), default=None)
    open_ = needed is None and count
    return needed, "its interval leaves chance out, the corrected test does not" if open_ else ""


@dataclass(frozen=True, slots=True)
class _Test:
    """Both comparisons of one group."""

    against_chance: Floats
    against_placebo: Floats
    """Of the films that have an answer on a placebo; of all, where none was put to the judge."""
    toward: int
    """Which way the judge leans; 0 where the two disagree."""
    p_chance: float
    p_value: float
    placebo: float | None
    noise: float
    """The variance of a film's points on placebos."""
    failed: bool
    """Placebos were put to the judge, and it has an answer on too few films."""

    @classmethod
    def of(cls, points: Points, placebos: PlaceboPoints) -> _Test:
        films = sorted(points)
        chance = np.array([points[film] - CHANCE for film in films])
        asked = [film for film in films if film in placebos]
        fair = [one for film in asked if (one := placebos[film]) is not None]
        if not asked:
            beyond = chance
        else:
            both = [film for film in asked if placebos[film] is not None]
            beyond = np.array([points[film] for film in both]) - np.array(fair)
        leanings = {_sign(float(one.sum())) for one in (chance, beyond)}
        toward = leanings.pop() if len(leanings) == 1 else 0
        p_chance = sign_flip_p(chance)
        # Who fails where it would be unfair must not be judged by where it does not.
        failed = len(fair) < _ANSWERED * len(asked)
        p_value = max(p_chance, sign_flip_p(beyond)) if toward and not failed else 1.0
        mean = sum(fair) / len(fair) if fair else None
        noise = float(np.var(fair)) if fair else 0.0
        return cls(chance, beyond, toward, p_chance, p_value, mean, noise, failed)

    @property
    def mean(self) -> float:
        """The mean points of a film."""
        return CHANCE + float(self.against_chance.mean()) if self.against_chance.size else CHANCE

    def enough(self, level: float) -> int:
        """Films on which a judge that is right in three of four is found beside such placebos."""
        return films_needed(WORTH_FINDING, level=level, noise=round(self.noise, 3))

    def could_tell(self, level: float) -> bool:
        """Whether the films are enough for such a judge, in both comparisons."""
        fewer = min(self.against_chance.size, self.against_placebo.size)
        return not self.failed and fewer >= self.enough(level)

    def needed_as_seen(self, level: float) -> int | None:
        """Films on which this judge would be found: as if one film more had been right, and one
        more wrong, since few films that agree are no proof that all others would."""
        if not self.toward or self.failed:
            return None
        needed = 0
        for seen in (self.against_chance, self.against_placebo):
            found = np.append(seen, (CHANCE, -CHANCE))
            gap, square = abs(float(found.mean())), float(np.mean(found**2))
            if gap < 1e-6 or (many := _films_beyond(gap, square, level, POWER)) > _MOST_FILMS:
                return None
            needed = max(needed, many)
        return needed


def _sign(value: float) -> int:
    return 0 if abs(value) < 1e-9 else 1 if value > 0 else -1


# How many films it takes.


def films_needed(
    accuracy: float, *, level: float = LEVEL, power: float = POWER, noise: float = 0.0
) -> int:
    """Films, with one pair each, on which a judge of this accuracy is told from chance.

    The smallest number from which on the exact sign test at ``level`` finds it with probability
    ``power``. The test moves in whole films, so its power rises like a saw: a number after
    which it falls below ``power`` once more is not enough.

    A claim has to beat the placebos, too. ``noise`` is the variance of a fair judge's points on the
    placebos of one film: 0 where it ties on them, ``COIN`` where it tosses a coin on one. That
    comparison is McNemar's, and its films those of Connor's formula.

    >>> films_needed(0.9), films_needed(0.75), films_needed(0.6)
    (12, 35, 210)
    >>> films_needed(0.9, noise=COIN), films_needed(0.75, noise=COIN), films_needed(0.6, noise=COIN)
    (25, 65, 401)
    """
    if not 0.5 < accuracy <= 1:
        raise ValueError(f"invalid accuracy {accuracy}: must be in (0.5, 1]")
    if not 0 <= noise <= COIN:
        raise ValueError(f"invalid noise {noise}: must be in [0, {COIN}]")
    alone = _films_alone(accuracy, proportion(level, "level"), power)
    if not noise:
        return alone
    return max(alone, _films_beyond(accuracy - CHANCE, COIN + noise, level, power))


@cache
def _films_alone(accuracy: float, level: float, power: float) -> int:
    enough = next(count for count in _doubling() if found(accuracy, count, level) >= power)
    # The teeth of the saw are short against the doubling, so none is beyond twice the number.
    weak = [count for count in range(1, 2 * enough) if found(accuracy, count, level) < power]
    return max(weak, default=0) + 1


def _films_beyond(gap: float, square: float, level: float, power: float) -> int:
    """Films until the sign-flip test finds a mean of ``gap``, the mean square being ``square``.

    Connor's formula, with 1/gap films more because the test moves in whole films.
    """
    strong = NormalDist().inv_cdf(proportion(power, "power"))
    spread = math.sqrt(max(0.0, square - gap * gap))
    plain = (critical(1 - level) * math.sqrt(square) + strong * spread) ** 2 / (gap * gap)
    return max(fewest_sources(level), math.ceil(plain + 1 / gap - 1e-9))


def found(accuracy: float, films: int, level: float = LEVEL) -> float:
    """The chance that the exact test at ``level`` tells a judge of this accuracy from chance.

    >>> round(found(0.9, 12), 2), found(1.0, 5)
    (0.89, 0.0)
    """
    from scipy.stats import binom

    # The fewest right answers that are too many for chance, two-sided.
    fewest = int(binom.isf(level / 2, films, CHANCE)) + 1
    return float(binom.sf(fewest - 1, films, accuracy))


@cache
def smallest_found(
    films: int, *, level: float = LEVEL, power: float = POWER, noise: float = 0.0
) -> float | None:
    """The lowest accuracy, in whole per cent, that so many films tell from chance.

    None where not even a judge that is always right is told: that takes six films at the least.
    ``noise`` is that of the placebos, which it has to beat as well.

    >>> smallest_found(12), smallest_found(35), smallest_found(5), smallest_found(35, noise=COIN)
    (0.87, 0.74, None, 0.84)
    """

    def is_found(accuracy: float) -> bool:
        if found(accuracy, films, level) < power:
            return False
        gap = accuracy - CHANCE
        return not noise or _films_beyond(gap, COIN + noise, level, power) <= films

    accuracies = (percent / 100 for percent in range(51, 101))
    return next((one for one in accuracies if films and is_found(one)), None)


def _doubling() -> Sequence[int]:
    return [2**step for step in range(_MOST_FILMS.bit_length())]
