"""Intervals of a share and of a mean, by formula. For resampling see ``bootstrap``.

>>> print(wilson(90, 100))
[0.826, 0.945]
>>> print(wald(90, 100))
[0.841, 0.959]
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

from screentest.core import NoValue, Reason
from screentest.stats._arrays import Numbers, proportion, some

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Interval:
    """Where a value probably lies; both ends belong to it."""

    low: float
    high: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high)):
            raise ValueError(f"an interval cannot end at {self.low} or {self.high}")
        if self.low > self.high:
            raise ValueError(f"an interval cannot run from {self.low} down to {self.high}")

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    @property
    def width(self) -> float:
        """From end to end."""
        return self.high - self.low

    @property
    def margin(self) -> float:
        """Half the width: what stands behind ± where the interval is symmetric."""
        return self.width / 2

    def holding(self, value: float) -> Interval:
        """This interval, widened where it must be to hold the estimate itself."""
        return Interval(min(self.low, value), max(self.high, value))

    def within(self, low: float, high: float) -> Interval:
        """This interval cut to a range that no value can leave."""
        return Interval(min(max(self.low, low), high), max(min(self.high, high), low))

    def __str__(self) -> str:
        return f"[{self.low:.3f}, {self.high:.3f}]"


def wilson(successes: float, n: int, *, confidence: float = CONFIDENCE) -> Interval:
    """Wilson's score interval of a share: right for small n and near 0 and 1.

    ``successes`` may be fractional: a tie counts half a point. Points of 0, ½ and 1 spread no
    more than right and wrong answers of the same mean do, so the interval is then too wide
    rather than too narrow.
    """
    share = _share(successes, n)
    z = critical(confidence)
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    reach = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    # At 0 and 1 the formula's own ends are exact; rounding must not push them out.
    return Interval(max(0.0, centre - reach), min(1.0, centre + reach)).holding(share)


def wald(successes: float, n: int, *, confidence: float = CONFIDENCE) -> Interval:
    """The textbook interval p ± z·√(p(1-p)/n), which the SLVMEval paper prints.

    Kept for comparison with published tables: it covers too seldom near 0 and 1, where it may
    even leave that range, and shrinks to nothing at 0 and 1 themselves.
    """
    share = _share(successes, n)
    reach = critical(confidence) * math.sqrt(share * (1 - share) / n)
    return Interval(share - reach, share + reach)


def mean_interval(values: Numbers, *, confidence: float = CONFIDENCE) -> Interval:
    """Student's t interval of a mean; needs two values, since one has no spread."""
    array = some(values)
    if array.size < 2:
        raise NoValue(
            Reason.NOT_APPLICABLE,
            "one value has no spread, so its mean has no interval",
            advice="Score at least two items.",
        )
    from scipy.special import stdtrit

    mean = float(array.mean())
    error = float(array.std(ddof=1)) / math.sqrt(array.size)
    reach = error * float(stdtrit(array.size - 1, 0.5 + proportion(confidence, "confidence") / 2))
    return Interval(mean - reach, mean + reach)


def critical(confidence: float) -> float:
    """How many standard errors a two-sided normal interval reaches: 1.96 for 95%."""
    return NormalDist().inv_cdf(0.5 + proportion(confidence, "confidence") / 2)


def _share(successes: float, n: int) -> float:
    if n < 0 or not 0 <= successes <= n:
        raise ValueError(f"{successes} of {n} is no share")
    if n == 0:
        raise NoValue(Reason.NOT_APPLICABLE, "a share of nothing has no interval")
    return successes / n
