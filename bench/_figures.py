"""What the benchmarks share: making a video, timing, peak memory, and one way to print."""

from __future__ import annotations

import os
import resource
import sys
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from importlib.resources import files
from itertools import cycle
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

OUT = Path(__file__).parent / "out"


def best_of(times: int, work: Callable[[], object]) -> float:
    """Seconds of the quickest of several goes: the one least disturbed by others."""
    elapsed = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        elapsed.append(time.perf_counter() - start)
    return min(elapsed)


def cpu_of(times: int, work: Callable[[], object]) -> float:
    """Seconds of processor time over all threads: nearly the same on a busy machine."""
    elapsed = []
    for _ in range(times):
        start = time.process_time()
        work()
        elapsed.append(time.process_time() - start)
    return min(elapsed)


def figure(what: str, value: float, unit: str) -> None:
    """One line of figures."""
    print(f"{what:<52} {value:>12,.2f} {unit}")


def ratio(what: str, value: float, goal: str = "") -> None:
    """The line that counts."""
    wanted = f"   (goal {goal})" if goal else ""
    print(f"{what:<52} {value:>12.2f} ×{wanted}")


def peak_memory_mb() -> float:
    """The most memory this process has held."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 if sys.platform != "darwin" else 1024 * 1024)


def long_video(
    width: int, height: int, *, frames: int, rate: int, crf: int = 23, gop: int | None = None
) -> Path:
    """The packaged sample's films one after another, with film grain, as often as it takes.

    Real pictures, since synthetic ones decode several times faster than any film. Made once.
    ``gop`` is the most frames from one keyframe to the next; the encoder has 250.
    """
    import av

    keys = f"_gop{gop}" if gop is not None else ""
    path = OUT / f"long_{width}x{height}_{frames}f_{rate}fps_crf{crf}{keys}.mp4"
    if path.exists():
        return path
    OUT.mkdir(exist_ok=True)
    unfinished = path.with_suffix(f".{os.getpid()}.part")
    grain = np.random.default_rng(7).normal(0, 3, (8, height, width)).astype(np.int16)
    with av.open(str(unfinished), "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=Fraction(rate))
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        stream.options = {"preset": "veryfast", "crf": str(crf)}
        if gop is not None:
            stream.options |= {"g": str(gop)}
        for number, picture in zip(range(frames), _films(width, height), strict=False):
            planes = picture.copy()
            luma = planes[:height].astype(np.int16) + grain[number % 8]
            planes[:height] = luma.clip(16, 235)
            frame = av.VideoFrame.from_ndarray(planes, format="yuv420p")
            frame.pts, frame.time_base = number, Fraction(1, rate)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    unfinished.rename(path)
    return path


def _films(width: int, height: int) -> Iterator[NDArray[np.uint8]]:
    import av

    films = sorted(Path(str(files("screentest") / "sample")).glob("*.mp4"))
    for film in cycle(films):
        with av.open(str(film)) as container:
            for frame in container.decode(video=0):
                yield frame.reformat(width, height, "yuv420p").to_ndarray()
