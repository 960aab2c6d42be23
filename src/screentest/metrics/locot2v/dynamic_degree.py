"""Dynamic degree: whether there is motion that one can see.

VBench's protocol: optical flow between frames about an eighth of a second apart; a pair moves
where the mean of the largest 5% of flow magnitudes exceeds six pixels on a short side of 256;
a video is dynamic where at least a quarter of its frames move.

The paper defines the dynamic degree as the share of dynamic videos, but the values it prints
are not shares of 240. So the default is that of VBench-Long, the share of dynamic clips of two
seconds; ``by="video"`` gives the plain yes or no, ``by="degree"`` the second edition's graded
form: how far each pair reaches towards the threshold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from screentest.core import (
    FrameRequest,
    Item,
    Level,
    MetricInfo,
    Outcome,
    Outcomes,
    OutputInfo,
    Point,
    Resources,
    Score,
    Span,
    Time,
    VideoInfo,
    register,
)
from screentest.metrics.locot2v._pairs import Pair, Pairwise
from screentest.metrics.locot2v._timeline import Timeline, mean
from screentest.metrics.locot2v._work import Work, inapplicable

if TYPE_CHECKING:
    from screentest.models.roles import FlowField

NAME = "locot2v_dynamic_degree"
LOOKS_PER_SECOND = 8
LARGEST = 0.05
"""The share of the largest flow magnitudes that is looked at."""
ENOUGH = Fraction(4, 16)
"""The share of frames that must move."""
By = Literal["clip", "video", "degree"]


@register("metric", NAME, version=1, summary="how much of the video shows visible motion")
def dynamic_degree(
    *, by: By = "clip", clip_seconds: float = 2.0, threshold: float = 6.0
) -> DynamicDegree:
    """``threshold`` is in pixels of flow on a short side of 256."""
    return DynamicDegree(by, Fraction(str(clip_seconds)), threshold)


@dataclass(frozen=True)
class DynamicDegree:
    """The share of clips that move, a yes or no, or a degree."""

    by: By
    clip: Fraction
    threshold: float

    info = MetricInfo(
        outputs={NAME: OutputInfo("share of clips with visible motion")},
        level=Level.CLIP,
        roles=("flow",),
    )

    def start(self, item: Item, resources: Resources) -> Work:
        """One pass over frames an eighth of a second apart."""
        flow = resources.role("flow")
        video = resources.info(item.video)
        limit = self.threshold * min(video.width, video.height) / 256
        moves: list[Move] = []

        def look(pairs: Sequence[Pair]) -> None:
            fields = flow.flow([(before.image, after.image) for before, after in pairs])
            for (before, after), field in zip(pairs, fields, strict=True):
                moves.append(Move(before.time, after.time, largest_motion(field) / limit))

        def conclude() -> Outcomes:
            if not moves:
                raise inapplicable("the video has one frame to look at, so nothing can move")
            frames.light.require()
            return {NAME: Outcome.of(self._score(moves, video))}

        frames = Pairwise(FrameRequest(), look, step=step_of(video))
        return Work(conclude, [frames])

    def _score(self, moves: Sequence[Move], video: VideoInfo) -> Score:
        if self.by == "degree":
            degrees = Timeline(self.clip)
            for move in moves:
                degrees.add(move.before, min(move.reach, 1.0))
            return Score(degrees.mean, degrees.curve(video.span.end))
        clips = [video.span] if self.by == "video" else clips_of(video.span, self.clip)
        curve = []
        for clip in clips:
            inside = [move for move in moves if clip.start <= move.before and move.after < clip.end]
            if inside:
                curve.append(Point(clip, float(is_dynamic([move.reach for move in inside]))))
        if not curve:
            raise inapplicable("no clip has two frames to look at")
        return Score(mean(point.value for point in curve), tuple(curve))


@dataclass(frozen=True, slots=True)
class Move:
    """How far a pair of frames reaches towards the threshold: above 1 it moves."""

    before: Time
    after: Time
    reach: float


def step_of(video: VideoInfo) -> int:
    """Every how many frames is looked at: about eight times a second."""
    return max(1, round(video.rate / LOOKS_PER_SECOND))


def largest_motion(field: FlowField) -> float:
    """The mean of the largest 5% of the flow's magnitudes, in pixels."""
    import numpy as np

    lengths = np.hypot(field[..., 0], field[..., 1]).ravel()
    count = max(1, int(LARGEST * lengths.size))
    return float(np.partition(lengths, -count)[-count:].mean(dtype=np.float64))


def is_dynamic(reaches: Sequence[float]) -> bool:
    """Whether at least a quarter of the frames move; never on no moving pair at all.

    >>> is_dynamic([1.2, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1]), is_dynamic([1.2, 1.2, 0, 0, 0, 0, 0])
    (False, True)
    """
    needed = max(1, round(ENOUGH * (len(reaches) + 1)))
    return sum(reach > 1 for reach in reaches) >= needed


def clips_of(span: Span, seconds: Fraction) -> list[Span]:
    """Clips of equal length; the last one reaches back so that it is as long as the others.

    >>> [str(clip) for clip in clips_of(Span(Fraction(0), Fraction(5)), Fraction(2))][1:]
    ['0:00:02.000–0:00:04.000', '0:00:03.000–0:00:05.000']
    """
    if span.duration <= seconds:
        return [span]
    whole = int(span.duration // seconds)
    starts = [span.start + number * seconds for number in range(whole)]
    if span.duration % seconds:
        starts.append(span.end - seconds)
    return [Span(start, start + seconds) for start in starts]
