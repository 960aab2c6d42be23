"""One decoder thread, as films are decoded here, against FFmpeg's frame threads and slice threads.

Threads give other pictures of a damaged film each time (design/decoding.md). One thread takes
longer by the clock. Where films are decoded side by side, processor time counts.
"""

from __future__ import annotations

import argparse
import os
from functools import partial
from importlib.resources import files
from pathlib import Path

import av

from _figures import cpu_of, figure, publish_lines, ratio

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
            what = f"{film.stem}, {stream.codec_context.name}"
        kinds = {"one thread": ("NONE", 1), "frame threads": ("AUTO", 0), "slices": ("SLICE", 0)}
        spent = {name: cpu_of(3, partial(decode, film, *kind)) for name, kind in kinds.items()}
        for name, seconds in spent.items():
            figure(f"{what}: {name}", FRAMES / seconds, "frames/s")
        ratio(f"{what}: frame threads / one", spent["frame threads"] / spent["one thread"], "≥ 1")
    publish_lines("decoder_threads", "python bench/decoder_threads.py")


if __name__ == "__main__":
    main()
