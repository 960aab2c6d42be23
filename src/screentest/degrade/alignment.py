"""Alignment: where the moments of the intact video are in the changed one.

What was not touched is in both videos, in the same order; so the n-th second of it in one is
the n-th second of it in the other, whatever was dropped or moved around it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from screentest.core import Span, Time
from screentest.degrade.testbed import Touched


@dataclass(frozen=True, slots=True)
class Stretch:
    """A range of the intact video, and where it begins in the changed one; None: it is gone."""

    intact: Span
    changed: Time | None


def stretches(touched: Sequence[Touched], duration: Time) -> list[Stretch]:
    """All of the intact video, in order.

    >>> gone = Touched(1, Span(Fraction(2), Fraction(5)))
    >>> [(str(one.intact), one.changed) for one in stretches([gone], Fraction(9))]
    ... # doctest: +NORMALIZE_WHITESPACE
    [('0:00:00.000–0:00:02.000', Fraction(0, 1)),
     ('0:00:02.000–0:00:05.000', None),
     ('0:00:05.000–0:00:09.000', Fraction(2, 1))]
    """
    places = sorted((one.degraded for one in touched if one.degraded), key=lambda one: one.start)
    found = [Stretch(one.intact, one.degraded.start if one.degraded else None) for one in touched]
    untouched = Fraction(0)
    for gap in _gaps(sorted((one.intact for one in touched), key=lambda one: one.start), duration):
        # A gap here may be several there, where a clip was moved into its midst.
        start = gap.start
        while start < gap.end:
            at, room = _place(untouched, places)
            end = gap.end if room is None else min(gap.end, start + room)
            found.append(Stretch(Span(start, end), at))
            untouched += end - start
            start = end
    return sorted(found, key=lambda one: one.intact.start)


def _gaps(spans: Sequence[Span], duration: Time) -> Iterator[Span]:
    at = Fraction(0)
    for span in spans:
        if span.start > at:
            yield Span(at, span.start)
        at = max(at, span.end)
    if duration > at:
        yield Span(at, duration)


def _place(untouched: Time, places: Sequence[Span]) -> tuple[Time, Time | None]:
    """Where so much untouched time has passed, and how much follows before the next change."""
    at = untouched
    for place in places:
        if place.start > at:
            return at, place.start - at
        at += place.duration
    return at, None
