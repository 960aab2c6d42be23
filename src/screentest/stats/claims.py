"""Claims about a judge that a coin would not earn.

The unit is the source film: pairs that were made of one film stand or fall together, and ten
of them are not ten witnesses. Each group of pairs (an operator, or an aspect with all its
operators) has one of four claims:

- *sees*: the original is preferred more often than by chance, and more often than the judge
  prefers an untouched copy to an edited one in which nothing is wrong (its placebos), of all kinds
  together and of each kind on which it leans the same way;
- *prefers the degraded*: the same, the other way round;
- *no better than chance*: neither, and the interval holds chance and ends between 35% and 65%; of
  a judge that mostly ties, few films show that;
- *undecided*: anything else, with the reason, and how many more films would settle it.

All comparisons are sign-flip tests over films, exact for points of pairs; a claim needs every one,
so its p-value is the largest. Of all groups of a certificate the false discovery rate is held at 5%
(Benjamini and Hochberg): a judge that chooses blindly earns any claim at all in at most one
certificate of twenty, and of many claims about one that sees something one in twenty may be wrong.
``strict`` are those that Holm's correction leaves. ``bench/calibration.py`` measures both.

>>> right = {f"film {n}": 1.0 for n in range(12)}
>>> [(each.claim.value, each.more) for each in claims([right, dict(list(right.items())[:4])])]
[('sees', 0), ('undecided', 15)]
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from screentest._util.collect import grouped
from screentest.stats.arrays import Floats
from screentest.stats.intervals import Interval, exact_interval, share_interval
from screentest.stats.paired import false_discovery, holm
from screentest.stats.power import CHANCE, MOST_FILMS, films_beyond, films_needed, power_of_both
from screentest.stats.signflip import LEVEL, POWER, sign_flip_p

WORTH_FINDING = 0.75
"""Half-way between chance and always right: a judge that is as good as that should be found."""
NEARLY_CHANCE = 0.65
"""Who may be right as often as that is not called no better than chance."""
TAIL = 0.975
LEANS = 2.0
"""A kind of placebo on which a judge leans the way that it does on the pairs is a bar of its own:
on the mean of all kinds, one that it takes for harm hides. It leans where its points on that kind
differ from fair with a p of at most this over the number of kinds on which they differ at all, so
that of kinds that it tosses coins on one is a bar on average."""
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
    """The largest of those against chance and the placebos, Benjamini and Hochberg's over all
    groups."""
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
    strict: bool = False
    """The claim holds with Holm's correction too: none of the strict claims of a certificate is
    wrong, 19 times of 20."""
    wins: int = 0
    """Films with more than half of their points."""
    losses: int = 0
    """Films with less."""

    @property
    def more(self) -> int:
        """Further films needed before something can be claimed; 0 where it is."""
        settled = self.claim is not Claim.UNDECIDED
        return 0 if settled else max(0, (self.needed or 0) - self.films)


_LEANINGS = (Claim.SEES, Claim.PREFERS_DEGRADED)
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
    same films against harmless edits, by kind of edit. Their mean has to be beaten, over the films
    that have any, and each kind on which the judge leans the same way: on the mean, edits that
    change nothing would hide those that it takes for harm. A film without an answer is no witness
    there; a judge that fails on most of one kind earns no claim. ``intervals`` are those that are
    shown beside the claims; else they are computed from the points.
    """
    harmless = placebos or [{}] * len(groups)
    tests = [_Test.of(*both) for both in zip(groups, harmless, strict=True)]
    adjusted = false_discovery([item.p_value for item in tests])
    strict = holm([item.p_value for item in tests])
    beyond_chance = false_discovery([item.p_chance for item in tests])
    shown = list(intervals) or [None] * len(groups)
    # One more is claimed at the level of those that are, and its own.
    claimed = sum(p <= LEVEL for p in adjusted)
    each = LEVEL * min(1.0, (claimed + 1) / max(1, len(groups)))
    findings = []
    for points, test, beside, p, chance_p, strict_p in zip(
        groups, tests, shown, adjusted, beyond_chance, strict, strict=True
    ):
        interval = beside
        if interval is None and points:
            interval = share_interval(list(points.values()), list(points))
        needed: int | None = test.enough(each)
        unsettled, at_most = None, None
        if p <= LEVEL and test.toward:
            claim = Claim.SEES if test.toward > 0 else Claim.PREFERS_DEGRADED
        elif interval and test.against_chance.size and _is_chance(test, interval):
            claim, at_most = Claim.CHANCE, _narrow(test, interval).high
        else:
            claim = Claim.UNDECIDED
            needed, unsettled = _unsettled(test, interval, each, beyond=chance_p <= LEVEL)
        mean, fair = test.mean if points else None, test.hardest
        findings.append(
            Finding(
                *(claim, len(points), mean, p, needed, fair.mean if fair else None, unit),
                *(unsettled, at_most, bool(claim in _LEANINGS and strict_p <= LEVEL)),
                *(int(np.count_nonzero(way * test.against_chance > 0)) for way in (1, -1)),
            )
        )
    return findings


def _is_chance(test: _Test, interval: Interval) -> bool:
    """Tell whether neither the test, uncorrected, nor the interval speaks against chance, and the
    interval leaves out whoever is much better, or much worse."""
    if test.p_chance <= LEVEL or not interval.low <= CHANCE <= interval.high:
        return False
    narrow = _narrow(test, interval)
    return narrow.low > 1 - NEARLY_CHANCE and narrow.high < NEARLY_CHANCE


