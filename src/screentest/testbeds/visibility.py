"""Visibility: how much two pictures differ to the eye, beyond what encoding does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from screentest.core import Image
from screentest.testbeds.operators.arithmetic import planes

if TYPE_CHECKING:
    from numpy.typing import NDArray

# What is just visible. Encoding a film twice (x264, crf 18 to 23, films of the packaged sample)
# moves luma by at most 0.8 levels on average and 1 − SSIM by at most 0.015, and moves no pixel by
# more than BEYOND levels; half the resolution, the gentlest of the paper's harms, moves 0.7 % of
# the pixels so far in the softest pictures.
LUMA = 2.5
"""Levels, on average over the picture."""
CHROMA = 1.5
STRUCTURE = 0.025
"""One minus SSIM."""
BEYOND, SHARE = 12, 0.005
"""A share of the pixels is changed by more than so many levels."""


def frame_change(before: Image, after: Image) -> float:
    """How much two I420 pictures differ to the eye: 1 is just visible.

    >>> grey = np.full((96, 64), 128, np.uint8)
    >>> frame_change(grey, grey), frame_change(grey, grey + 3)
    (0.0, 2.0)
    """
    luma, chroma = (
        np.abs(one.astype(np.int16) - two)
        for one, two in zip(planes(before), planes(after), strict=True)
    )
    plain = max(
        float(luma.mean()) / LUMA,
        float(chroma.mean()) / CHROMA,
        float((luma > BEYOND).mean()) / SHARE,
    )
    # The costly one only where the others do not say enough.
    if plain >= 1:
        return plain
    return max(plain, (1 - similarity(planes(before)[0], planes(after)[0])) / STRUCTURE)


def similarity(before: Image, after: Image) -> float:
    """The mean SSIM of two planes, in windows of 7 × 7 pixels."""
    import cv2

    def mean(plane: NDArray[np.float32]) -> NDArray[np.float32]:
        return np.asarray(cv2.boxFilter(plane, -1, (7, 7)), np.float32)

    one, two = before.astype(np.float32), after.astype(np.float32)
    mean_one, mean_two = mean(one), mean(two)
    spread = mean(one * one) - mean_one**2 + mean(two * two) - mean_two**2
    shared = mean(one * two) - mean_one * mean_two
    steady, lively = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    alike = (2 * mean_one * mean_two + steady) * (2 * shared + lively)
    return float(np.mean(alike / ((mean_one**2 + mean_two**2 + steady) * (spread + lively))))
