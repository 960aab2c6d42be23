"""What operators share: a named thing found in pictures, clips replaced frame by frame."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from screentest.core import Frame, Image
from screentest.models import Models
from screentest.testbeds.contract import Chosen, Context, Details, FilmClip, Look, Rng, pieces
from screentest.video import FrameFunction, Pixels, Reencode, VideoPart

if TYPE_CHECKING:
    from screentest.models.roles import Detector


Box: TypeAlias = tuple[float, float, float, float]

SMALLEST, LARGEST = 0.002, 0.8
"""The share of the picture that a thing may fill. Less is not seen; more is the picture."""


def boxes_of(detector: Detector, image: Image, thing: str) -> list[Box]:
    """Where ``thing`` is in a picture: boxes of a fit size, best first."""
    height, width = image.shape[:2]

    def share(box: Box) -> float:
        left, top, right, bottom = box
        across = max(0.0, min(right, width) - max(left, 0.0))
        down = max(0.0, min(bottom, height) - max(top, 0.0))
        return float(across * down / (width * height))

    found = [one.box for one in detector.detect(image, [thing]) if one.label == thing]
    return [box for box in found if SMALLEST <= share(box) <= LARGEST]


def is_shown(look: Look, clip: FilmClip, thing: str) -> bool:
    """Whether most of a few pictures of the clip show the thing."""
    detector = look.models.role("detection")
    pictures = look.pictures(clip)
    hits = sum(bool(boxes_of(detector, image, thing)) for image in pictures)
    return bool(pictures) and 2 * hits > len(pictures)


class Follower:
    """Where a thing is, frame by frame; where it is lost, it is taken to be where it was."""

    def __init__(self, models: Models, thing: str) -> None:
        self._detector: Detector = models.role("detection")
        self._thing = thing
        self._last: Sequence[Box] = ()

    def boxes(self, image: Image) -> Sequence[Box]:
        """Its boxes in the next frame."""
        self._last = boxes_of(self._detector, image, self._thing) or self._last
        return self._last


# What several operators share: clips that any caption allows, frames changed one by one.


class AnyClip:
    """Every clip will do, and nothing has to be settled."""

    def eligible(self, clip: FilmClip) -> bool:
        return True

    def settle(self, clip: FilmClip, look: Look, rng: Rng, film_rng: Rng) -> Details:
        return {}


def changed_clips(
    context: Context,
    chosen: Sequence[Chosen],
    change: Callable[[Chosen], FrameFunction],
    pixels: Pixels,
) -> list[VideoPart]:
    """The film with the chosen clips passed through a function each."""
    replaced: dict[int, VideoPart | None] = {
        one.clip.number: Reencode(one.clip.span, change(one), pixels) for one in chosen
    }
    return list(pieces(context.film, replaced))


def blended(image: Image, changed: Image, severity: float) -> Image:
    """The changed picture; below full severity, mixed with the one it was made of."""
    import cv2

    if severity >= 1:
        return changed
    mixed = cv2.addWeighted(image, 1 - severity, changed, severity, 0)
    return np.asarray(mixed, np.uint8)


def numbered(
    change: Callable[[int, Image], Image],
) -> FrameFunction:
    """A frame function from one that is given which frame of the clip it sees, from 0."""

    def run(frames: Iterator[Frame]) -> Iterable[Image]:
        return (change(number, frame.image) for number, frame in enumerate(frames))

    return run
