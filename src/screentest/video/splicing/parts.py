"""Parts: what a changed copy is made of. The list of parts is the recipe."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from screentest.core import Frame, Span, Time
from screentest.video.splicing.pixels import Pixels

if TYPE_CHECKING:
    from screentest.core.frames import Image

FrameFunction: TypeAlias = "Callable[[Iterator[Frame]], Iterable[Image]]"
"""Takes the frames of a part in order and gives as many pictures back, of the same kind.

It may keep frames back, look ahead and change the order. What it does not ask for is not
decoded."""


@dataclass(frozen=True, slots=True)
class Origin:
    """A range of another file, whose pictures stand in for those of the source."""

    path: Path
    span: Span | None = None
    """On that file's own clock; None: all of it."""


@dataclass(frozen=True, slots=True)
class Keep:
    """A range that stays as it is."""

    span: Span


@dataclass(frozen=True, slots=True)
class Reencode:
    """A range whose pictures go through a function."""

    span: Span
    change: FrameFunction
    pixels: Pixels = Pixels.RGB
    durations: tuple[Time, ...] | None = None
    """How long each picture that comes back is shown, where that is not as it was. Then there
    may be more or fewer of them."""
    origin: Origin | None = None
    """Where the pictures come from, if not from the source. As many as the range has frames."""


Part: TypeAlias = Keep | Reencode


def frame_by_frame(change: Callable[[Image], Image]) -> FrameFunction:
    """A frame function from one that changes a single picture."""
    return lambda frames: (change(frame.image) for frame in frames)
