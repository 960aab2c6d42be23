"""Boundary: where a detector sees a new shot begin. ShotDetector: what finds them.

Also what several detectors measure: small frames, straight runs of pictures, change of colour.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

import cv2
import numpy as np
from numpy.typing import NDArray

from screentest.core.errors import BadOption
from screentest.core.frames import NATIVE, Consumer, Filter, FrameRequest, Image, Layout, Size
from screentest.core.item import Span, Time, Transition


@dataclass(frozen=True, slots=True)
class Boundary:
    """The first frame of a new shot.

    A gradual transition lasts over ``gradual``; ``time`` is then where the new picture takes
    over. One at the first frame of a video says how the first shot comes in.
    """

    time: Time
    frame: int
    """Which decoded frame of the video it is, from 0."""
    transition: Transition = Transition.CUT
    gradual: Span | None = None
    strength: float = 1.0
    """The detector's score over its threshold: 1 was just enough."""
    found_by: tuple[str, ...] = ()
    """Which detectors say so, where several work together."""


@runtime_checkable
class ShotDetector(Consumer, Protocol):
    """A consumer that finds shot boundaries."""

    @property
    def boundaries(self) -> Sequence[Boundary]:
        """In order of time; complete after ``close``."""


# The frames that `abrupt` and `gradual` share: 64 pixels on the long side.

# Averaged over areas: grain and fine texture would otherwise change from frame to frame.
SMALL = FrameRequest(size=Size(long_side=64), layout=Layout.BGR, filter=Filter.AREA)


class SameSize:
    """Brings every picture to the size of the first: sizes can change inside a video."""

    def __init__(self) -> None:
        self._size: tuple[int, int] | None = None

    def of(self, picture: Image) -> Image:
        """Return the picture, scaled where it has to be."""
        size = (picture.shape[1], picture.shape[0])
        if self._size is None:
            self._size = size
        if size == self._size:
            return picture
        return cv2.resize(picture, self._size, interpolation=cv2.INTER_AREA)  # type: ignore[return-value]


BEGUN, DONE = 0.05, 0.95
"""The shares of the way between which a picture is neither the first nor the last."""


@dataclass(frozen=True, slots=True)
class Walk:
    """A run of pictures, measured along the line from its first to its last.

    A picture is a point, one coordinate per sample. While one picture is blended into another the
    points between lie on the straight line between the two. When things or the camera move they do
    not: a moving edge passes through values that are in neither picture.
    """

    wandering: float
    """Distance of the pictures on their way from the line, over its length. 0 is straight."""
    progress: NDArray[np.float64]
    """How far along the line each picture is: from 0 to 1."""

    @property
    def two_largest_steps(self) -> float:
        """The share of the way made in the two largest steps: 1 for one cut or two."""
        return float(np.sort(np.diff(self.progress))[-2:].sum())

    @property
    def largest_step_back(self) -> float:
        """The share of the way that was taken back in one step."""
        return max(0.0, -float(np.diff(self.progress).min()))

    def reaches(self, share: float) -> float:
        """At which picture, counted from 0 with fractions, that share of the way is done."""
        after = int(np.argmax(self.progress >= share))
        if after == 0:
            return 0.0
        low, high = float(self.progress[after - 1]), float(self.progress[after])
        return after - 1 + (share - low) / (high - low)


def walk(from_first: NDArray[np.float64], to_last: NDArray[np.float64]) -> Walk:
    """Measure a run by each picture's squared distances from the first and to the last.

    Two sides of a triangle over the line give the foot of its height, and the height.

    >>> walk(np.array([0.0, 1.0, 4.0, 9.0]), np.array([9.0, 4.0, 1.0, 0.0]))
    Walk(wandering=0.0, progress=array([0.        , 0.33333333, 0.66666667, 1.        ]))
    """
    line = from_first[-1]
    progress = (from_first + line - to_last) / (2 * line)
    # Pictures that rest at either end are on the line whatever happens between.
    on_the_way = (progress > BEGUN) & (progress < DONE)
    if not on_the_way.any():
        return Walk(0.0, progress)
    off_line = (from_first - progress**2 * line)[on_the_way]
    return Walk(float(np.sqrt(max(0.0, off_line.mean()) / line)), progress)


