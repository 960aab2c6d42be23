"""Intervals of a share and of a mean, by formula and by resampling whole sources.

>>> print(wilson(90, 100))
[0.826, 0.945]
>>> print(wald(90, 100))
[0.841, 0.959]
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from screentest.core import NoValue, Reason
from screentest.stats.arrays import Floats, Labels, Numbers, codes, proportion, some

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Interval:
    """The range a value is probably in, both ends included."""

    low: float
    high: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high)):
            raise ValueError(f"an interval must be finite, not [{self.low}, {self.high}]")
        if self.low > self.high:
            raise ValueError(f"invalid interval: low {self.low} is above high {self.high}")

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    @property
    def width(self) -> float:
        return self.high - self.low

    @property
    def percents(self) -> str:
        """Its ends in whole per cent; an end beyond which there is something never reads 0 or 100.

        >>> Interval(0.25, 0.7512).percents, Interval(0.9963, 1.0).percents
        ('25–75', '99.6–100')
        """
        low, high = (f"{100 * end:.0f}" for end in (self.low, self.high))
        if low == "100" and self.low < 1:
            low = f"{math.floor(1000 * self.low) / 10:.1f}"
        if high == "0" and self.high > 0:
            high = f"{math.ceil(1000 * self.high) / 10:.1f}"
        return f"{low}–{high}"

    @property
    def margin(self) -> float:
        """Half the width: what stands behind ± where the interval is symmetric."""
        return self.width / 2

    def holding(self, value: float) -> Interval:
        """Return this interval, widened where it must be to hold the estimate itself."""
        return Interval(min(self.low, value), max(self.high, value))

    def within(self, low: float, high: float) -> Interval:
        """Return this interval cut to a range that no value can leave."""
        return Interval(min(max(self.low, low), high), max(min(self.high, high), low))

    def __str__(self) -> str:
        return f"[{self.low:.3f}, {self.high:.3f}]"


def wilson(successes: float, n: int) -> Interval:
    """Wilson's score interval of a share: right for small n and near 0 and 1.

    ``successes`` may be fractional: a tie counts half a point. Points of 0, ½ and 1 spread no
    more than right and wrong answers of the same mean do, so the interval is then too wide
    rather than too narrow.
    """
    share = _share(successes, n)
    z = critical(CONFIDENCE)
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    reach = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    # At 0 and 1 the formula's own ends are exact; rounding must not push them out.
    return Interval(max(0.0, centre - reach), min(1.0, centre + reach)).holding(share)


def wald(successes: float, n: int) -> Interval:
    """Return the textbook interval p ± z·√(p(1-p)/n), which the SLVMEval paper prints.

    Kept for comparison with published tables: it covers too seldom near 0 and 1, where it may
    even leave that range, and shrinks to nothing at 0 and 1 themselves.
    """
    share = _share(successes, n)
    reach = critical(CONFIDENCE) * math.sqrt(share * (1 - share) / n)
    return Interval(share - reach, share + reach)


def mean_interval(values: Numbers) -> Interval:
    """Student's t interval of a mean; needs two values that differ: without spread it has none."""
    array = some(values)
    if array.size < 2:
        raise NoValue(
            Reason.NOT_APPLICABLE,
            "one value has no spread, so its mean has no interval",
            advice="Score at least two items.",
        )
    if alike(array):
        raise NoValue(Reason.NOT_APPLICABLE, "all values are equal, so their spread is not known")
    error = float(array.std(ddof=1)) / math.sqrt(array.size)
    return _student(float(array.mean()), error, array.size)


def upper_mean(values: Numbers) -> float:
    """Return what the mean is below with 95% confidence; the mean itself where all are alike.

    >>> upper_mean([0.0, 0.0, 0.0]), round(upper_mean([1.0, 2.0, 3.0]), 3)
    (0.0, 3.686)
    """
    from scipy.special import stdtrit

    numbers = np.asarray(values, dtype=np.float64)
    mean = float(numbers.mean())
    if alike(numbers):
        return mean
    error = float(numbers.std(ddof=1)) / math.sqrt(numbers.size)
    return mean + float(stdtrit(numbers.size - 1, 0.95)) * error


