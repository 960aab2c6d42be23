"""Boundary: where a detector sees a new shot begin. Detector: what finds them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from screentest.core import Consumer, Span, Time, Transition


@dataclass(frozen=True, slots=True)
class Boundary:
    """The first frame of a new shot.

    A gradual transition lasts over ``gradual``; ``time`` is then where the new picture takes
    over. One at the first frame of a video says how the first shot comes in.
    """

    time: Time
    frame: int
    """Which decoded frame of the video it is, from 0."""
    transition: Transition = Transition.CUT
    gradual: Span | None = None
    strength: float = 1.0
    """The detector's score over its threshold: 1 was just enough."""
    found_by: tuple[str, ...] = ()
    """Which detectors say so, where several work together."""


@runtime_checkable
class Detector(Consumer, Protocol):
    """A consumer that finds shot boundaries."""

    @property
    def boundaries(self) -> Sequence[Boundary]:
        """In order of time; complete after ``close``."""
