"""Filling holes without any weights: Telea's fast marching, from the rim inwards.

The classical stand-in beneath the networks. It continues colours, not textures: large holes
become smooth patches.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from screentest.core import NoValue, Reason, register
from screentest.models.pictures import check_mask, opencv_identity

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from screentest.core.frames import Image
    from screentest.models.roles import Mask


@register(
    "inpainting",
    "telea",
    version=1,
    summary="Telea's fast marching by OpenCV; needs no weights",
    builtin=9,
)
def telea(*, radius: float = 5.0) -> Telea:
    """Telea's method; ``radius`` is how far around each pixel it looks, in pixels."""
    return Telea(radius)


class Telea:
    """Fills the role inpainting; the prompt is not looked at."""

    def __init__(self, radius: float = 5.0) -> None:
        self._radius = radius

    @property
    def identity(self) -> Mapping[str, str]:
        """OpenCV's version."""
        return opencv_identity()

    def inpaint(self, image: Image, mask: Mask, prompt: str = "") -> Image:
        """The picture with the masked part made new; the rest is untouched."""
        hole = hole_of(mask, image)
        if not hole.any():
            return image.copy()
        return filled_into(image, hole, continued(image, hole, self._radius))


def hole_of(mask: Mask, image: Image) -> NDArray[np.bool_]:
    """The pixels to make new: those masked by a half and more.

    Raises NoValue where nothing of the picture would stay.
    """
    hole = check_mask(mask, image) >= 0.5
    if hole.all():
        raise NoValue(
            Reason.NOT_APPLICABLE,
            "the mask covers the whole picture, so that there is nothing to continue",
            advice="Mask a part of the picture.",
        )
    return np.asarray(hole)


def continued(image: Image, hole: NDArray[np.bool_], radius: float) -> Image:
    """The picture with the hole filled by Telea's method."""
    import cv2

    filled = cv2.inpaint(image, hole.astype(np.uint8), radius, cv2.INPAINT_TELEA)
    return np.asarray(filled, np.uint8)


def filled_into(image: Image, hole: NDArray[np.bool_], filling: Image) -> Image:
    """The picture, bit by bit, with only the hole taken from ``filling``."""
    return np.where(hole[..., None], filling, image)
