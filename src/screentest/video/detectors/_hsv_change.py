"""How much colour changes from frame to frame, as PySceneDetect 0.7 measures it.

Frames are brought to 256 pixels on the long side by plain linear interpolation from full
size. Scaling straight from the decoder would be a tenth cheaper, but hue is arbitrary where a
picture is nearly black, and scores there then differ by up to 98 of 255: no parity.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import cv2
import numpy as np

from screentest.core import NATIVE, BadOption, Filter, FrameRequest, Layout

if TYPE_CHECKING:
    from screentest.core.frames import Image

# Bicubic decides how chroma is spread in pictures of odd height; OpenCV's reader does it so.
FULL_SIZE = FrameRequest(size=NATIVE, layout=Layout.BGR, filter=Filter.BICUBIC)

_LONG_SIDE = 256


@dataclass(frozen=True, slots=True)
class Weights:
    """What each component counts for in the mean."""

    hue: float = 1.0
    saturation: float = 1.0
    brightness: float = 1.0
    edges: float = 0.0

    @property
    def total(self) -> float:
        """The divisor of the mean."""
        return abs(self.hue) + abs(self.saturation) + abs(self.brightness) + abs(self.edges)

    def __post_init__(self) -> None:
        if self.total == 0:
            raise BadOption("weights cannot all be zero")


class HsvChange:
    """The mean change of hue, saturation and brightness against the frame before.

    >>> change = HsvChange()
    >>> black, white = np.zeros((9, 16, 3), np.uint8), np.full((9, 16, 3), 255, np.uint8)
    >>> [change.of(picture) for picture in (black, white, white)]
    [0.0, 85.0, 0.0]
    """

    def __init__(self, weights: Weights | None = None) -> None:
        self._weights = weights or Weights()
        self._full_shape: tuple[int, ...] | None = None
        self._before: Image | None = None
        self._edges_before: Image | None = None

    def of(self, picture: Image) -> float | None:
        """The change up to this frame; None for a frame of another size, which is left out."""
        if self._full_shape is None:
            self._full_shape = picture.shape
        elif picture.shape != self._full_shape:
            return None
        small = _shrunk(picture)
        hsv: Image = cv2.cvtColor(small, cv2.COLOR_BGR2HSV)  # type: ignore[assignment]
        edges = _edges(hsv[:, :, 2]) if self._weights.edges > 0 else None
        before, self._before = self._before, hsv
        edges_before, self._edges_before = self._edges_before, edges
        if before is None:
            return 0.0
        pixels = float(hsv.shape[0] * hsv.shape[1])
        hue, saturation, brightness, _ = cv2.sumElems(cv2.absdiff(hsv, before))
        on_edges = 0.0
        if edges is not None and edges_before is not None:
            on_edges = cv2.norm(edges, edges_before, cv2.NORM_L1)
        weights = self._weights
        # Summed in this order, so that a score on the threshold falls on the same side.
        change = hue / pixels * weights.hue
        change += saturation / pixels * weights.saturation
        change += brightness / pixels * weights.brightness
        change += on_edges / pixels * weights.edges
        return change / weights.total


def _shrunk(picture: Image) -> Image:
    height, width = picture.shape[:2]
    factor = max(width, height) / _LONG_SIDE
    if factor <= 1:
        return picture
    size = (max(1, round(width / factor)), max(1, round(height / factor)))
    return cv2.resize(picture, size, interpolation=cv2.INTER_LINEAR)  # type: ignore[return-value]


def _edges(brightness: Image) -> Image:
    """Widened Canny edges, with limits a third below and above the median brightness."""
    height, width = brightness.shape
    # Wider on larger pictures, and odd, since a kernel has a centre.
    side = (4 + round(math.sqrt(width * height) / 192)) | 1
    median = float(np.median(brightness))
    low, high = int(median * (1 - 1 / 3)), int(min(255.0, median * (1 + 1 / 3)))
    thin = cv2.Canny(np.ascontiguousarray(brightness), low, high)
    return cv2.dilate(thin, np.ones((side, side), np.uint8))  # type: ignore[return-value]
