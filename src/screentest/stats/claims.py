"""Claims: what may be said of a judge without a coin earning it.

The unit is the source film: pairs that were made of one film stand or fall together, and ten
of them are not ten witnesses. Of each group of pairs (an operator, or an aspect with all its
operators) one of four things is said:

- *sees*: the intact video is preferred more often than by chance, and more often than the judge
  prefers an untouched copy to an edited one in which nothing is wrong (its placebos), for each
  kind of placebo by itself;
- *prefers the harm*: the same, the other way round;
- *no better than chance*: neither, the interval holds chance and ends below 65%, and the films are
  enough that a judge which is right in three of four would have been found by all tests;
- *cannot tell*: anything else, with why, and how many more films would settle it.

All comparisons are sign-flip tests over films, exact for points of pairs; a claim needs every one,
so its p-value is the largest. The p-values of all groups of a certificate are corrected
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

import numpy as np

from screentest.stats.arrays import Floats
from screentest.stats.films import CHANCE, MOST_FILMS, films_beyond, films_needed, power_of_each
from screentest.stats.intervals import Interval, share_interval
from screentest.stats.paired import holm
from screentest.stats.power import LEVEL, POWER
from screentest.stats.signflip import sign_flip_p

WORTH_FINDING = 0.75
"""Half-way between chance and always right: a judge that is as good as that should be found."""
NEARLY_CHANCE = 0.65
"""Who may be right as often as that is not called no better than chance."""
ANSWERED = 0.5
"""Of the films whose placebos of one kind a judge was put, those on which it must answer."""


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
    """The largest of those against chance and each kind of placebo, Holm's over all groups."""
    needed: int | None
    """Films, in all, on which a judge is found four times in five: one that is as good as this one
    seems, or right in three of four, whichever takes fewer. None: more films would not help."""
    placebo: float | None = None
    """How often the same films' untouched copies were preferred to harmless edits of the kind from
    which the judge is told the least."""
    unit: str = "film"
    """What is counted in ``films``: with people's votes it is the prompt."""
    why: str = ""
    """Why nothing can be told, where it is not the number of films alone."""
    at_most: float | None = None
    """Of a judge that is no better than chance: the upper end of its interval."""

    @property
    def more(self) -> int:
        """How many more films are needed before something can be said."""
        return max(0, (self.needed or 0) - self.films)

    @property
    def bound(self) -> str:
        """Of a judge that is no better than chance: how good it may be."""
        return "" if self.at_most is None else f"at most {math.ceil(100 * self.at_most)}%"

    @property
    def words(self) -> str:
        """The claim as a person reads it."""
        if not self.films:  # not even one answer: no number of films would help
            return "not tested"
        if self.claim is not Claim.CANNOT_TELL:
            return f"{self.claim.value}: {self.bound}" if self.bound else self.claim.value
        many = f"{self.more:,} more {self.unit}{'s are' if self.more != 1 else ' is'} needed"
        reasons = "; ".join(filter(None, [self.why, many if self.more else ""]))
        return f"{self.claim.value}: {reasons}" if reasons else self.claim.value


Points = Mapping[str, float]
"""By source film: the mean points that a judge earned on its pairs, ½ being chance."""
PlaceboPoints = Mapping[str, float | None]
"""The same of a film's placebos of one kind; None where the judge has no answer on them."""
Placebos = Mapping[str, PlaceboPoints]
"""By kind of placebo."""


