"""All aspects of one film by splicing, against encoding the whole film anew for each of them.

Both ways have the same operators on the same clips. Encoding anew costs what the intact video
did, and what the operator takes. The film has the 120 clips of ten minutes at five seconds
each, at 24 frames a second and with a keyframe every 250. To be quick it is 18 frames a clip
instead of 120, and keyframes are as much closer; ``--full`` has it all. Models cost the same in
both ways, and far more than any encoder: aspects that need them are left out unless
``--models`` is given, which takes minutes. Each pair is checked when it is finished; that costs
the same in both ways, and is counted in both. Seconds are those of processors, over all threads.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeGuard

from _figures import figure, long_video, publish_lines, ratio
from screentest.core import (
    BUILTIN_ASPECTS,
    Aspect,
    Clip,
    Frame,
    PairKind,
    Script,
    Size,
    Span,
    build,
)
from screentest.models import ModelChoice, Models
from screentest.testbeds.captions.facts import CaptionAction, CaptionFacts, Coloured, Placed
from screentest.testbeds.checks import check_pair
from screentest.testbeds.contract import Context, Film, Look, Rng, boundaries, film_of
from screentest.testbeds.intact import video_file
from screentest.testbeds.pairs import ClipDraw, touched
from screentest.testbeds.testbed import Pair
from screentest.video.edit.normalize import NormalizedVideo, normalize
from screentest.video.edit.pictures import FrameFunction, Reencode, VideoPart
from screentest.video.edit.splice import splice

CLIPS = 120
FULL, QUICK = 120, 18
"""Frames per clip."""
KEYFRAMES = 250
RATE = 24
TOUCHED = 5
BACKENDS = ("matting=grabcut", "detection=saliency", "segmentation=grabcut", "inpainting=telea")
FACTS = CaptionFacts(
    subject=("thing",),
    background=("wall",),
    dynamic_degree=(CaptionAction("thing", "moves"),),
    color=(Coloured("white", "thing"),),
    spatial_relationship=(Placed("left", "thing"),),
)


@dataclass(frozen=True)
class Cost:
    aspect: str
    spliced: float
    operator: float
    """Drawing the clips, and the operator itself."""
    share: float
    """Of the frames, how many are left."""
    check: float
    """The check of the finished pair."""

    def anew(self, intact: float) -> float:
        return self.operator + intact * self.share


def cost_of(film: Film, aspect: Aspect, models: Models, out: Path) -> Cost:
    degradation = build("degradation", aspect.value).thing
    context = Context(film, Rng.of(7, "bench", aspect.value), models)
    meter = Meter()
    start = time.process_time()
    chosen = ClipDraw(degradation, context, Look(film, models)).take(TOUCHED)
    looking = time.process_time() - start
    parts = [meter.on(part) for part in degradation.parts(context, chosen, 1.0)]
    made = splice(film.video, parts, out)
    spliced = time.process_time() - start
    share = made.frames / film.video.frames
    start = time.process_time()
    folder = out.parent
    pair = Pair(
        *("bench", PairKind.DEGRADATION, aspect.value, film.video.path.name),
        *(video_file(out, folder), aspect.value),
        severity=1.0,
        clips=len(chosen),
        touched=touched(film, chosen, parts, made),
    )
    # Its cost counts here; of a film with so much grain a clip or two may not pass.
    check_pair(pair, folder, degradation.info, models)
    check = time.process_time() - start
    return Cost(aspect.value, spliced, looking + meter.seconds, share, check)


class Meter:
    """Seconds spent in operators, the waiting for their pictures not counted."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def on(self, part: VideoPart) -> VideoPart:
        return replace(part, change=self._metered(part.change)) if touches(part) else part

    def _metered(self, change: FrameFunction) -> FrameFunction:
        def waiting(frames: Iterator[Frame]) -> Iterator[Frame]:
            while True:
                start = time.process_time()
                frame = next(frames, None)
                self.seconds -= time.process_time() - start
                if frame is None:
                    return
                yield frame

        def run(frames: Iterator[Frame]) -> Iterator[Any]:
            images = iter(change(waiting(frames)))
            while True:
                start = time.process_time()
                image = next(images, None)
                self.seconds += time.process_time() - start
                if image is None:
                    return
                yield image

        return run


def touches(part: VideoPart) -> TypeGuard[Reencode]:
    return isinstance(part, Reencode)


def main() -> None:
    length = FULL if "--full" in sys.argv else QUICK
    gop = KEYFRAMES * length // FULL
    source = long_video(1280, 720, frames=CLIPS * length, rate=RATE, gop=gop)
    edges = [Fraction(n * length, RATE) for n in range(CLIPS + 1)]
    spans = [Span(edges[n], edges[n + 1]) for n in range(CLIPS)]
    script = Script(tuple(Clip("A thing moves at the left.", span) for span in spans))
    models = Models([ModelChoice.parse(text) for text in BACKENDS])
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        cuts, size = boundaries(script), Size(long_side=512)

        def whole(name: str) -> tuple[NormalizedVideo, float]:
            start = time.process_time()
            made = normalize(source, place / name, keyframes_at=cuts, size=size)
            return made, time.process_time() - start

        video, before = whole("intact.mp4")
        film = film_of(video, script, [FACTS] * CLIPS)
        costs = []
        for aspect in BUILTIN_ASPECTS:
            if build("degradation", aspect.value).thing.info.roles and "--models" not in sys.argv:
                continue
            costs.append(cost_of(film, aspect, models, place / "spliced.mp4"))
        # Once before and once after, and the quicker one: other work on the machine goes by.
        intact = min(before, whole("again.mp4")[1])
    figure(f"intact video, {video.frames} frames to a long side of 512", intact, "s")
    for cost in costs:
        figure(f"{cost.aspect}: spliced", cost.spliced, "s")
        figure(f"{cost.aspect}: of that the operator", cost.operator, "s")
        figure(f"{cost.aspect}: the operator and a whole encode", cost.anew(intact), "s")
        figure(f"{cost.aspect}: the check of the pair", cost.check, "s")
    anew = intact + sum(cost.anew(intact) for cost in costs)
    spliced = intact + sum(cost.spliced for cost in costs)
    check = sum(cost.check for cost in costs)
    ratio(f"{len(costs)} aspects: encoding anew / splicing", anew / spliced, "≥ 5")
    ratio("the same, and all pairs checked", (anew + check) / (spliced + check))
    if len(sys.argv) == 1:
        publish_lines("build", "python bench/build.py")


if __name__ == "__main__":
    main()
