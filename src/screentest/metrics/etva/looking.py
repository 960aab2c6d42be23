"""Which frames of a video the answering model is shown: two a second, at least four, evenly.

>>> frame_count(Fraction(5), 24 * 5), frame_count(Fraction(1), 24), frame_count(Fraction(9), 3)
(10, 4, 2)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from screentest.core import Size, Span, Time, VideoInfo

MIN_FRAMES = 4
MAX_FRAMES = 768
MAX_PIXELS = 1280 * 28 * 28
"""Of one frame: what the released code asks its video model for."""


@dataclass(frozen=True, slots=True)
class Looking:
    """How a video is looked at."""

    fps: Fraction = Fraction(2)
    least: int = MIN_FRAMES
    most: int = MAX_FRAMES
    max_pixels: int = MAX_PIXELS

    def moments(self, info: VideoInfo, span: Span) -> list[Time]:
        """The middle of each chosen frame's time on the screen.

        The first and the last frame are among them, the others lie evenly between, as far as
        frames are as long as their mean.
        """
        frames = max(1, round(span.duration * info.rate))
        count = frame_count(span.duration, frames, self.fps, self.least, self.most)
        each = span.duration / frames
        return [span.start + (place + Fraction(1, 2)) * each for place in spread(frames, count)]

    def size(self, info: VideoInfo) -> Size:
        """As large as it is, or scaled to the most pixels; never enlarged."""
        pixels = info.width * info.height
        if pixels <= self.max_pixels:
            return Size()
        scale = math.sqrt(self.max_pixels / pixels)
        # Even sides: some encoders want them.
        return Size(exact=(_even(info.width * scale), _even(info.height * scale)))


def frame_count(
    duration: Fraction,
    frames: int,
    fps: Fraction = Fraction(2),
    least: int = MIN_FRAMES,
    most: int = MAX_FRAMES,
) -> int:
    """How many frames to take: an even number, where the video has more than one frame."""
    wanted = min(max(math.floor(duration * fps), least), most, frames)
    return max(1, wanted - wanted % 2)


def spread(frames: int, count: int) -> list[int]:
    """``count`` frame numbers from the first to the last.

    >>> spread(10, 4)
    [0, 3, 6, 9]
    """
    if count == 1:
        return [frames // 2]
    return [round(Fraction(place * (frames - 1), count - 1)) for place in range(count)]


def _even(side: float) -> int:
    return max(2, int(side) // 2 * 2)
