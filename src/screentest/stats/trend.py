"""Accuracy over duration (equal-count bins and Spearman's ρ, as in SLVMEval) and over severity.

>>> trend = duration_trend([10, 20, 30, 40, 50, 60], [1, 1, 1, 0, 0, 0], bins=3).unwrap()
>>> [one.accuracy for one in trend.bins], trend.correlation.value
([1.0, 0.5, 0.0], -1.0)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any

import numpy as np

from screentest.core import Outcome
from screentest.stats.arrays import Floats, Labels, Numbers, finite, together, undefined
from screentest.stats.intervals import Interval, by_source, wilson
from screentest.stats.rank import SMALLEST, Correlation, permutation_p, spearman

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
        return undefined(
            f"{times.size} judgements are too few for a trend; {SMALLEST * PER_BIN} are needed"
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
    return spearman(ranks, accuracies).map(lambda result: Trend(tuple(parts), result))


FEWEST_DURATIONS = 10


def too_few_durations(durations: Numbers) -> Outcome[Any] | None:
    """Return why so few distinct durations show no trend; None where they are enough."""
    distinct = np.unique(np.round(np.asarray(durations, dtype=np.float64), 6)).size
    if distinct >= FEWEST_DURATIONS:
        return None
    return undefined(f"a trend needs {FEWEST_DURATIONS} distinct durations, not {distinct}")


def source_trend(durations: Numbers, points: Numbers, sources: Labels) -> Outcome[Correlation]:
    """Spearman's ρ between the duration of a source and what was earned on all its pairs.

    The p-value is by permutation: were duration of no matter, any source's points could stand
    beside any other's duration. Pairs of one source count once, so that ten aspects of four
    films are four witnesses; below ten distinct durations there is no value.
    """
    times, right = together(durations, points)
    if times.size == 0:
        return undefined("nothing was judged")
    sums, sizes = by_source(right, sources)
    lengths, _ = by_source(times, sources)
    length, earned = lengths / sizes, np.round(sums / sizes, 12)
    if (few := too_few_durations(length)) is not None:
        return few
    result = spearman(np.round(length, 6), earned)
    if result.value is None:
        return result
    from scipy.stats import rankdata

    p = permutation_p(rankdata(np.round(length, 6)), rankdata(earned))
    return Outcome.of(replace(result.value, p_value=p))


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


# Dose and response: is more harm found more often, and how much is needed?

TARGET = 0.75
"""Half-way between chance and always right: the usual threshold of a two-way choice."""


@dataclass(frozen=True, slots=True)
class Dose:
    """One step of a ladder of severities or clip counts."""

    severity: float
    n: int
    accuracy: float
    interval: Interval
    fitted: float
    """What the best never-falling curve says here."""


@dataclass(frozen=True, slots=True)
class DoseResponse:
    """Accuracy over severity, and its rise."""

    doses: tuple[Dose, ...]
    trend_z: float
    """Cochran and Armitage's statistic: above 0 where accuracy rises with severity."""
    trend_p: float
    """One-sided: that accuracy does not rise. 1 where all answers are alike."""
    worst_fall: float
    """The largest drop from one severity to any higher one."""
    threshold: Outcome[float]
    """The severity at which the fitted curve passes the target."""

    @property
    def monotone(self) -> bool:
        """Tell whether accuracy never falls as severity rises."""
        return self.worst_fall == 0


def dose_response(
    severities: Sequence[float],
    points: Sequence[float],
    counts: Sequence[int],
    *,
    harmless: float | None = None,
) -> Outcome[DoseResponse]:
    """Points earned out of ``counts`` judgements at each of several severities.

    ``harmless`` is the severity that changes nothing, such as 0: there accuracy is a half by
    symmetry, and the threshold may be between it and the first step that was tested.

    >>> found = dose_response([1, 2, 3, 4], [52, 60, 80, 96], [100, 100, 100, 100]).unwrap()
    >>> found.monotone, round(found.threshold.unwrap(), 2)
    (True, 2.75)
    """
    from scipy.optimize import isotonic_regression

    if not len(severities) == len(points) == len(counts):
        raise ValueError("severities, points and counts must be equally many")
    used = [place for place in range(len(counts)) if counts[place] > 0]
    used.sort(key=lambda place: severities[place])
    dose = finite([severities[place] for place in used], "severities")
    if len(set(dose.tolist())) != dose.size:
        raise ValueError("each severity must come once, with all its judgements")
    if dose.size < 2:
        return undefined("a dose-response needs two severities with judgements")
    number = np.array([counts[place] for place in used], dtype=np.float64)
    earned = finite([points[place] for place in used], "points")
    accuracy = earned / number
    fitted = np.clip(isotonic_regression(accuracy, weights=number).x, 0.0, 1.0)
    doses = tuple(
        Dose(float(s), int(n), float(a), wilson(float(e), int(n)), float(f))
        for s, n, a, e, f in zip(dose, number, accuracy, earned, fitted, strict=True)
    )
    z, p = cochran_armitage(dose, earned, number)
    highest = np.maximum.accumulate(accuracy)
    fall = float(np.max(highest - accuracy))
    return Outcome.of(DoseResponse(doses, z, p, fall, _passes(dose, fitted, harmless)))


def cochran_armitage(dose: Floats, earned: Floats, number: Floats) -> tuple[float, float]:
    """Return the test for a rising trend of shares: z and its one-sided p-value."""
    total = number.sum()
    share = earned.sum() / total
    centred = dose - (number @ dose) / total
    variance = share * (1 - share) * float(number @ centred**2)
    if variance <= 0:
        return 0.0, 1.0
    z = float(earned @ centred) / math.sqrt(variance)
    return z, NormalDist().cdf(-z)


def _passes(dose: Floats, fitted: Floats, harmless: float | None) -> Outcome[float]:
    if harmless is not None and harmless < dose[0]:
        dose = np.concatenate(([harmless], dose))
        fitted = np.concatenate(([min(0.5, float(fitted[0]))], fitted))
    above = np.flatnonzero(fitted >= TARGET)
    if above.size == 0:
        return undefined(
            f"accuracy never reaches {TARGET:.0%}", "Test stronger severities, if there are any."
        )
    first = int(above[0])
    if fitted[first] == TARGET:
        return Outcome.of(float(dose[first]))
    if first == 0:
        return undefined(
            f"accuracy is above {TARGET:.0%} at the lowest severity already",
            "Test weaker severities.",
        )
    low, high = first - 1, first
    part = (TARGET - fitted[low]) / (fitted[high] - fitted[low])
    return Outcome.of(float(dose[low] + part * (dose[high] - dose[low])))
