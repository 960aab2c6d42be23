"""Claims: what may be said of a judge without a coin earning it.

The unit is the source film: pairs that were made of one film stand or fall together, and ten
of them are not ten witnesses. Of each group of pairs (an operator, or an aspect with all its
operators) one of four things is said:

- *sees*: the intact video is preferred more often than by chance, and more often than the judge
  prefers an untouched copy to an edited one in which nothing is wrong (its placebos);
- *prefers the harm*: the same, the other way round;
- *no better than chance*: neither, on enough films that a judge which is right in three films of
  four would have been told from chance;
- *cannot tell*: neither, on fewer films than that.

Both comparisons are sign-flip tests over films, exact for points of pairs; a claim needs both,
so its p-value is the larger one. The p-values of all groups of a certificate are corrected
together by Holm's method: a judge that chooses blindly earns any claim at all in at most one
certificate of twenty. ``bench/calibration.py`` measures that.

>>> right = {f"film {n}": 1.0 for n in range(12)}
>>> [one.words for one in claims([right, dict(list(right.items())[:4])])]
['sees', 'cannot tell: 38 more films are needed']
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

import numpy as np

from screentest.stats.arrays import proportion
from screentest.stats.paired import holm
from screentest.stats.power import LEVEL, POWER
from screentest.stats.signflip import sign_flip_p

CHANCE = 0.5
WORTH_FINDING = 0.75
"""Half-way between chance and always right: a judge that is as good as that should be found."""
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
    needed: int
    """Films on which a judge that is right in three of four is found four times in five."""
    placebo: float | None = None
    """How often the same films' untouched copies were preferred to harmless edits."""
    unit: str = "film"
    """What is counted in ``films``: with people's votes it is the prompt."""

    @property
    def more(self) -> int:
        """How many more films are needed before the absence of a claim means something."""
        return max(0, self.needed - self.films)

    @property
    def words(self) -> str:
        """The claim as a person reads it."""
        if not self.films:  # not even one answer: no number of films would help
            return "not tested"
        if self.claim is not Claim.CANNOT_TELL:
            return self.claim.value
        many = f"{self.more} more {self.unit}{'s are' if self.more != 1 else ' is'} needed"
        return f"{self.claim.value}: {many}"


Points = Mapping[str, float]
"""By source film: the mean points that a judge earned on its pairs, ½ being chance."""


def claims(
    groups: Sequence[Points],
    placebos: Sequence[Points] = (),
    *,
    level: float = LEVEL,
    unit: str = "film",
) -> list[Finding]:
    """One finding for each group, corrected together.

    ``placebos``, one for each group, are the points that the judge gave to untouched copies of the
    same films against harmless edits. Where there are none of a film, it counts as indifferent.
    """
    harmless = placebos or [{}] * len(groups)
    tested = [_tested(*both) for both in zip(groups, harmless, strict=True)]
    adjusted = holm([p for _, p in tested])
    needed = films_needed(WORTH_FINDING, level=level / max(1, len(groups)))
    findings = []
    for points, fair, (toward, _), p in zip(groups, harmless, tested, adjusted, strict=True):
        films = len(points)
        if p <= level and toward:
            claim = Claim.SEES if toward > 0 else Claim.PREFERS_HARM
        else:
            claim = Claim.CHANCE if films >= needed else Claim.CANNOT_TELL
        mean = sum(points.values()) / films if films else None
        placebo = _placebo_rate(points, fair)
        findings.append(Finding(claim, films, mean, p, needed, placebo, unit))
    return findings


def _tested(points: Points, placebos: Points) -> tuple[int, float]:
    """Which way the judge leans, 0 where the two comparisons disagree; and its p-value."""
    films = sorted(points)
    against_chance = np.array([points[film] - CHANCE for film in films])
    against_placebo = np.array([points[film] - placebos.get(film, CHANCE) for film in films])
    leanings = {_sign(float(one.sum())) for one in (against_chance, against_placebo)}
    if len(leanings) > 1 or leanings == {0}:
        return 0, 1.0
    return leanings.pop(), max(sign_flip_p(against_chance), sign_flip_p(against_placebo))


def _sign(value: float) -> int:
    return 0 if abs(value) < 1e-9 else 1 if value > 0 else -1


def _placebo_rate(points: Points, placebos: Points) -> float | None:
    known = [placebos[film] for film in points if film in placebos]
    return sum(known) / len(known) if known else None


@cache
def films_needed(accuracy: float, *, level: float = LEVEL, power: float = POWER) -> int:
    """Films, with one pair each, on which a judge of this accuracy is told from chance.

    The smallest number from which on the exact sign test at ``level`` finds it with probability
    ``power``. The test moves in whole films, so its power rises like a saw: a number after
    which it falls below ``power`` once more is not enough.

    >>> films_needed(0.9), films_needed(0.75), films_needed(0.6)
    (12, 35, 210)
    """
    if not 0.5 < accuracy <= 1:
        raise ValueError(f"invalid accuracy {accuracy}: must be in (0.5, 1]")
    proportion(level, "level")
    enough = next(count for count in _doubling() if found(accuracy, count, level) >= power)
    # The teeth of the saw are short against the doubling, so none is beyond twice the number.
    weak = [count for count in range(1, 2 * enough) if found(accuracy, count, level) < power]
    return max(weak, default=0) + 1


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
def smallest_found(films: int, *, level: float = LEVEL, power: float = POWER) -> float | None:
    """The lowest accuracy, in whole per cent, that so many films tell from chance.

    None where not even a judge that is always right is told: that takes six films at the least.

    >>> smallest_found(12), smallest_found(35), smallest_found(5)
    (0.87, 0.74, None)
    """
    accuracies = (percent / 100 for percent in range(51, 101))
    return next((one for one in accuracies if films and found(one, films, level) >= power), None)


def _doubling() -> Sequence[int]:
    return [2**step for step in range(_MOST_FILMS.bit_length())]
