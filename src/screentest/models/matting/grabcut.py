"""What stands in front, without any weights: GrabCut started from a saliency map.

The classical stand-in beneath U²-Net. It finds one clear thing against a calm ground; in a
busy picture it often takes the wrong part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from screentest.core import register
from screentest.models.grabcut import Guess, cut
from screentest.models.pictures import check_picture, limit_long_side, opencv_identity, to_bytes
from screentest.models.saliency import saliency

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from screentest.core.frames import Image
    from screentest.models.pictures import Plane
    from screentest.models.roles import Mask

SIDE = 320
SURELY_FRONT = 0.97
"""Pixels more salient than this share of all are foreground for sure."""
SURELY_BEHIND = 0.35
"""And those below this part of the threshold are background for sure."""


@register(
    "matting",
    "grabcut",
    version=1,
    summary="GrabCut from a saliency map; needs no weights",
    builtin=9,
)
def grabcut() -> GrabCutMatting:
    """GrabCut on what stands out."""
    return GrabCutMatting()


class GrabCutMatting:
    """Fills the role matting."""

    @property
    def identity(self) -> Mapping[str, str]:
        """OpenCV's version."""
        return opencv_identity()

    def matte(self, images: Sequence[Image]) -> list[Mask]:
        """Per image height × width in 0–1: 1 is foreground."""
        return [_matte(check_picture(image)) for image in images]


def _matte(image: Image) -> Mask:
    import cv2

    height, width = image.shape[:2]
    small = limit_long_side(image, SIDE)
    mask = cut(small, _guesses(saliency(small)))
    full = cv2.resize(mask, (width, height), interpolation=cv2.INTER_LINEAR)
    return np.asarray(full, np.float32).reshape(height, width)


def _guesses(found: Plane) -> NDArray[np.uint8]:
    import cv2

    level, _ = cv2.threshold(to_bytes(255 * found), 0, 255, cv2.THRESH_BINARY + cv2.THRESH_OTSU)
    threshold = level / 255
    guesses = np.where(found > threshold, Guess.MAYBE_FOREGROUND, Guess.MAYBE_BACKGROUND)
    guesses[found > max(threshold, float(np.quantile(found, SURELY_FRONT)))] = Guess.FOREGROUND
    guesses[found < SURELY_BEHIND * threshold] = Guess.BACKGROUND
    return guesses.astype(np.uint8)
