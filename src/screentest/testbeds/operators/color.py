"""Colour: a thing whose colour the caption names has another of the eleven basic colours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from screentest.core import Aspect, register
from screentest.models.colours import BASIC_COLOURS, basic_colour
from screentest.testbeds.contract import (
    Chosen,
    Context,
    DegradationInfo,
    Details,
    FilmClip,
    Look,
    Rng,
    Unfit,
)
from screentest.testbeds.operators.shared import Follower, blended, changed_clips, is_shown
from screentest.video import Pixels, VideoPart, frame_by_frame

if TYPE_CHECKING:
    from screentest.core.frames import Image


@register("degradation", "color", version=1, summary="a named object in another colour")
def color() -> Color:
    """Detection finds the object, segmentation its shape, image_edit gives it the colour."""
    return Color()


class Color:
    """Severity mixes the new colour with the old one."""

    info = DegradationInfo(
        Aspect.COLOR,
        mentions="an object and its colour",
        roles=("detection", "segmentation", "image_edit"),
    )

    def eligible(self, clip: FilmClip) -> bool:
        """The caption gives some object one of the eleven colours."""
        return bool(_coloured(clip))

    def settle(self, clip: FilmClip, look: Look, rng: Rng, film_rng: Rng) -> Details:
        """One of those objects that can be seen, and its new colour."""
        for old, thing in rng.shuffled(_coloured(clip), "object"):
            if is_shown(look, clip, thing):
                others = [name for name in sorted(BASIC_COLOURS) if name != old]
                return {"object": thing, "from": old, "to": rng.pick(others, "colour", thing)}
        raise Unfit("have no coloured object that the detector finds")

    def parts(self, context: Context, chosen: Sequence[Chosen], severity: float) -> list[VideoPart]:
        """The film with the object of each chosen clip in its new colour."""

        def change(one: Chosen) -> Callable[[Image], Image]:
            thing, colour = str(one.details["object"]), str(one.details["to"])
            follower = Follower(context.models, thing)

            def painted(image: Image) -> Image:
                boxes = follower.boxes(image)[:1]
                if not boxes:
                    return image
                mask = context.models.role("segmentation").segment(image, boxes)[0]
                if not (mask >= 0.5).any():
                    return image
                edited = context.models.role("image_edit").recolour(image, mask, thing, colour)
                return blended(image, edited, severity)

            return painted

        return changed_clips(context, chosen, lambda one: frame_by_frame(change(one)), Pixels.RGB)


def _coloured(clip: FilmClip) -> list[tuple[str, str]]:
    """Colours (by their basic name) and objects of a caption."""
    named = [(basic_colour(colour), thing) for colour, thing in clip.facts.color]
    return [(colour, thing) for colour, thing in named if colour is not None and thing]
