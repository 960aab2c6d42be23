"""Item, Script, Clip, Shot: what is evaluated and what it should show. Span and Time: when.

>>> Span(Fraction(0), Fraction(1001, 24000)).duration
Fraction(1001, 24000)
>>> timecode(Fraction(3723500, 1000))
'1:02:03.500'
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import TypeAlias

from screentest.core.errors import BadOption

Time = Fraction
"""Seconds on the presentation clock of a video: exact, never a frame index over a rate."""

File: TypeAlias = str | PathLike[str]
STEP = "step"
"""The group of items that says when in a training they were made."""

_LONGEST = 100
_HUGE_EXPONENT = re.compile(r"[eE][+-]?[\d_]{4}")


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open range of time: [start, end)."""

    start: Time
    end: Time

    def __post_init__(self) -> None:
        if self.end < self.start:
            raise ValueError(f"invalid span: ends ({self.end} s) before it starts ({self.start} s)")

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
        """Return whether they share more than a border."""
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


@dataclass(frozen=True, slots=True)
class Clip:
    """A piece of a script: its caption, and its time range where that is known."""

    caption: str
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Script:
    """The shot-by-shot text of a long video: ordered clips, all timed or none.

    The script of a film that was captioned has times; that of a film still to be
    generated has only the order.
    """

    clips: tuple[Clip, ...]

    def __post_init__(self) -> None:
        spans = [clip.span for clip in self.clips if clip.span is not None]
        if spans and len(spans) != len(self.clips):
            raise ValueError("either every clip of a script has a time range or none has")
        for number, (first, second) in enumerate(pairwise(spans), start=1):
            if second.start < first.end:
                raise ValueError(
                    f"clip {number + 1} ({second}) starts before clip {number} ({first}) ends"
                )

    @property
    def timed(self) -> bool:
        """Return whether its clips have time ranges."""
        return bool(self.clips) and self.clips[0].span is not None

    @property
    def text(self) -> str:
        """The captions joined: the prompt of a long video."""
        return joined(self.clips)


def joined(clips: Iterable[Clip]) -> str:
    """Return the captions of some clips as one text, whatever is said of their times."""
    return " ".join(clip.caption for clip in clips if clip.caption)


class Transition(StrEnum):
    """How a shot comes in."""

    START = "start"
    CUT = "cut"
    FADE = "fade"
    DISSOLVE = "dissolve"


@dataclass(frozen=True, slots=True)
class Shot:
    """A range found by a detector. It has no text; a Clip has.

    ``transition`` says how the shot comes in. A gradual one lasts over ``gradual``;
    ``start`` is then its middle, where the new picture takes over.
    """

    span: Span
    transition: Transition = Transition.START
    gradual: Span | None = None
    found_by: tuple[str, ...] = ()

    @property
    def start(self) -> Time:
        """The first moment of the shot."""
        return self.span.start

    @property
    def end(self) -> Time:
        """The moment the next shot starts."""
        return self.span.end


@dataclass(frozen=True, slots=True)
class Item:
    """One video to evaluate, and what it was asked to be."""

    id: str
    video: Path
    prompt: str = ""
    script: Script | None = None
    references: tuple[Path, ...] = ()
    """Reference images."""
    source: Path | None = None
    """The video that was edited."""
    instruction: str = ""
    """What the edit was to do."""
    groups: Mapping[str, str] = field(default_factory=dict)
    """By what to group results: model, theme, category…"""
    sha256: str = ""
    """What the video must be, where somebody said so: a testbed does."""

    def __post_init__(self) -> None:
        if not self.id:
            raise ValueError("an item needs an id")

    @property
    def text(self) -> str:
        """The prompt, or the script joined where only that is given."""
        return self.prompt or (self.script.text if self.script else "")
