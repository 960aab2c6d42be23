"""Noise: the deviation of what is left of the smoothest parts of a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from screentest.core import OutputInfo, register
from screentest.metrics._curve import ShotMetric, ShotOutput, mean_of
from screentest.metrics._requests import SAMPLED, detail
from screentest.metrics.static._detail import levels, remembered
from screentest.models.technical import _distortions as distortions

if TYPE_CHECKING:
    from screentest.core.frames import Image


@register("metric", "noise", version=1, summary="noise in the smooth parts of each shot")
def noise(*, rate: float = SAMPLED) -> ShotMetric:
    """``rate``: frames a second."""
    return ShotMetric(OUTPUTS, detail(rate), lambda: measure)


@remembered
def measure(luma: Image) -> tuple[float] | None:
    """In levels of brightness; reads about a quarter low, being that of the smoothest parts."""
    picture = levels(luma)
    return None if picture is None else (distortions.noise(picture),)


OUTPUTS = {
    "noise": ShotOutput(
        OutputInfo("deviation of noise", high=50.0, higher_is_better=False, unit="levels"),
        mean_of(0),
    )
}
