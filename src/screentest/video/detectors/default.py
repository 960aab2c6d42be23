"""default: hard cuts by `abrupt`, fades and dissolves by `gradual`, in one pass.

Both look at the same small frames. Where they meet, the fade says how the shot comes in and
the cut says when. Elsewhere in a blend a small jump is part of the blend.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from screentest.core import Frame, Span, Time, Transition, VideoInfo, register
from screentest.video.detectors._contract import Boundary
from screentest.video.detectors._small_frames import SMALL
from screentest.video.detectors.abrupt import AbruptDetector, abrupt
from screentest.video.detectors.gradual import GradualDetector, gradual

_SAME_PLACE = Fraction(1, 6)
"""Seconds: two looks of `gradual`."""
_CLEAR = 2.0
"""A cut of this strength stands, wherever it is."""


class DefaultDetector:
    """Hard cuts and gradual transitions together."""

    wants = SMALL

    def __init__(self, cuts: AbruptDetector, blends: GradualDetector) -> None:
        self._cuts = cuts
        self._blends = blends
        self.boundaries: list[Boundary] = []

    def open(self, info: VideoInfo) -> None:
        """Both prepare."""
        self._cuts.open(info)
        self._blends.open(info)

    def take(self, frame: Frame) -> None:
        """Both look."""
        self._cuts.take(frame)
        self._blends.take(frame)

    def close(self, end: Time) -> None:
        """Put together what both have found."""
        self._cuts.close(end)
        self._blends.close(end)
        self.boundaries = together(self._cuts.boundaries, self._blends.boundaries)


def together(cuts: Sequence[Boundary], blends: Sequence[Boundary]) -> list[Boundary]:
    """Cuts and blends in one list, each place once, with who found it."""
    found: list[Boundary] = []
    free = list(cuts)
    for blend in blends:
        span = blend.gradual or Span(blend.time, blend.time)
        inside = [cut for cut in free if span.start < cut.time <= span.end]
        same = [cut for cut in inside if abs(cut.time - blend.time) <= _SAME_PLACE]
        free = [cut for cut in free if cut not in same and (cut not in inside or _is_clear(cut))]
        if same and blend.transition is Transition.FADE and blend.frame:
            # After black the new picture may come at once: the cut knows the frame.
            blend = replace(blend, time=same[0].time, frame=same[0].frame)
        found.append(replace(blend, found_by=("abrupt", "gradual") if same else ("gradual",)))
    found.extend(replace(cut, found_by=("abrupt",)) for cut in free)
    return sorted(found, key=lambda boundary: boundary.time)


def _is_clear(cut: Boundary) -> bool:
    return cut.strength >= _CLEAR


@register("detector", "default", version=1, summary="hard cuts, fades and dissolves")
def default() -> DefaultDetector:
    """The detector that does best over the known cut lists; see docs/shots.md."""
    return DefaultDetector(abrupt(), gradual())
