"""Comprehensiveness: scenes that the prompt asks for are missing. The chosen clips are deleted."""

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
from screentest.video import VideoPart


@register("degradation", "comprehensiveness", version=1, summary="clips deleted")
def comprehensiveness() -> Comprehensiveness:
    """The clips are gone, and what follows moves up."""
    return Comprehensiveness()


class Comprehensiveness:
    """Severity is the share of the chosen clips that are deleted: at least one."""

    info = DegradationInfo(Aspect.COMPREHENSIVENESS, mentions="anything", leaves=1)

    def eligible(self, clip: FilmClip) -> bool:
        """What no caption tells of is not missed."""
        return bool(clip.caption.strip())

    def settle(self, clip: FilmClip, look: Look, rng: Rng, film_rng: Rng) -> Details:
        """Nothing to settle."""
        return {}

    def parts(self, context: Context, chosen: Sequence[Chosen], severity: float) -> list[VideoPart]:
        """The film without the chosen clips."""
        gone = chosen[: share_of(len(chosen), severity)]
        return list(pieces(context.film, {one.clip.number: None for one in gone}))
