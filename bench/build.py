"""All aspects of one film by splicing, against encoding the whole film anew for each of them.

Both ways use the same operators on the same clips, and the classical backends that need no
weights, so that the figures hold on any machine.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

from _figures import figure, long_video, ratio
from screentest.core import Aspect, Clip, NoValue, Script, Size, Span, build
from screentest.degrade import Dice, Film, Workshop
from screentest.degrade.captions import Action, CaptionFacts, Coloured, Placed
from screentest.degrade.film import boundaries, film_of
from screentest.degrade.looking import FilmLook
from screentest.degrade.selection import Drawing
from screentest.models import Choice, Models
from screentest.video import Keep, Part, Pixels, Reencode, frame_by_frame, normalize, splice

CLIPS = 60
FRAMES_PER_CLIP = 12
RATE = 24
TOUCHED = 5
BACKENDS = ("matting=grabcut", "detection=saliency", "segmentation=grabcut", "inpainting=telea")
FACTS = CaptionFacts(
    subject=("thing",),
    background=("wall",),
    dynamic_degree=(Action("thing", "moves"),),
    color=(Coloured("white", "thing"),),
    spatial_relationship=(Placed("left", "thing"),),
)
unchanged = frame_by_frame(lambda picture: picture)


def parts_of(film: Film, aspect: Aspect, models: Models) -> list[Part]:
    degradation = build("degradation", aspect.value).thing
    shop = Workshop(film, Dice.of(7, "bench", aspect.value), models)
    chosen = Drawing(degradation, shop, FilmLook(film, models)).take(TOUCHED)
    parts: list[Part] = degradation.parts(shop, chosen, 1.0)
    return parts


def encoded(parts: Sequence[Part]) -> list[Part]:
    """The same copy with nothing kept: every clip goes through the encoder."""
    return [
        Reencode(part.span, unchanged, Pixels.I420) if isinstance(part, Keep) else part
        for part in parts
    ]


def timed(film: Film, parts: Sequence[Part], out: Path) -> float:
    start = time.perf_counter()
    splice(film.video, parts, out)
    return time.perf_counter() - start


def main() -> None:
    source = long_video(1280, 720, frames=CLIPS * FRAMES_PER_CLIP, rate=RATE)
    edges = [Fraction(n * FRAMES_PER_CLIP, RATE) for n in range(CLIPS + 1)]
    spans = [Span(edges[n], edges[n + 1]) for n in range(CLIPS)]
    script = Script(tuple(Clip("A thing moves at the left.", span) for span in spans))
    models = Models([Choice.parse(text) for text in BACKENDS])
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        start = time.perf_counter()
        video = normalize(
            source, place / "intact.mp4", keyframes_at=boundaries(script), size=Size(long_side=512)
        )
        intact = time.perf_counter() - start
        film = film_of(video, script, [FACTS] * CLIPS)
        totals = {"all": [intact, intact], "without models": [intact, intact]}
        for aspect in Aspect:
            try:
                start = time.perf_counter()
                parts = parts_of(film, aspect, models)
                looking = time.perf_counter() - start
            except NoValue as error:
                print(f"{aspect.value}: left out, {error.message}")
                continue
            spliced = looking + timed(film, parts, place / "spliced.mp4")
            naive = looking + timed(film, encoded(parts), place / "encoded.mp4")
            figure(f"{aspect.value}: spliced", spliced, "s")
            figure(f"{aspect.value}: all encoded", naive, "s")
            info = build("degradation", aspect.value).thing.info
            for name in ("all",) if info.roles else ("all", "without models"):
                totals[name][0] += spliced
                totals[name][1] += naive
    figure(f"intact video, {video.frames} frames to a long side of 512", intact, "s")
    for name, (spliced, naive) in totals.items():
        ratio(f"encoding anew / splicing, aspects: {name}", naive / spliced, "≥ 5")


if __name__ == "__main__":
    main()
