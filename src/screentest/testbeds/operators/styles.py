"""Appearance style: one shot looks as if another hand, or another machine, had made it.

Severity mixes the picture in the other style with the one it was made of.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from screentest.core import Image
from screentest.testbeds.functions import degradation
from screentest.testbeds.operators.arithmetic import grey, lookup, mixed, to_levels

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
