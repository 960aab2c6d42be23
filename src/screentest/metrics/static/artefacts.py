"""Noise: the deviation of what is left of the smoothest parts of a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from screentest.core import OutputInfo, register
from screentest.metrics.curve import SAMPLED, ShotMetric, ShotOutput, detail, mean_of
from screentest.metrics.static.sharpness import levels, remembered
from screentest.models import distortions
from screentest.models import distortions as natural

if TYPE_CHECKING:
    from screentest.core.frames import Image


@register("metric", "noise", version=1, summary="noise in the smooth parts of each shot")
def noise(*, rate: float = SAMPLED) -> ShotMetric:
    """``rate``: frames a second."""
    return ShotMetric(NOISE, detail(rate), lambda: measure_noise)


@remembered
def measure_noise(luma: Image) -> tuple[float] | None:
    """In levels of brightness; reads about a quarter low, being that of the smoothest parts."""
    picture = levels(luma)
    return None if picture is None else (distortions.noise(picture),)


NOISE = {
    "noise": ShotOutput(
        OutputInfo("deviation of noise", high=50.0, higher_is_better=False, unit="levels"),
        mean_of(0),
    )
}


# Blockiness: steps in brightness on the grid of coded blocks.


@register("metric", "blockiness", version=1, summary="visible blocks of the encoder")
def blockiness(*, rate: float = 1.0) -> ShotMetric:
    """``rate``: frames a second."""
    return ShotMetric(BLOCKINESS, detail(rate), lambda: measure_blockiness)


def measure_blockiness(luma: Image) -> tuple[float] | None:
    """How far steps every eight pixels stand above all other steps."""
    picture = levels(luma)
    return None if picture is None else (distortions.blockiness(picture),)


BLOCKINESS = {
    "blockiness": ShotOutput(
        OutputInfo("0 none, 1 strong", high=4.0, higher_is_better=False), mean_of(0)
    )
}


# Naturalness: how far a picture's local statistics are from those of good pictures.


@register("metric", "naturalness", version=1, summary="distance from natural-scene statistics")
def naturalness(*, rate: float = 1.0) -> ShotMetric:
    """``rate``: frames a second."""
    return ShotMetric(NATURALNESS, detail(rate), lambda: measure_naturalness)


def measure_naturalness(luma: Image) -> tuple[float] | None:
    """In standard deviations: 1 to 4 is usual, above 6 is far."""
    picture = levels(luma)
    return None if picture is None else (natural.distance(picture),)


NATURALNESS = {
    "unnaturalness": ShotOutput(
        OutputInfo(
            "distance from good pictures", high=20.0, higher_is_better=False, unit="deviations"
        ),
        mean_of(0),
    )
}
