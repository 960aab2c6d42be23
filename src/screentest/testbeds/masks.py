"""Degradations on things and backgrounds: functions of a picture and a mask.

The machine behind ``@degradation(mask=…)``. ``mask`` is height × width in 0–1, found anew in every
frame by the model roles: 1 is the thing, or the foreground. A frame in which nothing is found stays
as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from screentest.core import Aspect, Image
from screentest.models import Models
from screentest.models.roles import Mask
from screentest.testbeds.contract import (
    Chosen,
    Context,
    DegradationInfo,
    Details,
    FilmClip,
    Look,
    Reach,
    Region,
    Rng,
    Unfit,
)
from screentest.testbeds.operators.shared import (
    changed_clips,
    coloured_things,
    must_have_foreground,
)
from screentest.testbeds.operators.tracker import RATE, ThingShapes, is_shown, settle_thing
from screentest.testbeds.timeline import every_frame
from screentest.video.edit.pictures import FrameFunction, Pixels, VideoPart

VIVID = 24.0
"""The least mean distance from grey, in levels, of a thing that has a colour to lose."""


def thing_finder(
    models: Models, details: Details, rate: float = RATE
) -> Callable[[Image], Mask | None]:
    """Return the shape of the thing that ``object`` names, all of its instances, frame by frame."""
    return ThingShapes(models, str(details["object"]), rate=rate).find


@dataclass(frozen=True, slots=True)
class MaskKind:
    """What a mask is of: which captions allow it, what is settled, how it is found."""

    mentions: str
    allows: Callable[[FilmClip], bool]
    settle: Callable[[FilmClip, Look, Rng], Details]
    finder: Callable[[Models, Details, float], Callable[[Image], Mask | None]] = thing_finder
    roles: tuple[str, ...] = ("detection", "segmentation")
    region: Region = Region.THING
    checks: tuple[str, ...] = ()

    def info(self, aspect: str, region: str = "", reach: Reach | None = None) -> DegradationInfo:
        where = Region(region) if region else self.region
        checks = self.checks if where is self.region else ()
        return DegradationInfo(
            Aspect(aspect), self.mentions, self.roles, region=where, reach=reach, checks=checks
        )


def two_finder(
    models: Models, details: Details, rate: float = RATE
) -> Callable[[Image], Mask | None]:
    """Return the shapes of two things, height × width × 2; both must be there."""
    finders = [thing_finder(models, {"object": details[key]}, rate) for key in ("object", "other")]

    def find(image: Image) -> Mask | None:
        masks = [mask for find in finders if (mask := find(image)) is not None]
        return np.stack(masks, axis=-1) if len(masks) == 2 else None

    return find


def foreground_finder(
    models: Models, details: Details, rate: float = RATE
) -> Callable[[Image], Mask | None]:
    """Return the mask of what stands in front."""
    matting = models.role("matting")

    def find(image: Image) -> Mask | None:
        mask: Mask = matting.matte([image])[0]
        return mask

    return find


def _settle_coloured(clip: FilmClip, look: Look, rng: Rng) -> Details:
    for colour, thing in rng.shuffled(coloured_things(clip), "object"):
        if is_shown(look, clip, thing):
            return {"object": thing, "from": colour}
    raise Unfit("have no coloured object that the detector finds")


def _settle_vivid(clip: FilmClip, look: Look, rng: Rng) -> Details:
    details = _settle_coloured(clip, look, rng)
    find = thing_finder(look.models, details)
    for image in look.pictures(clip):
        mask = find(image)
        if mask is not None:
            pixels = image[mask >= 0.5].astype(np.int16)
            if float((pixels.max(axis=1) - pixels.min(axis=1)).mean()) >= VIVID:
                return details
    raise Unfit("show it black, white or grey, with no hue to change")


def _settle_two(clip: FilmClip, look: Look, rng: Rng) -> Details:
    details = _settle_coloured(clip, look, rng)
    for other in rng.shuffled(clip.facts.subject, "other"):
        if other != details["object"] and is_shown(look, clip, other):
            both = details | {"other": other}
            find = two_finder(look.models, both)
            masks = [mask for image in look.pictures(clip) if (mask := find(image)) is not None]
            overlap = [(mask >= 0.5).all(axis=-1).sum() for mask in masks]
            smaller = [(mask >= 0.5).sum(axis=(0, 1)).min() for mask in masks]
            # Two words for one thing, as "woman" and "person", are found in one place.
            if masks and 2 * sum(overlap) < sum(smaller):
                return both
    raise Unfit("have no two objects that the detector finds, one of them coloured")


def _settle_foreground(clip: FilmClip, look: Look, rng: Rng) -> Details:
    must_have_foreground(look, clip)
    return {"subjects": ", ".join(clip.facts.subject)}


def _has_coloured(clip: FilmClip) -> bool:
    return bool(coloured_things(clip))


MASKS: Mapping[str, MaskKind] = {
    "thing": MaskKind("an object", lambda clip: bool(clip.facts.subject), settle_thing),
    "coloured": MaskKind("an object and its colour", _has_coloured, _settle_coloured),
    "vivid": MaskKind("an object and its colour", _has_coloured, _settle_vivid),
    "two": MaskKind(
        "an object and its colour, and another object",
        lambda clip: _has_coloured(clip) and len(clip.facts.subject) > 1,
        _settle_two,
        two_finder,
    ),
    "foreground": MaskKind(
        "a background",
        lambda clip: bool(clip.facts.background),
        _settle_foreground,
        foreground_finder,
        ("matting",),
        Region.BACKGROUND,
        ("subject_before_another",),
    ),
}
"""By the word that ``@degradation(mask=…)`` takes."""


def mask_kind(name: str, mask: str) -> MaskKind:
    """Return the kind of that name, for the operator ``name``."""
    if mask not in MASKS:
        raise ValueError(f"{name}: invalid mask {mask!r}: must be {', '.join(MASKS)}")
    return MASKS[mask]


@dataclass(frozen=True, slots=True)
class MaskDegradation:
    """The degradation behind a function of a picture, a mask and a severity."""

    info: DegradationInfo
    call: Callable[..., Any]
    besides: tuple[str, ...]
    kind: MaskKind

    def eligible(self, clip: FilmClip) -> bool:
        return self.kind.allows(clip)

    def settle(self, clip: FilmClip, look: Look, rng: Rng, film_rng: Rng) -> Details:
        """Return the thing that the mask is of; it must be seen."""
        return self.kind.settle(clip, look, rng)

    def parts(self, context: Context, chosen: Sequence[Chosen], severity: float) -> list[VideoPart]:
        def change(choice: Chosen) -> FrameFunction:
            find = self.kind.finder(context.models, choice.details, choice.clip.rate)
            return self.frames(find, context.rng_of(choice.clip), severity)

        return changed_clips(context, chosen if severity > 0 else (), change, Pixels.RGB)

    def frames(
        self, find: Callable[[Image], Mask | None], rng: Rng, severity: float
    ) -> FrameFunction:
        """Change the frames of one clip, with the masks that ``find`` gives."""

        def call(image: Image, **more: Any) -> Any:
            mask = find(image) if severity > 0 else None
            return image if mask is None else self.call(image, mask, severity, **more)

        return every_frame(call, self.besides, rng)
