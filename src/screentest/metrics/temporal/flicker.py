"""Flicker: pictures that jump and jump back.

A cut is one jump. Where every frame jumps, both the step into a frame and the step out of it
are large, so the smaller of the two is what counts: a cut between two calm shots has none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from screentest.core import OutputInfo, register
from screentest.metrics._curve import ShotMetric, ShotOutput, mean_of
from screentest.metrics._requests import motion
from screentest.metrics.temporal._steps import Steps

if TYPE_CHECKING:
    from screentest.core.frames import Image


@register("metric", "flicker", version=1, summary="pictures that jump from frame to frame")
def flicker() -> ShotMetric:
    """Every frame is looked at."""
    return ShotMetric(OUTPUTS, motion(None), Flicker, "fewer than three frames cannot flicker")


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


OUTPUTS = {
    "flicker": ShotOutput(
        OutputInfo(
            "change that lasts only one frame", high=255.0, higher_is_better=False, unit="levels"
        ),
        mean_of(0),
    )
}
