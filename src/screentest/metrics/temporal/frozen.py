"""Frozen spans: time in which the picture stands still altogether.

Even a still scene has grain that changes from frame to frame; a held frame has none. What the
encoder does to a held frame stays far below a level of brightness.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from screentest.core import OutputInfo, register
from screentest.metrics._curve import ShotMetric, ShotOutput, mean_of
from screentest.metrics._requests import motion
from screentest.metrics.temporal._steps import Steps

if TYPE_CHECKING:
    from screentest.core.frames import Image
    from screentest.metrics._curve import Rows


@register("metric", "frozen", version=1, summary="time in which the picture stands still")
def frozen(*, level: float = 0.05) -> ShotMetric:
    """``level``: the mean change, in levels of brightness, up to which a frame is held."""

    def meter() -> Frozen:
        return Frozen(level)

    return ShotMetric(OUTPUTS, motion(None), meter, "one frame cannot stand still")


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


OUTPUTS = {
    "frozen": ShotOutput(OutputInfo("share of held frames", higher_is_better=False), mean_of(0)),
    "longest_hold": ShotOutput(
        OutputInfo("most held frames in a row", high=1e6, higher_is_better=False, unit="frames"),
        longest,
    ),
}
