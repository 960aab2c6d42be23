"""What operators share: which clips will do, frames changed one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from screentest.core import Frame, Image
from screentest.models.pictures import basic_colour
from screentest.testbeds.contract import (
    Chosen,
    Context,
    Details,
    FilmClip,
    Look,
    Rng,
    Unfit,
    pieces,
)
from screentest.testbeds.operators.arithmetic import mixed
from screentest.video import FrameFunction, Pixels, Reencode, VideoPart

if TYPE_CHECKING:
    from screentest.models.roles import Inpainting, Mask


class AnyClip:
    """Every clip will do, and nothing has to be settled."""

    def eligible(self, clip: FilmClip) -> bool:
        return True

    def settle(self, clip: FilmClip, look: Look, rng: Rng, film_rng: Rng) -> Details:
        return {}


class CaptionedClip:
    """Any clip with a caption: what no caption tells of is not missed."""

    def eligible(self, clip: FilmClip) -> bool:
        return bool(clip.caption.strip())

    def settle(self, clip: FilmClip, look: Look, rng: Rng, film_rng: Rng) -> Details:
        return {}


LEAST, MOST = 0.02, 0.9
"""The share of the picture that the foreground may fill."""


def must_have_foreground(look: Look, clip: FilmClip) -> None:
    """Raise Unfit where nothing stands in front, or nothing can be seen behind it."""
    mattes = look.models.role("matting").matte(look.pictures(clip))
    shares = [float(np.mean(matte >= 0.5)) for matte in mattes]
    if 2 * sum(LEAST <= share <= MOST for share in shares) <= len(shares):
        raise Unfit("have no foreground that can be told from the background")


def coloured_things(clip: FilmClip) -> list[tuple[str, str]]:
    """Colours (by their basic name) and objects of a caption."""
    named = [(basic_colour(colour), thing) for colour, thing in clip.facts.color]
    return [(colour, thing) for colour, thing in named if colour is not None and thing]


def changed_clips(
    context: Context,
    chosen: Sequence[Chosen],
    change: Callable[[Chosen], FrameFunction],
    pixels: Pixels,
) -> list[VideoPart]:
    """The film with the chosen clips passed through a function each."""
    replaced: dict[int, VideoPart | None] = {
        one.clip.number: Reencode(one.clip.span, change(one), pixels) for one in chosen
    }
    return list(pieces(context.film, replaced))


def numbered(
    change: Callable[[int, Image], Image],
) -> FrameFunction:
    """A frame function from one that is given which frame of the clip it sees, from 0."""

    def run(frames: Iterator[Frame]) -> Iterable[Image]:
        return (change(number, frame.image) for number, frame in enumerate(frames))

    return run


TOGETHER = 8
"""Frames that are painted in one call, where the backend takes several."""


def painted_over(
    hole: Callable[[Image], Mask | None], painter: Inpainting, severity: float
) -> FrameFunction:
    """What ``hole`` finds in each frame, painted over; where it finds nothing, the frame stays.

    A diffusion model takes hardly longer for eight pictures than for one.
    """

    def run(frames: Iterator[Frame]) -> Iterable[Image]:
        while images := [frame.image for frame in islice(frames, TOGETHER)]:
            masks = [hole(image) for image in images]
            holes = [
                (image, mask) for image, mask in zip(images, masks, strict=True) if mask is not None
            ]
            painted = iter(_inpainted(painter, holes))
            for image, mask in zip(images, masks, strict=True):
                yield image if mask is None else mixed(image, next(painted), severity)

    return run


def _inpainted(painter: Inpainting, holes: Sequence[tuple[Image, Mask]]) -> list[Image]:
    together = getattr(painter, "inpaint_all", None)
    if together is None:
        return [painter.inpaint(image, mask) for image, mask in holes]
    made: list[Image] = together([image for image, _ in holes], [mask for _, mask in holes])
    return made
