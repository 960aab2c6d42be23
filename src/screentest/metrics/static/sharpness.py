"""Sharpness: how much of a picture's detail is fine.

A picture that was enlarged from half its size has nothing in the finest octave. So the detail
of the picture is compared with that of the picture at half its size: the ratio does not depend
on contrast, and little on what is shown.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from screentest.core import OutputInfo
from screentest.metrics.curve import DETAIL
from screentest.metrics.functions import metric

if TYPE_CHECKING:
    from screentest.core.frames import Image
    from screentest.models.pictures import Plane

T = TypeVar("T")

# What metrics of fine detail share: where in the picture they look, and when they do not.

WINDOW = 384
"""Pixels a side, at most: the middle of a larger picture stands for all of it."""
SMALLEST = 32
LEAST_DETAIL = 2.0
"""Pictures whose levels deviate less (black, the end of a fade) show nothing to judge."""


def window(luma: Image) -> Image | None:
    """The middle of the picture; None where it shows nothing.

    Its corner is on the grid of coded blocks, so that these stay where they are.
    """
    height, width = luma.shape
    if min(height, width) < SMALLEST:
        return None
    top, left = (max(0, side - WINDOW) // 2 // 16 * 16 for side in (height, width))
    middle = luma[top : top + WINDOW, left : left + WINDOW]
    return middle if float(np.std(middle[::4, ::4])) >= LEAST_DETAIL else None


def remembered(measure: Callable[[Image], T]) -> Callable[[Image], T]:
    """The measurement, done once for a picture that several metrics are handed in turn.

    All consumers of a scan get the same array. Only the last one is kept.
    """
    last: list[tuple[Image, T]] = []

    @wraps(measure)
    def once(luma: Image) -> T:
        known = last[-1] if last else None
        if known is None or known[0] is not luma:
            known = (luma, measure(luma))
            last[:] = [known]
        return known[1]

    return once


@remembered
def levels(luma: Image) -> Plane | None:
    """The same as floats. Single precision is quicker by half and differs in the fourth digit."""
    middle = window(luma)
    return None if middle is None else middle.astype(np.float32)


STEEPEST = 0.02
"""The share of all places at which detail is measured."""
LEVELS = 1024


@metric(
    summary="how much of the detail is fine",
    outputs={"sharpness": OutputInfo("share of the finest octave in the detail")},
    request=DETAIL,
)
@remembered
def sharpness(image: Image) -> float | None:
    """The finest octave's share of the detail in the two finest.

    >>> noise = np.random.default_rng(0).integers(0, 256, (64, 64)).astype(np.uint8)
    >>> import cv2
    >>> soft = cv2.resize(cv2.resize(noise, (32, 32)), (64, 64), interpolation=cv2.INTER_CUBIC)
    >>> sharpness(noise) > 0.6 > 0.4 > sharpness(soft)
    True
    """
    import cv2

    picture = window(image)
    if picture is None:
        return None
    height, width = picture.shape
    half = cv2.resize(picture, (width // 2, height // 2), interpolation=cv2.INTER_AREA)
    fine, coarse = _steepest(picture), _steepest(np.asarray(half, np.uint8))
    return fine / (fine + coarse) if fine + coarse else None


def _steepest(picture: Image) -> float:
    """How steep the steepest places are. Elsewhere rounding to whole levels is all the detail."""
    import cv2

    detail = np.abs(cv2.Laplacian(picture, cv2.CV_16S)).view(np.uint16)
    # Counted by level, which is quicker than sorting: no step is above 4 · 255.
    counts = cv2.calcHist([detail], [0], None, [LEVELS], [0, LEVELS]).ravel()[::-1]
    most = max(1, int(STEEPEST * detail.size))
    taken = np.diff(np.minimum(np.cumsum(counts), most), prepend=0)
    return float(taken @ np.arange(LEVELS)[::-1] / most)
