"""Colourfulness, after Hasler and Süsstrunk (2003).

Mean and deviation of red–green and blue–yellow: the formula was fitted to what people said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from screentest.core import OutputInfo, register
from screentest.metrics._curve import ShotMetric, ShotOutput, mean_of
from screentest.metrics._requests import SAMPLED, colour

if TYPE_CHECKING:
    from screentest.core.frames import Image


@register("metric", "colourfulness", version=1, summary="how colourful each shot is")
def colourfulness(*, rate: float = SAMPLED) -> ShotMetric:
    """``rate``: frames a second."""
    return ShotMetric(OUTPUTS, colour(rate), lambda: measure)


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


OUTPUTS = {
    "colourfulness": ShotOutput(
        OutputInfo("0 grey, 15 slightly, 45 averagely, 82 highly colourful", high=150.0), mean_of(0)
    )
}
