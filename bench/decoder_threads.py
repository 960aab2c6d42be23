"""One decoder thread, as films are decoded here, against FFmpeg's frame threads and slice threads.

Threads give other pictures of a damaged film each time (design/decoding.md). What one thread costs
by the clock, and what it saves of processors: that is what counts where films are decoded
side by side.
"""

from __future__ import annotations

import argparse
import os
from functools import partial
from importlib.resources import files
from pathlib import Path

import av

from _figures import best_of, cpu_of, figure, ratio

FRAMES = 300


def decode(video: Path, kind: str, threads: int) -> None:
    """The first pictures of a film, with nothing done to them."""
    with av.open(str(video)) as container:
        stream = container.streams.video[0]
        stream.thread_type = kind
        stream.codec_context.thread_count = threads
        for number, _ in enumerate(container.decode(stream), start=1):
            if number == FRAMES:
                return


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("films", type=Path, nargs="*", help="by default the packaged samples")
    packaged = Path(str(files("screentest") / "sample"))
    films = parser.parse_args().films or sorted(packaged.glob("*.mp4"))
    print(f"{os.cpu_count()} processors; the first {FRAMES} frames; best of 3")
    for film in films:
        with av.open(str(film)) as container:
            stream = container.streams.video[0]
            print(f"{film.name}: {stream.codec_context.name}, {stream.width}×{stream.height}")
        kinds = {"one thread": ("NONE", 1), "frame threads": ("AUTO", 0), "slices": ("SLICE", 0)}
        clock, cpu = {}, {}
        for name, kind in kinds.items():
            clock[name] = best_of(3, partial(decode, film, *kind))
            cpu[name] = cpu_of(3, partial(decode, film, *kind))
            figure(f"  {name}", FRAMES / clock[name], "frames/s by the clock")
            figure(f"  {name}", FRAMES / cpu[name], "frames/s of processor time")
        by_clock, by_cpu = (each["frame threads"] / each["one thread"] for each in (clock, cpu))
        ratio("  one thread / frame threads, by the clock", by_clock, "none")
        ratio("  one thread / frame threads, by processor time", by_cpu, "≥ 1")


if __name__ == "__main__":
    main()
