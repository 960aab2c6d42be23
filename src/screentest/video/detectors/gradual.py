"""gradual: fades and dissolves, with the span they last.

In both, one picture is blended into another: every picture between lies on the straight line
from the old to the new one. A fade goes to or from an empty picture (black, white, any plain
colour). A dissolve goes to another picture, everywhere in the frame at once, and one that is
not the old picture made lighter or darker, nor the old picture with a title over it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from screentest.core import (
    BadOption,
    BaseConsumer,
    Frame,
    Span,
    Time,
    Transition,
    VideoInfo,
    register,
)
from screentest.video.detectors._blends import Blend, BlendFinder, Moment, contrast
from screentest.video.detectors._contract import Boundary
from screentest.video.detectors._small_frames import SMALL, SameSize

if TYPE_CHECKING:
    from screentest.core.frames import Image

_LOOKS_PER_SECOND = 12


class GradualDetector(BaseConsumer):
    """Fades and dissolves: straight walks from one picture to another."""

    wants = SMALL

    def __init__(self, wandering: float, min_news: float, max_likeness: float) -> None:
        if wandering <= 0:
            raise BadOption("pictures between two others wander at least a little")
        self._wandering = wandering
        self._finder = BlendFinder(wandering, min_news, max_likeness)
        self._same_size = SameSize()
        self._every = 1
        self._group: list[tuple[float, Moment, Image]] = []
        self._first: Moment | None = None
        self.boundaries: list[Boundary] = []

    def open(self, info: VideoInfo) -> None:
        """Blends are slow: a look each twelfth of a second is enough."""
        self._every = max(1, round(info.rate / _LOOKS_PER_SECOND))

    def take(self, frame: Frame) -> None:
        """Look at one of every few frames: the emptiest, as black may last a single frame."""
        picture = self._same_size.of(frame.image)
        moment = Moment(frame.time, frame.index)
        self._first = self._first or moment
        self._group.append((contrast(picture), moment, picture))
        if len(self._group) == self._every:
            self._look()

    def close(self, end: Time) -> None:
        """Turn blends into boundaries."""
        if self._group:
            self._look()
        fades = list(self._fades())
        found = [*fades, *self._dissolves(fades)]
        self.boundaries = sorted(found, key=lambda boundary: boundary.time)

    def _look(self) -> None:
        emptiest, moment, picture = min(self._group, key=lambda one: one[0])
        self._group.clear()
        self._finder.look(moment, picture, emptiest)

    def _fades(self) -> Iterator[Boundary]:
        for run in self._finder.empty_runs:
            blends = [blend for blend in (run.out, run.into) if blend is not None]
            if not blends or run.until is None:
                # Cut to and from black, or an end in black: no shot comes in by a fade.
                continue
            takes_over = min(run.until, run.into.first) if run.into else run.until
            if self._first is not None and run.first.frame <= self._first.frame:
                takes_over = run.first
            span = Span(
                min(takes_over.time, *(blend.first.time for blend in blends)),
                max(run.until.time, *(blend.last.time for blend in blends)),
            )
            yield self._boundary(takes_over, Transition.FADE, span, blends)

    def _dissolves(self, fades: Sequence[Boundary]) -> Iterator[Boundary]:
        for blend in self._finder.dissolves:
            span = Span(blend.first.time, blend.last.time)
            # A fade that goes on past its first bright pictures looks like a dissolve.
            if not any(fade.gradual and fade.gradual.overlaps(span) for fade in fades):
                yield self._boundary(blend.middle, Transition.DISSOLVE, span, [blend])

    def _boundary(
        self, takes_over: Moment, kind: Transition, span: Span, blends: Sequence[Blend]
    ) -> Boundary:
        wandering = min(blend.wandering for blend in blends)
        strength = self._wandering / max(wandering, self._wandering / 100)
        return Boundary(takes_over.time, takes_over.frame, kind, span, strength)


@register("detector", "gradual", version=1, summary="fades and dissolves")
def gradual(
    *, wandering: float = 0.2, min_news: float = 16.0, max_likeness: float = 0.7
) -> GradualDetector:
    """Fades and dissolves.

    The pictures between leave the line by ``wandering`` of its length at most. The two ends
    of a dissolve correlate by ``max_likeness`` at most, and each has ``min_news`` of contrast
    (of 255) or more that the other has not.
    """
    return GradualDetector(wandering, min_news, max_likeness)
