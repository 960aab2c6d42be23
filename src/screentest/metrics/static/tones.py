"""Contrast and exposure: how far light and dark lie apart, and what is cut off at either end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from screentest.core import OutputInfo, register
from screentest.metrics.curve import SAMPLED, ShotMetric, ShotOutput, colour, mean_of

if TYPE_CHECKING:
    from screentest.core.frames import Image


CUT_OFF = 4
"""Levels from either end that count as black or white without anything in it."""


@register("metric", "contrast", version=1, summary="contrast, tonal range and exposure")
def contrast(*, rate: float = SAMPLED) -> ShotMetric:
    """``rate``: frames a second."""
    return ShotMetric(CONTRAST, colour(rate), lambda: tones)


def tones(image: Image) -> tuple[float, float, float]:
    """Contrast (deviation of brightness), tonal range, and the share that is not cut off.

    >>> half = np.zeros((4, 4, 3), np.uint8)
    >>> half[:2] = 255
    >>> tones(half)
    (1.0, 1.0, 0.0)
    >>> tones(np.full((4, 4, 3), 128, np.uint8))
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


CONTRAST = {
    "contrast": ShotOutput(
        OutputInfo("deviation of brightness, 1 is half black half white"), mean_of(0)
    ),
    "tonal_range": ShotOutput(OutputInfo("from the darkest to the lightest hundredth"), mean_of(1)),
    "exposure": ShotOutput(OutputInfo("share of the picture neither black nor white"), mean_of(2)),
}


# Colourfulness, after Hasler and Süsstrunk (2003).
#
# Mean and deviation of red–green and blue–yellow: the formula was fitted to what people said.


@register("metric", "colourfulness", version=1, summary="how colourful each shot is")
def colourfulness(*, rate: float = SAMPLED) -> ShotMetric:
    """``rate``: frames a second."""
    return ShotMetric(COLOURFULNESS, colour(rate), lambda: measure)


def measure(image: Image) -> tuple[float]:
    """0 for grey; in their words 15 is slightly, 45 averagely, 82 highly colourful.

    >>> measure(np.full((2, 2, 3), 90, np.uint8))
    (0.0,)
    >>> measure(np.tile(np.array([255, 0, 0], np.uint8), (2, 2, 1)))[0].__round__(2)
    85.53
    """
    red, green, blue = (image[..., channel].astype(np.float32) for channel in range(3))
    across, down = red - green, (red + green) / 2 - blue
    spread = np.hypot(across.std(), down.std())
    middle = np.hypot(across.mean(), down.mean())
    return (float(spread + 0.3 * middle),)


COLOURFULNESS = {
    "colourfulness": ShotOutput(
        OutputInfo("0 grey, 15 slightly, 45 averagely, 82 highly colourful", high=150.0), mean_of(0)
    )
}
