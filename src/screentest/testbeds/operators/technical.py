"""Technical quality: what sensors, encoders and careless processing do to pictures."""

from __future__ import annotations

import numpy as np

from screentest.core import Image
from screentest.testbeds.functions import degradation
from screentest.testbeds.operators.arithmetic import (
    displaced,
    lookup,
    of_planes,
    planes,
    smeared,
    to_levels,
)
from screentest.video import Pixels

READ, SHOT, CHROMA = 9.0, 16.0, 9.0
"""Standard deviations in levels at full severity: in the dark, added by full light, in chroma."""


@degradation(
    aspect="technical_quality",
    pixels=Pixels.I420,
    summary="noise of a small sensor, new in every frame",
)
def sensor_noise(image: Image, severity: float, rng: np.random.Generator) -> Image:
    """Read noise everywhere, shot noise with the light; in chroma too. Severity is its strength."""
    luma, chroma = planes(image)
    deviation = np.sqrt(READ**2 + SHOT**2 * np.clip((np.arange(256) - 16) / 219, 0, 1))
    noise = rng.standard_normal(luma.shape, np.float32)
    noise *= (severity * deviation).astype(np.float32)[luma]
    colours = rng.standard_normal(chroma.shape, np.float32) * np.float32(severity * CHROMA)
    return of_planes(to_levels(luma + noise), to_levels(chroma + colours))


FINEST, COARSEST = 20, 800
"""JPEG's scale of its tables, in percent, near severity 0 and at 1: quality 90 and 6."""


@degradation(
    aspect="technical_quality",
    pixels=Pixels.I420,
    summary="blocks of 8 × 8 pixels, as in a JPEG of low quality",
)
def blocks(image: Image, severity: float) -> Image:
    """Every frame through JPEG; severity is how coarse its steps are, in octaves."""
    if severity == 0:
        return image
    scale = FINEST * (COARSEST / FINEST) ** severity
    luma, chroma = planes(image)
    # Finer in chroma, so that blocks are seen and not other colours.
    colours = [_through_jpeg(plane, scale / 2) for plane in chroma]
    return of_planes(_through_jpeg(luma, scale), np.stack(colours))


def _through_jpeg(plane: Image, scale: float) -> Image:
    import cv2

    quality = 5000 / scale if scale > 100 else (200 - scale) / 2  # as libjpeg has it
    _, written = cv2.imencode(".jpg", plane, [cv2.IMWRITE_JPEG_QUALITY, round(quality)])
    return np.asarray(cv2.imdecode(written, cv2.IMREAD_GRAYSCALE), np.uint8)


WIDEST = 26.0
"""Levels from one step to the next at full severity."""


@degradation(
    aspect="technical_quality",
    pixels=Pixels.I420,
    summary="too few levels: smooth shades become bands",
)
def banding(image: Image, severity: float) -> Image:
    """Luma and chroma in steps; severity is their height, in octaves: 1 to 26 levels."""
    step = WIDEST**severity
    luma, chroma = planes(image)
    steps = lookup(lambda level: np.rint((level - 16) / step) * step + 16)
    fine = 1 + (step - 1) / 3  # chroma has less range, and large steps would be other colours
    colours = lookup(lambda level: np.rint((level - 128) / fine) * fine + 128)
    return of_planes(steps[luma], colours[chroma])


LONGEST = 0.025
"""Half the length of the smear, as a share of the width."""


@degradation(
    aspect="technical_quality",
    pixels=Pixels.I420,
    summary="smeared in one direction, as by a camera that moves",
)
def motion_blur(image: Image, severity: float, clip_rng: np.random.Generator) -> Image:
    """The direction is drawn for each clip; severity is the length, up to 5% of the width."""
    angle = clip_rng.uniform(0, np.pi)
    across, down = np.array([np.cos(angle), np.sin(angle)]) / max(
        abs(np.cos(angle)), abs(np.sin(angle))
    )
    luma, chroma = planes(image)
    # The larger step is one pixel: a slanted line has fewer of them for the same length.
    reach = severity * LONGEST * image.shape[1] / np.hypot(across, down)
    colours = [smeared(plane, -reach / 2, reach / 2, across, down) for plane in chroma]
    return of_planes(smeared(luma, -reach, reach, across, down), np.stack(colours))


HALO, SHARPEST = 0.0045, 4.0
"""The width of halos, as a share of the picture's, and how much of the difference is added."""


@degradation(
    aspect="technical_quality",
    pixels=Pixels.I420,
    summary="sharpened far too much: halos along every edge",
)
def oversharpened(image: Image, severity: float) -> Image:
    """The difference to a blurred picture is added; severity is how often, up to four times."""
    import cv2

    luma, chroma = planes(image)
    blurred = cv2.GaussianBlur(luma, (0, 0), max(0.8, HALO * luma.shape[1]))
    difference = luma.astype(np.int16) - blurred
    sharpened = luma + np.rint(difference * np.float32(SHARPEST * severity))
    return of_planes(to_levels(sharpened), chroma)


ECHOES = ((1, -0.9), (2, 0.6), (3, -0.4), (4, 0.25))
"""Echoes of an edge: how far, in widths of an echo, and how strong."""
ECHO = 0.008
"""The width of an echo, as a share of the picture's."""


@degradation(
    aspect="technical_quality",
    pixels=Pixels.I420,
    summary="ripples beside every edge",
)
def ringing(image: Image, severity: float) -> Image:
    """Edges echo to both sides with falling strength, as after a filter that cuts too steeply."""
    luma, chroma = planes(image)
    total = np.zeros(luma.shape, np.float32)
    for number, strength in ECHOES:
        away = max(number, round(number * ECHO * luma.shape[1]))
        sides = displaced(luma, away, 0).astype(np.int16) + displaced(luma, -away, 0)
        total += (sides - 2 * luma.astype(np.int16)) * np.float32(strength / 2)
    return of_planes(to_levels(luma + total * np.float32(severity)), chroma)


FARTHEST = 0.07
"""How far colours run, as a share of the width."""


@degradation(
    aspect="technical_quality",
    pixels=Pixels.I420,
    summary="colours run to one side, as on a worn tape",
)
def colour_bleeding(image: Image, severity: float) -> Image:
    """Chroma smeared to the right of where it belongs; severity is how far, up to 7%."""
    luma, chroma = planes(image)
    reach = severity * FARTHEST * image.shape[1] / 2
    return of_planes(luma, np.stack([smeared(plane, -reach, 0, 1, 0) for plane in chroma]))
