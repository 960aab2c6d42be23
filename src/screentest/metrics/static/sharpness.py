"""Sharpness: how much of a picture's detail is fine.

A picture that was enlarged from half its size has nothing in the finest octave. So the detail
of the picture is compared with that of the picture at half its size: the ratio does not depend
on contrast, and little on what is shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from screentest.core import OutputInfo, register
from screentest.metrics._curve import ShotMetric, ShotOutput, mean_of
from screentest.metrics._requests import SAMPLED, detail
from screentest.metrics.static._detail import remembered, window

if TYPE_CHECKING:
    from screentest.core.frames import Image

STEEPEST = 0.02
"""The share of all places at which detail is measured."""
LEVELS = 1024


@register("metric", "sharpness", version=1, summary="how much of the detail is fine")
def sharpness(*, rate: float = SAMPLED) -> ShotMetric:
    """``rate``: frames a second."""
    return ShotMetric(OUTPUTS, detail(rate), lambda: measure)


@remembered
def measure(luma: Image) -> tuple[float] | None:
    """The finest octave's share of the detail in the two finest.

    >>> noise = np.random.default_rng(0).integers(0, 256, (64, 64)).astype(np.uint8)
    >>> import cv2
    >>> soft = cv2.resize(cv2.resize(noise, (32, 32)), (64, 64), interpolation=cv2.INTER_CUBIC)
    >>> measure(noise)[0] > 0.6 > 0.4 > measure(soft)[0]
    True
    """
    import cv2

    picture = window(luma)
    if picture is None:
        return None
    height, width = picture.shape
    half = cv2.resize(picture, (width // 2, height // 2), interpolation=cv2.INTER_AREA)
    fine, coarse = _steepest(picture), _steepest(np.asarray(half, np.uint8))
    return (fine / (fine + coarse),) if fine + coarse else None


def _steepest(picture: Image) -> float:
    """How steep the steepest places are. Elsewhere rounding to whole levels is all the detail."""
    import cv2

    detail = np.abs(cv2.Laplacian(picture, cv2.CV_16S)).view(np.uint16)
    # Counted by level, which is quicker than sorting: no step is above 4 · 255.
    counts = cv2.calcHist([detail], [0], None, [LEVELS], [0, LEVELS]).ravel()[::-1]
    most = max(1, int(STEEPEST * detail.size))
    taken = np.diff(np.minimum(np.cumsum(counts), most), prepend=0)
    return float(taken @ np.arange(LEVELS)[::-1] / most)


OUTPUTS = {
    "sharpness": ShotOutput(OutputInfo("share of the finest octave in the detail"), mean_of(0))
}
