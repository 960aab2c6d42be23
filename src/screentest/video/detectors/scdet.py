"""scdet: FFmpeg's scene score, the cut that its ``scdet`` and ``select`` filters make.

The score of a frame is how much its luma differs from the frame before (mean absolute
difference, 100 is black to white), or how much that difference itself has changed, whichever
is less. The second keeps lasting motion from looking like a cut.

``scdet`` marks scores of 10 and more by default. The ``scene`` of ``select`` is the same score
in other units, hundredths of a grey level: ``scene`` = score × 0.0256, and above 1 it is 1. So
``select='gt(scene,0.3)'`` is ``scdet:threshold=11.71875``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import cv2

from screentest.core import (
    BaseConsumer,
    Filter,
    Frame,
    FrameRequest,
    Layout,
    register,
)
from screentest.video.detectors.contract import Boundary

if TYPE_CHECKING:
    from screentest.core.frames import Image

# FFmpeg divides by the number of levels, 256, not by the largest, 255.
_PERCENT_OF_LEVELS = 100 / 256


class SceneScore:
    """FFmpeg's scene score of one frame after another, from 0 to 100.

    >>> import numpy as np
    >>> score = SceneScore()
    >>> dark, light = np.zeros((4, 4), np.uint8), np.full((4, 4), 128, np.uint8)
    >>> [score.of(picture) for picture in (dark, dark, light, light)]
    [0.0, 0.0, 50.0, 0.0]
    """

    def __init__(self) -> None:
        self._before: Image | None = None
        self._difference_before = 0.0

    def of(self, luma: Image) -> float:
        """The score of the next frame."""
        before, self._before = self._before, luma
        # Where the size changes inside a video FFmpeg starts anew, keeping the last difference.
        if before is None or before.shape != luma.shape:
            return 0.0
        difference = cv2.norm(before, luma, cv2.NORM_L1) / luma.size * _PERCENT_OF_LEVELS
        change = abs(difference - self._difference_before)
        self._difference_before = difference
        return min(difference, change, 100.0)


class SceneScoreDetector(BaseConsumer):
    """Cuts where the scene score reaches a threshold."""

    wants = FrameRequest(layout=Layout.LUMA, filter=Filter.FAST)

    def __init__(self, threshold: float) -> None:
        self._threshold = threshold
        self._score = SceneScore()
        self.boundaries: list[Boundary] = []

    def take(self, frame: Frame) -> None:
        """Score it against the one before."""
        score = self._score.of(frame.image)
        if score >= self._threshold and frame.index:
            strength = score / self._threshold if self._threshold else 1.0
            self.boundaries.append(Boundary(frame.time, frame.index, strength=strength))


@register("detector", "scdet", version=1, summary="FFmpeg's scene score")
def scdet(*, threshold: float = 10.0) -> SceneScoreDetector:
    """Cuts where FFmpeg's scene score, from 0 to 100, is ``threshold`` or more."""
    return SceneScoreDetector(threshold)
