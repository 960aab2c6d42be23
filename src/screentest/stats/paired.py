"""Two systems on the same pairs: is one better, by how much, and how sure is that?

A system's points on a pair are 1 (right), 0 (wrong) or ½ (a tie); where a pair was judged in
both orders, their mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from screentest.core import Choice, Outcome
from screentest.stats.arrays import Labels, Numbers, together, undefined
from screentest.stats.intervals import Interval, by_source, wilson
from screentest.stats.signflip import LEVEL, sign_flip_interval, sign_flip_p


@dataclass(frozen=True, slots=True)
class McNemar:
    """Pairs on which two systems differ, and the exact p-value that this is chance."""

    first_better: int
    second_better: int
    p_value: float


@dataclass(frozen=True, slots=True)
class Difference:
    """Difference of two systems, in points per pair."""

    value: float
    p_value: float
    """Of the sign-flip test over sources."""
    pairs: int
    sums: tuple[float, ...] = field(repr=False)
    """By source, the sum of its differences."""
    sizes: tuple[float, ...] = field(repr=False)
    level: float = LEVEL
    """At which the interval is taken: less than 5% where many comparisons are corrected for."""

    @property
    def sources(self) -> int:
        return len(self.sums)

    def at(self, level: float) -> Difference:
        """Return the same with an interval that belongs to a test at this level."""
        return replace(self, level=level)

    @property
    def interval(self) -> Interval | None:
        """Differences that the test does not reject; excludes 0 exactly where p is significant.

        None where so few sources reject nothing, and where all sources differ alike, so that
        their spread is not known.
        """
        return sign_flip_interval(np.array(self.sums), np.array(self.sizes), level=self.level)


def mcnemar(first: Numbers, second: Numbers) -> McNemar:
    """McNemar's exact test: are the pairs that tell two systems apart evenly split?

    With half points it is the sign test, of which McNemar's is the case without ties. It
    takes pairs as independent; use ``paired_difference`` where sources gave several each.

    >>> mcnemar([1, 1, 1, 1, 1, 0, 1, 1], [0, 0, 0, 0, 0, 0, 1, 1])
    McNemar(first_better=5, second_better=0, p_value=0.0625)
    """
    left, right = together(first, second)
    better = int(np.count_nonzero(left > right))
    worse = int(np.count_nonzero(left < right))
    return McNemar(better, worse, _even(better, worse))


def paired_difference(first: Numbers, second: Numbers, sources: Labels | None = None) -> Difference:
    """Return the mean difference, with p-value and interval over sources.

    Both are those of the sign-flip test: were the two systems alike, each source could as well
    have favoured the other one. It keeps its level for any number of sources.
    """
    left, right = together(first, second)
    change = left - right
    sums, sizes = by_source(change, sources)
    return Difference(
        value=float(sums.sum() / sizes.sum()),
        p_value=sign_flip_p(sums),
        pairs=change.size,
        sums=tuple(sums.tolist()),
        sizes=tuple(sizes.tolist()),
    )


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's correction: p-values adjusted for having looked at all of these.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    for p in p_values:
        if not 0 <= p <= 1:
            raise ValueError(f"invalid p-value {p}: must be in [0, 1]")
    adjusted = [0.0] * len(p_values)
    floor = 0.0
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    for rank, place in enumerate(order):
        floor = max(floor, min(1.0, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = floor
    return adjusted


def false_discovery(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values so that of those below a level the expected share of errors stays below it.

    Benjamini and Hochberg's correction: where nothing differs at all it is as strict as Holm's.

    >>> false_discovery([0.01, 0.04, 0.03])
    [0.03, 0.04, 0.04]
    """
    from scipy.stats import false_discovery_control

    if not p_values:
        return []
    adjusted = false_discovery_control(p_values)
    return [float(min(1.0, p)) for p in adjusted]


def holm_levels(adjusted: Sequence[float]) -> list[float]:
    """Return the level at which Holm's correction tests each of the comparisons it adjusted.

    Those that hold are tested one after the other, each at a higher level; all others at the one at
    which the first of them failed. An interval at this level excludes 0 exactly where the adjusted
    p-value is at most 5%.

    >>> holm_levels([0.03, 0.06, 0.06])
    [0.016666666666666666, 0.025, 0.025]
    """
    count, held = len(adjusted), sum(p <= LEVEL for p in adjusted)
    levels = [0.0] * count
    order = sorted(range(count), key=lambda place: adjusted[place])
    for rank, place in enumerate(order):
        levels[place] = LEVEL / (count - min(rank, held))
    return levels


# Does the answer depend on which video is shown first?


@dataclass(frozen=True, slots=True)
class OrderEffect:
    """Effect of the order in which two videos are shown."""

    pairs: int
    first_share: float
    """How often the video shown first wins, a tie being half; ½ where order has no effect."""
    first_interval: Interval
    consistent_share: float
    """Pairs with the same answer, about the same video, in both orders."""
    consistent_interval: Interval
    always_first: int
    """Pairs whose first video won in both orders."""
    always_second: int
    p_value: float
    """Exact: that pairs which follow the order favour first and second alike."""


def order_effect(verdicts: Iterable[tuple[Choice, Choice]]) -> Outcome[OrderEffect]:
    """From the two answers on each pair, the second given with the videos swapped.

    Both are as presented: FIRST is the video that was shown first in that presentation. The
    interval of the first share counts pairs, not answers, since the two are not independent.

    >>> both = [(Choice.FIRST, Choice.SECOND)] * 6 + [(Choice.FIRST, Choice.FIRST)] * 4
    >>> effect = order_effect(both).unwrap()
    >>> effect.first_share, effect.consistent_share
    (0.7, 0.6)
    """
    both = list(verdicts)
    if not both:
        return undefined(
            "no pair was judged in both orders", "Judge both orders, which is the default."
        )
    firsts = sum((_firstness(item) + _firstness(other)) / 2 for item, other in both)
    consistent = sum(item is other.flipped for item, other in both)
    leaning = [_firstness(item) + _firstness(other) - 1 for item, other in both]
    toward, away = sum(lean > 0 for lean in leaning), sum(lean < 0 for lean in leaning)
    return Outcome.of(
        OrderEffect(
            pairs=len(both),
            first_share=firsts / len(both),
            first_interval=wilson(firsts, len(both)),
            consistent_share=consistent / len(both),
            consistent_interval=wilson(consistent, len(both)),
            always_first=both.count((Choice.FIRST, Choice.FIRST)),
            always_second=both.count((Choice.SECOND, Choice.SECOND)),
            p_value=_even(toward, away),
        )
    )


def _firstness(choice: Choice) -> float:
    return {Choice.FIRST: 1.0, Choice.TIE: 0.5, Choice.SECOND: 0.0}[choice]


def _even(toward: int, away: int) -> float:
    if toward + away == 0:
        return 1.0
    from scipy.stats import binomtest

    return float(binomtest(toward, toward + away).pvalue)
