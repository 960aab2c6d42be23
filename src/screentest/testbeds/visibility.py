"""Visibility: how much two pictures differ to the eye, beyond what encoding does."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
from numpy.typing import NDArray

from screentest.core import Image
from screentest.testbeds.operators.arithmetic import planes

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
    """Measure how much two I420 pictures differ to the eye: 1 is just visible.

    >>> grey = np.full((96, 64), 128, np.uint8)
    >>> frame_change(grey, grey), frame_change(grey, grey + 3)
    (0.0, 2.0)
    """
    luma, chroma = (
        np.abs(first.astype(np.int16) - second)
        for first, second in zip(planes(before), planes(after), strict=True)
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
    """Return the mean SSIM of two planes, in windows of 7 × 7 pixels."""
    import cv2

    def mean(plane: NDArray[np.float32]) -> NDArray[np.float32]:
        return np.asarray(cv2.boxFilter(plane, -1, (7, 7)), np.float32)

    first, second = before.astype(np.float32), after.astype(np.float32)
    mean_first, mean_second = mean(first), mean(second)
    spread = mean(first * first) - mean_first**2 + mean(second * second) - mean_second**2
    shared = mean(first * second) - mean_first * mean_second
    steady, lively = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    alike = (2 * mean_first * mean_second + steady) * (2 * shared + lively)
    return float(np.mean(alike / ((mean_first**2 + mean_second**2 + steady) * (spread + lively))))


NEAR, BRIGHTER = 0.04, 0.15
"""How far the corners of a frame that was painted anew may have moved, as a share of its long
side, and how much brighter it may be. Beyond that it counts as another picture."""
POINTS = 24
"""Corners that must be found again to know how a frame moved."""


def aligned(before: Image, after: Image) -> Image:
    """Return a picture as it would be where, as large and as bright as one painted after it.

    Editors of whole frames move and zoom them by a pixel or two; that is not what they were asked
    to do, and not what the check of a pair is about.
    """
    import cv2

    first, second = (cv2.cvtColor(image, cv2.COLOR_RGB2GRAY) for image in (before, after))
    corners: Any = cv2.goodFeaturesToTrack(first, 600, 0.01, 6)
    if corners is not None and len(corners) >= POINTS:
        moved, found, _ = cv2.calcOpticalFlowPyrLK(first, second, corners, np.empty(0))
        kept = found.ravel() > 0
        fitted: Any = cv2.estimateAffinePartial2D(corners[kept], moved[kept], None, cv2.RANSAC, 1.0)
        way, used = fitted
        size = before.shape[1], before.shape[0]
        ends = np.array([(0, 0), (size[0], 0), (0, size[1]), size], float)
        far = np.inf if way is None else np.abs(ends @ way[:, :2].T + way[:, 2] - ends).max()
        if far <= NEAR * max(size) and int(used.sum()) >= POINTS:
            edge = cv2.BORDER_REPLICATE
            before = np.asarray(cv2.warpAffine(before, way, size, None, cv2.INTER_CUBIC, edge))
            first = cv2.cvtColor(before, cv2.COLOR_RGB2GRAY)
    usable = (first > 16) & (first < 220)
    gain = float(np.median(second[usable] / first[usable])) if usable.any() else 1.0
    if abs(gain - 1) > BRIGHTER:
        return before
    return np.asarray(np.clip(np.rint(before * gain), 0, 255), np.uint8)


SHIFTED = 0.1
"""The share of frames by which a shift may be off."""
TELLING = 4
"""The least number of frames that tell a shift from a coincidence."""


class ShiftFinder:
    """Whether the frames of a clip are those of another moment, all by as many frames.

    Nobody sees that a clip comes a frame late: such frames differ, and nothing was harmed.
    ``reach`` is the largest shift, ``frames`` how many there are, ``limit`` the change below
    which two pictures look alike.
    """

    def __init__(self, reach: int, frames: int, limit: float = 1.0) -> None:
        self._limit = limit
        self._most = SHIFTED * frames
        self._left = {shift: 0 for shift in range(-reach, reach + 1) if shift}
        """How often each shift that is still possible was wrong."""
        self._recent: deque[tuple[Image, Image, float]] = deque(maxlen=reach)
        self._seen = 0

    def add(self, before: Image, after: Image, change: float) -> None:
        """Take the next frame, original and changed, as I420."""
        for shift in list(self._left):
            if abs(shift) <= len(self._recent):
                earlier, was, old = self._recent[-abs(shift)]
                first, second, here = (before, was, old) if shift > 0 else (earlier, after, change)
                there = frame_change(first, second)
                # Just as visible there as here, it is not the same picture.
                self._left[shift] += there >= self._limit or 2 * there > here >= self._limit
                if self._left[shift] > self._most:
                    del self._left[shift]
        self._recent.append((before, after, change))
        self._seen += 1

    @property
    def shift(self) -> int:
        """By how many frames all of it is early; below 0, late; 0 where it is not."""
        shifts = [shift for shift in self._left if self._seen - abs(shift) >= TELLING]
        return min(shifts, key=lambda shift: (self._left[shift], abs(shift)), default=0)
