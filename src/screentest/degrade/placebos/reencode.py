"""Once more through the encoder: the second generation of the intact video."""

from __future__ import annotations

from pathlib import Path

from screentest.core import register
from screentest.degrade.contract import Film, Workshop
from screentest.video import Origin, Part, Pixels, Reencode, frame_by_frame, splice


@register("placebo", "reencode", version=1, summary="encoded once more, with the same settings")
def reencode() -> SecondGeneration:
    """All clips are encoded from the intact video instead of from the source."""
    return SecondGeneration()


class SecondGeneration:
    """The placebo."""

    suffix = ".mp4"

    def eligible(self, film: Film) -> bool:
        """Any film can be encoded again."""
        return True

    def write(self, shop: Workshop, out: Path) -> None:
        """Encode what the intact video shows."""
        video = shop.film.video
        unchanged = frame_by_frame(lambda picture: picture)
        parts: list[Part] = [
            Reencode(span, unchanged, Pixels.I420, origin=Origin(video.path, span))
            for span in video.clips
        ]
        splice(video, parts, out)