def _student(mean: float, error: float, count: int) -> Interval:
    from scipy.special import stdtrit

    reach = error * float(stdtrit(count - 1, 0.5 + CONFIDENCE / 2))
    return Interval(mean - reach, mean + reach)


def alike(values: Floats) -> bool:
    """Tell whether values differ by rounding alone: an interval from them would claim certainty."""
    return float(np.ptp(values)) <= 1e-12 * max(float(np.abs(values).max()), 1e-300)


def critical(confidence: float) -> float:
    """Count the standard errors that a two-sided normal interval reaches: 1.96 for 95%."""
    return NormalDist().inv_cdf(0.5 + proportion(confidence, "confidence") / 2)


def _share(successes: float, n: int) -> float:
    if n < 0 or not 0 <= successes <= n:
        raise ValueError(f"invalid share: {successes} of {n}")
    if n == 0:
        raise NoValue(Reason.NOT_APPLICABLE, "a share of nothing has no interval")
    return successes / n


def share_interval(points: Numbers, sources: Labels | None = None) -> Interval:
    """Return the interval of a share of points that come in clusters, one per source.

    Korn and Graubard's (1998): Clopper and Pearson's exact interval on as many trials as the
    answers are worth. That number comes from how much sources differ, is cut down by what few
    sources know of it (Student's t), and is never more than there are answers. Sources that are
    all alike do not show how much others would differ: each counts as one trial then.

    Covers at least 94% for nominal 95 from two sources on (bench/calibration.py).

    >>> print(share_interval([1, 1, 1, 1]), share_interval([1, 0, 1, 0], [0, 0, 1, 1]))
    [0.398, 1.000] [0.013, 0.987]
    """
    from scipy.special import stdtrit

    array = some(points, "judgements")
    if array.min() < 0 or array.max() > 1:
        raise ValueError("points must be in [0, 1]")
    sums, sizes = by_source(array, sources)
    count, share = sums.size, float(sums.sum() / sizes.sum())
    pull = sums - share * sizes
    variance = float(pull @ pull) * count / max(1, count - 1) / array.size**2
    tail = 0.5 + CONFIDENCE / 2
    trials = float(count)
    if count > 1 and variance > 1e-15:
        available = (float(stdtrit(array.size - 1, tail)) / float(stdtrit(count - 1, tail))) ** 2
        trials = min(array.size, share * (1 - share) / variance * available)
    return exact_interval(share, trials, tail)


def exact_interval(share: float, trials: float, tail: float) -> Interval:
    """Return Clopper and Pearson's interval of a share; trials need not be a whole number."""
    from scipy.special import betaincinv

    right = share * trials
    low = float(betaincinv(right, trials - right + 1, 1 - tail)) if right > 1e-12 else 0.0
    high = float(betaincinv(right + 1, trials - right, tail)) if trials - right > 1e-12 else 1.0
    return Interval(low, high).holding(share)


MANY = 100
"""From so many sources on Student's t is as good for skewed values."""


def source_interval(values: Numbers, sources: Labels | None = None) -> Interval:
    """Return the interval of a mean over sources; below a hundred made for skewed values, too.

    Student's t over sources, and below a hundred each end the wider of it and of Hall's (1992)
    interval, which turns t by the skewness that the sources show. Scores pile up near the end of
    their scale: Student's t of three to ten such sources holds the mean 90 times in a hundred, this
    one 93 to 95 times (bench/calibration.py).

    >>> print(source_interval([0.2, 0.5, 0.6, 0.9]), source_interval([0.9, 0.9, 0.8, 0.2]))
    [0.091, 1.009] [-0.526, 1.236]
    """
    sums, sizes = by_source(values, sources)
    _must_differ(sums, sizes)
    return _over_sources(sums, sizes)


