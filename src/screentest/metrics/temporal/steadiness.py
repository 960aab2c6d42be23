"""Whether a shot runs evenly: frames held, thrown back, or skipped.

Each frame is compared with the two before it. Two pictures across a cut are not of one shot: the
first rows of a shot are left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from screentest.core import Image, SideEffect, Traits, register
from screentest.metrics.curve import GREY, ShotMetric, ShotOutput, declared
from screentest.metrics.static.faults import inner
from screentest.metrics.static.picture import GRAINY
from screentest.metrics.temporal.motion import STILL_FILM, change

if TYPE_CHECKING:
    from screentest.metrics.curve import Reduce, Rows

STILL = 0.05
"""Levels of mean change up to which a frame is the one before once more."""
HALTED = 0.2
"""The share of the shot's usual change below which a frame halts."""
GRAIN = 2
"""Levels by which grain and encoding change a pixel; what is more is motion."""
LEAST = 0.2
"""Levels of motion below which nothing moves that could halt or jump."""


@register("metric", "steadiness", summary="whether motion runs evenly")
def steadiness() -> ShotMetric:
    """Every frame is looked at."""
    return ShotMetric(STEADINESS, GREY, Steps, "fewer than three frames cannot be uneven")


class Steps:
    """The change from the frame before, and the motion from it and from the one before that."""

    def __init__(self) -> None:
        self._last: list[Image] = []

    def __call__(self, image: Image) -> tuple[float, float, float] | None:
        """In levels of brightness; None for the first two frames, and where the size changes."""
        picture = inner(image)
        before = [item for item in self._last if item.shape == picture.shape]
        self._last = [picture, *self._last[:1]]
        if len(before) < 2:
            return None
        return change(before[0], picture), moved(before[0], picture), moved(before[1], picture)


def moved(before: Image, after: Image) -> float:
    """Return the mean change beyond what grain does."""
    import cv2

    rest = cv2.subtract(cv2.absdiff(before, after), (GRAIN,))  # type: ignore[call-overload]
    return float(cv2.mean(rest)[0])


def own(rows: Rows) -> Rows:
    """Return the rows of pictures that are all of this shot."""
    return rows[2:] if len(rows) > 4 else rows


def held(rows: Rows) -> float:
    """Return the share of frames that are the one before once more."""
    return float((own(rows)[:, 0] <= STILL).mean())


def halting(rows: Rows) -> float:
    """Return the share of frames that hardly change while those around them do.

    >>> moving, holding = [[4.0, 4.0, 8.0]] * 4, [[0.0, 0.0, 4.0], [8.0, 8.0, 8.0]] * 2
    >>> halting(np.array(moving)), halting(np.array(holding))
    (0.0, 0.5)
    """
    steps = own(rows)[:, 1]
    # The mean over a few frames: where a frame is held, the next one makes up for it.
    around = np.convolve(np.pad(steps, 2, mode="edge"), np.ones(5) / 5, mode="valid")
    return float(((steps < HALTED * around) & (around >= LEAST)).mean())


def returning(rows: Rows) -> float:
    """Return the share of frames that are nearer to the last but one than to the last.

    >>> returning(np.array([[4.0, 4.0, 8.0], [4.0, 4.0, 1.0]]))
    0.5
    """
    first, second = own(rows)[:, 1:].T
    return float(((second < 0.8 * first) & (first >= LEAST)).mean())


def uneven(rows: Rows) -> float:
    """Return how far each step differs from the one before: 0 not at all, 1 from nothing to all.

    >>> uneven(np.array([[0, 0, 4.0], [8.0, 8.0, 8.0]] * 4)) > 0.9
    True
    """
    steps = own(rows)[:, 1]
    if len(steps) < 2:
        return 0.0
    # At the ends of a short shot there may be more jumps than steps.
    return min(1.0, float(np.abs(np.diff(steps)).mean() / (2 * steps.mean() + LEAST)))


def own_mean(column: int) -> Reduce:
    """Return the mean of one column over pictures that are all of a shot."""
    return lambda rows: float(own(rows)[:, column].mean())


SHAKEN = (SideEffect("steadiness.returning"), GRAINY)
"""What changes in every frame, noise, flicker and jitter, makes motion look even."""
_INFO = declared("steadiness")
STEADINESS = {
    "held": ShotOutput(_INFO["held"], held, Traits((GRAINY,))),
    "halting": ShotOutput(_INFO["halting"], halting, Traits((*STILL_FILM, *SHAKEN))),
    "returning": ShotOutput(_INFO["returning"], returning, Traits(STILL_FILM)),
    "uneven": ShotOutput(_INFO["uneven"], uneven, Traits((*STILL_FILM, *SHAKEN))),
    "lively": ShotOutput(_INFO["lively"], own_mean(1)),
}
