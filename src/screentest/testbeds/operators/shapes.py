"""Object integrity: a named thing that is twice there, melts, has a wrong size, is cut in two."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from screentest.core import Image
from screentest.testbeds.contract import Reach
from screentest.testbeds.functions import degradation
from screentest.testbeds.operators.arithmetic import grey, laid_in, to_levels, without
from screentest.testbeds.operators.shared import sampled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from screentest.models.roles import Mask


THING: Mapping[str, Any] = {"aspect": "object_integrity", "mask": "thing", "region": "around"}

RIM = 0.012
"""The width of a thing's rim, as a share of the picture's long side."""
ASIDE = 0.36
"""How far away the copy is, in widths of the picture."""


@degradation(**THING, reach=Reach(aside=ASIDE), summary="a named object is there twice")
def object_duplicated(
    image: Image, mask: Mask, severity: float, clip_rng: np.random.Generator
) -> Image:
    """A copy to a side drawn for each clip, coming in again at the other; severity: its opacity."""
    mask = whole(mask)
    way = round(ASIDE * image.shape[1]) * (1 if clip_rng.random() < 0.5 else -1)
    copy, where = np.roll(image, way, axis=1), np.roll(mask, way, axis=1)
    # In front stands what was there.
    return laid_in(image, copy, where * (1 - mask), severity)


DRIP, SWAY = 0.4, 0.1
"""How far down its lower end is drawn, as a share of its height, and aside, of its width."""
LOWEST = 1.5
"""How far below its top drops are drawn, in heights of the thing."""
DROPS = 2
"""How many there are side by side."""


@degradation(**THING, reach=Reach(across=SWAY, down=LOWEST * DRIP), summary="a named object melts")
def object_melted(image: Image, mask: Mask, severity: float) -> Image:
    """It runs down in drops and sways; severity is how far, up to 0.6 of its height below it."""
    mask = whole(mask)
    left, top, right, bottom = box_of(mask)
    height, width = bottom - top, right - left
    rows, columns = np.indices(mask.shape, np.float32)
    across = (columns - left) / width
    drops = 0.6 + 0.4 * np.cos(2 * np.pi * DROPS * across)
    depth = np.clip((rows - top) / height, 0, LOWEST)
    down = severity * DRIP * height * drops * depth
    sway = severity * SWAY * width * np.sin(2 * np.pi * (depth + 0.3 * across))
    soft = _softened(mask, max(1.0, 0.06 * min(height, width)))
    moved = sampled(image, columns - sway * soft, rows - down)
    where = sampled(mask, columns - sway * soft, rows - down, repeats_edge=False)
    return laid_in(laid_in(image, moved, mask), moved, where)


LARGEST = 1.8
"""How many times its size."""


@degradation(
    **THING,
    reach=Reach(across=(LARGEST - 1) / 2, up=LARGEST - 1),
    summary="a named object is far too large",
)
def object_oversized(image: Image, mask: Mask, severity: float) -> Image:
    """Standing where it stood, up to 1.8 times its size; severity is the share of that."""
    mask = whole(mask)
    left, _, right, bottom = box_of(mask)
    scale = 1 + (LARGEST - 1) * severity
    rows, columns = np.indices(mask.shape, np.float32)
    middle = (left + right - 1) / 2
    across = middle + (columns - middle) / scale
    down = bottom - 1 + (rows - (bottom - 1)) / scale
    where = sampled(mask, across, down, repeats_edge=False)
    return laid_in(image, sampled(image, across, down), where)


APART = 0.5
"""How far the upper half is from its place, in widths of the thing."""


@degradation(**THING, reach=Reach(across=APART), summary="a named object is cut in two")
def object_cut(image: Image, mask: Mask, severity: float, clip_rng: np.random.Generator) -> Image:
    """Its upper half stands beside the lower, to a side drawn for each clip; severity: how far."""
    mask = whole(mask)
    left, top, right, bottom = box_of(mask)
    way = round(APART * severity * (right - left)) * (1 if clip_rng.random() < 0.5 else -1)
    upper = mask.copy()
    upper[(top + bottom) // 2 :] = 0
    gone = laid_in(image, without(image, mask), upper if way else np.zeros_like(mask))
    columns = np.arange(image.shape[1]) - way
    inside = (columns >= 0) & (columns < image.shape[1])
    columns = np.clip(columns, 0, image.shape[1] - 1)
    return laid_in(gone, image[:, columns], upper[:, columns] * inside)


def box_of(mask: Mask) -> tuple[int, int, int, int]:
    """Left, top, right and bottom of what the mask covers; all of it where it covers nothing.

    >>> box_of(np.pad(np.ones((2, 3), np.float32), 1))
    (1, 1, 4, 3)
    """
    rows, columns = (np.flatnonzero((mask >= 0.5).any(axis=axis)) for axis in (1, 0))
    if not len(rows):
        return 0, 0, mask.shape[1], mask.shape[0]
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1


def whole(mask: Mask) -> Mask:
    """Return the mask without holes and with its rim: what is left of an edge is seen."""
    import cv2

    side = max(3, round(RIM * max(mask.shape)) | 1)
    wide = cv2.dilate((mask >= 0.5).astype(np.uint8), np.ones((side, side), np.uint8))
    outlines, _ = cv2.findContours(wide, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    filled = cv2.drawContours(np.zeros_like(wide), outlines, -1, 1, cv2.FILLED)
    return np.maximum(mask, _softened(filled.astype(np.float32), 1.0))


def _softened(mask: Mask, radius: float) -> Mask:
    import cv2

    return np.asarray(cv2.GaussianBlur(mask, (0, 0), radius), np.float32)


# Color: a thing whose colour the caption names has another, or none, or that of something else.


@degradation(aspect="color", mask="vivid", summary="a named object in the opposite hue")
def hue_turned(image: Image, mask: Mask, severity: float) -> Image:
    """As light and as strong as before; severity is the turn, up to half the circle of hues."""
    angle = np.pi * severity
    light = grey(image).astype(np.float32)
    red, blue = image[..., 0] - light, image[..., 2] - light
    # Distances from grey along red and blue, scaled to a circle (Rec. 601).
    first, second = 0.713 * red, 0.564 * blue
    cosine, sine = np.float32(np.cos(angle)), np.float32(np.sin(angle))
    red, blue = (first * cosine - second * sine) / 0.713, (first * sine + second * cosine) / 0.564
    green = -(77 * red + 29 * blue) / 150
    turned = to_levels(light[..., None] + np.stack([red, green, blue], axis=-1))
    return laid_in(image, turned, mask)


@degradation(aspect="color", mask="vivid", summary="a named object without its colour")
def colour_lost(image: Image, mask: Mask, severity: float) -> Image:
    """Grey, as light as before; severity is how much of the colour is lost."""
    return laid_in(image, np.repeat(grey(image)[..., None], 3, axis=2), mask, severity)


HUE_RIM = 0.35
"""How far around a thing its surroundings go, as a share of its size."""


@degradation(
    aspect="color", mask="coloured", summary="a named object in the colour of what is around it"
)
def colour_borrowed(image: Image, mask: Mask, severity: float) -> Image:
    """It keeps its shades and gets the mean of its surroundings; severity is how far it goes."""
    left, top, right, bottom = box_of(mask)
    across, down = round(HUE_RIM * (right - left)) + 1, round(HUE_RIM * (bottom - top)) + 1
    rows, columns = (
        slice(max(0, top - down), bottom + down),
        slice(max(0, left - across), right + across),
    )
    around = image[rows, columns][mask[rows, columns] < 0.1]
    way = mean_of(around) - mean_of(image[mask >= 0.5])
    return laid_in(image, to_levels(image + severity * way), mask)


@degradation(aspect="color", mask="two", summary="two named objects with each other's colours")
def colours_swapped(image: Image, mask: Mask, severity: float) -> Image:
    """Each keeps its shades and gets the other's mean; severity is how far they go."""
    first, second = mask[..., 0], mask[..., 1] * (mask[..., 0] < 0.5)
    way = severity * (mean_of(image[second >= 0.5]) - mean_of(image[first >= 0.5]))
    swapped = laid_in(image, to_levels(image + way), first)
    return laid_in(swapped, to_levels(image - way), second)


