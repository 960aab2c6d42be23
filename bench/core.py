"""The base install's metrics: how fast they are together, and how well their judge judges.

    python bench/core.py                      speed, against bare decode and one by one
    python bench/core.py --testbed DIR …      accuracy of the judge `baseline` per aspect

The films of the test data are split by name. Everything in the judge that has a value was
chosen on the films in TUNED_ON; accuracy on those in HELD_OUT is what counts. Films of the same
material stand on the same side.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from _figures import figure, long_video, ratio
from scan import bare_decode
from screentest.core import BUILTIN_ASPECTS, Aspect, Clip, Item, Metric, Outcomes, Script, build
from screentest.judges.baseline import baseline
from screentest.models import ModelChoice
from screentest.run.session import Settings, Tools
from screentest.scores.measure import measure
from screentest.stats import wilson
from screentest.testbeds.testbed import Testbed, read_testbed
from screentest.video import probe

TUNED_ON = (
    "bbb_047-161s_640x360",
    "tiny_bbb_first30s_640x360",
    "vgot_showcase_Desert_Renaissance",
    "vgot_showcase_Garden_Seasons",
    "vgotstudy_chef_CogVideo",
    "vgotstudy_chef_VideoCrafter1",
    "nasa_webb_mirror_480x270",
    # Cut together of short videos that are in no other film, and of ten generators' answers to
    # one prompt.
    "tune_live",
    "tune_microgravity",
)
HELD_OUT = (
    "real_montage_12shots_640x360",
    "tiny_real_5shots_640x360",
    "sintel_trailer_1280x720",
    "tiny_sintel_trailer_30s_640x272",
    "vgot_showcase_Lost_Expedition",
    "vgot_showcase_Wildlife_Expedition",
    "vgotstudy_chef_VGoT",
    "vgotstudy_chef_VideoCrafter2",
)
GPT_5 = {
    Aspect.AESTHETICS: 90.1,
    Aspect.TECHNICAL_QUALITY: 85.8,
    Aspect.BACKGROUND_CONSISTENCY: 98.9,
    Aspect.OBJECT_INTEGRITY: 72.0,
    Aspect.DYNAMICS_DEGREE: 35.3,
    Aspect.COMPREHENSIVENESS: 51.3,
    Aspect.TEMPORAL_FLOW: 50.3,
}
"""SLVMEval's figures for GPT-5 on frames, where they are known; on its own films, not these."""

STREAMING = (
    *("contrast", "colourfulness", "sharpness", "noise", "blockiness", "naturalness"),
    *("flicker", "frozen", "motion", "shot_consistency", "repeated_shots"),
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


class Rated:
    """Ratings of a testbed's videos; each is measured once."""

    def __init__(self, folder: Path, testbed: Testbed, tools: Tools) -> None:
        self._folder, self._tools = folder, tools
        self._judge = baseline()
        self._scripts = {
            source.id: Script(tuple(Clip(clip.caption) for clip in source.clips))
            for source in testbed.sources
        }
        self._known: dict[str, dict[str, Outcomes]] = {}

    def of(self, path: str, source: str, aspect: Aspect) -> float | None:
        """None where the judge has no rating."""
        if path not in self._known:
            item = Item(path, self._folder / path, script=self._scripts[source])
            self._known[path] = measured(self._judge.metrics, item, self._tools)
        outcome = self._judge.rate(aspect, self._known[path])
        return outcome.unwrap().value if outcome.ok else None


def accuracy(testbeds: Sequence[Path]) -> None:
    tools = Tools(Settings())
    points: dict[tuple[str, Aspect], list[float]] = defaultdict(list)
    lost: dict[tuple[str, Aspect], int] = defaultdict(int)
    for folder in testbeds:
        testbed = read_testbed(folder)
        rated = Rated(folder, testbed, tools)
        for pair in testbed.pairs:
            if pair.aspect is None:
                continue
            side = "held out" if pair.source in HELD_OUT else "tuned on"
            intact = rated.of(pair.intact, pair.source, pair.aspect)
            harmed = rated.of(pair.changed.path, pair.source, pair.aspect)
            if intact is None or harmed is None:
                lost[side, pair.aspect] += 1
            else:
                points[side, pair.aspect].append(0.5 * (intact == harmed) + (intact > harmed))
    print("| films | aspect | accuracy | 95% | pairs | ties | no rating | GPT-5 |")
    print("|---|---|---|---|---|---|---|---|")
    for side in ("tuned on", "held out"):
        for aspect in BUILTIN_ASPECTS:
            found, without = points[side, aspect], lost[side, aspect]
            if found or without:
                print(f"| {side} | {row(aspect, found, without)} |")


def row(aspect: Aspect, points: Sequence[float], lost: int) -> str:
    share = interval = "–"
    if points:
        share = f"{sum(points) / len(points):.1%}"
        around = wilson(sum(points), len(points))
        interval = f"{around.low:.0%}–{around.high:.0%}"
    ties = sum(point == 0.5 for point in points)
    paper = GPT_5.get(aspect, "–")
    return f"{aspect.value} | {share} | {interval} | {len(points)} | {ties} | {lost} | {paper}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--testbed", type=Path, action="append", default=[])
    parser.add_argument("--small", action="store_true", help="a film of 640×360")
    parser.add_argument("--frames", type=int, default=1500, help="how long the film is")
    asked = parser.parse_args()
    if asked.testbed:
        accuracy(asked.testbed)
        return
    width, height = (640, 360) if asked.small else (1280, 720)
    video = long_video(width, height, frames=asked.frames, rate=24)
    print(f"{width}×{height}")
    speed(video, probe(video).frames)


if __name__ == "__main__":
    main()
