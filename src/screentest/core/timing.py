"""Time as a type: exact rationals in seconds, never a frame index divided by a rate.

>>> Span(Fraction(0), Fraction(1001, 24000)).duration
Fraction(1001, 24000)
>>> timecode(Fraction(3723500, 1000))
'1:02:03.500'
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction

from screentest.core.errors import BadOption

Time = Fraction
"""Seconds on the presentation clock of a video."""

_LONGEST = 100
_HUGE_EXPONENT = re.compile(r"[eE][+-]?[\d_]{4}")


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open range of time: [start, end)."""

    start: Time
    end: Time

    def __post_init__(self) -> None:
        if self.end < self.start:
            raise ValueError(f"a span cannot end ({self.end} s) before it starts ({self.start} s)")

    @property
    def duration(self) -> Time:
        """Its length in seconds."""
        return self.end - self.start

    @property
    def centre(self) -> Time:
        """The moment half-way."""
        return (self.start + self.end) / 2

    def __contains__(self, moment: Time) -> bool:
        return self.start <= moment < self.end

    def overlaps(self, other: Span) -> bool:
        """Whether they share more than a border."""
        return self.start < other.end and other.start < self.end

    def __str__(self) -> str:
        return f"{timecode(self.start)}–{timecode(self.end)}"


def seconds(value: str | int | float | Fraction) -> Time:
    """Read a time: ``12.5``, ``"1001/24000"``, ``"1:02:03.5"``.

    A float is taken as the decimal it prints as, so that 0.1 is a tenth.

    >>> seconds(0.1), seconds("1:30")
    (Fraction(1, 10), Fraction(90, 1))
    """
    try:
        if isinstance(value, str) and (len(value) > _LONGEST or _HUGE_EXPONENT.search(value)):
            raise ValueError(value)  # "1e999999999" would be a number of a billion digits
        if isinstance(value, float):
            if not math.isfinite(value):
                raise ValueError(value)
            return Fraction(repr(value))
        if isinstance(value, str) and ":" in value:
            sign = -1 if value.strip().startswith("-") else 1
            total = Fraction(0)
            for part in value.strip().lstrip("-").split(":"):
                total = total * 60 + Fraction(part)
            return sign * total
        return Fraction(value)
    except (ValueError, ZeroDivisionError):
        raise BadOption(
            f"{str(value)[:_LONGEST]!r} is not a time",
            advice="Write seconds (12.5), a ratio (1/24) or h:mm:ss.",
        ) from None


def timecode(moment: Time) -> str:
    """h:mm:ss.mmm for people; rounded to the millisecond."""
    sign, milliseconds = ("-", -moment) if moment < 0 else ("", moment)
    rest, thousandths = divmod(round(milliseconds * 1000), 1000)
    rest, secs = divmod(rest, 60)
    hours, minutes = divmod(rest, 60)
    return f"{sign}{hours}:{minutes:02}:{secs:02}.{thousandths:03}"