def claims(
    groups: Sequence[Points],
    placebos: Sequence[Placebos] = (),
    *,
    intervals: Sequence[Interval | None] = (),
    level: float = LEVEL,
    unit: str = "film",
) -> list[Finding]:
    """One finding for each group, corrected together.

    ``placebos``, one for each group, are the points that the judge gave to untouched copies of the
    same films against harmless edits, by kind of edit. Each kind has to be beaten by itself: on
    their average, edits that change nothing would hide those that the judge takes for harm. A film
    without an answer there is no witness in that comparison; a judge that fails on most of one
    kind earns no claim. ``intervals`` are those that are shown beside the claims; else they are
    computed from the points.
    """
    harmless = placebos or [{}] * len(groups)
    tests = [_Test.of(*both) for both in zip(groups, harmless, strict=True)]
    adjusted = holm([one.p_value for one in tests])
    beyond_chance = holm([one.p_chance for one in tests])
    shown = list(intervals) or [None] * len(groups)
    each = level / max(1, len(groups))
    findings = []
    for points, test, beside, p, told_from_chance in zip(
        groups, tests, shown, adjusted, beyond_chance, strict=True
    ):
        interval = beside
        if interval is None and points:
            interval = share_interval(list(points.values()), list(points))
        needed: int | None = test.enough(each)
        why, at_most = "", None
        if p <= level and test.toward:
            claim = Claim.SEES if test.toward > 0 else Claim.PREFERS_HARM
        elif interval and test.could_tell(each) and _is_chance(test, interval, level):
            claim, at_most = Claim.CHANCE, interval.high
        else:
            claim = Claim.CANNOT_TELL
            needed, why = _unsettled(test, interval, each, unit, told_from_chance <= level)
        mean, fair = test.mean if points else None, test.hardest
        findings.append(
            Finding(
                *(claim, len(points), mean, p, needed, fair.mean if fair else None, unit, why),
                at_most=at_most,
            )
        )
    return findings


def _is_chance(test: _Test, interval: Interval, level: float) -> bool:
    """Whether neither the test, uncorrected, nor the interval speaks against chance, and the
    interval leaves out whoever is much better."""
    return test.p_chance > level and interval.low <= CHANCE <= interval.high < NEARLY_CHANCE


def _unsettled(
    test: _Test, interval: Interval | None, level: float, unit: str, beyond: bool
) -> tuple[int | None, str]:
    """How many films would settle it, and why it is open; ``beyond``: it is told from chance."""
    count = test.against_chance.size
    bar = "placebo" if unit == "film" else "control"
    silent = [one.name for one in test.kinds if one.failed and not one.beyond.size]
    if silent and len(silent) == len(test.kinds):
        return None, f"the judge has no answer on any {bar}"
    if silent:
        return None, f"the judge has no answer on {bar}s of kind {', '.join(silent)}"
    enough = test.enough(level)
    least = min(test.kinds, key=lambda one: (not one.failed, one.beyond.size), default=None)
    # A film or two without an answer matter where all together would have been enough.
    if least and (
        least.failed or least.beyond.size < ANSWERED * count or least.beyond.size < enough <= count
    ):
        few = f"only {least.beyond.size:,} of {count:,} {unit}s have an answer on a {bar}"
        return None, f"{few} of kind {least.name}" if least.name else few
    seen = test.needed_as_seen(level)
    if beyond and (hardest := test.hardest):
        both = f"{100 * hardest.points:.0f}% against {100 * (hardest.mean or 0):.0f}%"
        return seen, f"not told from its {bar}{f' {hardest.name}' * bool(hardest.name)} ({both})"
    # What a judge of 75% would need is of no help to one that had as many.
    if test.could_tell(level):
        enough = _films_below(test.mean, interval, count)
    needed = min((one for one in (seen, enough) if one and one > count), default=None)
    open_ = needed is None and count
    return needed, "its interval leaves chance out, the corrected test does not" if open_ else ""


def _films_below(mean: float, interval: Interval | None, count: int) -> int:
    """Films on which an interval about this mean would end where chance is claimed; 0: none."""
    if interval is None or interval.high < NEARLY_CHANCE or mean >= NEARLY_CHANCE:
        return 0
    wide = (interval.high - mean) / (NEARLY_CHANCE - mean)
    return min(MOST_FILMS, max(count + 1, math.ceil(count * wide * wide)))