def _over_sources(sums: Floats, sizes: Floats) -> Interval:
    count, mean = sums.size, float(sums.sum() / sizes.sum())
    # Of sources of equal size these are their means less the mean of all.
    off = (sums - mean * sizes) * count / float(sizes.sum())
    error = math.sqrt(float(off @ off) / (count - 1) / count)
    student = _student(mean, error, count)
    spread = math.sqrt(float(off @ off) / count)
    if not 3 <= count < MANY or not spread:  # numbers as small as 1e-300 have squares of zero
        return student
    skewness = float(np.mean((off / spread) ** 3)) * math.sqrt(count * (count - 1)) / (count - 2)
    if abs(skewness) < 1e-6:
        return student
    reach = (student.high - mean) / error / math.sqrt(count)
    ends = [
        mean - error * math.sqrt(count) * _turned(sign * reach, skewness, count) for sign in (1, -1)
    ]
    return Interval(min(student.low, ends[0]), max(student.high, ends[1]))


def _turned(reach: float, skewness: float, count: int) -> float:
    """Value at which Hall's transformation of a skewed mean is ``reach``."""
    inside = 1 + skewness * (reach - skewness / (6 * count))
    return 3 * (float(np.cbrt(inside)) - 1) / skewness


def _must_differ(sums: Floats, sizes: Floats) -> None:
    if sums.size < 2:
        raise NoValue(
            Reason.NOT_APPLICABLE,
            "values of one source say nothing about other sources",
            advice="Use at least two source videos.",
        )
    if alike(sums / sizes):
        raise NoValue(
            Reason.NOT_APPLICABLE,
            "all sources have the same mean, so their spread is not known",
            advice="Use more source videos.",
        )


RESAMPLES = 2000
"""Ends of a 95% interval then move by about 1% of its width from seed to seed."""
FEW = 5
"""Below so many sources a bootstrap interval holds the truth too seldom: 50% of the time with two
sources, 85% with four. Student's t is right there."""
_DRAWS_AT_ONCE = 4_000_000
_NORMAL = NormalDist()


def bootstrap_mean(
    values: Numbers, sources: Labels | None = None, *, resamples: int = RESAMPLES, seed: int = 0
) -> Interval:
    """Return the interval of a mean over values that come in clusters, one per source.

    Pairs made from one source video, and the two orders in which one pair is shown, succeed and
    fail together. Drawing sources keeps them together, so the interval is as wide as the number of
    sources deserves.

    The intervals are BCa (bias-corrected and accelerated), since accuracies near 1 are skewed, with
    Hesterberg's expansion of the quantiles, since a plain bootstrap of few sources behaves like a
    normal interval where Student's t is due. Even so they are too narrow for few sources: each end
    is the wider one of this and of ``source_interval``, and of fewer than five sources it is that
    alone. ``docs/evidence/statistics.md`` has the measurement.

    The same for any order of the values. Needs two sources whose means differ.

    >>> print(bootstrap_mean([1, 0, 1, 1] * 15))
    [0.621, 0.863]
    >>> print(bootstrap_mean([1, 0, 1, 1] * 15, sources=[n // 6 for n in range(60)]))
    [0.683, 0.813]
    """
    sums, sizes = by_source(values, sources)
    _must_differ(sums, sizes)
    wide = _over_sources(sums, sizes)
    if sums.size < FEW:
        return wide
    total, count = sums.sum(), sizes.sum()
    draws = resample(sums.size, resamples, seed)
    replicates = np.concatenate([sums[d].sum(axis=1) / sizes[d].sum(axis=1) for d in draws])
    left_out = (total - sums) / (count - sizes)
    drawn = bca(float(total / count), replicates, left_out)
    return Interval(min(drawn.low, wide.low), max(drawn.high, wide.high))


GROUPS = 50
"""Sources are left out in so many groups at most: more would hardly make an interval steadier."""


