"""Claims about a judge that a coin would not earn.

The unit is the source film: pairs that were made of one film stand or fall together, and ten
of them are not ten witnesses. Each group of pairs (an operator, or an aspect with all its
operators) has one of four claims:

- *sees*: the original is preferred more often than by chance, and more often than the judge
  prefers an untouched copy to an edited one in which nothing is wrong (its placebos), for each
  kind of placebo by itself;
- *prefers the degraded*: the same, the other way round;
- *no better than chance*: neither, the interval holds chance and ends below 65%, and the films are
  enough that a judge which is right in three of four would have been found by all tests;
- *undecided*: anything else, with the reason, and how many more films would settle it.

All comparisons are sign-flip tests over films, exact for points of pairs; a claim needs every one,
so its p-value is the largest. The p-values of all groups of a certificate are corrected
together by Holm's method: a judge that chooses blindly earns any claim at all in at most one
certificate of twenty. ``bench/calibration.py`` measures that.

>>> right = {f"film {n}": 1.0 for n in range(12)}
>>> [(each.claim.value, each.more) for each in claims([right, dict(list(right.items())[:4])])]
[('sees', 0), ('undecided', 18)]
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from screentest.stats.arrays import Floats
from screentest.stats.intervals import Interval, share_interval
from screentest.stats.paired import holm
from screentest.stats.power import CHANCE, MOST_FILMS, films_beyond, films_needed, power_of_each
from screentest.stats.signflip import LEVEL, POWER, sign_flip_p

WORTH_FINDING = 0.75
"""Half-way between chance and always right: a judge that is as good as that should be found."""
NEARLY_CHANCE = 0.65
"""Who may be right as often as that is not called no better than chance."""
ANSWERED = 0.5
"""Of the films whose placebos of one kind a judge was put, those on which it must answer."""


class Claim(StrEnum):
    """The claim about a judge on one group of pairs."""

    SEES = "sees"
    PREFERS_DEGRADED = "prefers the degraded"
    CHANCE = "no better than chance"
    UNDECIDED = "undecided"
    MIXED = "sees some, prefers others"
    """Of a family of operators: it sees them on the whole, but is fooled by some."""


class WhyUnsettled(StrEnum):
    """The reason for a claim of *undecided*."""

    NO_ANSWER = "no_answer"
    TOO_FEW_FILMS = "too_few_films"
    PLACEBO_UNANSWERED = "placebo_unanswered"
    """The judge has no answer on some kinds of placebo, or on any."""
    PLACEBO_RARELY_ANSWERED = "placebo_rarely_answered"
    LIKE_PLACEBO = "like_placebo"
    """The points differ from chance, and not from those on a placebo."""
    CORRECTED = "corrected"
    """The interval leaves chance out; the test, corrected for all groups, does not."""
    ONE_NUMBER_PER_MODEL = "one_number_per_model"
    """A score that distinguishes models, not videos."""


@dataclass(frozen=True, slots=True)
class Unsettled:
    """A reason with its numbers."""

    reason: WhyUnsettled
    kinds: tuple[str, ...] = ()
    """Of placebos; empty where it is all of them, or where they have no names."""
    count: int = 0
    """Films with an answer on the placebo, or models."""
    points: float | None = None
    """The mean points of the films that have a placebo, …"""
    placebo: float | None = None
    """… and those on it."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A claim with its evidence."""

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
    which the judge differs the least."""
    unit: str = "film"
    """What is counted in ``films``: with people's votes it is the prompt."""
    unsettled: Unsettled | None = None
    """Why nothing can be claimed; None of other claims."""
    at_most: float | None = None
    """Of a judge that is no better than chance: the upper end of its interval."""

    @property
    def more(self) -> int:
        """Further films needed before something can be claimed; 0 where it is."""
        settled = self.claim is not Claim.UNDECIDED
        return 0 if settled else max(0, (self.needed or 0) - self.films)


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
    adjusted = holm([item.p_value for item in tests])
    beyond_chance = holm([item.p_chance for item in tests])
    shown = list(intervals) or [None] * len(groups)
    each = LEVEL / max(1, len(groups))
    findings = []
    for points, test, beside, p, chance_p in zip(
        groups, tests, shown, adjusted, beyond_chance, strict=True
    ):
        interval = beside
        if interval is None and points:
            interval = share_interval(list(points.values()), list(points))
        needed: int | None = test.enough(each)
        unsettled, at_most = None, None
        if p <= LEVEL and test.toward:
            claim = Claim.SEES if test.toward > 0 else Claim.PREFERS_DEGRADED
        elif interval and test.could_tell(each) and _is_chance(test, interval):
            claim, at_most = Claim.CHANCE, interval.high
        else:
            claim = Claim.UNDECIDED
            needed, unsettled = _unsettled(test, interval, each, beyond=chance_p <= LEVEL)
        mean, fair = test.mean if points else None, test.hardest
        findings.append(
            Finding(
                *(claim, len(points), mean, p, needed, fair.mean if fair else None, unit),
                *(unsettled, at_most),
            )
        )
    return findings


def _is_chance(test: _Test, interval: Interval) -> bool:
    """Tell whether neither the test, uncorrected, nor the interval speaks against chance, and the
    interval leaves out whoever is much better."""
    return test.p_chance > LEVEL and interval.low <= CHANCE <= interval.high < NEARLY_CHANCE


