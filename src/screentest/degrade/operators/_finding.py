"""Finding a named thing in the pictures of a clip, first to settle, then frame by frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from screentest.degrade.contract import FilmClip, Look
from screentest.models import Models

if TYPE_CHECKING:
    from screentest.core.frames import Image
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
