"""Finding the thing that stands out, without any weights.

The classical stand-in beneath the detectors. It cannot read: whatever the phrases are, it
gives one box around what stands out most from the edge of the picture, under the first
phrase. Good for a single subject before a plain background; a guess otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from screentest.core import register
from screentest.models.pictures import opencv_identity
from screentest.models.roles import Detection
from screentest.models.saliency import saliency as salience_of

if TYPE_CHECKING:
    from screentest.core.frames import Image
    from screentest.models.pictures import Plane

_SMALLEST = 0.005
"""A part of the picture that is too small to be a subject."""


@register(
    "detection",
    "saliency",
    version=1,
    summary="one box around what stands out from the edge of the picture; reads no phrases",
    builtin=9,
)
def saliency() -> Saliency:
    """The most salient part."""
    return Saliency()


class Saliency:
    """Fills the role detection."""

    @property
    def identity(self) -> Mapping[str, str]:
        """OpenCV's version."""
        return opencv_identity()

    def detect(self, image: Image, phrases: Sequence[str]) -> list[Detection]:
        """At most one box, named by the first phrase; its score says how much it stands out."""
        if not phrases:
            return []
        found = _salient_part(salience_of(image))
        return [Detection(phrases[0], found[1], found[0])] if found else []

    def knows(self, phrases: Sequence[str]) -> list[bool]:
        """Not one: it reads nothing."""
        return [False] * len(phrases)


def _salient_part(salience: Plane) -> tuple[tuple[float, float, float, float], float] | None:
    """The part that stands out most in all, as a box, and its mean salience."""
    import cv2

    levels = np.asarray(np.rint(salience * 255), np.uint8)
    _, mask = cv2.threshold(levels, 0, 255, cv2.THRESH_BINARY | cv2.THRESH_OTSU)
    parts: Any = cv2.connectedComponentsWithStats(mask)
    count, labels, stats, _ = parts
    weights = np.bincount(labels.ravel(), salience.ravel(), minlength=count)
    weights[0] = 0  # the background
    best = int(np.argmax(weights))
    left, top, across, down, area = (int(number) for number in stats[best])
    if best == 0 or area < _SMALLEST * salience.size:
        return None
    box = (float(left), float(top), float(left + across), float(top + down))
    return box, float(weights[best] / area)
