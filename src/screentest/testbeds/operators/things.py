"""What is seen, and where: objects, their colour, left and right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from screentest.core import Aspect, Image, register
from screentest.models import Models
from screentest.models.pictures import BASIC_COLOURS, name_pixels
from screentest.testbeds.contract import (
    Chosen,
    Context,
    DegradationInfo,
    Details,
    FilmClip,
    Look,
    Region,
    Rng,
    Unfit,
)
from screentest.testbeds.functions import degradation
from screentest.testbeds.operators.arithmetic import mixed, of_planes, planes
from screentest.testbeds.operators.shared import changed_clips, coloured_things, painted_over
from screentest.testbeds.operators.tracker import (
    Follower,
    ThingShapes,
    box_mask,
    is_shown,
    settle_thing,
)
from screentest.testbeds.sightings import COLOURS
from screentest.video.edit.pictures import FrameFunction, Pixels, VideoPart, frame_by_frame

if TYPE_CHECKING:
    from screentest.models.roles import Mask


Shape = Literal["box", "outline"]
HOLE = 0.4
"""The share of the picture that may be painted anew: of a larger hole another scene is made."""


@register("degradation", "object_integrity", summary="a named object painted away")
class ObjectIntegrity:
    """Severity is how opaque the painting is: at one half the thing shines through.

    As in SLVMEval it is detected in every frame and its boxes are painted over by an inpainting
    model. ``mask=outline`` paints over its shape only, found by the segmentation role.
    ``choose=any`` takes any object that is found, however large and like others it is.
    """

    def __init__(self, *, mask: Shape = "box", choose: Literal["clear", "any"] = "clear") -> None:
        roles = ("detection", "inpainting") + (("segmentation",) if mask == "outline" else ())
        self.info = DegradationInfo(
            Aspect.OBJECT_INTEGRITY,
            mentions="an object",
            roles=roles,
            region=Region.THING,
            checks=("thing_gone",),
        )
        self._mask, self._clear = mask, choose == "clear"

    def eligible(self, clip: FilmClip) -> bool:
        return bool(clip.facts.subject)

    def settle(self, clip: FilmClip, look: Look, rng: Rng, film_rng: Rng) -> Details:
        """One of the objects, of those that can be seen and told from the others."""
        return settle_thing(clip, look, rng, HOLE, clear=self._clear)

    def parts(self, context: Context, chosen: Sequence[Chosen], severity: float) -> list[VideoPart]:
        def change(choice: Chosen) -> FrameFunction:
            hole = self._hole(context.models, str(choice.details["object"]), choice.clip.rate)
            return painted_over(hole, context.models.role("inpainting"), severity)

        return changed_clips(context, chosen, change, Pixels.RGB)

    def _hole(self, models: Models, thing: str, rate: float) -> Callable[[Image], Mask | None]:
        """Return the area to paint over, frame by frame; None where the thing is not seen."""
        if self._mask == "outline":
            shapes = ThingShapes(models, thing, rate=rate)
            return lambda image: _wider(shapes.find(image))
        follower = Follower(models, thing, rate)

        def in_boxes(image: Image) -> Mask | None:
            boxes = follower.boxes(image)
            return box_mask(image, boxes) if boxes else None

        return in_boxes


def _wider(mask: Mask | None) -> Mask | None:
    """Return a mask with its rim: what is left of a thing's edge is seen."""
    import cv2

    if mask is None:
        return None
    side = max(3, round(0.02 * max(mask.shape)) | 1)
    return np.asarray(cv2.dilate(mask, np.ones((side, side), np.uint8)), np.float32)


# Colour: a thing whose colour the caption names has another of the eleven basic colours.


ColorMask = Literal["outline", "none"]


@register("degradation", "color", summary="a named object in another colour")
class Color:
    """Severity mixes the new colour with the old one.

    Detection finds the object, segmentation its shape, image_edit gives it the colour.
    With ``mask=none`` image_edit is given the whole frame and finds the object by its name, as in
    SLVMEval.
    """

    def __init__(self, *, mask: ColorMask = "outline") -> None:
        roles = ("detection", "segmentation") if mask == "outline" else ()
        self.info = DegradationInfo(
            Aspect.COLOR,
            mentions="an object and its colour",
            roles=(*roles, "image_edit"),
            region=Region.THING,
            whole=mask == "none",
            checks=("colour_reached",),
        )
        self._mask = mask

    def eligible(self, clip: FilmClip) -> bool:
        return bool(coloured_things(clip))

    def settle(self, clip: FilmClip, look: Look, rng: Rng, film_rng: Rng) -> Details:
        """One of those objects that can be seen, and its new colour."""
        for old, thing in rng.shuffled(coloured_things(clip), "object"):
            if self._mask == "none" or _has_colour(look, clip, thing, old):
                near = COLOURS[old]["near"]
                others = [name for name in sorted(BASIC_COLOURS) if name not in (old, *near)]
                return {"object": thing, "from": old, "to": rng.pick(others, "colour", thing)}
        raise Unfit("have no coloured object that the detector finds in that colour")

    def parts(self, context: Context, chosen: Sequence[Chosen], severity: float) -> list[VideoPart]:
        def change(choice: Chosen) -> FrameFunction:
            thing, colour = str(choice.details["object"]), str(choice.details["to"])
            find: Callable[[Image], Mask | None] | None = None
            if self._mask == "outline":
                fits = coloured(str(choice.details["from"]))
                find = ThingShapes(context.models, thing, fits, choice.clip.rate).find

            def painted(image: Image) -> Image:
                mask = find(image) if find is not None else None
                if find is not None and (mask is None or not (mask >= 0.5).any()):
                    return image
                edited = context.models.role("image_edit").recolour(image, mask, thing, colour)
                return mixed(image, edited, severity)

            return frame_by_frame(painted)

        return changed_clips(context, chosen, change, Pixels.RGB)


OF_ITS_COLOUR = 0.3
"""The least share of a thing's pixels that must have the colour its caption gives it."""


def coloured(name: str) -> Callable[[Image, Mask], bool]:
    """Return True if what is under a mask has a colour; light and shade count as the same."""
    names = [name, *(COLOURS[name]["near"] if name in HUELESS else ())]
    wanted = [BASIC_COLOURS.index(colour) for colour in names]

    def fits(image: Image, mask: Mask) -> bool:
        pixels = image[mask >= 0.5]
        sample = pixels[:: max(1, len(pixels) // MOST_PIXELS)]
        return (
            bool(len(sample))
            and float(np.isin(name_pixels(sample), wanted).mean()) >= OF_ITS_COLOUR
        )

    return fits


HUELESS = ("black", "white")
"""In the light black is grey, and white in the shade."""
MOST_PIXELS = 5000


def _has_colour(look: Look, clip: FilmClip, thing: str, colour: str) -> bool:
    """Return True if most of a few pictures show the thing in that colour."""
    if not is_shown(look, clip, thing):
        return False
    pictures = look.pictures(clip)
    # A follower for each: the pictures are far apart.
    fits = coloured(colour)
    hits = [ThingShapes(look.models, thing, fits).find(image) is not None for image in pictures]
    return 2 * sum(hits) > len(pictures)


# Spatial relationship: left is right. Clips whose caption says either are mirrored.


@degradation(
    name="spatial_relationship",
    aspect="spatial_relationship",
    needs="side",
    pixels=Pixels.I420,
    summary="mirrored, left for right",
)
def mirrored(image: Image) -> Image:
    """Severity is the share of the chosen clips that are mirrored: at least one."""
    luma, chroma = planes(image)
    return of_planes(luma[:, ::-1], chroma[..., ::-1])
