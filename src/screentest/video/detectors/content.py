"""Detectors that measure the change from frame to frame: content, adaptive, scdet.

``content`` and ``adaptive`` are PySceneDetect's definitions, ``scdet`` is FFmpeg's.
"""

from __future__ import annotations

from collections import deque
from fractions import Fraction
from typing import Literal

import cv2

from screentest.core import (
    BadOption,
    BaseConsumer,
    Filter,
    Frame,
    FrameRequest,
    Image,
    Layout,
    Time,
    VideoInfo,
    register,
)
from screentest.video.detectors.contract import FULL_SIZE, Boundary, HsvChange, Weights


class HsvDetector(BaseConsumer):
    """The part that detectors by the HSV change share: frames, their scores, minimum lengths."""

    wants = FULL_SIZE

    def __init__(self, threshold: float, min_length: int, weights: Weights) -> None:
        self._threshold = threshold
        self._min_length = min_length
        self._change = HsvChange(weights)
        self._rate = Fraction(1)
        self.boundaries: list[Boundary] = []

    def open(self, info: VideoInfo) -> None:
        """Minimum lengths are in frames of the mean rate."""
        self._rate = info.rate

    def long_enough(self, first: Time, second: Time) -> bool:
        return round((second - first) * self._rate) >= self._min_length

    def boundary(self, time: Time, frame: int, score: float) -> Boundary:
        strength = score / self._threshold if self._threshold else 1.0
        return Boundary(time, frame, strength=strength)


class ContentDetector(HsvDetector):
    """Cuts where the HSV change reaches a threshold.

    Cuts that follow one another too soon are either merged into the last of them, so that a burst
    of flashes ends in one cut, or suppressed until the minimum length has passed.
    """

    def __init__(self, threshold: float, min_length: int, weights: Weights, *, merge: bool) -> None:
        super().__init__(threshold, min_length, weights)
        self._merge = merge
        self._last_above: Boundary | None = None
        self._merging_since: Boundary | None = None

    def take(self, frame: Frame) -> None:
        """Score it, and pass the score through the filter of short shots."""
        change = self._change.of(frame.image)
        if change is None:
            return
        here = self.boundary(frame.time, frame.index, change)
        above = change >= self._threshold
        if self._last_above is None:
            # The start of the video counts like a cut.
            self._last_above = here
        if self._min_length <= 0:
            cut = here if above else None
        elif self._merge:
            cut = self._merged(here, above, self._last_above)
        else:
            cut = self._suppressed(here, above, self._last_above)
        if cut is not None:
            self.boundaries.append(cut)

    def _suppressed(self, here: Boundary, above: bool, last: Boundary) -> Boundary | None:
        if not above or not self.long_enough(last.time, here.time):
            return None
        self._last_above = here
        return here

    def _merged(self, here: Boundary, above: bool, last: Boundary) -> Boundary | None:
        long_enough = self.long_enough(last.time, here.time)
        if above:
            last = self._last_above = here
        if self._merging_since is not None:
            quiet_again = long_enough and not above
            if quiet_again and self.long_enough(self._merging_since.time, last.time):
                self._merging_since = None
                return last
            return None
        if not above:
            return None
        if long_enough:
            return here
        # Too soon after the last cut: gather what follows. Too soon after the start: drop it.
        if self.boundaries:
            self._merging_since = here
        return None


@register("detector", "content", version=1, summary="PySceneDetect's content detector")
def content(
    *,
    threshold: float = 27.0,
    min_length: int = 15,
    weights: Weights = (1.0, 1.0, 1.0, 0.0),
    short_shots: Literal["merge", "suppress"] = "merge",
) -> ContentDetector:
    """Cuts where the mean change of hue, saturation and brightness is ``threshold`` or more.

    ``weights`` are those of hue, saturation, brightness and edges; no shot is shorter than
    ``min_length`` frames.
    """
    return ContentDetector(threshold, min_length, weights, merge=short_shots == "merge")


_NO_CHANGE = 0.00001
_LARGEST_RATIO = 255.0


class AdaptiveDetector(HsvDetector):
    """Cuts where the HSV change stands out among its neighbours.

    The threshold is relative: the change of a frame over the mean change of its neighbours, so that
    fast camera motion, which changes every frame, is not a series of cuts.
    """

    def __init__(
        self, threshold: float, min_length: int, window: int, min_change: float, weights: Weights
    ) -> None:
        if window < 1:
            raise BadOption(f"invalid window {window}: must be 1 frame or more")
        super().__init__(threshold, min_length, weights)
        self._min_change = min_change
        self._window = window
        self._recent: deque[tuple[Time, int, float]] = deque(maxlen=2 * window + 1)
        self._last_cut: Time | None = None

    def take(self, frame: Frame) -> None:
        """Score it, and judge the frame in the middle of those scored last."""
        change = self._change.of(frame.image)
        if change is None:
            return
        if self._last_cut is None:
            # The start of the video counts like a cut.
            self._last_cut = frame.time
        self._recent.append((frame.time, frame.index, change))
        if len(self._recent) < 2 * self._window + 1:
            return
        moment, index, middle = self._recent[self._window]
        ratio = self._ratio(middle)
        long_enough = self.long_enough(self._last_cut, moment)
        if ratio >= self._threshold and middle >= self._min_change and long_enough:
            self._last_cut = moment
            self.boundaries.append(self.boundary(moment, index, ratio))

    def _ratio(self, middle: float) -> float:
        others = [
            score for place, (_, _, score) in enumerate(self._recent) if place != self._window
        ]
        mean = sum(others) / (2.0 * self._window)
        if mean >= _NO_CHANGE:
            return min(middle / mean, _LARGEST_RATIO)
        return _LARGEST_RATIO if middle >= self._min_change else 0.0


@register("detector", "adaptive", version=1, summary="PySceneDetect's adaptive detector")
def adaptive(
    *,
    threshold: float = 3.0,
    min_length: int = 15,
    window: int = 2,
    min_change: float = 15.0,
    weights: Weights = (1.0, 1.0, 1.0, 0.0),
) -> AdaptiveDetector:
    """Cuts where the change is ``threshold`` times that of the neighbours, or more.

    Neighbours are ``window`` frames on each side; a change below ``min_change`` is none;
    ``weights`` are those of hue, saturation, brightness and edges; no shot is shorter than
    ``min_length`` frames.
    """
    return AdaptiveDetector(threshold, min_length, window, min_change, weights)


# FFmpeg divides by the number of levels, 256, not by the largest, 255.
_PERCENT_OF_LEVELS = 100 / 256


class SceneScore:
    """FFmpeg's scene score of one frame after another, from 0 to 100.

    The score of a frame is how much its luma differs from the frame before (mean absolute
    difference, 100 is black to white), or how much that difference itself has changed, whichever is
    less. The second keeps lasting motion from looking like a cut.

    ``scdet`` marks scores of 10 and more by default. The ``scene`` of ``select`` is the same score
    in other units, hundredths of a grey level: ``scene`` = score × 0.0256, and above 1 it is 1. So
    ``select='gt(scene,0.3)'`` is ``scdet:threshold=11.71875``.

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
        """Return the score of the next frame."""
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
