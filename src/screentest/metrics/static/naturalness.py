"""Naturalness: how far a picture's local statistics are from those of good pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from screentest.core import OutputInfo, register
from screentest.metrics._curve import ShotMetric, ShotOutput, mean_of
from screentest.metrics._requests import detail
from screentest.metrics.static._detail import levels
from screentest.models.technical import _natural as natural

if TYPE_CHECKING:
    from screentest.core.frames import Image


@register("metric", "naturalness", version=1, summary="distance from natural-scene statistics")
def naturalness(*, rate: float = 1.0) -> ShotMetric:
    """``rate``: frames a second."""
    return ShotMetric(OUTPUTS, detail(rate), lambda: measure)


def measure(luma: Image) -> tuple[float] | None:
    """In standard deviations: 1 to 4 is usual, above 6 is far."""
    picture = levels(luma)
    return None if picture is None else (natural.distance(picture),)


OUTPUTS = {
    "unnaturalness": ShotOutput(
        OutputInfo(
            "distance from good pictures", high=20.0, higher_is_better=False, unit="deviations"
        ),
        mean_of(0),
    )
}
