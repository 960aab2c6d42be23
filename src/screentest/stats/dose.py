"""Dose and response: is more harm found more often, and how much is needed?

>>> found = dose_response([1, 2, 3, 4], [52, 60, 80, 96], [100, 100, 100, 100]).unwrap()
>>> found.monotone, round(found.threshold.unwrap(), 2)
(True, 2.75)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from screentest.core import Outcome, Reason
from screentest.stats._arrays import Floats, finite
from screentest.stats.intervals import Interval, wilson

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
    """Accuracy over severity, and what can be said of its rise."""

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
        """Whether accuracy never falls as severity rises."""
        return self.worst_fall == 0


def dose_response(
    severities: Sequence[float],
    points: Sequence[float],
    counts: Sequence[int],
    *,
    target: float = TARGET,
    harmless: float | None = None,
) -> Outcome[DoseResponse]:
    """Points earned out of ``counts`` judgements at each of several severities.

    ``harmless`` is the severity that changes nothing, such as 0: there accuracy is a half by
    symmetry, and the threshold may lie between it and the first step that was tested.
    """
    if not len(severities) == len(points) == len(counts):
        raise ValueError("severities, points and counts must be equally many")
    used = [place for place in range(len(counts)) if counts[place] > 0]
    used.sort(key=lambda place: severities[place])
    dose = finite([severities[place] for place in used], "severities")
    if len(set(dose.tolist())) != dose.size:
        raise ValueError("each severity must come once, with all its judgements")
    if dose.size < 2:
        return Outcome.failed(
            Reason.NOT_APPLICABLE, "a dose-response needs two severities with judgements"
        )
    number = np.array([counts[place] for place in used], dtype=np.float64)
    earned = finite([points[place] for place in used], "points")
    accuracy = earned / number
    fitted = _never_falling(accuracy, number)
    doses = tuple(
        Dose(float(s), int(n), float(a), wilson(float(e), int(n)), float(f))
        for s, n, a, e, f in zip(dose, number, accuracy, earned, fitted, strict=True)
    )
    z, p = cochran_armitage(dose, earned, number)
    highest = np.maximum.accumulate(accuracy)
    fall = float(np.max(highest - accuracy))
    return Outcome.of(DoseResponse(doses, z, p, fall, _passes(dose, fitted, target, harmless)))


def cochran_armitage(dose: Floats, earned: Floats, number: Floats) -> tuple[float, float]:
    """The test for a rising trend of shares: z and its one-sided p-value."""
    total = number.sum()
    share = earned.sum() / total
    centred = dose - (number @ dose) / total
    variance = share * (1 - share) * float(number @ centred**2)
    if variance <= 0:
        return 0.0, 1.0
    z = float(earned @ centred) / math.sqrt(variance)
    return z, NormalDist().cdf(-z)


def _never_falling(accuracy: Floats, number: Floats) -> Floats:
    from scipy.optimize import isotonic_regression

    fitted: Floats = isotonic_regression(accuracy, weights=number).x
    return np.clip(fitted, 0.0, 1.0)


def _passes(dose: Floats, fitted: Floats, target: float, harmless: float | None) -> Outcome[float]:
    if harmless is not None and harmless < dose[0]:
        dose = np.concatenate(([harmless], dose))
        fitted = np.concatenate(([min(0.5, float(fitted[0]))], fitted))
    above = np.flatnonzero(fitted >= target)
    if above.size == 0:
        return Outcome.failed(
            Reason.NOT_APPLICABLE,
            f"accuracy never reaches {target:.0%}",
            "Test stronger severities, if there are any.",
        )
    first = int(above[0])
    if fitted[first] == target:
        return Outcome.of(float(dose[first]))
    if first == 0:
        return Outcome.failed(
            Reason.NOT_APPLICABLE,
            f"accuracy is above {target:.0%} at the lowest severity already",
            "Test weaker severities.",
        )
    low, high = first - 1, first
    part = (target - fitted[low]) / (fitted[high] - fitted[low])
    return Outcome.of(float(dose[low] + part * (dose[high] - dose[low])))
