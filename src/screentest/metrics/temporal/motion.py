"""Motion amount: how fast things move over the picture, by optical flow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from screentest.core import OutputInfo, register
from screentest.metrics._curve import ShotMetric, ShotOutput, mean_of
from screentest.metrics._requests import motion as grey

if TYPE_CHECKING:
    from screentest.core.frames import Image

FASTEST = 0.05
"""The share of the picture that moves most: a small thing that moves is motion too."""
SMALLEST = 16


@register("metric", "motion", version=1, summary="how fast things move, by optical flow")
def motion(*, rate: float = 8.0) -> ShotMetric:
    """``rate``: frames a second between which motion is measured."""

    def meter() -> Motion:
        return Motion(rate)

    return ShotMetric(OUTPUTS, grey(rate), meter, "one frame does not move")


class Motion:
    """Flow from the frame before, by OpenCV's dense inverse search at its quickest."""

    def __init__(self, rate: float) -> None:
        import cv2

        self._search: Any = cv2.DISOpticalFlow.create(cv2.DISOpticalFlow_PRESET_ULTRAFAST)
        self._before: Image | None = None
        self._rate = rate

    def __call__(self, image: Image) -> tuple[float, float] | None:
        """Speed of all of the picture, and of what is fastest: picture diagonals a second."""
        before, self._before = self._before, image
        if before is None or before.shape != image.shape or min(image.shape) < SMALLEST:
            return None
        import cv2

        field = self._search.calc(before, image, None)
        speed = np.asarray(cv2.magnitude(field[..., 0], field[..., 1])).ravel()
        most = max(1, int(FASTEST * speed.size))
        fast = np.partition(speed, -most)[-most:]
        scale = self._rate / float(np.hypot(*image.shape))
        return float(speed.mean()) * scale, float(fast.mean()) * scale


OUTPUTS = {
    "motion": ShotOutput(
        OutputInfo("mean speed", high=10.0, unit="diagonals/s"),
        mean_of(0),
    ),
    "fastest": ShotOutput(
        OutputInfo("speed of the fastest twentieth of the picture", high=10.0, unit="diagonals/s"),
        mean_of(1),
    ),
}