def coefficient_interval(
    estimate: Callable[[np.ndarray], float], sources: Labels, count: int
) -> Interval:
    """Return the interval of a coefficient between -1 and 1 of ``count`` clustered values.

    ``estimate`` works it out from the values that a mask keeps. A jackknife: one group of sources
    after the other is left out, and Student's t is taken of Fisher's z over the groups. The cost is
    50 estimates however many sources there are. Needs five sources.
    """
    codes_of = codes(sources, count)
    there = int(codes_of.max()) + 1
    if there < FEW:
        message = f"{there} sources are too few for the interval of a coefficient"
        raise NoValue(Reason.NOT_APPLICABLE, message, advice=f"Use at least {FEW}.")
    groups = min(GROUPS, there)
    dealt = np.random.default_rng(0).permutation(there) % groups
    group = dealt[codes_of]
    whole = _fisher(estimate(np.ones(count, dtype=bool)))
    left_out = np.array([_fisher(estimate(group != item)) for item in range(groups)])
    pseudo = groups * whole - (groups - 1) * left_out
    error = float(pseudo.std(ddof=1)) / math.sqrt(groups)
    reach = _student(0.0, error, groups).high
    return Interval(math.tanh(whole - reach), math.tanh(whole + reach))


def _fisher(coefficient: float) -> float:
    # At ±1 itself z is infinite; one value more or less would not be there.
    return math.atanh(min(max(coefficient, -1 + 1e-9), 1 - 1e-9))


def by_source(values: Numbers, sources: Labels | None) -> tuple[Floats, Floats]:
    """Sum and number of the values of each source, bit for bit the same in any order."""
    array = some(values)
    if sources is None:
        return np.sort(array), np.ones(array.size)
    source = codes(sources, array.size)
    order = np.lexsort((array, source))
    sums = np.bincount(source[order], weights=array[order]).astype(np.float64)
    return sums, np.bincount(source).astype(np.float64)


def resample(clusters: int, resamples: int, seed: int) -> Iterator[np.ndarray]:
    """Rows of drawn cluster numbers, in blocks that fit into memory."""
    if resamples < 100:
        raise ValueError(f"{resamples} resamples are too few for an interval")
    generator = np.random.default_rng(seed)
    rows = max(1, _DRAWS_AT_ONCE // clusters)
    for done in range(0, resamples, rows):
        yield generator.integers(0, clusters, (min(rows, resamples - done), clusters))


def bca(estimate: float, replicates: Floats, left_out: Floats) -> Interval:
    """Return the BCa interval from bootstrap replicates and leave-one-source-out estimates."""
    from scipy.special import stdtrit

    clusters = left_out.size
    below = np.count_nonzero(replicates < estimate) + 0.5 * np.count_nonzero(replicates == estimate)
    # Never 0 or 1: an estimate beyond all replicates is at most that far out.
    share = min(max(below, 0.5), replicates.size - 0.5) / replicates.size
    bias = _NORMAL.inv_cdf(share)
    pull = left_out.mean() - left_out
    spread = float(np.sum(pull**2))
    acceleration = float(np.sum(pull**3)) / (6 * spread**1.5) if spread > 0 else 0.0
    tail = 0.5 + CONFIDENCE / 2
    reach = math.sqrt(clusters / (clusters - 1)) * float(stdtrit(clusters - 1, tail))
    ends = [_adjusted(sign * reach, bias, acceleration) for sign in (-1, 1)]
    low, high = np.quantile(replicates, ends)
    return Interval(float(low), float(high)).holding(estimate)


def _adjusted(z: float, bias: float, acceleration: float) -> float:
    shifted = bias + z
    stretch = 1 - acceleration * shifted
    if stretch <= 0:  # beyond the pole of the formula: as far out as there are replicates
        return 1.0 if shifted > 0 else 0.0
    return _NORMAL.cdf(bias + shifted / stretch)
