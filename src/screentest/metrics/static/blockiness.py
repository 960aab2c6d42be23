"""Blockiness: steps in brightness on the grid of coded blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from screentest.core import OutputInfo, register
from screentest.metrics._curve import ShotMetric, ShotOutput, mean_of
from screentest.metrics._requests import detail
from screentest.metrics.static._detail import levels
from screentest.models.technical import _distortions as distortions

if TYPE_CHECKING:
    from screentest.core.frames import Image


@register("metric", "blockiness", version=1, summary="visible blocks of the encoder")
def blockiness(*, rate: float = 1.0) -> ShotMetric:
    """``rate``: frames a second."""
    return ShotMetric(OUTPUTS, detail(rate), lambda: measure)


def measure(luma: Image) -> tuple[float] | None:
    """How far steps every eight pixels stand above all other steps."""
    picture = levels(luma)
    return None if picture is None else (distortions.blockiness(picture),)


OUTPUTS = {
    "blockiness": ShotOutput(
        OutputInfo("0 none, 1 strong", high=4.0, higher_is_better=False), mean_of(0)
    )
}
