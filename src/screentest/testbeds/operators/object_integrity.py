"""Object integrity: a thing that the caption names is gone.

As in SLVMEval it is detected in every frame and its boxes are painted over by an inpainting
model. ``mask=outline`` paints over its shape only, found by the segmentation role.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from screentest.core import Aspect, register
from screentest.models import Models
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
from screentest.testbeds.operators.shared import Box, Follower, blended, changed_clips, is_shown
from screentest.video import Pixels, VideoPart, frame_by_frame

if TYPE_CHECKING:
    from screentest.core.frames import Image
    from screentest.models.roles import Mask

Shape = Literal["box", "outline"]


@register("degradation", "object_integrity", version=1, summary="a named object painted away")
def object_integrity(*, mask: Shape = "box") -> ObjectIntegrity:
    """``mask``: what is painted over, the box of the thing or its outline."""
    return ObjectIntegrity(mask)


class ObjectIntegrity:
    """Severity is how opaque the painting is: at one half the thing shines through."""

    def __init__(self, mask: Shape) -> None:
        roles = ("detection", "inpainting") + (("segmentation",) if mask == "outline" else ())
        self.info = DegradationInfo(Aspect.OBJECT_INTEGRITY, mentions="an object", roles=roles)
        self._mask = mask

    def eligible(self, clip: FilmClip) -> bool:
        """The caption names an object."""
        return bool(clip.facts.subject)

    def settle(self, clip: FilmClip, look: Look, rng: Rng, film_rng: Rng) -> Details:
        """One of the objects, of those that can be seen."""
        for thing in rng.shuffled(clip.facts.subject, "object"):
            if is_shown(look, clip, thing):
                return {"object": thing}
        raise Unfit("have no object that the detector finds")

    def parts(self, context: Context, chosen: Sequence[Chosen], severity: float) -> list[VideoPart]:
        """The film with the object of each chosen clip painted away."""

        def change(one: Chosen) -> Callable[[Image], Image]:
            follower = Follower(context.models, str(one.details["object"]))

            def without(image: Image) -> Image:
                boxes = follower.boxes(image)
                if not boxes:
                    return image
                hole = self._hole(context.models, image, boxes)
                painted: Image = context.models.role("inpainting").inpaint(image, hole)
                return blended(image, painted, severity)

            return without

        return changed_clips(context, chosen, lambda one: frame_by_frame(change(one)), Pixels.RGB)

    def _hole(self, models: Models, image: Image, boxes: Sequence[Box]) -> Mask:
        if self._mask == "box":
            return box_mask(image, boxes)
        masks = models.role("segmentation").segment(image, boxes)
        return np.asarray(np.maximum.reduce(masks), np.float32)


def box_mask(image: Image, boxes: Sequence[Box]) -> Mask:
    """1 in the boxes, 0 elsewhere."""
    mask = np.zeros(image.shape[:2], np.float32)
    for left, top, right, bottom in boxes:
        rows = slice(max(0, int(top)), max(0, int(np.ceil(bottom))))
        mask[rows, max(0, int(left)) : max(0, int(np.ceil(right)))] = 1
    return mask
