"""Aesthetics: light, colour and framing that nobody would have wanted."""

from __future__ import annotations

import numpy as np

from screentest.core import Image
from screentest.testbeds.functions import degradation
from screentest.testbeds.operators.arithmetic import lookup, of_planes, planes, to_levels
from screentest.video.edit.pictures import Pixels


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


@degradation(
    aspect="aesthetics", pixels=Pixels.I420, summary="drained of colour, pale and lifeless"
)
def desaturated(image: Image, severity: float) -> Image:
    """Chroma down to a seventh; severity is the share of that."""
    luma, chroma = planes(image)
    return of_planes(
        luma, lookup(lambda level: 128 + (level - 128) * (1 - 0.86 * severity))[chroma]
    )


@degradation(aspect="aesthetics", pixels=Pixels.I420, summary="colours far too strong")
def garish(image: Image, severity: float) -> Image:
    """Chroma up to 3.5 times as strong; severity is the share of that."""
    luma, chroma = planes(image)
    stronger = lookup(lambda level: np.clip(128 + (level - 128) * (1 + 2.5 * severity), 16, 240))
    return of_planes(luma, np.where(severity > 0, stronger[chroma], chroma))


@degradation(aspect="aesthetics", pixels=Pixels.I420, summary="lights and shadows without detail")
def harsh_contrast(image: Image, severity: float) -> Image:
    """Luma stretched about its middle, up to three times; severity is the share of that."""
    luma, chroma = planes(image)
    table = lookup(lambda level: level + severity * (_stretched(level) - level))
    return of_planes(table[luma], chroma)


def _stretched(level: np.ndarray) -> np.ndarray:
    return np.clip(126 + 3.0 * (level - 126), 16, 235)


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
        (width, height),
        Pictures.Transform.AFFINE,
        (a, b, c, d, e, f),
        Pictures.Resampling.BICUBIC,
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


@degradation(
    aspect="aesthetics", pixels=Pixels.I420, summary="flat and washed out: no black, no white"
)
def washed_out(image: Image, severity: float) -> Image:
    """Luma pressed into the upper grey, chroma halved; severity is the share of that."""
    luma, chroma = planes(image)
    lights = lookup(lambda level: level + severity * (150 + 0.28 * (level - 126) - level))
    colours = lookup(lambda level: 128 + (level - 128) * (1 - 0.5 * severity))
    return of_planes(lights[luma], colours[chroma])
