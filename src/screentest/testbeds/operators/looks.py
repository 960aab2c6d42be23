"""Aesthetics and appearance style: light, colour and framing nobody wanted; another hand's look."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from screentest.core import Image
from screentest.testbeds.functions import degradation
from screentest.testbeds.operators.arithmetic import (
    grey,
    lookup,
    mixed,
    of_planes,
    planes,
    to_levels,
)
from screentest.video.edit.pictures import Pixels

PLANES: Mapping[str, Any] = {"aspect": "aesthetics", "pixels": Pixels.I420}


@degradation(aspect="aesthetics", summary="far too bright: lights are clipped to white")
def overexposed(image: Image, severity: float) -> Image:
    """Red, green and blue times up to 2.2; severity is the share of that."""
    return lookup(lambda level: level * (1 + 1.2 * severity))[image]


@degradation(aspect="aesthetics", summary="far too dark: shadows are clipped to black")
def underexposed(image: Image, severity: float) -> Image:
    """Red, green and blue down to a third, less a rest; severity is the share of that."""
    return lookup(lambda level: level * (1 - 0.66 * severity) - 14 * severity)[image]


CASTS = (
    (0.70, 1.04, 0.64),  # green, as under old tubes
    (1.10, 0.68, 1.00),  # magenta
    (0.58, 0.84, 1.16),  # blue, as daylight for a camera set to lamps
    (1.16, 0.86, 0.48),  # orange, as lamps for a camera set to daylight
)
"""Factors of red, green and blue at full severity."""


@degradation(aspect="aesthetics", summary="all colours tinged with one that does not belong there")
def colour_cast(image: Image, severity: float, clip_rng: np.random.Generator) -> Image:
    """A wrong white balance, one of four, drawn for each clip; severity is its strength."""
    factors = CASTS[int(clip_rng.integers(len(CASTS)))]
    shares = [1 + (factor - 1) * severity for factor in factors]
    tables = to_levels(np.arange(256)[:, None] * np.array(shares))
    return np.stack([tables[image[..., number], number] for number in range(3)], axis=-1)


@degradation(**PLANES, summary="drained of colour, pale and lifeless")
def desaturated(image: Image, severity: float) -> Image:
    """Chroma down to a seventh; severity is the share of that."""
    luma, chroma = planes(image)
    return of_planes(
        luma, lookup(lambda level: 128 + (level - 128) * (1 - 0.86 * severity))[chroma]
    )


@degradation(**PLANES, summary="colours far too strong")
def garish(image: Image, severity: float) -> Image:
    """Chroma up to 3.5 times as strong; severity is the share of that."""
    luma, chroma = planes(image)
    stronger = lookup(lambda level: np.clip(128 + (level - 128) * (1 + 2.5 * severity), 16, 240))
    return of_planes(luma, np.where(severity > 0, stronger[chroma], chroma))


@degradation(**PLANES, summary="lights and shadows without detail")
def harsh_contrast(image: Image, severity: float) -> Image:
    """Luma stretched about its middle, up to three times; severity is the share of that."""
    luma, chroma = planes(image)
    full = np.clip(126 + 3.0 * (np.arange(256) - 126), 16, 235)
    return of_planes(lookup(lambda level: level + severity * (full - level))[luma], chroma)


STEEPEST = 10.0
"""Degrees."""


@degradation(aspect="aesthetics", summary="the camera held askew: nothing is level")
def tilted(image: Image, severity: float, clip_rng: np.random.Generator) -> Image:
    """To a side drawn for each clip, enlarged to fill the frame; severity: up to 10 degrees."""
    from PIL import Image as Pictures

    angle = np.radians(STEEPEST * severity) * (1 if clip_rng.random() < 0.5 else -1)
    height, width = image.shape[:2]
    cosine, sine = np.cos(angle), np.sin(angle)
    longer = max(width / height, height / width)
    scale = 1 / (cosine + abs(sine) * longer)  # no corner reaches beyond the picture
    middle_x, middle_y = (width - 1) / 2, (height - 1) / 2
    a, b, d, e = scale * cosine, scale * sine, -scale * sine, scale * cosine
    # Pillow takes the place of a pixel's corner, hence the half pixels.
    c = middle_x + 0.5 - a * (middle_x + 0.5) - b * (middle_y + 0.5)
    f = middle_y + 0.5 - d * (middle_x + 0.5) - e * (middle_y + 0.5)
    turned = Pictures.fromarray(image).transform(
        (width, height), Pictures.Transform.AFFINE, (a, b, c, d, e, f), Pictures.Resampling.BICUBIC
    )
    return np.asarray(turned, np.uint8)


CLOSEST = 0.58
"""The side of what is still seen, as a share of the whole."""


@degradation(aspect="aesthetics", summary="badly framed, with what matters cut off")
def bad_crop(image: Image, severity: float, clip_rng: np.random.Generator) -> Image:
    """A corner, drawn for each clip, enlarged; severity is how much is lost of each side."""
    from PIL import Image as Pictures

    height, width = image.shape[:2]
    # Squared: the first steps are seen most, and beyond them one place is as wrong as another.
    share = 1 - (1 - CLOSEST) * severity**2
    left = (1 - share) * width * int(clip_rng.integers(2))
    top = (1 - share) * height * int(clip_rng.integers(2))
    seen = (left, top, left + share * width, top + share * height)
    enlarged = Pictures.fromarray(image).resize((width, height), Pictures.Resampling.BICUBIC, seen)
    return np.asarray(enlarged, np.uint8)


@degradation(**PLANES, summary="flat and washed out: no black, no white")
def washed_out(image: Image, severity: float) -> Image:
    """Luma pressed into the upper grey, chroma halved; severity is the share of that."""
    luma, chroma = planes(image)
    lights = lookup(lambda level: level + severity * (150 + 0.28 * (level - 126) - level))
    colours = lookup(lambda level: 128 + (level - 128) * (1 - 0.5 * severity))
    return of_planes(lights[luma], colours[chroma])


# Appearance style: one shot looks as if another hand, or another machine, had made it.
# Severity mixes the picture in the other style with the one it was made of.


INKS = (
    ((28, 16, 74), (255, 214, 92)),  # indigo and yellow
    ((86, 8, 44), (150, 232, 214)),  # maroon and mint
    ((4, 60, 66), (255, 158, 122)),  # teal and salmon
    ((60, 10, 110), (190, 255, 120)),  # violet and lime
)
"""What becomes of black and of white."""


@degradation(aspect="appearance_style", summary="printed in two inks")
def duotone(image: Image, severity: float, clip_rng: np.random.Generator) -> Image:
    """A dark and a light one, drawn for each clip; severity mixes it with the picture."""
    dark, light = (np.array(ink) for ink in INKS[int(clip_rng.integers(len(INKS)))])
    share = np.arange(256)[:, None] / 255
    inks = to_levels(dark * (1 - share) + light * share)
    return mixed(image, inks[grey(image)], severity)


@degradation(aspect="appearance_style", summary="drawn in lines on paper")
def line_drawing(image: Image, severity: float) -> Image:
    """Draw what is darker than its surroundings as a line; severity mixes it with the picture."""
    import cv2

    light = grey(image)
    around = cv2.GaussianBlur(light, (0, 0), max(1.0, image.shape[1] / 220))
    share = (light + np.uint16(24)) * np.uint16(200) // (around + np.uint16(24))
    lines = lookup(lambda level: 250 * np.clip(level / 194, 0, 1) ** 7)
    drawn = lines[np.minimum(share, 255).astype(np.uint8)]
    return mixed(image, np.repeat(drawn[..., None], 3, axis=2), severity)


@degradation(aspect="appearance_style", summary="a poster: flat areas of a few strong colours")
def posterised(image: Image, severity: float) -> Image:
    """Three levels each of red, green and blue; severity mixes it with the picture."""
    import cv2

    areas = cv2.medianBlur(cv2.medianBlur(image, 5), 5).astype(np.int16)
    strong = areas + (areas - grey(to_levels(areas))[..., None]) // 2
    few = lookup(lambda level: np.array([24, 128, 240])[np.minimum(level // 86, 2).astype(int)])
    return mixed(image, few[np.clip(strong, 0, 255)], severity)


@degradation(aspect="appearance_style", summary="printed in dots, as in a newspaper")
def halftone(image: Image, severity: float) -> Image:
    """Three inks on screens at three angles; severity mixes it with the picture."""
    screens = _screens(*image.shape[:2])
    printed = np.where(image > screens, np.uint8(250), np.uint8(20))
    return mixed(image, printed, severity)


@lru_cache(4)
def _screens(height: int, width: int) -> Image:
    """Thresholds whose contours are dots: height × width × 3."""
    size = max(4.0, width / 80)
    rows, columns = np.mgrid[:height, :width]
    frames = []
    for degrees in (15, 75, 45):
        angle = np.radians(degrees)
        across = columns * np.cos(angle) + rows * np.sin(angle)
        down = rows * np.cos(angle) - columns * np.sin(angle)
        waves = np.cos(2 * np.pi * across / size) + np.cos(2 * np.pi * down / size)
        frames.append(to_levels(127.5 + 56 * waves))
    return np.stack(frames, axis=-1)


@degradation(aspect="appearance_style", summary="an old film: brown, grainy, dark at the rim")
def old_film(image: Image, severity: float, rng: np.random.Generator) -> Image:
    """Grain and scratches are new in every frame; severity mixes it with the picture."""
    height, width = image.shape[:2]
    light = lookup(lambda level: 235 / (1 + np.exp((118 - level) / 34)))[grey(image)]
    size = max(1, round(width / 256))
    coarse = rng.standard_normal((height // size + 1, width // size + 1), np.float32)
    grain = np.repeat(np.repeat(coarse, size, axis=0), size, axis=1)[:height, :width]
    shades = light * _rim(height, width) + 12 * grain
    for column in rng.integers(0, width, 2):
        shades[:, column] += 60
    browns = to_levels(255 * (np.arange(256)[:, None] / 255) ** np.array([0.82, 1.0, 1.35]))
    brown = browns[to_levels(shades)]
    return mixed(image, brown, severity)


@lru_cache(4)
def _rim(height: int, width: int) -> np.ndarray:
    """1 in the middle, less towards the corners."""
    rows = np.linspace(-1, 1, height)[:, None] ** 2
    columns = np.linspace(-1, 1, width)[None] ** 2
    return np.asarray(1 - 0.36 * (rows + columns), np.float32)


# Where things are: the family of spatial relationship.
# All work on the planes of I420 pictures: what is there is moved, nothing else is changed. Severity
# is the share of the chosen clips that are harmed, as with the paper's mirror: half a mirror image
# is not half as wrong.

PLACES: Mapping[str, Any] = {"aspect": "spatial_relationship", "pixels": Pixels.I420}


@degradation(**PLACES, needs="side", summary="left and right half exchanged")
def swapped_halves(image: Image) -> Image:
    """Put the left half at the right, facing where it faced."""
    quarter = image.shape[1] // 4  # a column of chroma is two of luma
    luma, chroma = planes(image)
    return of_planes(np.roll(luma, 2 * quarter, axis=1), np.roll(chroma, quarter, axis=2))


@degradation(**PLACES, needs="height", summary="upper and lower half exchanged")
def swapped_top_bottom(image: Image) -> Image:
    """Put the upper half below, upright."""
    luma, chroma = planes(image)
    quarter = luma.shape[0] // 4
    return of_planes(np.roll(luma, 2 * quarter, axis=0), np.roll(chroma, quarter, axis=1))


@degradation(**PLACES, needs="place", summary="upside down")
def upside_down(image: Image) -> Image:
    """Turned by half a turn: left is right, and above is below."""
    luma, chroma = planes(image)
    return of_planes(luma[::-1, ::-1], chroma[:, ::-1, ::-1])


SOFT = 0.04
"""The blur of what fills the sides, as a share of the width."""


@degradation(**PLACES, needs="place", summary="turned on its side, between blurred edges")
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
