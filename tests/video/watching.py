"""Feeding detectors: arrays as if they were decoded, and small frames of the sample."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from screentest.core import BaseConsumer, Frame, FrameRequest, VideoInfo, build
from screentest.video.detectors import Boundary, ShotDetector
from screentest.video.detectors.contract import SMALL
from screentest.video.scan import scan

Pictures = NDArray[np.uint8]


def watch(
    detector: str | ShotDetector, pictures: Iterable[Pictures], rate: Fraction | int = 24
) -> Sequence[Boundary]:
    """The boundaries in pictures that come at a constant rate."""
    one = build("detector", detector).thing if isinstance(detector, str) else detector
    one.open(about(Fraction(rate)))
    count = 0
    for count, picture in enumerate(pictures, start=1):
        one.take(Frame(Fraction(count - 1) / rate, count - 1, picture))
    one.close(Fraction(count) / rate)
    return one.boundaries  # type: ignore[no-any-return]


def frames_of(boundaries: Iterable[Boundary]) -> list[int]:
    return [boundary.frame for boundary in boundaries]


def about(rate: Fraction) -> VideoInfo:
    """A probe's answer in which only the rate says anything."""
    return VideoInfo(
        container="mp4",
        codec="h264",
        width=64,
        height=36,
        pixel_format="yuv420p",
        bit_depth=8,
        rotation=0,
        sample_aspect=Fraction(1),
        start=Fraction(0),
        duration=Fraction(1),
        frames=1,
        rate=rate,
        constant_rate=True,
        keyframes=1,
    )


class Gather(BaseConsumer):
    """Keeps what it is handed: for short films only."""

    def __init__(self, wants: FrameRequest) -> None:
        self.wants = wants
        self.images: list[Pictures] = []

    def take(self, frame: Frame) -> None:
        self.images.append(frame.image)


@cache
def small_frames(video: Path) -> Pictures:
    """All frames of a short film, as `abrupt` and `gradual` see them."""
    gather = Gather(SMALL)
    scan(video, [gather])
    return np.stack(gather.images)


def blend(old: Pictures, new: Pictures, length: int) -> Pictures:
    """``old`` dissolving into ``new`` over its last ``length`` frames."""
    share = (np.arange(1, length + 1) / (length + 1))[:, None, None, None]
    between = old[-length:] * (1 - share) + new[:length] * share
    return np.concatenate([old[:-length], between.round().astype(np.uint8), new[length:]])
