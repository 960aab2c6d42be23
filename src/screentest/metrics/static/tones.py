"""Tones and colours of single pictures: contrast, tonal range, exposure, colourfulness."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from screentest.core import OutputInfo
from screentest.metrics.curve import COLOUR
from screentest.metrics.functions import metric

if TYPE_CHECKING:
    from screentest.core.frames import Image


CUT_OFF = 4
"""Levels from either end that count as black or white without anything in it."""


@metric(
    summary="contrast, tonal range and exposure",
    outputs={
        "contrast": OutputInfo("deviation of brightness, 1 is half black half white"),
        "tonal_range": OutputInfo("from the darkest to the lightest hundredth"),
        "exposure": OutputInfo("share of the picture neither black nor white"),
    },
    request=COLOUR,
)
def contrast(image: Image) -> tuple[float, float, float]:
    """Contrast (deviation of brightness), tonal range, and the share that is not cut off.

    >>> half = np.zeros((4, 4, 3), np.uint8)
    >>> half[:2] = 255
    >>> contrast(half)
    (1.0, 1.0, 0.0)
    >>> contrast(np.full((4, 4, 3), 128, np.uint8))
    (0.0, 0.0, 1.0)
    """
    import cv2

    grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    counts = np.bincount(grey.ravel(), minlength=256)
    levels, size = np.arange(256), grey.size
    mean = counts @ levels / size
    deviation = float(np.sqrt(counts @ (levels - mean) ** 2 / size))
    share = np.cumsum(counts) / size
    low, high = np.searchsorted(share, [0.01, 0.99])
    open_share = float(counts[CUT_OFF : 256 - CUT_OFF].sum() / size)
    return deviation / 127.5, float(high - low) / 255, open_share


@metric(
    summary="how colourful each shot is",
    outputs={
        "colourfulness": OutputInfo(
            "0 grey, 15 slightly, 45 averagely, 82 highly colourful", high=150.0, bounded=False
        )
    },
    request=COLOUR,
)
def colourfulness(image: Image) -> float:
    """After Hasler and Süsstrunk (2003), whose formula was fitted to what people said.

    Mean and deviation of red–green and blue–yellow: 0 for grey; in their words 15 is slightly,
    45 averagely, 82 highly colourful.

    >>> colourfulness(np.full((2, 2, 3), 90, np.uint8))
    0.0
    >>> colourfulness(np.tile(np.array([255, 0, 0], np.uint8), (2, 2, 1))).__round__(2)
    85.53
    """
    red, green, blue = (image[..., channel].astype(np.float32) for channel in range(3))
    across, down = red - green, (red + green) / 2 - blue
    spread = np.hypot(across.std(), down.std())
    middle = np.hypot(across.mean(), down.mean())
    return float(spread + 0.3 * middle)
