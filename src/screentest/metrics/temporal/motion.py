"""Motion amount: how fast things move over the picture, by optical flow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from screentest.core import OutputInfo, register
from screentest.metrics.curve import ShotMetric, ShotOutput, grey_frames, mean_of
from screentest.metrics.curve import grey_frames as grey

if TYPE_CHECKING:
    from screentest.core.frames import Image
    from screentest.metrics.curve import Rows


FASTEST = 0.05
"""The share of the picture that moves most: a small thing that moves is motion too."""
SMALLEST = 16


@register("metric", "motion", version=1, summary="how fast things move, by optical flow")
def motion(*, rate: float = 8.0) -> ShotMetric:
    """``rate``: frames a second between which motion is measured."""

    def meter() -> Motion:
        return Motion(rate)

    return ShotMetric(MOTION, grey(rate), meter, "one frame does not move")


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


MOTION = {
    "motion": ShotOutput(
        OutputInfo("mean speed", high=10.0, unit="diagonals/s"),
        mean_of(0),
    ),
    "fastest": ShotOutput(
        OutputInfo("speed of the fastest twentieth of the picture", high=10.0, unit="diagonals/s"),
        mean_of(1),
    ),
}


# The change from one picture to the next.


class Steps:
    """Remembers the picture before."""

    def __init__(self) -> None:
        self._before: Image | None = None

    def __call__(self, image: Image) -> float | None:
        """The mean change in levels; None for the first picture, and where the size changes."""
        import cv2

        before, self._before = self._before, image
        if before is None or before.shape != image.shape:
            return None
        return float(cv2.mean(cv2.absdiff(before, image))[0])


# Frozen spans: time in which the picture stands still altogether.
#
# Even a still scene has grain that changes from frame to frame; a held frame has none. What the
# encoder does to a held frame stays far below a level of brightness.


@register("metric", "frozen", version=1, summary="time in which the picture stands still")
def frozen(*, level: float = 0.05) -> ShotMetric:
    """``level``: the mean change, in levels of brightness, up to which a frame is held."""

    def meter() -> Frozen:
        return Frozen(level)

    return ShotMetric(FROZEN, grey_frames(None), meter, "one frame cannot stand still")


class Frozen:
    """Whether a frame is the one before, once more."""

    def __init__(self, level: float) -> None:
        self._steps = Steps()
        self._level = level

    def __call__(self, image: Image) -> tuple[float] | None:
        """1 for a held frame, 0 for another; None for the first."""
        step = self._steps(image)
        return None if step is None else (float(step <= self._level),)


def longest(rows: Rows) -> float:
    """The longest row of held frames in a shot, in frames.

    >>> longest(np.array([[0], [1], [1], [0], [1]]))
    2.0
    """
    held = np.concatenate(([0], rows[:, 0] > 0, [0])).astype(int)
    edges = np.flatnonzero(np.diff(held))
    return float((edges[1::2] - edges[::2]).max()) if len(edges) else 0.0


FROZEN = {
    "frozen": ShotOutput(OutputInfo("share of held frames", higher_is_better=False), mean_of(0)),
    "longest_hold": ShotOutput(
        OutputInfo("most held frames in a row", high=1e6, higher_is_better=False, unit="frames"),
        longest,
    ),
}


# Flicker: pictures that jump and jump back.
#
# A cut is one jump. Where every frame jumps, both the step into a frame and the step out of it
# are large, so the smaller of the two is what counts: a cut between two calm shots has none.


@register("metric", "flicker", version=1, summary="pictures that jump from frame to frame")
def flicker() -> ShotMetric:
    """Every frame is looked at."""
    return ShotMetric(FLICKER, grey_frames(None), Flicker, "fewer than three frames cannot flicker")


class Flicker:
    """The smaller one of the steps before and after a frame, told one frame late."""

    def __init__(self) -> None:
        self._steps = Steps()
        self._before: float | None = None

    def __call__(self, image: Image) -> tuple[float] | None:
        """In levels of brightness; None for the first two frames."""
        before, self._before = self._before, self._steps(image)
        if before is None or self._before is None:
            return None
        return (min(before, self._before),)


FLICKER = {
    "flicker": ShotOutput(
        OutputInfo(
            "change that lasts only one frame", high=255.0, higher_is_better=False, unit="levels"
        ),
        mean_of(0),
    )
}