def _narrow(test: _Test, interval: Interval) -> Interval:
    """Return what a judge that mostly ties can be right in: a film of ties has half its points, so
    that only the share of films with more can lift the mean (Clopper and Pearson's bound)."""
    count = test.against_chance.size
    less, more = (int(np.count_nonzero(way * test.against_chance > 0)) for way in (-1, 1))
    low, high = (exact_interval(many / count, count, TAIL).high / 2 for many in (less, more))
    return Interval(max(interval.low, CHANCE - low), min(interval.high, CHANCE + high))


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
    failed = [kind for kind in test.kinds if kind.failed]
    least = min(failed or test.bars, key=lambda item: item.beyond.size, default=None)
    # A film or two without an answer matter where all together would have been enough.
    if least and (failed or least.beyond.size < enough <= count):
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
    """The comparison with one kind of placebo, or with all."""

    name: str
    beyond: Floats
    """Of the films with an answer on both: the points, less those on the placebo."""
    points: float
    """The mean points of these films."""
    mean: float
    """Their mean points on the placebo; a half where there are no such films."""
    noise: float
    """The variance of a film's points on it."""
    p_value: float
    unfair: float
    """The p-value of the points on the placebo itself: does the judge lean on it?"""
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
            return cls(name, np.array([]), CHANCE, CHANCE, 0.0, 1.0, 1.0, failed)
        selected, fair = np.array(both).T
        p_value = sign_flip_p(selected - fair)
        means = (float(selected.mean()), float(fair.mean()), float(fair.var()))
        return cls(name, selected - fair, *means, p_value, sign_flip_p(fair - CHANCE), failed)


@dataclass(frozen=True, slots=True)
class _Test:
    """All comparisons of one group."""

    against_chance: Floats
    p_chance: float
    kinds: tuple[_Kind, ...]
    bars: tuple[_Kind, ...]
    """Those that have to be beaten: all kinds together, and each that the judge leans on."""

    @classmethod
    def of(cls, points: Points, placebos: Placebos) -> _Test:
        chance = np.array([points[film] - CHANCE for film in sorted(points)])
        way = _sign(float(chance.sum()))
        found = (_Kind.of(name, points, placebos[name]) for name in sorted(placebos))
        kinds = tuple(kind for kind in found if kind is not None)
        together = _Kind.of("", points, _mean_placebo(placebos)) if len(kinds) > 1 else None
        bars = kinds
        if together is not None:
            level = LEANS / max(1, sum(kind.noise > 0 for kind in kinds))
            own = (k for k in kinds if k.unfair <= level and way * (k.mean - CHANCE) > 0)
            bars = (together, *own)
        return cls(chance, sign_flip_p(chance), kinds, bars)

    @property
    def failed(self) -> bool:
        """Tell whether it has too few answers on any kind of placebo."""
        return any(kind.failed for kind in self.kinds)

    @property
    def toward(self) -> int:
        """Direction in which the judge leans; 0 where two comparisons disagree."""
        every = (self.against_chance, *(kind.beyond for kind in self.bars))
        leanings = {_sign(float(item.sum())) for item in every}
        return leanings.pop() if len(leanings) == 1 else 0

    @property
    def p_value(self) -> float:
        """The largest: a claim needs every comparison, which is no choice to correct for."""
        if not self.toward or self.failed:
            return 1.0
        return max([self.p_chance, *(kind.p_value for kind in self.bars)])

    @property
    def hardest(self) -> _Kind | None:
        """The bar from which the judge differs the least."""
        way = _sign(float(self.against_chance.sum())) or 1

        def closeness(one: _Kind) -> tuple[float, float]:
            gap = way * float(one.beyond.mean())
            return one.p_value if gap > 0 else 2 - one.p_value, -gap

        return max((bar for bar in self.bars if bar.beyond.size), key=closeness, default=None)

    @property
    def mean(self) -> float:
        return CHANCE + float(self.against_chance.mean()) if self.against_chance.size else CHANCE

    def enough(self, level: float) -> int:
        """Films on which a judge that is right in three of four is found beside such placebos."""
        noise = max((kind.noise for kind in self.kinds), default=0.0)
        return films_needed(WORTH_FINDING, level=level, noise=round(noise, 3))

    def could_tell(self, level: float) -> bool:
        """Tell whether the films are enough for such a judge, in all comparisons."""
        fewest = min(self.against_chance.size, *(bar.beyond.size for bar in self.bars), MOST_FILMS)
        return not self.failed and fewest >= self.enough(level)

    def needed_as_seen(self, level: float) -> int | None:
        """Films on which this judge would be found: as if one film more had been right, and one
        more wrong, since few films that agree are no proof that all others would."""
        if not self.toward or self.failed:
            return None
        needed = 0
        power = power_of_both(POWER) if any(kind.noise > 0 for kind in self.kinds) else POWER
        for seen in (self.against_chance, *(bar.beyond for bar in self.bars)):
            result = np.append(seen, (CHANCE, -CHANCE))
            gap, square = abs(float(result.mean())), float(np.mean(result**2))
            if gap < 1e-6 or (many := films_beyond(gap, square, level, power)) > MOST_FILMS:
                return None
            needed = max(needed, many)
        return needed


def _mean_placebo(placebos: Placebos) -> dict[str, float | None]:
    """By film, the mean points on all its placebos that have an answer; None where none has."""
    given = grouped(pair for kind in placebos.values() for pair in kind.items())
    answered = {film: [item for item in given[film] if item is not None] for film in given}
    return {film: sum(has) / len(has) if has else None for film, has in answered.items()}


def _sign(value: float) -> int:
    return 0 if abs(value) < 1e-9 else 1 if value > 0 else -1
