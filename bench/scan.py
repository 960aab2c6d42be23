"""One scan with three consumers, against bare PyAV decode and against one decode for each.

By processor time over all threads.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import av

from _figures import cpu_of, figure, long_video, publish_lines, ratio
from screentest.core import BaseConsumer, Frame, FrameRequest, Layout, Size
from screentest.video.probe import probe
from screentest.video.scan import scan


class Total(BaseConsumer):
    """Does a little with each frame, as the cheapest metric would."""

    def __init__(self, wants: FrameRequest) -> None:
        self.wants = wants
        self.total = 0

    def take(self, frame: Frame) -> None:
        self.total += int(frame.image[::8, ::8].sum())


def consumers() -> list[Total]:
    """What a shot detector, a flicker metric and an image model ask for."""
    return [
        Total(FrameRequest(size=Size(long_side=256), layout=Layout.BGR)),
        Total(FrameRequest(size=Size(long_side=160), layout=Layout.GRAY)),
        Total(FrameRequest(size=Size(long_side=448), layout=Layout.RGB, rate=Fraction(2))),
    ]


def bare_decode(video: Path) -> None:
    """What PyAV alone does, with all cores."""
    with av.open(str(video)) as container:
        container.streams.video[0].thread_type = "AUTO"
        for _ in container.decode(video=0):
            pass


def one_by_one(video: Path) -> None:
    """A decode for each consumer: how benchmark suites usually go about it."""
    for consumer in consumers():
        scan(video, [consumer])


def main() -> None:
    video = long_video(1280, 720, frames=1500, rate=25)
    frames = probe(video).frames
    bare = cpu_of(3, lambda: bare_decode(video))
    together = cpu_of(3, lambda: scan(video, consumers()))
    apart = cpu_of(2, lambda: one_by_one(video))
    figure("bare PyAV decode, 1280×720", frames / bare, "frames/s")
    figure("scan with three consumers", frames / together, "frames/s")
    figure("one decode per consumer", frames / apart, "frames/s")
    ratio("bare decode / scan", bare / together, "≥ 0.8")
    ratio("one decode each / scan", apart / together, "above 1")
    publish_lines("scan", "python bench/scan.py")


if __name__ == "__main__":
    main()