@dataclass(frozen=True, slots=True)
class PictureComparison:
    """Two pictures compared, whatever the brightness and contrast of each."""

    likeness: float
    """Their correlation."""
    news: float
    """What neither has from the other: contrast that no brightening explains, of 255."""


def compare(one: NDArray[np.float32], two: NDArray[np.float32]) -> PictureComparison:
    """Compare two pictures, pixels × 3.

    >>> stripes = np.array([[0, 0, 0], [100, 100, 100]] * 4, np.float32)
    >>> compare(stripes, stripes / 2 + 40)
    PictureComparison(likeness=1.0, news=0.0)
    """
    first, second = one - one.mean(axis=0), two - two.mean(axis=0)
    spread_one = float(np.sqrt(np.square(first).mean()))
    spread_two = float(np.sqrt(np.square(second).mean()))
    if min(spread_one, spread_two) < 1e-3:
        return PictureComparison(0.0, 0.0)
    correlation = float((first * second).mean()) / (spread_one * spread_two)
    likeness = min(1.0, max(-1.0, correlation))
    return PictureComparison(likeness, min(spread_one, spread_two) * (1 - likeness**2) ** 0.5)


# Bicubic decides how chroma is spread in pictures of odd height; OpenCV's reader does it so.
FULL_SIZE = FrameRequest(size=NATIVE, layout=Layout.BGR, filter=Filter.BICUBIC)

_LONG_SIDE = 256


Weights: TypeAlias = tuple[float, float, float, float]
"""What hue, saturation, brightness and edges count for in the mean."""


class HsvChange:
    """The mean change of hue, saturation and brightness against the frame before.

    Frames are brought to 256 pixels on the long side by plain linear interpolation from full size.
    Scaling straight from the decoder would be a tenth cheaper, but hue is arbitrary where a picture
    is nearly black, and scores there then differ by up to 98 of 255: no parity.

    >>> change = HsvChange()
    >>> black, white = np.zeros((9, 16, 3), np.uint8), np.full((9, 16, 3), 255, np.uint8)
    >>> [change.of(picture) for picture in (black, white, white)]
    [0.0, 85.0, 0.0]
    """

    def __init__(self, weights: Weights = (1.0, 1.0, 1.0, 0.0)) -> None:
        self._weights = weights
        self._total = sum(map(abs, weights))
        if self._total == 0:
            raise BadOption("invalid weights: must not all be 0")
        self._full_shape: tuple[int, ...] | None = None
        self._before: Image | None = None
        self._edges_before: Image | None = None

    def of(self, picture: Image) -> float | None:
        """Return the change up to this frame; None for a frame of another size, which is left
        out."""
        if self._full_shape is None:
            self._full_shape = picture.shape
        elif picture.shape != self._full_shape:
            return None
        small = _shrunk(picture)
        hsv: Image = cv2.cvtColor(small, cv2.COLOR_BGR2HSV)  # type: ignore[assignment]
        edges = _edges(hsv[:, :, 2]) if self._weights[3] > 0 else None
        before, self._before = self._before, hsv
        edges_before, self._edges_before = self._edges_before, edges
        if before is None:
            return 0.0
        pixels = float(hsv.shape[0] * hsv.shape[1])
        sums = list(cv2.sumElems(cv2.absdiff(hsv, before)))
        sums[3] = 0.0
        if edges is not None and edges_before is not None:
            sums[3] = cv2.norm(edges, edges_before, cv2.NORM_L1)
        # Summed in this order, so that a score on the threshold falls on the same side.
        parts = zip(sums, self._weights, strict=True)
        return sum(part / pixels * weight for part, weight in parts) / self._total


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
