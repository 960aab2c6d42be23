"""What is seen, and where: background, objects, their colour, left and right."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from screentest.core import Aspect, BadOption, Image, register
from screentest.models import Models
from screentest.models.pictures import BASIC_COLOURS, basic_colour
from screentest.run import hash_file
from screentest.sample import backgrounds as packaged
from screentest.testbeds.contract import (
    Chosen,
    Context,
    DegradationInfo,
    Details,
    FilmClip,
    Look,
    Rng,
    Unfit,
    share_of,
)
from screentest.testbeds.operators.shared import (
    Box,
    Follower,
    blended,
    changed_clips,
    is_shown,
    numbered,
)
from screentest.video import Pixels, VideoPart, frame_by_frame

if TYPE_CHECKING:
    from screentest.models.roles import Mask


SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".webp", ".bmp", ".tif", ".tiff"})
_KEPT = 32
"""Pictures held ready; a folder may have thousands."""


class Backgrounds:
    """The pictures of a folder that can be read, by name."""

    def __init__(self, paths: tuple[Path, ...], unreadable: tuple[str, ...] = ()) -> None:
        self.paths = paths
        self.unreadable = unreadable
        """Names of files that look like pictures and are not; they are left out."""
        self._digest = ""
        self._fitted = lru_cache(_KEPT)(self._fit)

    @classmethod
    def of(cls, folder: Path | None) -> Backgrounds:
        """The pictures of ``folder``, or the packaged ones."""
        if folder is None:
            return cls(tuple(packaged()))
        if not folder.is_dir():
            raise BadOption(f"{folder} is not a folder", advice="Give one with pictures in it.")
        found = sorted(path for path in folder.iterdir() if path.suffix.lower() in SUFFIXES)
        readable = tuple(path for path in found if _opens(path))
        if not readable:
            raise BadOption(
                f"no picture in {folder} can be read",
                advice="Put some landscapes there (JPEG or PNG).",
            )
        broken = tuple(path.name for path in found if path not in readable)
        return cls(readable, broken)

    @property
    def digest(self) -> str:
        """A hash of all their content; a changed folder makes another testbed."""
        if not self._digest:
            hashes = "\n".join(hash_file(path) for path in self.paths)
            self._digest = hashlib.sha256(hashes.encode()).hexdigest()[:16]
        return self._digest

    def picture(self, number: int, shape: tuple[int, ...]) -> Image:
        """Picture ``number``, filling height × width; what is too much is cut off evenly."""
        height, width = shape
        return self._fitted(number, height, width)

    def _fit(self, number: int, height: int, width: int) -> Image:
        from PIL import Image as Pictures
        from PIL import ImageOps

        with Pictures.open(self.paths[number]) as opened:
            upright = ImageOps.exif_transpose(opened).convert("RGB")
            return np.asarray(ImageOps.fit(upright, (width, height)), np.uint8)


def _opens(path: Path) -> bool:
    """Whether all of the picture can be decoded."""
    from PIL import Image as Pictures

    try:
        with Pictures.open(path) as opened:
            opened.load()
    except (OSError, ValueError, SyntaxError, Pictures.DecompressionBombError):
        return False
    return True


LEAST, MOST = 0.02, 0.9
"""The share of the picture that the foreground may fill."""


@register(
    "degradation",
    "background_consistency",
    version=1,
    summary="backgrounds that jump",
    neutral=("folder",),  # the pictures themselves are hashed, wherever they are
)
def background_consistency(*, folder: str = "") -> BackgroundConsistency:
    """``folder`` holds the new backgrounds; without one, the packaged landscapes."""
    return BackgroundConsistency(Backgrounds.of(Path(folder).expanduser() if folder else None))


class BackgroundConsistency:
    """Severity is how much the new background covers the old one.

    As in SLVMEval the foreground is cut out of every frame and laid over pictures of landscapes,
    another one than in the frame before.
    """

    def __init__(self, backgrounds: Backgrounds) -> None:
        self.info = DegradationInfo(
            Aspect.BACKGROUND_CONSISTENCY,
            mentions="a background",
            roles=("matting",),
            inputs=backgrounds.digest,
            remarks=tuple(
                f"{name} among the backgrounds cannot be read: it is left out"
                for name in backgrounds.unreadable
            ),
        )
        self._backgrounds = backgrounds

    def eligible(self, clip: FilmClip) -> bool:
        """The caption mentions a background."""
        return bool(clip.facts.background)

    def settle(self, clip: FilmClip, look: Look, rng: Rng, film_rng: Rng) -> Details:
        """Something must stand in front, and something must be behind it."""
        mattes = look.models.role("matting").matte(look.pictures(clip))
        shares = [float(np.mean(matte >= 0.5)) for matte in mattes]
        if 2 * sum(LEAST <= share <= MOST for share in shares) <= len(shares):
            raise Unfit("have no foreground that can be told from the background")
        return {"backgrounds": self._backgrounds.digest, "pictures": len(self._backgrounds.paths)}

    def parts(self, context: Context, chosen: Sequence[Chosen], severity: float) -> list[VideoPart]:
        """The film with jumping backgrounds in the chosen clips."""
        matting = context.models.role("matting")

        def change(one: Chosen) -> Callable[[int, Image], Image]:
            jumps = Jumps(len(self._backgrounds.paths), context.rng_of(one.clip))

            def replaced(number: int, image: Image) -> Image:
                behind = self._backgrounds.picture(jumps.next(number), image.shape[:2])
                behind = blended(image, behind, severity)
                return laid_over(image, matting.matte([image])[0], behind)

            return replaced

        return changed_clips(context, chosen, lambda one: numbered(change(one)), Pixels.RGB)


class Jumps:
    """Which background stands behind each frame: never the one of the frame before."""

    def __init__(self, count: int, rng: Rng) -> None:
        self._count, self._dice = count, rng
        self._last: int | None = None

    def next(self, frame: int) -> int:
        """The background of the next frame."""
        others = [number for number in range(self._count) if number != self._last]
        self._last = self._dice.pick(others or [0], "background", frame)
        return self._last


def laid_over(image: Image, matte: Mask, behind: Image) -> Image:
    """The foreground of ``image`` over another picture."""
    front = matte[..., None]
    return np.asarray(np.rint(image * front + behind * (1 - front)), np.uint8)


Shape = Literal["box", "outline"]


@register("degradation", "object_integrity", version=1, summary="a named object painted away")
def object_integrity(*, mask: Shape = "box") -> ObjectIntegrity:
    """``mask``: what is painted over, the box of the thing or its outline."""
    return ObjectIntegrity(mask)


class ObjectIntegrity:
    """Severity is how opaque the painting is: at one half the thing shines through.

    As in SLVMEval it is detected in every frame and its boxes are painted over by an inpainting
    model. ``mask=outline`` paints over its shape only, found by the segmentation role.
    """

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


# Colour: a thing whose colour the caption names has another of the eleven basic colours.


ColorMask = Literal["outline", "none"]


@register("degradation", "color", version=1, summary="a named object in another colour")
def color(*, mask: ColorMask = "outline") -> Color:
    """Detection finds the object, segmentation its shape, image_edit gives it the colour.

    With ``mask=none`` image_edit is given the whole frame and finds the object by its name, as in
    SLVMEval.
    """
    return Color(mask)


class Color:
    """Severity mixes the new colour with the old one."""

    def __init__(self, mask: ColorMask) -> None:
        found = ("detection", "segmentation") if mask == "outline" else ()
        self.info = DegradationInfo(
            Aspect.COLOR, mentions="an object and its colour", roles=(*found, "image_edit")
        )
        self._mask = mask

    def eligible(self, clip: FilmClip) -> bool:
        """The caption gives some object one of the eleven colours."""
        return bool(_coloured(clip))

    def settle(self, clip: FilmClip, look: Look, rng: Rng, film_rng: Rng) -> Details:
        """One of those objects that can be seen, and its new colour."""
        for old, thing in rng.shuffled(_coloured(clip), "object"):
            if self._mask == "none" or is_shown(look, clip, thing):
                others = [name for name in sorted(BASIC_COLOURS) if name != old]
                return {"object": thing, "from": old, "to": rng.pick(others, "colour", thing)}
        raise Unfit("have no coloured object that the detector finds")

    def parts(self, context: Context, chosen: Sequence[Chosen], severity: float) -> list[VideoPart]:
        """The film with the object of each chosen clip in its new colour."""

        def change(one: Chosen) -> Callable[[Image], Image]:
            thing, colour = str(one.details["object"]), str(one.details["to"])

            def edited(image: Image) -> Image:
                role = context.models.role("image_edit")
                return blended(image, role.recolour(image, None, thing, colour), severity)

            if self._mask == "none":
                return edited
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


# Spatial relationship: left is right. Clips whose caption says either are mirrored.


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
