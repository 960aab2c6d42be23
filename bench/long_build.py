"""Processor time and peak memory of building from three hours of film, against ten minutes.

The film is small (128 × 72), since memory must not grow with duration, whatever the size; its
pictures are the sample's, ten minutes of them, repeated. One process does all the work.
"""

from __future__ import annotations

import itertools
import subprocess
import sys
import tempfile
import time
from fractions import Fraction
from pathlib import Path

from _figures import OUT, figure, long_video, peak_memory_mb, publish_lines, ratio

RATE, MINUTES, TIMES = 24, 10, 18
SECONDS_PER_CLIP = 5
ASPECTS = (
    *("aesthetics", "technical_quality", "appearance_style", "dynamics_degree"),
    *("comprehensiveness", "spatial_relationship", "temporal_flow"),
)


def repeated(film: Path, times: int) -> Path:
    """The packets of a film, again and again."""
    import av

    path = OUT / f"{film.stem}_x{times}.mp4"
    if path.exists():
        return path
    unfinished = path.with_suffix(".part")
    length = MINUTES * 60 * RATE
    with av.open(str(unfinished), "w", format="mp4") as target:
        stream = None
        for turn in range(times):
            with av.open(str(film)) as source:
                if stream is None:
                    stream = target.add_stream_from_template(source.streams.video[0])
                for packet in source.demux(video=0):
                    if packet.dts is None or packet.pts is None:
                        continue
                    later = int(turn * length / RATE / packet.time_base)
                    packet.pts, packet.dts = packet.pts + later, packet.dts + later
                    packet.stream = stream
                    target.mux(packet)
    unfinished.rename(path)
    return path


def build(film: Path, minutes: int) -> None:
    """In a process of its own: all aspects that need no model, and what they took."""
    from screentest.core import Clip, Item, Script, Span
    from screentest.run.engine import InlineEngine
    from screentest.testbeds.builder import build_testbed
    from screentest.testbeds.captions.facts import CaptionAction, CaptionFacts, Placed
    from screentest.testbeds.options import BuildOptions
    from screentest.testbeds.sources import Extractor

    facts = CaptionFacts(
        dynamic_degree=(CaptionAction("thing", "moves"),),
        spatial_relationship=(Placed("left", "thing"),),
    )
    edges = [Fraction(second) for second in range(0, minutes * 60 + 1, SECONDS_PER_CLIP)]
    clips = (Clip("A thing.", Span(*pair)) for pair in itertools.pairwise(edges))
    item = Item("film", film, script=Script(tuple(clips)))
    start = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        done = build_testbed(
            [item],
            Path(folder),
            BuildOptions(degradations=ASPECTS, long_side=None),
            extractor=Extractor("bench", lambda _: facts),
            engine=InlineEngine(),
        )
        assert len(done.testbed.pairs) == len(ASPECTS), done.testbed.skips
    print(peak_memory_mb(), time.process_time() - start)


def measured(film: Path, minutes: int) -> tuple[float, float]:
    command = [sys.executable, __file__, str(film), str(minutes)]
    said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    memory, seconds = said.split()
    return float(memory), float(seconds)


def main() -> None:
    if len(sys.argv) == 3:
        build(Path(sys.argv[1]), int(sys.argv[2]))
        return
    short = long_video(128, 72, frames=MINUTES * 60 * RATE, rate=RATE)
    long = repeated(short, TIMES)
    memory, seconds = measured(short, MINUTES)
    figure(f"{len(ASPECTS)} aspects of {MINUTES} minutes", seconds, "s")
    figure(f"peak memory, {MINUTES} minutes", memory, "MB")
    more, longer = measured(long, MINUTES * TIMES)
    figure(f"{len(ASPECTS)} aspects of {MINUTES * TIMES // 60} hours", longer, "s")
    figure(f"peak memory, {MINUTES * TIMES // 60} hours", more, "MB")
    ratio("memory: three hours / ten minutes", more / memory, "≤ 1.5")
    publish_lines("long_build", "python bench/long_build.py")


if __name__ == "__main__":
    main()
