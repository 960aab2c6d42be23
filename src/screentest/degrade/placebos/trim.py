"""One frame less: the last one is cut off."""

from __future__ import annotations

from bisect import bisect_left
from itertools import islice, pairwise
from pathlib import Path

from screentest.core import register
from screentest.degrade.contract import Film, Workshop
from screentest.video import Keep, Part, Pixels, Reencode, splice


@register("placebo", "trim", version=1, summary="the last frame cut off")
def trim() -> Trim:
    """Without the last frame."""
    return Trim()


class Trim:
    """The placebo."""

    suffix = ".mp4"

    def eligible(self, film: Film) -> bool:
        """A frame must be left."""
        return film.video.frames > 1

    def write(self, shop: Workshop, out: Path) -> None:
        """Encode the last clip without its last frame; it goes whole where it has only one."""
        video = shop.film.video
        *kept, last = video.clips
        parts: list[Part] = [Keep(span) for span in kept]
        times = video.frame_times()
        shown = times[bisect_left(times, last.start) :]
        if len(shown) > 1:
            durations = tuple(two - one for one, two in pairwise(shown))
            parts.append(
                Reencode(
                    last,
                    lambda frames: (frame.image for frame in islice(frames, len(durations))),
                    Pixels.I420,
                    durations=durations,
                )
            )
        splice(video, parts, out)
