"""Peak memory of a scan: a three-hour video against a three-minute one."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

from _figures import figure, long_video, peak_memory_mb, publish_lines, ratio
from scan import consumers
from screentest.video.scan import scan


def peak_of_scan(video: Path) -> float:
    """In a process of its own, since a peak never goes down."""
    scan(video, consumers())
    return peak_memory_mb()


def main() -> None:
    rate = 5
    peaks = {}
    for minutes in (3, 180):
        video = long_video(320, 180, frames=minutes * 60 * rate, rate=rate)
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            peaks[minutes] = pool.apply(peak_of_scan, (video,))
        figure(f"peak memory, {minutes} minutes", peaks[minutes], "MB")
    ratio("three hours / three minutes", peaks[180] / peaks[3], "≤ 1.15")
    publish_lines("memory", "python bench/memory.py")


if __name__ == "__main__":
    main()
