"""gradual: fades and dissolves, with the span they last.

In both, one picture is blended into another: every picture between lies on the straight line
from the old to the new one. A fade goes to or from an empty picture (black, white, any plain
colour). A dissolve goes to another picture, everywhere in the frame at once, and one that is
not the old picture made lighter or darker, nor the old picture with a title over it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import cv2
import numpy as np

from screentest.core.errors import BadOption
from screentest.core.frames import BaseConsumer, Frame, Image, VideoInfo
from screentest.core.item import Span, Time, Transition
from screentest.core.registry import register
from screentest.video.detectors.contract import (
    BEGUN,
    DONE,
    SMALL,
    Boundary,
    SameSize,
    Walk,
    compare,
    walk,
)

# Blends: runs of looks that go straight from one picture to another.

_WINDOWS = (5, 7, 10, 14, 19, 26)
"""Lengths tried, in looks. A longer blend shows its middle."""
_POINTS = (32, 18)
_TWO_LARGEST_STEPS = 0.6
"""A larger share of the way in two looks is a cut or two, not a blend."""
_LARGEST_STEP_BACK = 0.05
EMPTY = 3.0
"""A picture of less contrast is empty. A line of small type on black has more."""
_DARK = 20
"""Pixels darker than this may belong to bars around the picture."""
_MOST_OF_IT = 0.3
"""The share of a frame that bars leave to the picture."""
_EVERYWHERE = 0.5
"""The share of the pixels that take part in a dissolve: more than a title's."""


class FrameTime(NamedTuple):
    """A frame's time and index."""

    time: Time
    frame: int


@dataclass(frozen=True, slots=True)
class Blend:
    """One picture going over into another. An empty one is black, white or any plain colour."""

    first: FrameTime
    middle: FrameTime
    last: FrameTime
    change: float
    """Root mean square difference of the two, of 255."""
    wandering: float


@dataclass(slots=True)
class EmptyRun:
    """A stretch of empty pictures, with the blends into and out of it."""

    first: FrameTime
    until: FrameTime | None = None
    """The first picture after it; None at the end of the video."""
    out: Blend | None = None
    into: Blend | None = None


@dataclass(frozen=True, slots=True)
class _Look:
    moment: FrameTime
    points: Image
    run: EmptyRun | None


class BlendFinder:
    """Takes looks, some a second, and keeps the best blend of each place."""

    def __init__(self, wandering: float, min_news: float, max_likeness: float) -> None:
        self._wandering = wandering
        self._min_news = min_news
        self._max_likeness = max_likeness
        size = max(_WINDOWS) + 1
        self._looks: deque[_Look] = deque(maxlen=size)
        # Mean squared differences between the last looks, the newest in the last row.
        self._apart = np.zeros((size, size))
        self.dissolves: list[Blend] = []
        self.empty_runs: list[EmptyRun] = []

    def look(self, moment: FrameTime, picture: Image, contrast: float) -> None:
        points: Image = cv2.resize(picture, _POINTS, interpolation=cv2.INTER_AREA)  # type: ignore[assignment]
        self._looks.append(_Look(moment, points, self._run(moment, contrast < EMPTY)))
        apart = [
            cv2.norm(points, look.points, cv2.NORM_L2SQR) / points.size for look in self._looks
        ]
        self._apart[:-1, :-1] = self._apart[1:, 1:]
        self._apart[-1, -len(apart) :] = self._apart[-len(apart) :, -1] = apart
        for length in _WINDOWS:
            # An empty picture is a witness of its own; a dissolve has more to show below.
            if length < len(apart) and apart[-1 - length] >= (self._min_news / 2) ** 2:
                self._try(length)

    def _run(self, moment: FrameTime, empty: bool) -> EmptyRun | None:
        before = self._looks[-1].run if self._looks else None
        if not empty:
            if before is not None:
                before.until = moment
            return None
        if before is None:
            before = EmptyRun(moment)
            self.empty_runs.append(before)
        return before

    def _try(self, length: int) -> None:
        looks = list(self._looks)[-length - 1 :]
        start, end = looks[0], looks[-1]
        if start.run is not None and end.run is not None:
            return
        run = start.run or end.run
        if any(look.run is not None and look.run is not run for look in looks):
            # Past another empty stretch there is another shot.
            return
        window = slice(-length - 1, None)
        walked = walk(self._apart[-length - 1, window], self._apart[-1, window])
        if (
            walked.wandering > self._wandering
            or walked.two_largest_steps > _TWO_LARGEST_STEPS
            or walked.largest_step_back > _LARGEST_STEP_BACK
        ):
            return
        blend = _blend(looks, walked, float(self._apart[-1, -length - 1]) ** 0.5)
        if end.run is not None:
            end.run.out = self._better(end.run.out, blend)
        elif start.run is not None:
            start.run.into = self._better(start.run.into, blend)
        elif self._another_picture(start, end):
            self._keep(blend)

    def _another_picture(self, start: _Look, end: _Look) -> bool:
        """Return True if all of the picture has changed, and into something else."""
        first = start.points.reshape(-1, 3).astype(np.float32)
        two = end.points.reshape(-1, 3).astype(np.float32)
        inside = np.maximum(first, two).max(axis=1) > _DARK
        first, two = first[inside], two[inside]
        if not len(first):
            return False
        compared = compare(first, two)
        if compared.likeness > self._max_likeness or compared.news < self._min_news:
            return False
        changes = np.abs(two - first).mean(axis=1)
        return float((changes > changes.mean() / 2).mean()) >= _EVERYWHERE

    def _keep(self, found: Blend) -> None:
        last = self.dissolves[-1] if self.dissolves else None
        if last is None or found.first.frame >= last.last.frame:
            self.dissolves.append(found)
        else:
            self.dissolves[-1] = self._better(last, found)

    def _better(self, one: Blend | None, two: Blend) -> Blend:
        return two if one is None or self._worth(two) > self._worth(one) else one

    def _worth(self, blend: Blend) -> float:
        # The longest window that is still straight shows the whole of a blend.
        return blend.change * (1 - blend.wandering / self._wandering)


