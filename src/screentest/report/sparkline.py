"""A curve in one line of text."""

from __future__ import annotations

from collections.abc import Sequence

from screentest.core import Point

BLOCKS = "▁▂▃▄▅▆▇█"
PLAIN = "_.:-=+*#"
"""For terminals that have only ASCII."""


def sparkline(curve: Sequence[Point], width: int = 24, levels: str = BLOCKS) -> str:
    """The curve over time, its own lowest value at the bottom and its highest at the top.

    Each column shows the mean of the points over its stretch of time; a stretch that no point
    covers is blank.

    >>> from fractions import Fraction
    >>> from screentest.core import Span
    >>> def at(start, value): return Point(Span(Fraction(start), Fraction(start + 1)), value)
    >>> sparkline([at(0, 0.0), at(1, 1.0), at(3, 0.5)], width=4)
    '▁█ ▅'
    """
    if not curve:
        return ""
    start = min(point.span.start for point in curve)
    length = max(point.span.end for point in curve) - start
    if length <= 0:
        columns = [[point.value] for point in curve[:width]]
    else:
        columns = [[] for _ in range(width)]
        for point in curve:
            first = int((point.span.start - start) * width / length)
            last = int((point.span.end - start) * width / length)
            for place in range(first, min(width, max(first + 1, last))):
                columns[place].append(point.value)
    low = min(point.value for point in curve)
    spread = max(point.value for point in curve) - low
    return "".join(_letter(column, low, spread, levels) for column in columns)


def _letter(column: Sequence[float], low: float, spread: float, levels: str) -> str:
    if not column:
        return " "
    if spread <= 0:
        return levels[len(levels) // 2]
    share = (sum(column) / len(column) - low) / spread
    return levels[min(len(levels) - 1, int(share * len(levels)))]