def _unsettled(
    test: _Test, interval: Interval | None, level: float, *, beyond: bool
) -> tuple[int | None, Unsettled]:
    """Films that would settle it, and why it is open; ``beyond``: it differs from chance."""
    count = test.against_chance.size
    silent = tuple(kind.name for kind in test.kinds if kind.failed and not kind.beyond.size)
    if silent:
        kinds = silent if len(silent) < len(test.kinds) else ()
        return None, Unsettled(WhyUnsettled.PLACEBO_UNANSWERED, kinds)
    enough = test.enough(level)
    least = min(test.kinds, key=lambda item: (not item.failed, item.beyond.size), default=None)
    # A film or two without an answer matter where all together would have been enough.
    if least and (
        least.failed or least.beyond.size < ANSWERED * count or least.beyond.size < enough <= count
    ):
        kinds = tuple(filter(None, [least.name]))
        return None, Unsettled(WhyUnsettled.PLACEBO_RARELY_ANSWERED, kinds, least.beyond.size)
    seen = test.needed_as_seen(level)
    if beyond and (hardest := test.hardest):
        kinds, mean = tuple(filter(None, [hardest.name])), hardest.mean
        return seen, Unsettled(WhyUnsettled.LIKE_PLACEBO, kinds, 0, hardest.points, mean)
    # What a judge of 75% would need is of no help to one that had as many.
    if test.could_tell(level):
        enough = _films_below(test.mean, interval, count)
    needed = min((many for many in (seen, enough) if many and many > count), default=None)
    if not count:
        return needed, Unsettled(WhyUnsettled.NO_ANSWER)
    reason = WhyUnsettled.CORRECTED if needed is None else WhyUnsettled.TOO_FEW_FILMS
    return needed, Unsettled(reason)


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
        both = [(points[film], item) for film in asked if (item := placebos[film]) is not None]
        # Who fails where it would be unfair must not be judged by where it does not.
        failed = len(both) < ANSWERED * len(asked)
        if not both:
            return cls(name, np.array([]), 0.0, None, 0.0, 1.0, failed)
        selected, fair = np.array(both).T
        beyond = selected - fair
        p_value = sign_flip_p(beyond)
        return cls(
            name,
            beyond,
            float(selected.mean()),
            float(fair.mean()),
            float(fair.var()),
            p_value,
            failed,
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
        return cls(chance, sign_flip_p(chance), tuple(kind for kind in kinds if kind is not None))

    @property
    def failed(self) -> bool:
        """Tell whether it has too few answers on any kind of placebo."""
        return any(kind.failed for kind in self.kinds)

    @property
    def toward(self) -> int:
        """Direction in which the judge leans; 0 where two comparisons disagree."""
        every = (self.against_chance, *(kind.beyond for kind in self.kinds))
        leanings = {_sign(float(item.sum())) for item in every}
        return leanings.pop() if len(leanings) == 1 else 0

    @property
    def p_value(self) -> float:
        """The largest: a claim needs every comparison, which is no choice to correct for."""
        if not self.toward or self.failed:
            return 1.0
        return max([self.p_chance, *(kind.p_value for kind in self.kinds)])

    @property
    def hardest(self) -> _Kind | None:
        """The kind from which the judge differs the least."""
        way = _sign(float(self.against_chance.sum())) or 1

        def closeness(one: _Kind) -> tuple[float, float]:
            gap = way * float(one.beyond.mean())
            return one.p_value if gap > 0 else 2 - one.p_value, -gap

        available = [kind for kind in self.kinds if kind.mean is not None]
        return max(available, key=closeness, default=None)

    @property
    def mean(self) -> float:
        return CHANCE + float(self.against_chance.mean()) if self.against_chance.size else CHANCE

    @property
    def noisy(self) -> int:
        """Kinds on which its points differ from film to film: any of them may stop a claim."""
        return sum(kind.noise > 0 for kind in self.kinds)

    def enough(self, level: float) -> int:
        """Films on which a judge that is right in three of four is found beside such placebos."""
        noise = max((kind.noise for kind in self.kinds), default=0.0)
        return films_needed(
            WORTH_FINDING, level=level, noise=round(noise, 3), kinds=max(1, self.noisy)
        )

    def could_tell(self, level: float) -> bool:
        """Tell whether the films are enough for such a judge, in all comparisons."""
        fewest = min(
            self.against_chance.size, *(kind.beyond.size for kind in self.kinds), MOST_FILMS
        )
        return not self.failed and fewest >= self.enough(level)

    def needed_as_seen(self, level: float) -> int | None:
        """Films on which this judge would be found: as if one film more had been right, and one
        more wrong, since few films that agree are no proof that all others would."""
        if not self.toward or self.failed:
            return None
        needed = 0
        power = power_of_each(POWER, max(1, self.noisy))
        for seen in (self.against_chance, *(kind.beyond for kind in self.kinds)):
            result = np.append(seen, (CHANCE, -CHANCE))
            gap, square = abs(float(result.mean())), float(np.mean(result**2))
            if gap < 1e-6 or (many := films_beyond(gap, square, level, power)) > MOST_FILMS:
                return None
            needed = max(needed, many)
        return needed


def _sign(value: float) -> int:
    return 0 if abs(value) < 1e-9 else 1 if value > 0 else -1
