"""Temporal flow: the story in another order. Consecutive clips are shuffled."""

from __future__ import annotations

from collections.abc import Sequence

from screentest.core import Aspect, register
from screentest.testbeds.contract import (
    Chosen,
    Context,
    DegradationInfo,
    Details,
    FilmClip,
    Look,
    Rng,
    pieces,
    share_of,
)
from screentest.video import Keep, VideoPart


@register("degradation", "temporal_flow", version=1, summary="consecutive clips shuffled")
def temporal_flow() -> TemporalFlow:
    """Never the order they had."""
    return TemporalFlow()


class TemporalFlow:
    """Severity is the share of the consecutive clips, from the first on, that are shuffled."""

    info = DegradationInfo(Aspect.TEMPORAL_FLOW, mentions="anything", consecutive=True)

    def eligible(self, clip: FilmClip) -> bool:
        """What no caption tells of has no place in the story."""
        return bool(clip.caption.strip())

    def settle(self, clip: FilmClip, look: Look, rng: Rng, film_rng: Rng) -> Details:
        """Nothing to settle."""
        return {}

    def parts(self, context: Context, chosen: Sequence[Chosen], severity: float) -> list[VideoPart]:
        """The film with the chosen clips in each other's places."""
        some = sorted(chosen, key=lambda one: one.clip.number)
        some = some[: share_of(len(some), severity, least=2)]
        order = another_order(len(some), context.rng)
        moved: dict[int, VideoPart | None] = {
            place.clip.number: Keep(some[number].clip.span)
            for place, number in zip(some, order, strict=True)
        }
        return list(pieces(context.film, moved))


def another_order(count: int, rng: Rng) -> list[int]:
    """The numbers below ``count`` in any order but their own.

    >>> another_order(2, Rng.of("film"))
    [1, 0]
    """
    if count < 2:
        raise ValueError(f"{count} clips have only one order")
    attempt = 0
    while (order := rng.order(count, "shuffle", attempt)) == list(range(count)):
        attempt += 1
    return order
