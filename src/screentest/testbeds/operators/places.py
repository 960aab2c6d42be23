"""Where things are: the family of spatial relationship.

All work on the planes of I420 pictures: what is there is moved, nothing else is changed. Severity
is the share of the chosen clips that are harmed, as with the paper's mirror: half a mirror image
is not half as wrong.
"""

from __future__ import annotations

import numpy as np

from screentest.core import Image
from screentest.testbeds.functions import degradation
from screentest.testbeds.operators.arithmetic import of_planes, planes
from screentest.video.edit.pictures import Pixels


@degradation(
    aspect="spatial_relationship",
    needs="side",
    pixels=Pixels.I420,
    summary="left and right half exchanged",
)
def swapped_halves(image: Image) -> Image:
    """Put the left half at the right, facing where it faced."""
    quarter = image.shape[1] // 4  # a column of chroma is two of luma
    luma, chroma = planes(image)
    return of_planes(np.roll(luma, 2 * quarter, axis=1), np.roll(chroma, quarter, axis=2))


@degradation(
    aspect="spatial_relationship",
    needs="height",
    pixels=Pixels.I420,
    summary="upper and lower half exchanged",
)
def swapped_top_bottom(image: Image) -> Image:
    """Put the upper half below, upright."""
    luma, chroma = planes(image)
    quarter = luma.shape[0] // 4
    return of_planes(np.roll(luma, 2 * quarter, axis=0), np.roll(chroma, quarter, axis=1))


@degradation(
    aspect="spatial_relationship", needs="place", pixels=Pixels.I420, summary="upside down"
)
def upside_down(image: Image) -> Image:
    """Turned by half a turn: left is right, and above is below."""
    luma, chroma = planes(image)
    return of_planes(luma[::-1, ::-1], chroma[:, ::-1, ::-1])


SOFT = 0.04
"""The blur of what fills the sides, as a share of the width."""


@degradation(
    version=2,
    aspect="spatial_relationship",
    needs="place",
    pixels=Pixels.I420,
    summary="turned on its side, between blurred edges",
)
def quarter_turn(image: Image) -> Image:
    """Turned by a quarter to the right, whole: left is above, and above is at the right.

    It is narrower then; beside it is the same picture, large and blurred, as players show upright
    films. Black bars would be one more harm.
    """
    luma, chroma = planes(image)
    turned = [_turned(plane) for plane in (luma, *chroma)]
    return of_planes(turned[0], np.stack(turned[1:]))


def _turned(plane: Image) -> Image:
    import cv2

    height, width = plane.shape
    upright = np.ascontiguousarray(np.rot90(plane, -1))
    scale = min(1.0, height / width)
    size = max(1, round(height * scale)), max(1, round(width * scale))
    wide = cv2.resize(upright, (width, max(height, round(width * width / height))))
    top = (wide.shape[0] - height) // 2
    result = cv2.GaussianBlur(wide[top : top + height], (0, 0), max(1.0, SOFT * width))
    left, top = (width - size[0]) // 2, (height - size[1]) // 2
    small = cv2.resize(upright, size, interpolation=cv2.INTER_AREA)
    result[top : top + size[1], left : left + size[0]] = small
    return np.asarray(result, np.uint8)
