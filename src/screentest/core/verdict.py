"""Verdict: which of two videos a judge prefers, and why."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import StrEnum

from screentest.core.item import Time
from screentest.core.outcome import Point


class Choice(StrEnum):
    """What a judge answers. A tie is a tie, never silently the first."""

    FIRST = "first"
    SECOND = "second"
    TIE = "tie"

    @property
    def flipped(self) -> Choice:
        """The same answer with the two videos presented in the other order."""
        return _FLIPPED[self]


_POINTS = {Choice.FIRST: 1.0, Choice.TIE: 0.5, Choice.SECOND: 0.0}
_FLIPPED = {Choice.FIRST: Choice.SECOND, Choice.SECOND: Choice.FIRST, Choice.TIE: Choice.TIE}


@dataclass(frozen=True, slots=True)
class Shown:
    """When the frames of both videos are on the screen that a judge was shown."""

    first: tuple[Time, ...]
    second: tuple[Time, ...]
    same: bool = False
    """Whether both rows of pictures are the same to the byte: then nothing can be told."""
    found: int = 0
    """Clips that were found in the video with fewer of them; 0 where none were looked for."""

    @property
    def flipped(self) -> Shown:
        """The same with the videos named in the other order."""
        return replace(self, first=self.second, second=self.first)


@dataclass(frozen=True, slots=True)
class Verdict:
    """A choice, the scores behind it where the judge has any, and its evidence."""

    choice: Choice
    first: float | None = None
    second: float | None = None
    rationale: str = ""
    evidence_first: tuple[Point, ...] = ()
    """The seconds of the first video that decided, with a word on each."""
    evidence_second: tuple[Point, ...] = ()
    shown: Shown | None = None
    """Of a judge that goes by some of the frames."""
    share: float | None = None
    """Where several people were asked: how many were for the first, a tie being half. The choice is
    their majority; None where one voice spoke."""

    def __post_init__(self) -> None:
        # A judge of somebody else's may say "second" in plain text, or nonsense: not kept.
        object.__setattr__(self, "choice", Choice(self.choice))
        for number in (self.first, self.second):
            if number is not None and not math.isfinite(number):
                raise ValueError(f"invalid score {number} of a judge: must be finite")
        if self.share is not None and not 0 <= self.share <= 1:
            raise ValueError(f"invalid share {self.share} of voices: must be in [0, 1]")

    @property
    def points(self) -> float:
        """Return what the first video gets: 1, a half for a tie, or its share of several voices."""
        return _POINTS[self.choice] if self.share is None else self.share

    def within(self, margin: float) -> Verdict:
        """Return a tie where the scores differ by no more than a margin; else the same verdict."""
        if self.first is None or self.second is None or abs(self.first - self.second) > margin:
            return self
        return replace(self, choice=Choice.TIE)

    @property
    def flipped(self) -> Verdict:
        """The same verdict with the videos named in the other order."""
        return Verdict(
            self.choice.flipped,
            self.second,
            self.first,
            self.rationale,
            self.evidence_second,
            self.evidence_first,
            None if self.shown is None else self.shown.flipped,
            None if self.share is None else 1 - self.share,
        )


def prefer_higher(first: float, second: float, *, margin: float = 0.0) -> Verdict:
    """Return the verdict of two scores where more is better; within ``margin`` it is a tie.

    >>> prefer_higher(0.4, 0.7).choice.value
    'second'
    """
    if abs(first - second) <= margin:
        choice = Choice.TIE
    else:
        choice = Choice.FIRST if first > second else Choice.SECOND
    return Verdict(choice, first, second)
