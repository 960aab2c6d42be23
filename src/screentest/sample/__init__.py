"""The packaged sample: four short films, openly licensed, with captions and known cuts.

>>> [video.item.id for video in sample_videos()]
['bbb_first30s', 'frenchgp_1906', 'real_5shots', 'sintel_trailer_30s']
>>> sample_videos()[2].item.script.clips[1].caption
'A white cockatoo indoors turns its head in close-up, wooden beams behind.'
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from screentest.core import Clip, Item, Script, Span, Time

__all__ = ["SampleVideo", "backgrounds", "sample_folder", "sample_videos"]


@dataclass(frozen=True, slots=True)
class SampleVideo:
    """A film of the sample: what to evaluate."""

    item: Item


def sample_folder() -> Path:
    """Return where the sample lies; ``ATTRIBUTION.md`` in it names the authors and licences."""
    return Path(__file__).parent


def sample_videos() -> list[SampleVideo]:
    """Return the packaged films, by name."""
    captions = sorted((sample_folder() / "captions").glob("*.json"))
    return [_read(path) for path in captions]


def backgrounds() -> list[Path]:
    """Four landscapes, to put behind something."""
    return sorted((sample_folder() / "backgrounds").glob("*.jpg"))


def _read(path: Path) -> SampleVideo:
    available = json.loads(path.read_text(encoding="utf-8"))
    video = sample_folder() / available["video"]

    def at(frame: int) -> Time:
        # These files have a constant rate and begin at zero (a test holds them to it), and
        # their captions count frames; nowhere else is a time made from a frame's number.
        return Fraction(frame, available["fps"])

    clips = tuple(
        Clip(shot["caption"], Span(at(shot["start_frame"]), at(shot["end_frame"])))
        for shot in available["shots"]
    )
    name = video.stem.rpartition("_")[0]
    return SampleVideo(Item(name, video, script=Script(clips)))
