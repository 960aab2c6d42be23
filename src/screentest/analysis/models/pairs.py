"""Two models in one metric: the test, what more prompts would show, and what a row comes to."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from screentest.analysis.models.rows import MetricRow, ModelPair, State, pair_order
from screentest.stats.intervals import alike
from screentest.stats.signflip import LEVEL, sign_flip_p, sources_needed

WITHIN_REACH = 10
"""A difference that takes more than so many times the prompts there are counts as a tie."""


@dataclass(frozen=True, slots=True)
class Tested:
    """Two models in one metric before the correction."""

    row: int
    better: str
    worse: str
    gaps: np.ndarray
    """By prompt, so that more is better for the first."""
    margin: float
    """What does not count of the mean difference."""
    p: float

    @property
    def excess(self) -> float:
        """By how much the mean difference is more than the margin."""
        return max(0.0, float(self.gaps.mean()) - self.margin)

    @property
    def effect(self) -> float | None:
        """The part of the mean that counts, in deviations, without few prompts' bias (Hedges).

        None where that is not known.
        """
        if self.gaps.size < 3:
            return None
        if alike(self.gaps):
            return math.inf if self.excess else 0.0
        unbiased = 1 - 3 / (4 * self.gaps.size - 5)
        return unbiased * self.excess / float(self.gaps.std(ddof=1))


def tests_of(place: int, row: MetricRow) -> Iterator[Tested]:
    """Yield every two models of a row on the prompts that all have, the better one first."""
    if row.info.descriptive or row.state is State.NOT_COMPARED:
        return
    for first, second in combinations(row.values, 2):
        both = sorted(first.prompts.keys() & second.prompts.keys())
        if not both:  # one of them has no value at all
            continue
        gaps = row.sign * np.array([first.prompts[case] - second.prompts[case] for case in both])
        gaps[np.abs(gaps) <= 1e-12 * max(1.0, float(np.abs(gaps).max()))] = 0.0
        if gaps.sum() < 0:
            first, second, gaps = second, first, -gaps
        yield Tested(place, first.model, second.model, gaps, row.least, _p_value(gaps, row.least))


def _p_value(gaps: np.ndarray, margin: float) -> float:
    """Return that the mean difference is no more than the margin, in either direction.

    The sign-flip test of what each prompt exceeds the margin by; with a margin of 0, of the
    differences.
    """
    return sign_flip_p(np.sort(gaps) - margin) if float(gaps.mean()) > margin else 1.0


def pair_of(
    test: Tested, adjusted: float, level: float, needed: int | None, reach: int | None
) -> ModelPair:
    """Return the tested pair, with its place among all comparisons."""
    gaps = np.sort(test.gaps)
    return ModelPair(
        better=test.better,
        worse=test.worse,
        difference=float(gaps.mean()),
        gaps=tuple(gaps.tolist()),
        margin=test.margin,
        level=level,
        p_value=test.p,
        adjusted_p=adjusted,
        ahead=int(np.count_nonzero(gaps > 0)),
        behind=int(np.count_nonzero(gaps < 0)),
        clear=int(np.count_nonzero(gaps > test.margin)),
        needed=None if adjusted <= LEVEL else needed,
        reach=None if adjusted <= LEVEL else reach,
    )


def shrinkage(tests: Iterable[Tested]) -> float:
    """Return the share of the effects seen that is more than chance, going by all of them together.

    The surest of many differences owes part of its size to luck: a forecast from it alone
    promises too much. Were there nothing, the squares of their standard scores would be 1 on
    average; what they exceed it by is what is there (empirical Bayes).
    """
    from scipy.special import ndtri, stdtr  # scipy.stats takes a second to import

    scores = []
    for test in tests:
        count = test.gaps.size
        if count < 3:
            continue
        if alike(test.gaps):
            scores.append(3.0 if test.excess else 0.0)
            continue
        ratio = test.excess / float(test.gaps.std(ddof=1)) * math.sqrt(count)
        scores.append(-float(ndtri(max(stdtr(count - 1, -ratio), 1e-300))))
    if not scores:
        return 0.0
    excess = max(0.0, float(np.mean(np.square(scores))) - 1)
    # Of squares: so its root is what is left of an effect.
    return math.sqrt(excess / (1 + excess))


def needed_for(test: Tested, level: float, share: float) -> int | None:
    """Prompts that would show it, where so much of the effect is real."""
    effect = test.effect
    if effect is None or effect * share < 1e-3:
        return None
    needed = sources_needed(round(min(effect, 20.0) * share, 3), level=level)
    return None if needed is None else max(needed, test.gaps.size + 1)


def concluded(row: MetricRow, pairs: Sequence[ModelPair], fewest: int) -> MetricRow:
    """Return the row with its comparisons, and what they come to.

    Below ``fewest`` prompts, which could settle nothing, what most of them agree on is open.
    """
    if row.state is State.NOT_COMPARED:
        return row
    if row.info.descriptive:
        return replace(row, state=State.DESCRIBED)
    listed = tuple(sorted(pairs, key=pair_order))
    held = [pair for pair in listed if pair.significant]
    better, worse = {pair.better for pair in held}, {pair.worse for pair in held}
    values = tuple(
        replace(value, best=value.model in better - worse, worst=value.model in worse - better)
        for value in row.values
    )
    row = replace(row, values=values, pairs=listed)
    if held:
        # Those that cannot be told apart share a place, whatever their means.
        row = row if better - worse == {row.leader} else replace(row, leader="", ahead=0, clear=0)
        row = row if worse - better == {row.last} else replace(row, last="", behind=0, clear_last=0)
        return replace(row, state=State.SIGNIFICANT)
    differ = [pair for pair in listed if pair.differs]
    near = [pair for pair in differ if pair.reach and pair.reach <= WITHIN_REACH * row.prompts]
    agreed = row.prompts < fewest and 2 * max(row.clear, row.clear_last) > row.prompts
    if not (near or agreed or (differ and row.prompts < 3)):
        return replace(row, state=State.SAME)
    row = replace(row, state=State.UNDECIDED)
    return replace(row, needed=row.needed_for_claim)