def _blend(looks: list[_Look], walked: Walk, change: float) -> Blend:
    def at(share: float) -> FrameTime:
        return looks[round(walked.reaches(share))].moment

    return Blend(at(BEGUN), at(0.5), at(DONE), change, walked.wandering)


def contrast(picture: Image) -> float:
    """Measure detail: 0 for one plain colour, with dark bars around it or without.

    >>> contrast(np.full((36, 64, 3), 200, np.uint8))
    0.0
    """
    gray = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
    spread = float(cv2.meanStdDev(gray)[1][0, 0])
    lighter_than_bars = cv2.calcHist([gray], [0], None, [256], [0, 256]).ravel()[_DARK:].cumsum()
    inside = lighter_than_bars[-1]
    if inside < gray.size * _MOST_OF_IT:
        return spread
    dark, light = np.searchsorted(lighter_than_bars, (0.1 * inside, 0.9 * inside))
    # Only what is light stands out from bars; a dark picture would lose its shadows to them.
    return min(spread, float(light - dark) / 2) if dark > 2 * _DARK else spread


_LOOKS_PER_SECOND = 12


class GradualDetector(BaseConsumer):
    """Fades and dissolves: straight walks from one picture to another."""

    wants = SMALL

    def __init__(self, wandering: float, min_news: float, max_likeness: float) -> None:
        if wandering <= 0:
            raise BadOption(f"invalid wandering {wandering}: must be above 0")
        self._wandering = wandering
        self._finder = BlendFinder(wandering, min_news, max_likeness)
        self._same_size = SameSize()
        self._every = 1
        self._group: list[tuple[float, FrameTime, Image]] = []
        self._first: FrameTime | None = None
        self.boundaries: list[Boundary] = []

    def open(self, info: VideoInfo) -> None:
        """Blends are slow: a look each twelfth of a second is enough."""
        self._every = max(1, round(info.rate / _LOOKS_PER_SECOND))

    def take(self, frame: Frame) -> None:
        """Look at one of every few frames: the emptiest, as black may last a single frame."""
        picture = self._same_size.of(frame.image)
        moment = FrameTime(frame.time, frame.index)
        self._first = self._first or moment
        self._group.append((contrast(picture), moment, picture))
        if len(self._group) == self._every:
            self._look()

    def close(self, end: Time) -> None:
        """Turn blends into boundaries."""
        if self._group:
            self._look()
        fades = list(self._fades())
        changes = [*fades, *self._dissolves(fades)]
        self.boundaries = sorted(changes, key=lambda boundary: boundary.time)

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
        self, takes_over: FrameTime, kind: Transition, span: Span, blends: Sequence[Blend]
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
