"""What metrics of fine detail share: where in the picture they look, and when they do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from screentest.core.frames import Image

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
