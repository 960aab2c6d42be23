"""What operators share: which clips will do, frames changed one by one, inside borders."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from screentest.core import Borders, Frame, Image
from screentest.models.networks.memory import inpaint_all
from screentest.models.pictures import basic_colour
from screentest.testbeds.contract import (
    Chosen,
    Context,
    Details,
    Film,
    FilmClip,
    Look,
    Rng,
    Unfit,
    pieces,
    share_of,
)
from screentest.testbeds.operators.arithmetic import mixed, of_planes, planes
from screentest.video.edit.pictures import FrameFunction, Pixels, Reencode, VideoPart

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from screentest.models.roles import Inpainting, Mask


class AnyClip:
    """Every clip will do, and nothing has to be settled."""

    def eligible(self, clip: FilmClip) -> bool:
        return True

    def settle(self, clip: FilmClip, look: Look, rng: Rng, film_rng: Rng) -> Details:
        return {}


class CaptionedClip(AnyClip):
    """Any clip with a caption: what no caption tells of is not missed."""

    def eligible(self, clip: FilmClip) -> bool:
        return bool(clip.caption.strip())


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
    """Return the film with the chosen clips passed through a function each."""
    replaced: dict[int, VideoPart | None] = {
        choice.clip.number: Reencode(choice.clip.span, change(choice), pixels) for choice in chosen
    }
    return list(pieces(context.film, replaced))


def passage(chosen: Sequence[Chosen], severity: float) -> list[Chosen]:
    """Return the first of consecutive clips, as many as a severity touches: two or more."""
    ordered = sorted(chosen, key=lambda choice: choice.clip.number)
    return ordered[: share_of(len(ordered), severity, least=2)]


def inside_borders(film: Film, parts: Iterable[VideoPart]) -> list[VideoPart]:
    """Return the parts, with pictures changed inside the borders of the film; the borders stay.

    A bar that is bent or brightened would show any judge what was done to the picture.
    """
    borders = film.video.borders
    if borders is None:
        return list(parts)
    return [
        replace(part, change=_within(borders, part.change, part.pixels))
        if isinstance(part, Reencode)
        else part
        for part in parts
    ]


def _within(borders: Borders, change: FrameFunction, pixels: Pixels) -> FrameFunction:
    """Return the frame function, shown what the borders leave of each frame."""

    def run(frames: Iterator[Frame]) -> Iterable[Image]:
        waiting: deque[Image] = deque()

        def cut(frame: Frame) -> Frame:
            waiting.append(frame.image)
            return replace(frame, image=cut_out(frame.image, borders, pixels))

        for picture in change(map(cut, frames)):
            # Where more come back than went in, the last borders stay: they do not change.
            around = waiting.popleft() if len(waiting) > 1 else waiting[0]
            yield _put_back(around, picture, borders, pixels)

    return run


def cut_out(image: Image, borders: Borders, pixels: Pixels = Pixels.RGB) -> Image:
    """Return what the borders leave of a frame."""
    if pixels is not Pixels.I420:
        return np.ascontiguousarray(image[_slices(borders, 1)])
    luma, chroma = planes(image)
    inner = chroma[(slice(None), *_slices(borders, 2))]
    return of_planes(luma[_slices(borders, 1)], np.ascontiguousarray(inner))


def _put_back(image: Image, picture: Image, borders: Borders, pixels: Pixels) -> Image:
    whole = image.copy()
    if pixels is not Pixels.I420:
        whole[_slices(borders, 1)] = picture
        return whole
    (luma, chroma), (inner, colours) = planes(whole), planes(picture)
    luma[_slices(borders, 1)] = inner
    chroma[(slice(None), *_slices(borders, 2))] = colours
    return whole


def _slices(borders: Borders, step: int) -> tuple[slice, slice]:
    """Rows and columns inside, in a plane with a line for every ``step`` of them."""
    across, down = borders.inside
    return (
        slice(borders.top // step, (borders.top + down) // step),
        slice(borders.left // step, (borders.left + across) // step),
    )


TOGETHER = 8
"""Frames that are painted in one call, where the backend takes several."""


def painted_over(
    hole: Callable[[Image], Mask | None], painter: Inpainting, severity: float
) -> FrameFunction:
    """Paint over what ``hole`` finds in each frame; where it finds nothing, the frame stays.

    A diffusion model takes hardly longer for eight pictures than for one.
    """

    def run(frames: Iterator[Frame]) -> Iterable[Image]:
        while images := [frame.image for frame in islice(frames, TOGETHER)]:
            masks = [hole(image) for image in images]
            holes = [
                (image, mask) for image, mask in zip(images, masks, strict=True) if mask is not None
            ]
            painted = iter(inpaint_all(painter, [i for i, _ in holes], [m for _, m in holes]))
            for image, mask in zip(images, masks, strict=True):
                yield image if mask is None else mixed(image, next(painted), severity)

    return run


def optical_flow(image: Image, other: Image) -> NDArray[np.float32]:
    """For each pixel of a grey picture, how far away it is in another one."""
    import cv2

    method = cv2.DISOpticalFlow.create(cv2.DISOPTICAL_FLOW_PRESET_FAST)
    return np.asarray(method.calc(image, other, None), np.float32)  # type: ignore[call-overload]


def sampled(picture: Any, columns: Any, rows: Any, *, repeats_edge: bool = True) -> Any:
    """Sample a picture or mask at these places; beyond its edge there is the edge, or nothing."""
    import cv2

    edge = cv2.BORDER_REPLICATE if repeats_edge else cv2.BORDER_CONSTANT
    places = columns.astype(np.float32), rows.astype(np.float32)
    return cv2.remap(picture, *places, cv2.INTER_LINEAR, borderMode=edge)
