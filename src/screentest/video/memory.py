"""Videos in memory: pictures that a model has just made, read like those of a decoded file.

>>> import numpy as np
>>> grey = MemoryVideo(np.full((12, 64, 96, 3), 128, np.uint8), Fraction(24))
>>> with held(grey) as path:
...     print(path, memory_video(path) is grey)
<frames 1> True

While a video is held, its path stands for it wherever a video is named: it is probed, scanned and
sampled with no file in between. Who needs a file gets a lossless copy (``as_file``), once.
"""

from __future__ import annotations

import tempfile
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Self

import numpy as np
from av.video.frame import VideoFrame
from numpy.typing import NDArray

from screentest.core.frames import Fault, VideoInfo
from screentest.core.item import Time
from screentest.video.limits import DEFAULT_LIMITS, Limits
from screentest.video.source import VideoSource
from screentest.video.survey import Survey

LOSSLESS = ".nut"
"""The container of lossless copies: unlike Matroska's, its times are exact at any rate."""
_CODECS = {"rgb24": "bgr0", "gray": "gray"}
"""The pixels of FFV1 for ours."""


class MemoryVideo:
    """Frames × height × width × 3 (RGB), or without the last axis (grey), at an even rate."""

    def __init__(self, pictures: NDArray[np.uint8], rate: Fraction) -> None:
        self._pictures = pictures
        self.rate = rate
        self.pixel_format = "gray" if pictures.ndim == 3 else "rgb24"
        self._copy: tempfile.TemporaryDirectory[str] | None = None

    def __len__(self) -> int:
        return len(self._pictures)

    def frame(self, number: int) -> VideoFrame:
        """One picture, as a decoder would give it."""
        picture = np.ascontiguousarray(self._pictures[number])
        made = VideoFrame.from_ndarray(picture, format=self.pixel_format)
        made.pts, made.time_base = number, 1 / self.rate
        return made

    @cached_property
    def survey(self) -> Survey:
        """When its pictures are shown; any of them can be reached from the start."""
        ticks = np.arange(len(self), dtype=np.int64)
        return Survey(1 / self.rate, ticks, np.zeros_like(ticks), 1, self.rate, 1)

    @cached_property
    def info(self) -> VideoInfo:
        """The facts a probe would find."""
        height, width = self._pictures.shape[1:3]
        return VideoInfo(
            container="memory",
            codec="rawvideo",
            width=width,
            height=height,
            pixel_format=self.pixel_format,
            bit_depth=8,
            rotation=0,
            sample_aspect=Fraction(1),
            start=Fraction(0),
            duration=len(self) / self.rate,
            frames=len(self),
            rate=self.rate,
            constant_rate=True,
            keyframes=len(self),
        )

    def write(self, path: Path) -> None:
        """Write a lossless file: FFV1 in NUT."""
        import av

        with av.open(str(path), "w", format="nut") as container:
            stream = container.add_stream("ffv1", rate=self.rate)
            stream.width, stream.height = self.info.width, self.info.height
            stream.pix_fmt = _CODECS[self.pixel_format]
            stream.codec_context.time_base = 1 / self.rate
            for number in range(len(self)):
                container.mux(stream.encode(self.frame(number)))
            container.mux(stream.encode(None))

    def file(self) -> Path:
        """Return a lossless copy on the disk; gone when the video is let go."""
        if self._copy is None:
            self._copy = tempfile.TemporaryDirectory(prefix="screentest-frames-")
            self.write(Path(self._copy.name, f"frames{LOSSLESS}"))
        return Path(self._copy.name, f"frames{LOSSLESS}")

    def close(self) -> None:
        """Remove the copy, where one was made."""
        copy, self._copy = self._copy, None
        if copy is not None:
            copy.cleanup()


_held: dict[Path, MemoryVideo] = {}
_numbers = count(1)


@contextmanager
def held(video: MemoryVideo) -> Iterator[Path]:
    """Return the path under which a video in memory is known meanwhile; each is used once."""
    # No two are ever alike: what was found out about one is remembered by its path.
    path = Path(f"<frames {next(_numbers)}>")
    _held[path] = video
    try:
        yield path
    finally:
        del _held[path]
        video.close()


def memory_video(path: Path | str) -> MemoryVideo | None:
    """Return the video in memory that a path stands for, or None: then it is a file."""
    return _held.get(Path(path)) if _held else None


def as_file(path: Path) -> Path:
    """Return the file of a video; of one in memory a lossless copy."""
    video = memory_video(path)
    return path if video is None else video.file()


class MemorySource:
    """An open video in memory, with what a scan asks of a ``VideoSource``."""

    faults: Sequence[Fault] = ()
    fault_count = 0

    def __init__(self, path: Path, video: MemoryVideo, limits: Limits = DEFAULT_LIMITS) -> None:
        self.path = path
        self._video = video
        self._next = 0
        info = video.info
        limits.check_size(info.width, info.height)
        limits.check_frames(info.frames)
        limits.check_duration(info.duration)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing was opened."""

    def seek(self, pts: int) -> bool:
        """Go on at that picture."""
        self._next = pts
        return True

    def frames(self, only: Container[int] | None = None) -> Iterator[tuple[Time, VideoFrame]]:
        """Yield the pictures from here on with their times; with ``only`` those of these
        numbers."""
        for number in range(self._next, len(self._video)):
            if only is None or number in only:
                yield number / self._video.rate, self._video.frame(number)


def open_source(path: Path | str, limits: Limits = DEFAULT_LIMITS) -> VideoSource | MemorySource:
    """Return the video of a path, open: a file, or pictures in memory."""
    video = memory_video(path)
    if video is None:
        return VideoSource(path, limits)
    return MemorySource(Path(path), video, limits)
