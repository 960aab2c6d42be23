"""What `score_frames` costs beyond the metrics, for clips of two seconds.

The reference, measured in the same run, is the metrics alone: the same clips, held in memory, and
handed to `measure` with everything built. Both are called in turn, and the median is taken of the
processor's time, which others on the machine do not lengthen.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np

import screentest
from screentest.core import Item
from screentest.measure.evaluators import resolve
from screentest.measure.items import measure
from screentest.run.session import Settings, Tools
from screentest.suites.core import METRICS
from screentest.video.memory import MemoryVideo, held

CALLS = 5
FPS = 24


def clip(height: int, width: int) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    rng = np.random.default_rng(0)
    coarse = rng.integers(0, 256, (height // 8, width // 8 + 32, 3), dtype=np.uint8)
    wide = coarse.repeat(8, axis=0).repeat(8, axis=1)
    return np.stack([wide[:, n : n + width] for n in range(2 * FPS)])


def medians(one: Callable[[], object], two: Callable[[], object]) -> tuple[float, float]:
    found: tuple[list[float], list[float]] = [], []
    for number in range(CALLS + 1):
        for times, call in zip(found, (one, two), strict=True):
            begin = time.process_time()
            call()
            if number:  # the first one loads
                times.append(time.process_time() - begin)
    return statistics.median(found[0]), statistics.median(found[1])


def main() -> None:
    tools = Tools(Settings())
    metrics = {name: resolve(name).metric for name in METRICS}
    print(f"{'clip':36} {'metrics':>9} {'score()':>9} {'beyond':>9} {'ratio':>7}")
    for height, width in ((256, 256), (480, 832)):
        frames = clip(height, width)
        for kind, given in {
            "uint8": frames,
            "float32 NCTHW": (frames / np.float32(255)).transpose(3, 0, 1, 2)[None],
        }.items():

            def alone(frames: object = frames) -> object:
                with held(MemoryVideo(frames, Fraction(FPS))) as path:  # type: ignore[arg-type]
                    return measure(Item("clip", Path(path)), metrics, tools)

            def whole(given: object = given) -> object:
                return screentest.score_frames(given, fps=FPS)

            one, two = medians(alone, whole)
            name = f"{width}×{height}, 48 frames, {kind}"
            beyond = f"{1000 * (two - one):.0f} ms"
            print(f"{name:36} {one:8.3f}s {two:8.3f}s {beyond:>9} {two / one:7.2f}")


if __name__ == "__main__":
    main()
