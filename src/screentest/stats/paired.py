"""Two systems on the same pairs: is one better, by how much, and how sure is that?

A system's points on a pair are 1 (right), 0 (wrong) or ½ (a tie); where a pair was judged in
both orders, their mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from screentest.stats._arrays import Labels, Numbers, together
from screentest.stats.bootstrap import RESAMPLES, bootstrap_mean, by_source
from screentest.stats.intervals import CONFIDENCE, Interval
from screentest.stats.signflip import sign_flip_p


@dataclass(frozen=True, slots=True)
class McNemar:
    """Pairs on which two systems differ, and the exact p-value that this is chance."""

    first_better: int
    second_better: int
    p_value: float

    @property
    def discordant(self) -> int:
        """Pairs that tell the two apart; all others say nothing."""
        return self.first_better + self.second_better


@dataclass(frozen=True, slots=True)
class Difference:
    """How much better the first system is than the second, in points per pair."""

    value: float
    interval: Interval | None
    """None where all pairs come from one source, which says nothing about others."""
    p_value: float
    pairs: int
    sources: int


def mcnemar(first: Numbers, second: Numbers) -> McNemar:
    """McNemar's exact test: are the pairs that tell two systems apart evenly split?

    With half points it is the sign test, of which McNemar's is the case without ties. It
    takes pairs as independent; use ``paired_bootstrap`` where sources gave several each.

    >>> mcnemar([1, 1, 1, 1, 1, 0, 1, 1], [0, 0, 0, 0, 0, 0, 1, 1])
    McNemar(first_better=5, second_better=0, p_value=0.0625)
    """
    left, right = together(first, second)
    better = int(np.count_nonzero(left > right))
    worse = int(np.count_nonzero(left < right))
    if better + worse == 0:
        return McNemar(0, 0, 1.0)
    from scipy.stats import binomtest

    return McNemar(better, worse, float(binomtest(better, better + worse).pvalue))


def paired_bootstrap(
    first: Numbers,
    second: Numbers,
    sources: Labels | None = None,
    *,
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Difference:
    """The mean difference with a bootstrap interval over sources, and a p-value.

    The p-value is that of the sign-flip test over sources: were the two systems alike, each
    source could as well have favoured the other one. It keeps its level for any number of
    sources, which a p-value read off the bootstrap does not. Both look at whole sources, but
    at the very border one may speak of a difference where the other does not.
    """
    left, right = together(first, second)
    change = left - right
    sums, sizes = by_source(change, sources)
    interval = None
    if sums.size > 1:
        interval = bootstrap_mean(
            change, sources, confidence=confidence, resamples=resamples, seed=seed
        )
    return Difference(
        value=float(sums.sum() / sizes.sum()),
        interval=interval,
        p_value=sign_flip_p(sums, seed=seed),
        pairs=change.size,
        sources=sums.size,
    )


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's correction: p-values adjusted for having looked at all of these.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    for p in p_values:
        if not 0 <= p <= 1:
            raise ValueError(f"a p-value cannot be {p}")
    adjusted = [0.0] * len(p_values)
    floor = 0.0
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    for rank, place in enumerate(order):
        floor = max(floor, min(1.0, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = floor
    return adjusted
