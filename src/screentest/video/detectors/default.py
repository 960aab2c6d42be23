"""abrupt: hard cuts. default: `abrupt` with fades and dissolves by `gradual`, in one pass.

Both look at the same small frames. Where they meet, the fade says how the shot comes in and
the cut says when. Elsewhere in a blend a small jump is part of the blend.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import cv2
import numpy as np
from numpy.typing import NDArray

from screentest.core.errors import BadOption
from screentest.core.frames import BaseConsumer, Frame, Image, VideoInfo
from screentest.core.item import Span, Time, Transition
from screentest.core.registry import register
from screentest.video.detectors.contract import SMALL, Boundary, SameSize, compare
from screentest.video.detectors.gradual import GradualDetector, gradual

_NEIGHBOURS = 2
"""On each side: with more, shots of four frames would be each other's neighbours."""
_HELD, _HELD_SHARE = 0.5, 0.02
"""A change below this, or this share of the cut's, is the same picture, coded again."""
_HELD_IN_A_ROW = 2
"""Each frame shown three times. More in a row is a still shot, not a slower film."""
_REACH = _NEIGHBOURS * (_HELD_IN_A_ROW + 1)
_LIKE = 0.5
"""A frame after is like one before when it differs by less than this share of the cut."""
_COARSE = 16
"""Pixels on the long side: what trembles by a hundredth of the picture is the same there."""
_UNLIT, _UNLIT_LIKENESS = 0.35, 0.6
"""What is left of a change once one frame is as bright as the other, and how alike they then are.

Of 256 cuts of the known films 0.49 is left at least; of flicker by a fifth with a tremble, 0.24 at
most.
"""


@dataclass(frozen=True, slots=True)
class _Seen:
    time: Time
    index: int
    picture: Image
    change: float


class AbruptDetector(BaseConsumer):
    """Cuts where the change between frames stands out among its neighbours.

    A cut is a change from one frame to the next that stands out: at least twice the change around
    it, plus a little for noise. It is measured in RGB on very small frames. Hue and saturation,
    which `content` and `adaptive` use, mean nothing in black bars and shadows, and noise there
    hides a cut between two pictures of like colours.

    Three things stand out without being cuts. A frame that is held (a film of 8 frames per second
    in a file of 24) makes its neighbours seem still: held frames are not counted as neighbours.
    After a flash the old picture comes back: at a cut no frame before is like any frame after. And
    where light flickers the same picture is brighter or darker for a while.
    """

    wants = SMALL

    def __init__(self, ratio: float, floor: float, min_length: int) -> None:
        if min_length < 1 or ratio < 0 or floor < 0:
            raise BadOption("invalid option: must be ratio >= 0, floor >= 0, min_length >= 1")
        self._ratio = ratio
        self._floor = floor
        self._min_length = min_length
        self._same_size = SameSize()
        self._behind = max(_REACH, min_length)
        self._recent: deque[_Seen] = deque(maxlen=2 * self._behind + 1)
        self._judged = 0
        self._frames = 0
        self.boundaries: list[Boundary] = []

    def take(self, frame: Frame) -> None:
        picture = self._same_size.of(frame.image)
        change = _difference(picture, self._recent[-1].picture) if self._recent else 0.0
        self._recent.append(_Seen(frame.time, frame.index, picture, change))
        self._frames += 1
        if self._frames - self._judged > self._behind:
            self._judge_next()

    def close(self, end: Time) -> None:
        """Judge the last frames with what there is."""
        while self._judged < self._frames:
            self._judge_next()

    def _judge_next(self) -> None:
        place = len(self._recent) - (self._frames - self._judged)
        # A shot shorter than the minimum is none, at both ends of the video too.
        inside = self._min_length <= self._judged <= self._frames - self._min_length
        self._judged += 1
        here = self._recent[place]
        if not inside or here.change < self._floor:
            return
        enough = self._ratio * self._change_around(place) + self._floor
        if here.change < enough or self._comes_back(place) or self._only_lit(place):
            return
        cut = Boundary(here.time, here.index, strength=here.change / max(enough, 1e-9))
        last = self.boundaries[-1] if self.boundaries else None
        if last is None or cut.frame - last.frame >= self._min_length:
            self.boundaries.append(cut)
        elif cut.strength > last.strength:
            self.boundaries[-1] = cut

    def _change_around(self, place: int) -> float:
        changes = [seen.change for seen in self._recent]
        held = max(_HELD, _HELD_SHARE * changes[place])
        around = _neighbours(changes[:place][::-1], held)
        around += _neighbours(changes[place + 1 :], held)
        return sum(around) / len(around) if around else 0.0

    def _comes_back(self, place: int) -> bool:
        """Return True if a frame before is like a frame after, as at both ends of a flash."""
        seen = list(self._recent)
        old = seen[max(0, place - self._min_length) : place]
        new = seen[place : place + self._min_length]
        like = _LIKE * seen[place].change
        return any(_difference(a.picture, b.picture) < like for a in old for b in new)

    def _only_lit(self, place: int) -> bool:
        """Return True if a frame after is a frame before in another light."""
        seen = list(self._recent)
        old = [_coarse(frame.picture) for frame in seen[max(0, place - self._min_length) : place]]
        new = [_coarse(frame.picture) for frame in seen[place : place + self._min_length]]
        most = _UNLIT * seen[place].change
        return any(
            max(_unlit(a, b), _unlit(b, a)) < most and compare(a, b).likeness >= _UNLIT_LIKENESS
            for a in old
            for b in new
        )


