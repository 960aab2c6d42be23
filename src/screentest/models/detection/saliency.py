"""Finding the thing that stands out, without any weights.

The classical stand-in beneath the detectors. It cannot read: whatever the phrases are, it
gives one box around what differs most in colour from the rim of the picture, under the first
phrase. Good for a single subject before a plain background; a guess otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from screentest.core import register
from screentest.models.pictures import check_picture, limit_long_side, opencv_identity
from screentest.models.roles import Detection

if TYPE_CHECKING:
    from screentest.core.frames import Image
    from screentest.models.roles import Mask

_SIDE = 160
_RIM = 0.06
"""How broad the rim is that counts as background, in parts of the shorter side."""
_SMALLEST = 0.005
"""A part of the picture that is too small to be a subject."""


@register(
    "detection",
    "saliency",
    version=1,
    summary="one box around what differs from the rim of the picture; reads no phrases",
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
        found = _salient_part(salience(image))
        if found is None:
            return []
        (left, top, right, bottom), score = found
        height, width = image.shape[:2]
        box = (left * width, top * height, right * width, bottom * height)
        return [Detection(phrases[0], score, box)]


def salience(image: Image) -> Mask:
    """How much each pixel stands out, 0–1, in a small copy of the picture.

    The distance of its colour from the colours at the rim, in units of their spread; less
    towards the rim, since subjects are rarely cut off.
    """
    import cv2

    small = limit_long_side(check_picture(image), _SIDE)
    colours = cv2.cvtColor(small.astype(np.float32) / 255, cv2.COLOR_RGB2LAB)
    lab = np.asarray(cv2.GaussianBlur(colours, (0, 0), 1.5), np.float64)
    height, width = lab.shape[:2]
    broad = max(1, round(_RIM * min(height, width)))
    rim = np.ones((height, width), bool)
    rim[broad : height - broad, broad : width - broad] = False
    background = lab[rim]
    # A spread of at least a just visible difference: noise on a plain wall is no subject.
    spread = np.cov(background.T, bias=True) + np.eye(3) * 2.3**2
    difference = lab - background.mean(axis=0)
    squared = np.einsum("yxi,ij,yxj->yx", difference, np.linalg.inv(spread), difference)
    down = np.hanning(height + 2)[1:-1, None]
    across = np.hanning(width + 2)[None, 1:-1]
    standing_out = np.sqrt(squared) * np.sqrt(down * across)
    # Three spreads away is as clear as ten.
    return np.asarray(np.clip(standing_out / 3, 0, 1), np.float32)


def _salient_part(map_: Mask) -> tuple[tuple[float, float, float, float], float] | None:
    """The part that stands out most in all, as a box in parts of the picture, and its score."""
    import cv2

    levels = np.asarray(np.rint(map_ * 255), np.uint8)
    least, mask = cv2.threshold(levels, 0, 255, cv2.THRESH_BINARY | cv2.THRESH_OTSU)
    if least <= 0 or not mask.any():
        return None
    parts: Any = cv2.connectedComponentsWithStats(mask)
    count, labels, stats, _ = parts
    weights = np.bincount(labels.ravel(), map_.ravel(), minlength=count)
    weights[0] = 0  # the background
    best = int(np.argmax(weights))
    left, top, across, down, area = (int(number) for number in stats[best])
    if area < _SMALLEST * map_.size:
        return None
    height, width = map_.shape
    box = (left / width, top / height, (left + across) / width, (top + down) / height)
    return box, float(weights[best] / area)
