"""What a detector finds of some names in a few frames: whether, how many, where, what colour."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from screentest.models.colours import BASIC_COLOURS, basic_colour, name_pixels
from screentest.models.roles import Detection, Detector

if TYPE_CHECKING:
    from screentest.core.frames import Frame, Image

SEEN = 0.2
"""The share of frames in which a thing must be found to be there."""
COLOURED = 0.2
"""The share of a thing's pixels that must have a colour for it to have that colour."""
_MIDDLE = 0.2
"""What is cut from each side of a box before its colours are looked at."""


@dataclass(slots=True)
class Sightings:
    """One name in all frames."""

    frames: int = 0
    counts: list[int] = field(default_factory=list)
    """How many, in frames with at least one."""
    centres: dict[int, float] = field(default_factory=dict)
    """Frame → where the best one is, from 0 (left) to 1 (right)."""
    colours: list[np.ndarray] = field(default_factory=list)
    """The share of each basic colour in the best one."""

    @property
    def there(self) -> bool:
        """Whether it was seen often enough."""
        return self.frames > 0 and len(self.counts) >= max(1, SEEN * self.frames)

    def count(self) -> int:
        """How many there are, in most frames that have any."""
        return round(median(self.counts)) if self.counts else 0

    def has_colour(self, words: str) -> bool | None:
        """Whether it has a colour; None where the words name none."""
        name = basic_colour(words)
        if name is None:
            return None
        if not self.there:
            return False
        share = float(np.mean([one[BASIC_COLOURS.index(name)] for one in self.colours]))
        return share >= COLOURED


def look_for(
    names: Sequence[str], frames: Iterable[Frame], detector: Detector
) -> dict[str, Sightings]:
    """Every name's sightings in the frames."""
    seen = {name: Sightings() for name in names}
    for number, frame in enumerate(frames):
        found: dict[str, list[Detection]] = {}
        # One name at a time: of two names for one thing a detector would choose.
        for name in names:
            found[name] = detector.detect(frame.image, [name])
        for name, sightings in seen.items():
            sightings.frames += 1
            if found[name]:
                best = found[name][0]
                sightings.counts.append(len(found[name]))
                width = frame.image.shape[1]
                sightings.centres[number] = (best.box[0] + best.box[2]) / 2 / width
                sightings.colours.append(_colours_in(frame.image, best.box))
    return seen


def is_left_of(one: Sightings, other: Sightings) -> bool | None:
    """Whether one stands to the left of another; None where they are never seen together."""
    together = one.centres.keys() & other.centres.keys()
    if not together:
        return None
    return median(one.centres[at] - other.centres[at] for at in together) < 0


def _colours_in(image: Image, box: tuple[float, float, float, float]) -> np.ndarray:
    left, top, right, bottom = box
    inset_x, inset_y = (right - left) * _MIDDLE, (bottom - top) * _MIDDLE
    rows = slice(int(top + inset_y), max(int(bottom - inset_y), int(top + inset_y) + 1))
    columns = slice(int(left + inset_x), max(int(right - inset_x), int(left + inset_x) + 1))
    names = name_pixels(image[rows, columns])
    return np.bincount(names.ravel(), minlength=len(BASIC_COLOURS)) / max(1, names.size)
