"""Two models in one metric: the test, what more prompts would show, and what a row comes to."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from screentest.analysis.models.rows import MetricRow, ModelPair, State, pair_order
from screentest.stats.intervals import Interval, alike
from screentest.stats.signflip import LEVEL, Compared, JointTest, sources_needed

WITHIN_REACH = 10
"""Times the prompts there are: a difference that takes more of them has no direction yet."""

ONE_SIDED = 4
"""Prompts that differ in one direction, and none in the other, from which on it is a direction."""


@dataclass(frozen=True, slots=True)
class Tested:
    """Two models in one metric before the test."""

    row: int
    better: str
    worse: str
    compared: Compared
    """By prompt, so that more is better for the first."""

    @property
    def gaps(self) -> np.ndarray:
        """The differences."""
        return np.array([*self.compared.gaps.values()])

    @property
    def margin(self) -> float:
        """What does not count of the mean difference."""
        return self.compared.margin

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
        compared = Compared(dict(zip(both, gaps.tolist(), strict=True)), row.least)
        yield Tested(place, first.model, second.model, compared)


def pair_of(
    test: Tested, joint: JointTest, needed: int | None = None, reach: int | None = None
) -> ModelPair:
    """Return the tested pair, with its place among all comparisons."""
    gaps, adjusted = np.sort(test.gaps), joint.adjusted_p
    return ModelPair(
        better=test.better,
        worse=test.worse,
        difference=float(gaps.mean()),
        gaps=tuple(gaps.tolist()),
        margin=test.margin,
        p_value=joint.p_value,
        adjusted_p=adjusted,
        ahead=int(np.count_nonzero(gaps > 0)),
        behind=int(np.count_nonzero(gaps < 0)),
        clear=int(np.count_nonzero(gaps > test.margin)),
        needed=None if adjusted <= LEVEL else needed,
        reach=None if adjusted <= LEVEL else reach,
        interval=_interval(gaps, joint.critical),
        equivalent=_equivalent(gaps, test.margin),
    )


def _interval(gaps: np.ndarray, errors: float) -> Interval | None:
    if alike(gaps) or not math.isfinite(errors):
        return None
    mean, error = float(gaps.mean()), float(gaps.std(ddof=1)) / math.sqrt(gaps.size)
    return Interval(mean - errors * error, mean + errors * error)


def _equivalent(gaps: np.ndarray, margin: float) -> bool:
    """Return True where the mean is shown to be within the margin: two one-sided tests."""
    from scipy.special import stdtrit

    if alike(gaps):
        return abs(float(gaps.mean())) <= margin and (gaps.size > 2 or not gaps.any())
    within = _interval(gaps, -float(stdtrit(gaps.size - 1, LEVEL)))
    return within is not None and -margin <= within.low and within.high <= margin


def chance_of(critical: float, prompts: int) -> float:
    """Return the level of a test of one comparison that asks for so many standard errors."""
    from scipy.special import stdtr

    return 2 * float(stdtr(prompts - 1, -critical)) if prompts > 1 else 0.0


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


def one_sided(pair: ModelPair) -> bool:
    """Return True where several prompts differ, all in one direction."""
    return pair.ahead >= ONE_SIDED and not pair.behind


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
    likely = any(pair.p_value <= LEVEL or one_sided(pair) for pair in differ)
    if near or agreed or likely or (differ and row.prompts < 3):
        row = replace(row, state=State.UNDECIDED, leaning=True)
        return replace(row, needed=row.needed_for_claim)
    equal = bool(listed) and all(pair.equivalent for pair in listed)
    return replace(row, state=State.EQUIVALENT if equal else State.UNDECIDED)