def mean_of(pixels: Image) -> NDArray[np.float64]:
    """Return the mean colour; of whole numbers, so that no order matters."""
    return np.asarray(pixels.sum(axis=0, dtype=np.int64) / max(1, len(pixels)))


PAINTS = ((214, 30, 40), (30, 96, 214), (240, 200, 20), (24, 150, 70), (150, 40, 170))
"""Colours of stripes."""


@degradation(aspect="color", mask="coloured", summary="a named object in stripes of another colour")
def colour_striped(
    image: Image, mask: Mask, severity: float, clip_rng: np.random.Generator
) -> Image:
    """Slanted stripes of a paint unlike the thing; severity is their opacity."""
    left, top, right, bottom = box_of(mask)
    mean = mean_of(image[mask >= 0.5])
    first = int(clip_rng.integers(len(PAINTS)))
    ranked = [*PAINTS[first:], *PAINTS[:first]]
    paint = next(colour for colour in ranked if np.abs(np.array(colour) - mean).sum() > 150)
    rows, columns = np.indices(mask.shape)
    wide = max(2, (right - left + bottom - top) // 10)
    striped = ((columns - left + rows - top) // wide) % 2
    # Paint in the light that falls on the thing.
    light = np.clip(grey(image).astype(np.float32) / 140, 0.35, 1.25)
    painted = to_levels(light[..., None] * np.array(paint, np.float32))
    return laid_in(image, painted, mask * striped.astype(np.float32), severity)
