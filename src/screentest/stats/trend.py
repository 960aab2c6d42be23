"""Does accuracy change with duration? Equal-count bins and Spearman's ρ, as in SLVMEval.

>>> trend = duration_trend([10, 20, 30, 40, 50, 60], [1, 1, 1, 0, 0, 0], bins=3).unwrap()
>>> [one.accuracy for one in trend.bins], trend.correlation.value
([1.0, 0.5, 0.0], -1.0)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from screentest.core import Outcome, Reason
from screentest.stats._arrays import Floats, Numbers, together
from screentest.stats.intervals import Interval, wilson
from screentest.stats.rank import SMALLEST, Correlation, spearman

BINS = 50
PER_BIN = 2
"""The paper's smallest aspect has 100 pairs in its 50 bins."""


@dataclass(frozen=True, slots=True)
class Bin:
    """Judgements on videos of about the same duration."""

    shortest: float
    """Seconds, as ``longest``."""
    longest: float
    n: int
    accuracy: float
    interval: Interval
    """Wilson's, which takes the judgements as independent."""


@dataclass(frozen=True, slots=True)
class Trend:
    """Accuracy from the shortest videos to the longest."""

    bins: tuple[Bin, ...]
    correlation: Correlation
    """Between the number of the bin and its accuracy; below 0, long videos are harder."""


def duration_trend(durations: Numbers, points: Numbers, *, bins: int = BINS) -> Outcome[Trend]:
    """Sort by duration, cut into ``bins`` of equal count, and correlate.

    Fewer bins where there are not two values for each. Values of equal duration each count
    their common mean, so that no border between bins depends on the order they came in.
    """
    if bins < SMALLEST:
        raise ValueError(f"{bins} bins show no trend; {SMALLEST} are needed")
    times, right = together(durations, points)
    count = min(bins, times.size // PER_BIN)
    if count < SMALLEST:
        return Outcome.failed(
            Reason.NOT_APPLICABLE,
            f"{times.size} judgements are too few for a trend; {SMALLEST * PER_BIN} are needed",
        )
    order = np.argsort(times, kind="stable")
    sorted_times, shared = times[order], _shared_points(times, right)[order]
    parts = [
        _bin(part_times, part_points)
        for part_times, part_points in zip(
            np.array_split(sorted_times, count), np.array_split(shared, count), strict=True
        )
    ]
    ranks = np.arange(count, dtype=np.float64)
    accuracies = np.array([part.accuracy for part in parts])
    return spearman(ranks, accuracies).map(lambda found: Trend(tuple(parts), found))


def _shared_points(times: Floats, points: Floats) -> Floats:
    _, group = np.unique(times, return_inverse=True)
    order = np.lexsort((points, group))
    sums = np.bincount(group[order], weights=points[order])
    means: Floats = (sums / np.bincount(group))[group]
    return means


def _bin(times: Floats, points: Floats) -> Bin:
    # Rounded, since means of thirds must not make two equal bins differ by their last bit.
    accuracy = round(float(points.mean()), 12)
    interval = wilson(accuracy * points.size, points.size)
    return Bin(float(times[0]), float(times[-1]), points.size, accuracy, interval)
