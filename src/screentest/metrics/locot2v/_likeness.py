"""How alike two pictures are: in their pixels and in their structure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from screentest.core.frames import Image

    Plane: TypeAlias = NDArray[Any]

WINDOW, SIGMA = 11, 1.5
C1, C2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2


def pixel_likeness(first: Image, second: Image) -> float:
    """1 − mean absolute error / 255."""
    return 1.0 - float(np.abs(first.astype(np.int16) - second).mean()) / 255


def ssim(first: Image, second: Image) -> float:
    """Structural similarity (Wang et al. 2004) of the grey pictures, 11 × 11 Gaussian, σ 1.5.

    Windows that reach over the border are left out, as in the paper.
    """
    import cv2

    one, two = (
        cv2.cvtColor(image, cv2.COLOR_RGB2GRAY).astype(np.float64) for image in (first, second)
    )
    if min(one.shape) < WINDOW:
        raise ValueError(f"structure needs {WINDOW} pixels a side")
    mean_one, mean_two = _blurred(one), _blurred(two)
    varied_one = _blurred(one * one) - mean_one**2
    varied_two = _blurred(two * two) - mean_two**2
    together = _blurred(one * two) - mean_one * mean_two
    alike = ((2 * mean_one * mean_two + C1) * (2 * together + C2)) / (
        (mean_one**2 + mean_two**2 + C1) * (varied_one + varied_two + C2)
    )
    return float(alike.mean())


def _blurred(plane: Plane) -> Plane:
    import cv2

    rim = WINDOW // 2
    blurred = cv2.GaussianBlur(plane, (WINDOW, WINDOW), SIGMA)
    return np.asarray(blurred)[rim:-rim, rim:-rim]
