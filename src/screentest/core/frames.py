"""What a consumer of a scan asks for, and what it is handed.

A consumer declares the rate, size and layout of the frames it wants. The engine decodes a
video once and converts once per distinct (size, layout, filter), whoever asks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol, TypeAlias

from screentest.core.item import Span, Time

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Image: TypeAlias = "NDArray[np.uint8]"
"""The pixels of a picture, in one of the layouts below."""


class Layout(StrEnum):
    """How the pixels of a frame lie in its array."""

    RGB = "rgb24"
    """height × width × 3"""
    BGR = "bgr24"
    """height × width × 3, as OpenCV likes it"""
    GRAY = "gray"
    """height × width, full range"""
    LUMA = "luma"
    """height × width, the Y plane as it is coded: what FFmpeg's own filters measure on"""
    CODED = "coded"
    """height × width × 3, the planes Y, U and V as they are coded; those of colour are often coded
    in half the size, and their pixels are then repeated"""


class Filter(StrEnum):
    """How a frame is scaled. FAST is for measuring, the others for looking."""

    FAST = "fast_bilinear"
    BILINEAR = "bilinear"
    AREA = "area"
    BICUBIC = "bicubic"
    LANCZOS = "lanczos"


@dataclass(frozen=True, slots=True)
class Size:
    """A size relative to the video's own. Sides limit; they never enlarge.

    >>> Size(long_side=512).of(1280, 720)
    (512, 288)
    >>> Size().of(1280, 720)
    (1280, 720)
    """

    long_side: int | None = None
    short_side: int | None = None
    exact: tuple[int, int] | None = None
    """(width, height), whatever the shape of the video"""

    def __post_init__(self) -> None:
        if sum(x is not None for x in (self.long_side, self.short_side, self.exact)) > 1:
            raise ValueError("give one of long_side, short_side, exact")
        for side in (self.long_side, self.short_side, *(self.exact or ())):
            if side is not None and side < 1:
                raise ValueError(f"invalid side of {side} pixels: must be 1 or more")

    def of(self, width: int, height: int) -> tuple[int, int]:
        """Return the size in pixels for a video of ``width`` × ``height``."""
        if self.exact is not None:
            return self.exact
        side, limit = max(width, height), self.long_side
        if self.short_side is not None:
            side, limit = min(width, height), self.short_side
        if limit is None or side <= limit:
            return width, height
        return max(1, round(width * limit / side)), max(1, round(height * limit / side))


NATIVE = Size()


@dataclass(frozen=True, slots=True)
class Borders:
    """What stands around the picture of a video, in pixels of a frame as it is displayed.

    >>> Borders(280, 0, 280, 0, 1280, 720).share
    0.4375
    """

    left: int
    top: int
    right: int
    bottom: int
    width: int
    """Of the whole frame, as is the height."""
    height: int

    @property
    def inside(self) -> tuple[int, int]:
        """Width and height of what they leave."""
        return self.width - self.left - self.right, self.height - self.top - self.bottom

    @property
    def share(self) -> float:
        """Return how much of the frame they are."""
        across, down = self.inside
        return 1 - across * down / (self.width * self.height)

    def near(self, other: Borders) -> bool:
        """Return whether they cut off all of the other, and little more."""
        most = max(4, max(self.width, self.height) // 100)
        mine, others = astuple(self), astuple(other)
        return mine[4:] == others[4:] and all(
            0 <= first - second <= most for first, second in zip(mine[:4], others[:4], strict=True)
        )


@dataclass(frozen=True, slots=True)
class FrameRequest:
    """The frames a consumer wants."""

    rate: Fraction | None = None
    """Frames per second: the first frame at or after each tick. None: every frame."""
    size: Size = NATIVE
    layout: Layout = Layout.RGB
    filter: Filter = Filter.FAST
    within: Span | None = None
    """Only frames in this range; ticks are counted from its start."""
    inside: bool = False
    """Without the borders of the video; sizes are those of what they leave."""

    def __post_init__(self) -> None:
        if self.rate is not None and self.rate <= 0:
            raise ValueError(f"invalid rate {self.rate}: must be above 0")


@dataclass(frozen=True, slots=True)
class Frame:
    """One picture with its exact time. The array is shared with others: read, do not write."""

    time: Time
    index: int
    """Which decoded frame of the video it is, from 0. Not a measure of time."""
    image: Image


@dataclass(frozen=True, slots=True)
class Fault:
    """Something wrong in a file that did not stop the decoder."""

    kind: str
    detail: str
    time: Time | None = None


@dataclass(frozen=True, slots=True)
class VideoInfo:
    """What a file says of itself, checked against its packets. Sizes are as displayed."""

    container: str
    codec: str
    width: int
    height: int
    pixel_format: str
    bit_depth: int
    rotation: int
    """Degrees, clockwise, that were applied to get the displayed size."""
    sample_aspect: Fraction
    start: Time
    duration: Time
    """From the first frame's start to the last frame's end."""
    frames: int
    """Pictures to expect, counted in the packets."""
    rate: Fraction
    """Mean frames per second."""
    constant_rate: bool
    keyframes: int
    faults: tuple[Fault, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)

    @property
    def span(self) -> Span:
        return Span(self.start, self.start + self.duration)


class Consumer(Protocol):
    """Takes frames of one video, in order. One object serves one video."""

    @property
    def wants(self) -> FrameRequest:
        """The frames to hand to ``take``."""

    def open(self, info: VideoInfo) -> None:
        """Before the first frame."""

    def take(self, frame: Frame) -> None:
        """One frame. Keep numbers, not frames: memory must not grow with duration."""

    def close(self, end: Time) -> None:
        """After the last frame, which lasted until ``end``."""


class BaseConsumer:
    """A consumer's open and close that do nothing, for those that need neither."""

    def open(self, info: VideoInfo) -> None: ...

    def close(self, end: Time) -> None: ...