def _coarse(picture: Image) -> NDArray[np.float32]:
    """Pixels × 3, of a picture made very small."""
    height, width = picture.shape[:2]
    share = _COARSE / max(height, width)
    size = (max(1, round(width * share)), max(1, round(height * share)))
    small = cv2.resize(picture, size, interpolation=cv2.INTER_AREA)
    return small.reshape(-1, 3).astype(np.float32)


def _unlit(one: NDArray[np.float32], two: NDArray[np.float32]) -> float:
    """Return the difference that is left once the first is as bright as the second, of 255."""
    gain = float((one * two).sum()) / max(float(np.square(one).sum()), 1e-6)
    return float(np.abs(two - gain * one).mean())


def _neighbours(outwards: list[float], held: float) -> list[float]:
    """Return the changes nearest to a frame on one side, past those below ``held``."""
    near: list[float] = []
    in_a_row = 0
    for change in outwards:
        in_a_row = in_a_row + 1 if change < held else 0
        if in_a_row > _HELD_IN_A_ROW:
            # Nothing moves here; what is beyond is another shot.
            return [*near, change]
        if in_a_row == 0:
            near.append(change)
        if len(near) == _NEIGHBOURS:
            break
    return near


def _difference(one: Image, two: Image) -> float:
    """Mean absolute difference, from 0 to 255."""
    return float(cv2.norm(one, two, cv2.NORM_L1)) / one.size


@register("detector", "abrupt", summary="hard cuts, down to shots of four frames")
def abrupt(*, ratio: float = 2.0, floor: float = 6.5, min_length: int = 4) -> AbruptDetector:
    """Cuts where a change is ``ratio`` times that around it plus ``floor`` (of 255), or more.

    No shot is shorter than ``min_length`` frames: of cuts that close the strongest stays.
    """
    return AbruptDetector(ratio, floor, min_length)


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
        self._cuts.open(info)
        self._blends.open(info)

    def take(self, frame: Frame) -> None:
        self._cuts.take(frame)
        self._blends.take(frame)

    def close(self, end: Time) -> None:
        """Put together what both have found."""
        self._cuts.close(end)
        self._blends.close(end)
        self.boundaries = together(self._cuts.boundaries, self._blends.boundaries)


def together(cuts: Sequence[Boundary], blends: Sequence[Boundary]) -> list[Boundary]:
    """Cuts and blends in one list, each place once, with who found it."""
    boundaries: list[Boundary] = []
    free = list(cuts)
    for blend in blends:
        span = blend.gradual or Span(blend.time, blend.time)
        inside = [cut for cut in free if span.start < cut.time <= span.end]
        same = [cut for cut in inside if abs(cut.time - blend.time) <= _SAME_PLACE]
        hidden = [cut for cut in inside if cut in same or cut.strength < _CLEAR]
        free = [cut for cut in free if cut not in hidden]
        if same and blend.transition is Transition.FADE and blend.frame:
            # After black the new picture may come at once: the cut knows the frame.
            blend = replace(blend, time=same[0].time, frame=same[0].frame)
        boundaries.append(replace(blend, found_by=("abrupt", "gradual") if same else ("gradual",)))
    boundaries.extend(replace(cut, found_by=("abrupt",)) for cut in free)
    return sorted(boundaries, key=lambda boundary: boundary.time)


@register("detector", "default", summary="hard cuts, fades and dissolves")
def default() -> DefaultDetector:
    """Build the detector that does best over the known cut lists; see docs/evidence/shots.md."""
    return DefaultDetector(abrupt(), gradual())
