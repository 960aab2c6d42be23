"""Spatial relationship: left is right. Clips whose caption says either are mirrored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from screentest.core import Aspect, register
from screentest.testbeds.contract import (
    Chosen,
    Context,
    DegradationInfo,
    Details,
    FilmClip,
    Look,
    Rng,
    share_of,
)
from screentest.testbeds.operators.shared import changed_clips
from screentest.video import Pixels, VideoPart, frame_by_frame

if TYPE_CHECKING:
    from screentest.core.frames import Image


@register("degradation", "spatial_relationship", version=1, summary="mirrored, left for right")
def spatial_relationship() -> SpatialRelationship:
    """The mirror stands upright: up and down stay."""
    return SpatialRelationship()


class SpatialRelationship:
    """Severity is the share of the chosen clips that are mirrored: at least one."""

    info = DegradationInfo(Aspect.SPATIAL_RELATIONSHIP, mentions="something at the left or right")

    def eligible(self, clip: FilmClip) -> bool:
        """The caption puts something at the left or at the right."""
        return bool(clip.facts.sides)

    def settle(self, clip: FilmClip, look: Look, rng: Rng, film_rng: Rng) -> Details:
        """What the caption puts where."""
        placed = clip.facts.sides[0]
        return {"location": placed.location, "object": placed.object}

    def parts(self, context: Context, chosen: Sequence[Chosen], severity: float) -> list[VideoPart]:
        """The film with the chosen clips mirrored."""
        some = chosen[: share_of(len(chosen), severity)]
        return changed_clips(context, some, lambda _: frame_by_frame(mirrored), Pixels.I420)


def mirrored(picture: Image) -> Image:
    """An I420 picture with left and right exchanged, exactly."""
    rows, width = picture.shape
    luma = rows * 2 // 3
    result = picture.copy()
    result[:luma] = picture[:luma, ::-1]
    chroma = picture[luma:].reshape(2, luma // 2, width // 2)
    result[luma:] = chroma[..., ::-1].reshape(luma // 2, width)
    return result
