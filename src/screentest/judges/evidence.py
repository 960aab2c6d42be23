"""Evidence: the moments in which two videos differ most, for judges that rate each alone.

Every film has moments that are worse than its others. Those of one video say why its rating is
low; why it is lower than another's is shown by where the two part. A moment of one is held against
that of the other at the same part of its film, so that films of unequal length can be compared.

>>> from screentest.core import Span, Time
>>> def film(*values):
...     return Score(0.5, tuple(Point(Span(Time(n), Time(n + 1)), v) for n, v in enumerate(values)))
>>> first, second = evidence(film(0.9, 0.1, 0.8), film(0.9, 0.1, 0.5), Choice.FIRST)
>>> [(float(one.span.start), one.value) for one in second]
[(2.0, 0.5)]
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from screentest.core.outcome import Point, Score
from screentest.core.verdict import Choice

MOST = 5
"""Moments of each video; all of the curve is in the record of the metric."""
_ALIKE = 1e-9

Moments = tuple[Point, ...]


def evidence(first: Score, second: Score, choice: Choice) -> tuple[Moments, Moments]:
    """Return the moments of both videos that speak for the choice, in order of time.

    Those in which the winner is furthest ahead; of a tie, those in which they differ at all.
    """
    ahead = ahead_of(first.curve, second.curve)
    behind = ahead_of(second.curve, first.curve)
    if choice is Choice.TIE:
        return _largest(first.curve, np.abs(ahead)), _largest(second.curve, np.abs(behind))
    sign = 1.0 if choice is Choice.FIRST else -1.0
    return _largest(first.curve, sign * ahead), _largest(second.curve, -sign * behind)


def ahead_of(curve: Sequence[Point], other: Sequence[Point]) -> np.ndarray:
    """For each point, how far it is above the other curve at the same part of the film."""
    if not curve or not other:
        return np.zeros(len(curve))
    ordered = sorted(other, key=lambda point: point.span.start)
    starts = np.array([float(point.span.start) for point in ordered])
    values = np.array([point.value for point in ordered])
    centres = np.array([float(point.span.centre) for point in curve])
    # Rounded, since what lies on a border must not fall to either side by a last bit.
    there = np.round(centres * (_length(other) / (_length(curve) or 1.0)), 9)
    at = np.clip(np.searchsorted(starts, there, side="right") - 1, 0, None)
    selected = np.array([point.value for point in curve])
    differences: np.ndarray = selected - values[at]
    return differences


def _length(curve: Sequence[Point]) -> float:
    return max(float(point.span.end) for point in curve)


def _largest(curve: Sequence[Point], ahead: np.ndarray) -> Moments:
    # Of equals the earliest.
    ranked = np.argsort(-ahead, kind="stable")[:MOST]
    chosen = [curve[place] for place in ranked.tolist() if ahead[place] > _ALIKE]
    return tuple(sorted(chosen, key=lambda point: point.span.start))
