"""The sign-flip test of paired differences over sources, of one comparison or many together.

Were two systems alike, each source could as well have favoured the other one. The test looks at
every pattern of signs; it takes nothing for granted but that. The interval holds the differences
that the same test does not reject, so that the two never disagree.

Metrics that measure the same thing differ together, which a correction for each comparison by
itself pays for many times. ``joint_tests`` flips the signs of whole prompts in all comparisons at
once, and holds each against the largest statistic of all that are not settled yet (Westfall and
Young's step-down). The statistic is studentised: how clear a difference is counts, and not only its
sign. Each is tested in both directions, beyond its margin.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from statistics import NormalDist

import numpy as np

from screentest.stats.arrays import Floats, proportion
from screentest.stats.intervals import Interval, alike

LEVEL = 0.05
POWER = 0.8
_FINEST = 24
"""Points are halves; over both orders quarters; over three repeats twelfths."""
_LONGEST = 200_000
_ALL_PATTERNS = 13
"""Sources up to which every pattern of signs is tried: 8,192 of them."""
_DRAWN = 9_999
"""Patterns of many comparisons beyond that: drawn, the same ones every time."""
_BLOCK = 512
"""Patterns at a time: 10,000 of 4,000 comparisons would take 300 MB. A power of two, so that the
matrix product has the same bits as that of all patterns at once."""
_EVEN = 1e-9
_STEPS = 50
"""Into so many steps a mean difference is divided where patterns are too many to try."""
_MOST = 1_000_000
_NORMAL = NormalDist()


def sign_flip_p(sums: Floats) -> float:
    """Return the two-sided p-value that each of ``sums`` is as likely to be negative as positive.

    The share of all patterns of signs whose total is at least as far from 0. Exact where the sums
    are whole multiples of a fraction, as points are, and for up to 13 sources. For more, each
    sum is rounded to a fiftieth of their mean size: a statistic that is as good, and whose patterns
    can all be counted, so that p may be as small as many comparisons need it to be.

    >>> import numpy as np
    >>> sign_flip_p(np.array([1.0, 1.0, 0.5, 2.0, 1.0]))
    0.0625
    """
    moving = sums[sums != 0]
    if moving.size == 0:
        return 1.0
    size = np.abs(moving)
    # Rounding must not make a pattern look less extreme than the one it mirrors.
    seen = abs(float(moving.sum())) - 1e-9 * float(size.sum())
    first = float(size[0])
    for scale in range(1, _FINEST + 1):
        if abs(first * scale - round(first * scale)) > 1e-9:
            continue  # as most are that are no points
        steps = size * scale
        whole = np.rint(steps)
        # What is nearly 0 is no multiple: rounded away, it would leave a p-value of nothing.
        if whole.min() >= 1 and steps.sum() <= _LONGEST and np.abs(steps - whole).max() < 1e-9:
            return _counted(np.sort(whole.astype(np.int64)).tobytes(), seen * scale)
    if moving.size <= _ALL_PATTERNS:
        return float(np.mean(np.abs(_patterns(moving.size) @ size) >= seen))
    # Signs are as random on any sizes that do not look at them: rounding keeps the test exact.
    steps = np.rint(size * (_STEPS / float(size.mean())))
    seen = abs(float(np.sign(moving) @ steps))
    return _counted(np.sort(steps.astype(np.int64)).tobytes(), seen)


@cache
def _patterns(count: int) -> Floats:
    """Return the patterns of signs; the first leaves everything as it was."""
    if count <= _ALL_PATTERNS:
        bits = np.arange(2**count)[:, None] >> np.arange(count)
        return (1 - 2 * (bits & 1)).astype(np.float64)
    drawn = np.random.default_rng(count).choice([-1.0, 1.0], size=(_DRAWN, count))
    return np.concatenate([np.ones((1, count)), drawn])


@lru_cache(maxsize=10_000)
def _counted(sizes: bytes, seen: float) -> float:
    """Return all patterns at once: the distribution of the total, one source after the other.

    Points of pairs are few different numbers, so that most certificates ask the same again.
    """
    steps = np.frombuffer(sizes, dtype=np.int64)
    total = int(steps.sum())
    chance = np.zeros(total + 1)
    chance[0] = 1.0
    reach = 0
    for step in steps:
        # chance[p] is that the sources so far sum to p where they stay positive, 0 otherwise.
        reach += step
        chance[step : reach + 1] = (chance[step : reach + 1] + chance[: reach + 1 - step]) / 2
        chance[:step] /= 2
    distance = np.abs(2 * np.arange(total + 1) - total)
    return min(1.0, float(chance[distance >= seen].sum()))


def sign_flip_interval(
    sums: Floats, sizes: Floats | None = None, *, level: float = LEVEL
) -> Interval | None:
    """Return the mean differences that the test does not reject at ``level``.

    ``sums`` are those of the differences of each source, ``sizes`` how many there are in each. It
    excludes 0 exactly where ``sign_flip_p(sums) <= level``. None where the test rejects nothing,
    however far (five sources at 5%), and where all sources are alike: their spread is not known.

    >>> import numpy as np
    >>> print(sign_flip_interval(np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])))
    [0.100, 0.600]
    """
    proportion(level, "level")
    count = np.ones(sums.size) if sizes is None else sizes
    if not sums.size or 2.0 ** (1 - sums.size) > level or alike(sums / count):
        return None
    mean, spread = float(sums.sum() / count.sum()), float(np.ptp(sums / count))
    low, high = (_end(sums, count, mean, side * spread, level) for side in (-1, 1))
    return Interval(low, high)


def _end(sums: Floats, sizes: Floats, mean: float, far: float, level: float) -> float:
    """Point at which the test begins to reject, between the mean and ``far`` beside it."""

    def rejected(value: float) -> bool:
        return sign_flip_p(sums - value * sizes) <= level

    # Further out than every source all signs agree, so that the test rejects.
    inside, outside = mean, mean + 1.001 * far
    if inside < 0 < outside or outside < 0 < inside:  # the end must be on the test's side of 0
        inside, outside = (inside, 0.0) if rejected(0.0) else (0.0, outside)
    while abs(outside - inside) > 1e-4 * abs(far):
        middle = (inside + outside) / 2
        inside, outside = (inside, middle) if rejected(middle) else (middle, outside)
    return inside


def fewest_sources(level: float) -> int:
    """Return the fewest sources on which the test can reject at ``level`` at all: if every one
    agrees.

    >>> fewest_sources(0.05), fewest_sources(0.05 / 45)
    (6, 11)
    """
    return math.ceil(1 - math.log2(proportion(level, "level")) - 1e-9)


@cache
def sources_needed(effect: float, *, level: float = LEVEL, power: float = POWER) -> int | None:
    """Count the sources that the test needs to find a mean of so many deviations, with ``power``.

    By the power of Student's test, which the sign-flip test nearly has. Where sources are so few
    that all of them must agree, it is the probability that they do, and a little above that the
    whole patterns cost about one source. None beyond a million.

    >>> sources_needed(0.5), sources_needed(0.5, level=0.05 / 45), sources_needed(2.0)
    (34, 74, 6)
    """
    size = abs(effect)
    proportion(power, "power")
    few, many = fewest_sources(level), fewest_sources(level)
    while _found(size, many, level) < power:
        few, many = many, 2 * many
        if many > _MOST:
            return None
    while few < many:
        middle = (few + many) // 2
        few, many = (few, middle) if _found(size, middle, level) >= power else (middle + 1, many)
    return few


def _found(effect: float, count: int, level: float) -> float:
    """Return the chance that the test finds an effect of normal differences."""
    from scipy.special import stdtrit

    few = count < 2 * fewest_sources(level)
    used = count - 1 if few else count
    edge = -float(stdtrit(used - 1, level / 2))
    # Johnson and Welch's approximation of the noncentral t distribution.
    gap = effect * math.sqrt(used) - edge
    plain = _NORMAL.cdf(gap / math.sqrt(1 + edge * edge / (2 * (used - 1))))
    # With fewer patterns than this none may be as extreme but the one seen and its mirror.
    all_agree = count + math.log2(level) < 2
    return min(plain, _NORMAL.cdf(effect) ** count) if all_agree else plain


@dataclass(frozen=True, slots=True)
class Compared:
    """The differences of two systems by prompt, and what of them does not count."""

    gaps: Mapping[str, float]
    margin: float = 0.0


@dataclass(frozen=True, slots=True)
class JointTest:
    """One of many comparisons."""

    p_value: float
    """Of this comparison alone, in both directions."""
    adjusted_p: float
    """That any of the comparisons not yet settled would be as clear, if there were nothing."""
    critical: float
    """Standard errors by which the mean must exceed the margin; infinite where nothing could."""


def joint_tests(compared: Sequence[Compared]) -> list[JointTest]:
    """Test that each mean difference is larger than its margin, in either direction, together.

    >>> gaps = {name: 1.0 + 0.1 * place for place, name in enumerate("abcdefgh")}
    >>> [test.adjusted_p for test in joint_tests([Compared(gaps), Compared(gaps, margin=2.0)])]
    [0.0078125, 1.0]
    """
    if not compared:
        return []
    prompts = sorted({name for one in compared for name in one.gaps})
    place = {name: number for number, name in enumerate(prompts)}
    gaps = np.zeros((len(prompts), len(compared)))
    margins = np.zeros_like(gaps)
    for column, one in enumerate(compared):
        for name, gap in one.gaps.items():
            gaps[place[name], column], margins[place[name], column] = gap, one.margin
    beyond = np.concatenate([gaps - margins, -gaps - margins], axis=1)
    sizes = np.sqrt(np.square(beyond).sum(axis=0))
    moving = sizes > 0
    beyond[:, moving] /= sizes[moving]
    signs = _patterns(len(prompts))
    seen = beyond.sum(axis=0)
    count = len(compared)
    most, order = np.maximum(seen[:count], seen[count:]), np.argsort(-seen, kind="stable")
    allowed = math.floor(LEVEL * signs.shape[0])
    alone, steps = np.zeros(count, np.int64), np.zeros(order.size, np.int64)
    extremes = np.empty((order.size, 0))  # of each column, the largest of all patterns so far
    for start in range(0, signs.shape[0], _BLOCK):
        drawn = signs[start : start + _BLOCK] @ beyond  # the first pattern is what was seen
        either = np.maximum(drawn[:, :count], drawn[:, count:])
        alone += np.count_nonzero(either >= most - _EVEN, axis=0)
        # The largest of what is left, from the last comparison to the first.
        largest = drawn[:, order[::-1]]
        largest = np.maximum.accumulate(largest, axis=1, out=largest)[:, ::-1]
        steps += np.count_nonzero(largest >= seen[order] - _EVEN, axis=0)
        extremes = np.concatenate([extremes, largest.T], axis=1)
        spare = max(0, extremes.shape[1] - allowed - 1)
        extremes.partition(spare, axis=1)
        extremes = extremes[:, spare:]
    shares = np.maximum.accumulate(steps / signs.shape[0])
    adjusted, edges = np.ones(order.size), np.full(order.size, math.inf)
    adjusted[order] = shares
    held = int(np.count_nonzero(shares <= LEVEL))
    for rank, column in enumerate(order if allowed else ()):
        edges[column] = extremes[min(rank, held, order.size - 1), 0] + _EVEN
    results = []
    for column, one in enumerate(compared):
        chosen = max((column, column + len(compared)), key=lambda side: seen[side])
        critical = _in_errors(float(edges[chosen]), len(one.gaps))
        if seen[chosen] <= 0:
            results.append(JointTest(1.0, 1.0, critical))
            continue
        alone_p = float(alone[column] / signs.shape[0])
        results.append(JointTest(alone_p, float(adjusted[chosen]), critical))
    return results


def _in_errors(edge: float, count: int) -> float:
    """Turn a sum of differences over the root of their squares into standard errors of a mean."""
    if count < 2 or edge * edge >= count * (1 - _EVEN):
        return math.inf
    return max(0.0, edge * math.sqrt((count - 1) / (count - edge * edge)))
