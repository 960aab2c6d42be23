"""Arithmetic on pictures in whole numbers: the same bits on every machine and in any order.

An I420 picture is height · 3/2 × width: the rows of luma, then both planes of chroma.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, floor
from typing import TYPE_CHECKING

import numpy as np

from screentest.core import Image

if TYPE_CHECKING:
    from numpy.typing import NDArray


def planes(picture: Image) -> tuple[Image, Image]:
    """Luma (height × width) and chroma (2 × height/2 × width/2) of an I420 picture, as views.

    >>> [plane.shape for plane in planes(np.zeros((27, 32), np.uint8))]
    [(18, 32), (2, 9, 16)]
    """
    rows, width = picture.shape
    height = rows * 2 // 3
    return picture[:height], picture[height:].reshape(2, height // 2, width // 2)


def of_planes(luma: Image, chroma: Image) -> Image:
    """Return the I420 picture of these planes."""
    return np.concatenate([luma, chroma.reshape(-1, luma.shape[1])])


def mixed(image: Image, changed: Image, share: float) -> Image:
    """``share`` of the changed picture over the other; a greater share never comes nearer to it.

    >>> mixed(np.uint8([10, 200]), np.uint8([20, 100]), 0.25).tolist()
    [13, 175]
    """
    part = round(256 * share)
    sum_ = image.astype(np.uint16) * np.uint16(256 - part) + changed * np.uint16(part)
    return np.asarray((sum_ + np.uint16(128)) >> np.uint16(8), np.uint8)


def laid_in(image: Image, changed: Image, mask: NDArray[np.float32], share: float = 1.0) -> Image:
    """Return ``share`` of the changed picture where ``mask`` is 1, the other where it is 0."""
    part = np.rint(256 * share * mask).astype(np.uint16)
    part = part[..., None] if image.ndim == 3 else part
    sum_ = image * (np.uint16(256) - part) + changed * part
    return np.asarray((sum_ + np.uint16(128)) >> np.uint16(8), np.uint8)


def lookup(function: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> Image:
    """For each of the 256 levels what a function makes of it, rounded and clipped.

    >>> lookup(lambda level: 2 * level)[[3, 200]].tolist()
    [6, 255]
    """
    return to_levels(function(np.arange(256, dtype=np.float64)))


def to_levels(values: NDArray[np.floating] | NDArray[np.integer]) -> Image:
    """Numbers as levels: rounded, and clipped to 0–255."""
    return np.asarray(np.clip(np.rint(values), 0, 255), np.uint8)


def grey(image: Image) -> Image:
    """Return the luma of an RGB picture, in whole numbers (Rec. 601).

    >>> grey(np.full((1, 1, 3), 77, np.uint8)).tolist()
    [[77]]
    """
    red, green, blue = (image[..., number].astype(np.uint16) for number in range(3))
    sum_ = red * np.uint16(77) + green * np.uint16(150) + blue * np.uint16(29) + np.uint16(128)
    return np.asarray(sum_ >> np.uint16(8), np.uint8)


def displaced(image: Image, across: int, down: int) -> Image:
    """Shift a picture: to the left by ``across`` pixels, up by ``down`` pixels.

    Beyond its edges a picture goes on with the pixels at the edge.

    >>> displaced(np.uint8([[1, 2, 3]]), 1, 0).tolist()
    [[2, 3, 3]]
    """
    height, width = image.shape[:2]
    rows = np.clip(np.arange(height) + down, 0, height - 1)
    columns = np.clip(np.arange(width) + across, 0, width - 1)
    return np.asarray(image[rows][:, columns])


def smeared(plane: Image, start: float, end: float, across: float, down: float) -> Image:
    """Return the mean of a plane along a line from ``start`` to ``end``, in pixels, in a direction.

    ``across`` and ``down`` are the direction, the larger of them 1 (or −1).

    >>> smeared(np.uint8([[0, 0, 90, 0, 0]]), -1, 1, 1, 0).tolist()
    [[0, 30, 30, 30, 0]]
    """
    total: NDArray[np.uint32] = np.zeros(plane.shape, np.uint32)
    weights = 0
    for place in range(floor(start), ceil(end) + 1):
        # The ends of the line count for the part of them that is on it: no steps in severity.
        inside = 1.0 if start <= place <= end else 1 - max(start - place, place - end)
        weight = round(256 * inside)
        moved = displaced(plane, round(place * across), round(place * down))
        total += moved.astype(np.uint32) * np.uint32(weight)
        weights += weight
    return np.asarray((total + weights // 2) // weights, np.uint8)


def filling(image: Image, shape: tuple[int, ...]) -> Image:
    """Return the picture in another size, height × width; what is too much is cut off evenly."""
    from PIL import Image as Pictures
    from PIL import ImageOps

    height, width = shape[:2]
    return np.asarray(ImageOps.fit(Pictures.fromarray(image), (width, height)), np.uint8)


FILLED_AT = 128
"""The long side at which a hole is filled."""


def without(image: Image, mask: NDArray[np.float32]) -> Image:
    """Return the picture with what the mask covers filled in softly from around it."""
    import cv2

    height, width = image.shape[:2]
    scale = min(1.0, FILLED_AT / max(height, width))
    size = max(1, round(width * scale)), max(1, round(height * scale))
    hole = cv2.dilate(cv2.resize(mask, size, interpolation=cv2.INTER_AREA), np.ones((3, 3)))
    cover = (np.asarray(hole).reshape(size[::-1]) > 0.1).astype(np.uint8)
    if not cover.any() or cover.all():
        return image
    small = cv2.resize(image, size, interpolation=cv2.INTER_AREA)
    filled = cv2.inpaint(small, cover, 3, cv2.INPAINT_TELEA)
    whole = cv2.resize(filled, (width, height), interpolation=cv2.INTER_LINEAR)
    edge = cv2.resize(cover.astype(np.float32), (width, height), interpolation=cv2.INTER_LINEAR)
    return laid_in(image, np.asarray(whole, np.uint8), np.minimum(1, 2 * np.asarray(edge)))
