"""The base install's metrics: how fast they are together, against bare decode and one by one.

How well their judge judges is in core_ladders.py.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from _figures import figure, long_video, ratio
from scan import bare_decode
from screentest.core import Clip, Item, Metric, Outcomes, Script, build
from screentest.measure.items import measure
from screentest.models import ModelChoice
from screentest.run.session import Settings, Tools
from screentest.video.probe import probe

STREAMING = (
    *("contrast", "colourfulness", "sharpness", "noise", "blockiness", "naturalness"),
    *("flicker", "frozen", "motion", "shot_consistency", "repeated_shots"),
    *("faults", "tones", "steadiness", "continuity"),
)
WITH_TEXT = ("shot_count", "caption_agreement", "named_colours")


def measured(names: Sequence[str], item: Item, tools: Tools) -> dict[str, Outcomes]:
    metrics: dict[str, Metric] = {name: build("metric", name).thing for name in names}
    return measure(item, metrics, tools)


def speed(video: Path, frames: int) -> None:
    # Tools remember shots and probes; each measurement gets new ones, and the same models.
    settings = Settings(models=(ModelChoice.parse("image_text=colour_words"),))
    script = Script(tuple(Clip(f"Scene {number}, a red thing.") for number in range(30)))
    item = Item("film", video, script=script)
    everything = (*STREAMING, *WITH_TEXT)

    def together(names: Sequence[str]) -> None:
        measured(names, item, Tools(settings))

    def one_by_one() -> None:
        for name in everything:
            together([name])

    bare = taken(3, lambda: bare_decode(video))
    streaming = taken(3, lambda: together(STREAMING))
    all_of_them = taken(2, lambda: together(everything))
    apart = taken(1, one_by_one)
    for what, seconds in (
        ("bare PyAV decode", bare),
        (f"{len(STREAMING)} metrics in one scan", streaming),
        (f"{len(everything)} metrics, with those that read text", all_of_them),
        ("one by one", apart),
    ):
        figure(what, frames / seconds.clock, "frames/s")
        figure(f"{what}, of processor time", frames / seconds.processor, "frames/s")
    for how in ("clock", "processor"):
        decode, scan, whole, single = (
            getattr(one, how) for one in (bare, streaming, all_of_them, apart)
        )
        ratio(f"by {how}: one scan / bare decode", decode / scan, "≥ 0.5")
        ratio(f"by {how}: one by one / together", single / whole, "above 1")


@dataclass(frozen=True)
class Taken:
    """Seconds of the quickest of several goes."""

    clock: float
    processor: float
    """Over all threads: nearly the same on a busy machine."""


def taken(times: int, work: Callable[[], object]) -> Taken:
    goes = []
    for _ in range(times):
        start, begun = time.perf_counter(), time.process_time()
        work()
        goes.append((time.perf_counter() - start, time.process_time() - begun))
    return Taken(min(clock for clock, _ in goes), min(processor for _, processor in goes))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="a film of 640×360")
    parser.add_argument("--frames", type=int, default=1500, help="how long the film is")
    asked = parser.parse_args()
    width, height = (640, 360) if asked.small else (1280, 720)
    video = long_video(width, height, frames=asked.frames, rate=24)
    print(f"{width}×{height}")
    speed(video, probe(video).frames)


if __name__ == "__main__":
    main()
