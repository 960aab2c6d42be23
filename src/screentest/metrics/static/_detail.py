"""What metrics of fine detail share: where in the picture they look, and when they do not."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from screentest.core.frames import Image
    from screentest.models.pictures import Plane

T = TypeVar("T")

WINDOW = 384
"""Pixels a side, at most: the middle of a larger picture stands for all of it."""
SMALLEST = 32
LEAST_DETAIL = 2.0
"""Pictures whose levels deviate less (black, the end of a fade) show nothing to judge."""


def window(luma: Image) -> Image | None:
    """The middle of the picture; None where it shows nothing.

    Its corner lies on the grid of coded blocks, so that these stay where they are.
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
