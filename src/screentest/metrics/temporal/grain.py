"""Noise that is new in every frame, told apart from fine detail that stays.

One picture cannot say whether its fine detail is noise or a brick wall. The next one can: what a
picture shows is there again, and noise is not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from screentest.core import Image, register
from screentest.metrics.curve import PLANES, ShotMetric, ShotOutput, declared
from screentest.metrics.static.picture import COLOUR_WEIGHT, colours, window

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from screentest.metrics.curve import Rows

EVERY = 4
"""Of so many frames one is compared with those that follow, until something is new."""
LATER = (1, 2, 4)
"""By so many frames: where frames are held, or noise is, the next one shows nothing new."""
NOTHING_NEW = 0.25
"""Levels: what the encoder changes of a frame that is the same once more."""
BLOCK, COLOUR_BLOCK = 16, 8
"""Pixels; planes of colour are smaller."""
STILLEST = 0.1
"""The share of blocks that change least: in the others things move."""


@register("metric", "grain", summary="noise that changes from frame to frame")
def grain() -> ShotMetric:
    """The deviation of what is new in the finest detail, in the stillest tenth of the picture.

    Of brightness, and of the calmer one of both planes of colour, as ``noise`` has them.
    """
    return ShotMetric(GRAIN, PLANES, Fresh, "one frame does not change")


def usual(rows: Rows) -> float:
    """Return the median of a shot: a pair across a cut does not count.

    Of each frame the comparison counts that showed something new, or the last one; where a shot is
    too short for that, any.
    """
    last = rows[rows[:, 1] > 0]
    return float(np.median((last if len(last) else rows)[:, 0]))


GRAIN = {"grain": ShotOutput(declared("grain")["grain"], usual)}


class Fresh:
    """Compares one frame of four with the next one, and where that shows nothing new, with later
    ones: frames may be held, and noise may."""

    def __init__(self) -> None:
        self._seen = 0
        self._first: list[NDArray[np.float32]] | None = None

    def __call__(self, image: Image) -> tuple[float, float] | None:
        """In levels, and whether that is what counts; None for frames that are not compared, and
        where they show nothing."""
        turn, self._seen = self._seen % EVERY, self._seen + 1
        begins = turn == 0
        if not begins and (self._first is None or turn not in LATER):
            return None
        first = self._first
        details = _details(image)
        if begins:
            self._first = details
        if first is None:
            return None
        if details is None or first[0].shape != details[0].shape:
            return None
        result = _new(first, details)
        if begins:
            return result, 1.0
        if result >= NOTHING_NEW:
            self._first = None
        return result, float(result >= NOTHING_NEW)


def _details(image: Image) -> list[NDArray[np.float32]] | None:
    picture = window(image[..., 0])
    return None if picture is None else [_finest(item) for item in (picture, *colours(image))]


def _new(first: list[NDArray[np.float32]], later: list[NDArray[np.float32]]) -> float:
    light, *both = (
        fresh(before, after, COLOUR_BLOCK if number else BLOCK)
        for number, (before, after) in enumerate(zip(first, later, strict=True))
    )
    return float(np.hypot(light, COLOUR_WEIGHT * min(both)))


def fresh(before: NDArray[np.float32], after: NDArray[np.float32], block: int = BLOCK) -> float:
    """Return the deviation of what is new, from the stillest blocks.

    >>> rng = np.random.default_rng(0)
    >>> wall = rng.normal(0, 10, (64, 64)).astype(np.float32)
    >>> noise = rng.normal(0, 10, (2, 64, 64)).astype(np.float32)
    >>> fresh(wall, wall), fresh(wall + noise[0], wall + noise[1]) > 8
    (0.0, True)
    """
    change = _blocks(before - after, block)
    # Half of the squared change is what each of the two has of its own.
    selected = (change * change).mean(axis=1) / 2
    return float(np.sqrt(np.quantile(selected, STILLEST)))


def _finest(picture: Image | NDArray[np.float32]) -> NDArray[np.float32]:
    import cv2

    kernel = np.array([[1, -2, 1], [-2, 4, -2], [1, -2, 1]], np.float32) / 6
    return np.asarray(cv2.filter2D(picture, cv2.CV_32F, kernel), np.float32)


def _blocks(plane: NDArray[np.float32], side: int) -> NDArray[np.float32]:
    height, width = (length // side for length in plane.shape)
    whole = plane[: height * side, : width * side]
    return whole.reshape(height, side, width, side).swapaxes(1, 2).reshape(-1, side**2)
