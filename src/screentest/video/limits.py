"""Limits: how much of this machine one video may take.

>>> DEFAULT_LIMITS.check_size(1920, 1080)
>>> DEFAULT_LIMITS.check_size(30000, 30000)
Traceback (most recent call last):
...
screentest.core.errors.VideoError: 30000×30000 is 900.0 million pixels, above the limit of 36.0
Make a smaller copy of the video, or raise Limits.pixels if you trust it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from screentest.core.errors import VideoError
from screentest.core.outcome import Reason
from screentest.core.timing import Time

MIB = 1 << 20
_MOST = 1 << 60
"""More is no number to the kernel or to FFmpeg."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a file may ask for. All are checked by what is decoded, not by what it promises."""

    pixels: int = 36_000_000
    """Width times height of one picture; 8K (7680×4320) is 33 million."""
    frames: int = 2_000_000
    """Pictures in one video: nine hours at 60 a second."""
    seconds: int = 12 * 3600
    """Duration on the presentation clock."""
    streams: int = 64
    """Tracks of any kind in one container."""
    memory: int = 4096 * MIB
    """Bytes that one task may take, beyond what its process held before."""
    wall_seconds: float = 3600.0
    """Time that one task on one video may take, by the clock on the wall."""

    def __post_init__(self) -> None:
        for limit in fields(self):
            if not 0 < getattr(self, limit.name) <= _MOST:  # NaN is neither
                raise ValueError(f"a limit is above zero and at most {_MOST}: {limit.name}")

    def check_size(self, width: int, height: int) -> None:
        """Raise VideoError where a picture of this size is too large."""
        if width * height > self.pixels:
            raise VideoError(
                Reason.TOO_LARGE,
                f"{width}×{height} is {width * height / 1e6:.1f} million pixels, "
                f"above the limit of {self.pixels / 1e6:.1f}",
                advice="Make a smaller copy of the video, or raise Limits.pixels if you trust it.",
            )

    def check_frames(self, count: int) -> None:
        """Raise VideoError where a video has more pictures than allowed."""
        if count > self.frames:
            raise VideoError(
                Reason.TOO_LARGE,
                f"more than {self.frames:,} frames",
                advice="Cut the video into parts, or raise Limits.frames if you trust it.",
            )

    def check_duration(self, duration: Time | float) -> None:
        """Raise VideoError where a video lasts longer than allowed."""
        if duration > self.seconds:
            raise VideoError(
                Reason.TOO_LARGE,
                f"lasts {float(duration):,.0f} s, above the limit of {self.seconds:,} s",
                advice="Cut the video into parts, or raise Limits.seconds if you trust it.",
            )

    def check_streams(self, count: int) -> None:
        """Raise VideoError where a container holds more tracks than allowed."""
        if count > self.streams:
            raise VideoError(
                Reason.TOO_LARGE,
                f"more than {self.streams} tracks",
                advice="Keep only the video track: ffmpeg -i IN -map 0:v:0 -c copy OUT",
            )


DEFAULT_LIMITS = Limits()
