"""Does the answer depend on which video is shown first?

>>> both = [(Choice.FIRST, Choice.SECOND)] * 6 + [(Choice.FIRST, Choice.FIRST)] * 4
>>> effect = order_effect(both).unwrap()
>>> effect.first_share, effect.consistent_share
(0.7, 0.6)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from screentest.core import Choice, Outcome, Reason
from screentest.stats.intervals import Interval, wilson


@dataclass(frozen=True, slots=True)
class OrderEffect:
    """What showing the same two videos in both orders brings to light."""

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
    interval of the first share counts pairs, not answers, since the two hang together.
    """
    both = list(verdicts)
    if not both:
        return Outcome.failed(
            Reason.NOT_APPLICABLE,
            "no pair was judged in both orders",
            "Judge both orders, which is the default.",
        )
    firsts = sum((_firstness(one) + _firstness(other)) / 2 for one, other in both)
    consistent = sum(one is other.flipped for one, other in both)
    leaning = [_firstness(one) + _firstness(other) - 1 for one, other in both]
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
