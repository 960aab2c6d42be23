"""Color: a thing whose colour the caption names has another, or none, or that of something else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from screentest.core import Image
from screentest.testbeds.functions import degradation
from screentest.testbeds.operators.arithmetic import grey, laid_in, to_levels
from screentest.testbeds.operators.shapes import box_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from screentest.models.roles import Mask


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


RIM = 0.35
"""How far around a thing its surroundings go, as a share of its size."""


@degradation(
    aspect="color",
    mask="coloured",
    summary="a named object in the colour of what is around it",
)
def colour_borrowed(image: Image, mask: Mask, severity: float) -> Image:
    """It keeps its shades and gets the mean of its surroundings; severity is how far it goes."""
    left, top, right, bottom = box_of(mask)
    across, down = round(RIM * (right - left)) + 1, round(RIM * (bottom - top)) + 1
    rows, columns = (
        slice(max(0, top - down), bottom + down),
        slice(max(0, left - across), right + across),
    )
    around = image[rows, columns][mask[rows, columns] < 0.1]
    way = mean_of(around) - mean_of(image[mask >= 0.5])
    return laid_in(image, to_levels(image + severity * way), mask)


@degradation(
    aspect="color",
    mask="two",
    summary="two named objects with each other's colours",
)
def colours_swapped(image: Image, mask: Mask, severity: float) -> Image:
    """Each keeps its shades and gets the other's mean; severity is how far they go."""
    first, second = mask[..., 0], mask[..., 1] * (mask[..., 0] < 0.5)
    way = severity * (mean_of(image[second >= 0.5]) - mean_of(image[first >= 0.5]))
    swapped = laid_in(image, to_levels(image + way), first)
    return laid_in(swapped, to_levels(image - way), second)


def mean_of(pixels: Image) -> NDArray[np.float64]:
    """Return the mean of rows of red, green and blue; of whole numbers, so that no order
    matters."""
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
