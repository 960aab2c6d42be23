"""What happens, and when: movement, scenes that are missing, their order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from screentest.core import Aspect, Image, register
from screentest.testbeds.contract import (
    Chosen,
    Context,
    DegradationInfo,
    Details,
    Effect,
    FilmClip,
    Look,
    Rng,
    pieces,
    share_of,
)
from screentest.testbeds.operators.shared import CaptionedClip, changed_clips
from screentest.testbeds.timeline import motion_details, must_move
from screentest.video.edit.parts import FrameFunction, Keep, VideoPart
from screentest.video.edit.pictures import Pixels

if TYPE_CHECKING:
    from screentest.core import Frame


# Dynamics degree: clips in which something moves become their middle frame, held.


@register("degradation", "dynamics_degree", version=1, summary="the middle frame, held")
def dynamics_degree() -> DynamicsDegree:
    """The middle frame for all of the clip."""
    return DynamicsDegree()


class DynamicsDegree:
    """Severity is the share of the clip, around its middle, over which the frame is held."""

    info = DegradationInfo(
        Aspect.DYNAMICS_DEGREE,
        mentions="something that moves",
        effect=Effect.TIMING,
        changed=0.5,
    )

    def eligible(self, clip: FilmClip) -> bool:
        """Return the caption tells of motion."""
        return bool(clip.facts.dynamic_degree)

    def settle(self, clip: FilmClip, look: Look, rng: Rng, film_rng: Rng) -> Details:
        """Return a clip that stands still anyway cannot be stopped."""
        must_move(look, clip)
        return motion_details(clip)

    def parts(self, context: Context, chosen: Sequence[Chosen], severity: float) -> list[VideoPart]:
        """Return the film with the chosen clips held."""
        return changed_clips(
            context, chosen, lambda choice: held(choice.clip.frames, severity), Pixels.I420
        )


def held(count: int, share: float) -> FrameFunction:
    """Return a frame function that shows the middle one of ``count`` frames for ``share`` of them.

    Frames are passed on or let go as they come: however long the clip, one is kept.
    """
    middle = count // 2
    length = max(1, min(count, round(count * share)))
    first = min(max(0, middle - length // 2), count - length)

    def run(frames: Iterator[Frame]) -> Iterator[Image]:
        for frame in islice(frames, first):
            yield frame.image
        still = next(islice(frames, middle - first, None)).image
        for _ in range(length):
            yield still
        if first + length == count:
            return  # the rest need not even be decoded
        for frame in islice(frames, first + length - middle - 1, None):
            yield frame.image

    return run


# Comprehensiveness: scenes that the prompt asks for are missing. The chosen clips are deleted.


@register("degradation", "comprehensiveness", version=1, summary="clips deleted")
def comprehensiveness() -> Comprehensiveness:
    """The clips are gone, and what follows moves up."""
    return Comprehensiveness()


class Comprehensiveness(CaptionedClip):
    """Severity is the share of the chosen clips that are deleted: at least one."""

    info = DegradationInfo(
        Aspect.COMPREHENSIVENESS, mentions="anything", leaves=1, effect=Effect.ABSENT
    )

    def parts(self, context: Context, chosen: Sequence[Chosen], severity: float) -> list[VideoPart]:
        """Return the film without the chosen clips."""
        gone = chosen[: share_of(len(chosen), severity)]
        return list(pieces(context.film, {choice.clip.number: None for choice in gone}))


# Temporal flow: the story in another order. Consecutive clips are shuffled.


@register("degradation", "temporal_flow", version=2, summary="consecutive clips shuffled")
def temporal_flow() -> TemporalFlow:
    """None stays in its place."""
    return TemporalFlow()


class TemporalFlow(CaptionedClip):
    """Severity is the share of the consecutive clips, from the first on, that are shuffled."""

    info = DegradationInfo(
        Aspect.TEMPORAL_FLOW, mentions="anything", consecutive=True, effect=Effect.ORDER
    )

    def parts(self, context: Context, chosen: Sequence[Chosen], severity: float) -> list[VideoPart]:
        """Return the film with the chosen clips in each other's places."""
        ordered = sorted(chosen, key=lambda choice: choice.clip.number)
        ordered = ordered[: share_of(len(ordered), severity, least=2)]
        order = another_order(len(ordered), context.rng) if ordered else []
        moved: dict[int, VideoPart | None] = {
            place.clip.number: Keep(ordered[number].clip.span)
            for place, number in zip(ordered, order, strict=True)
        }
        return list(pieces(context.film, moved))


def another_order(count: int, rng: Rng) -> list[int]:
    """Return the numbers below ``count`` in an order in which none is in its own place.

    >>> another_order(2, Rng.of("film"))
    [1, 0]
    """
    if count < 2:
        raise ValueError(f"{count} clips have only one order")
    attempt, order = 0, list(range(count))
    # About one order in three will do, however many there are.
    while any(place == number for place, number in enumerate(order)):
        order = rng.order(count, "shuffle", attempt)
        attempt += 1
    return order
