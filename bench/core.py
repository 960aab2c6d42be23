"""The base install's metrics: how fast they are together, against bare decode and one by one.

By processor time. How well their judge judges is in core_ladders.py.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from _figures import cpu_of, figure, long_video, publish_lines, ratio
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
    *("tint", "grain", "lens", "coherence", "melting"),
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

    bare = cpu_of(3, lambda: bare_decode(video))
    streaming = cpu_of(3, lambda: together(STREAMING))
    all_of_them = cpu_of(2, lambda: together(everything))
    apart = cpu_of(1, one_by_one)
    for what, seconds in (
        ("bare PyAV decode", bare),
        (f"{len(STREAMING)} metrics in one scan", streaming),
        (f"{len(everything)} metrics, with those that read text", all_of_them),
        ("one by one", apart),
    ):
        figure(what, frames / seconds, "frames/s")
    ratio("bare decode / one scan", bare / streaming, "≥ 0.5")
    ratio("one by one / together", apart / all_of_them, "above 1")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="a film of 640×360")
    parser.add_argument("--frames", type=int, default=1500, help="how long the film is")
    asked = parser.parse_args()
    width, height = (640, 360) if asked.small else (1280, 720)
    video = long_video(width, height, frames=asked.frames, rate=24)
    print(f"{width}×{height}")
    speed(video, probe(video).frames)
    small = " --small" if asked.small else ""
    publish_lines(
        f"core{'_small' * asked.small}", f"python bench/core.py --frames {asked.frames}{small}"
    )


if __name__ == "__main__":
    main()
