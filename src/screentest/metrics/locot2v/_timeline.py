"""Values over time: their mean, and a curve of one point per few seconds."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from screentest.core import Point, Span, Time

STEP = Fraction(2)
"""Seconds per point, as long as VBench-Long's clips."""


class Timeline:
    """Sums per step of time; what is kept grows by three numbers every two seconds.

    >>> line = Timeline()
    >>> for time, value in ((0, 1.0), (1, 0.0), (2, 0.5)):
    ...     line.add(Fraction(time), value)
    >>> line.mean, [(str(point.span), point.value) for point in line.curve(Fraction(3))]
    (0.5, [('0:00:00.000–0:00:02.000', 0.5), ('0:00:02.000–0:00:03.000', 0.5)])
    """

    def __init__(self, step: Fraction = STEP) -> None:
        self._step = step
        self._bins: dict[int, list[float]] = {}
        self._worth: dict[int, int] = {}

    def add(self, time: Time, value: float) -> None:
        """One value, at the time it was seen."""
        place = math.floor(time / self._step)
        # A running sum and how much of it rounding lost, so that three hours stay exact.
        total, lost = self._bins.setdefault(place, [0.0, 0.0])
        grown = total + value
        lost += (total - grown) + value if abs(total) >= abs(value) else (value - grown) + total
        self._bins[place] = [grown, lost]
        self._worth[place] = self._worth.get(place, 0) + 1

    @property
    def count(self) -> int:
        """How many values there are."""
        return sum(self._worth.values())

    @property
    def mean(self) -> float:
        """The mean of all values."""
        return math.fsum(part for parts in self._bins.values() for part in parts) / self.count

    def curve(self, end: Time | None = None) -> tuple[Point, ...]:
        """The mean of each step; the last one ends at ``end``."""
        points = []
        for place in sorted(self._bins):
            start = place * self._step
            stop = start + self._step
            if end is not None and start < end < stop:
                stop = end
            points.append(
                Point(Span(start, stop), math.fsum(self._bins[place]) / self._worth[place])
            )
        return tuple(points)


def mean(values: Iterable[float]) -> float:
    """The exactly rounded mean: the order of the values changes nothing."""
    found = list(values)
    return math.fsum(found) / len(found)