@dataclass(frozen=True, slots=True)
class _Kind:
    """The comparison with one kind of placebo."""

    name: str
    beyond: Floats
    """Of the films with an answer on both: the points, less those on the placebo."""
    points: float
    """The mean points of these films."""
    mean: float | None
    """Their mean points on the placebo; None where there are no such films."""
    noise: float
    """The variance of a film's points on it."""
    p_value: float
    failed: bool
    """It was put to the judge, which has an answer on too few films."""

    @classmethod
    def of(cls, name: str, points: Points, placebos: PlaceboPoints) -> _Kind | None:
        """None where it was put on none of these films."""
        asked = sorted(film for film in points if film in placebos)
        if not asked:
            return None
        both = [(points[film], one) for film in asked if (one := placebos[film]) is not None]
        # Who fails where it would be unfair must not be judged by where it does not.
        failed = len(both) < ANSWERED * len(asked)
        if not both:
            return cls(name, np.array([]), 0.0, None, 0.0, 1.0, failed)
        own, fair = np.array(both).T
        beyond = own - fair
        p_value = sign_flip_p(beyond)
        return cls(
            name, beyond, float(own.mean()), float(fair.mean()), float(fair.var()), p_value, failed
        )


@dataclass(frozen=True, slots=True)
class _Test:
    """All comparisons of one group."""

    against_chance: Floats
    p_chance: float
    kinds: tuple[_Kind, ...]

    @classmethod
    def of(cls, points: Points, placebos: Placebos) -> _Test:
        chance = np.array([points[film] - CHANCE for film in sorted(points)])
        kinds = (_Kind.of(name, points, placebos[name]) for name in sorted(placebos))
        return cls(chance, sign_flip_p(chance), tuple(one for one in kinds if one is not None))

    @property
    def failed(self) -> bool:
        """Whether it has too few answers on any kind of placebo."""
        return any(one.failed for one in self.kinds)

    @property
    def toward(self) -> int:
        """Which way the judge leans; 0 where two comparisons disagree."""
        every = (self.against_chance, *(one.beyond for one in self.kinds))
        leanings = {_sign(float(one.sum())) for one in every}
        return leanings.pop() if len(leanings) == 1 else 0

    @property
    def p_value(self) -> float:
        """The largest: a claim needs every comparison, which is no choice to correct for."""
        if not self.toward or self.failed:
            return 1.0
        return max([self.p_chance, *(one.p_value for one in self.kinds)])

    @property
    def hardest(self) -> _Kind | None:
        """The kind from which the judge is told the least."""
        way = _sign(float(self.against_chance.sum())) or 1

        def told(one: _Kind) -> tuple[float, float]:
            gap = way * float(one.beyond.mean())
            return one.p_value if gap > 0 else 2 - one.p_value, -gap

        known = [one for one in self.kinds if one.mean is not None]
        return max(known, key=told, default=None)

    @property
    def mean(self) -> float:
        """The mean points of a film."""
        return CHANCE + float(self.against_chance.mean()) if self.against_chance.size else CHANCE

    @property
    def noisy(self) -> int:
        """Kinds on which its points differ from film to film: any of them may stop a claim."""
        return sum(one.noise > 0 for one in self.kinds)

    def enough(self, level: float) -> int:
        """Films on which a judge that is right in three of four is found beside such placebos."""
        noise = max((one.noise for one in self.kinds), default=0.0)
        return films_needed(
            WORTH_FINDING, level=level, noise=round(noise, 3), kinds=max(1, self.noisy)
        )

    def could_tell(self, level: float) -> bool:
        """Whether the films are enough for such a judge, in all comparisons."""
        fewest = min(self.against_chance.size, *(one.beyond.size for one in self.kinds), MOST_FILMS)
        return not self.failed and fewest >= self.enough(level)

    def needed_as_seen(self, level: float) -> int | None:
        """Films on which this judge would be found: as if one film more had been right, and one
        more wrong, since few films that agree are no proof that all others would."""
        if not self.toward or self.failed:
            return None
        needed = 0
        power = power_of_each(POWER, max(1, self.noisy))
        for seen in (self.against_chance, *(one.beyond for one in self.kinds)):
            found = np.append(seen, (CHANCE, -CHANCE))
            gap, square = abs(float(found.mean())), float(np.mean(found**2))
            if gap < 1e-6 or (many := films_beyond(gap, square, level, power)) > MOST_FILMS:
                return None
            needed = max(needed, many)
        return needed


def _sign(value: float) -> int:
    return 0 if abs(value) < 1e-9 else 1 if value > 0 else -1
