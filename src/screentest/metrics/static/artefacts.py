"""Artefacts in single pictures: noise, blocks of the encoder, unnatural local statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from screentest.core import OutputInfo
from screentest.metrics.curve import DETAIL
from screentest.metrics.functions import metric
from screentest.metrics.static.sharpness import levels, remembered
from screentest.models import distortions

if TYPE_CHECKING:
    from screentest.core.frames import Image


@metric(
    summary="noise in the smooth parts of each shot",
    outputs={
        "noise": OutputInfo(
            "deviation of noise", high=50.0, higher_is_better=False, unit="levels", bounded=False
        )
    },
    request=DETAIL,
)
@remembered
def noise(image: Image) -> float | None:
    """In levels of brightness; reads about a quarter low, being that of the smoothest parts."""
    picture = levels(image)
    return None if picture is None else distortions.noise(picture)


@metric(
    summary="visible blocks of the encoder",
    outputs={
        "blockiness": OutputInfo(
            "0 none, 1 strong", high=4.0, higher_is_better=False, bounded=False
        )
    },
    rate=1.0,
    request=DETAIL,
)
def blockiness(image: Image) -> float | None:
    """How far steps every eight pixels stand above all other steps."""
    picture = levels(image)
    return None if picture is None else distortions.blockiness(picture)


@metric(
    summary="distance from natural-scene statistics",
    outputs={
        "unnaturalness": OutputInfo(
            "distance from good pictures",
            high=20.0,
            higher_is_better=False,
            unit="deviations",
            bounded=False,
        )
    },
    rate=1.0,
    request=DETAIL,
)
def naturalness(image: Image) -> float | None:
    """In standard deviations: 1 to 4 is usual, above 6 is far."""
    picture = levels(image)
    return None if picture is None else distortions.distance(picture)
