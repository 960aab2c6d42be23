"""Metrics of motion in VBench's protocols: dynamic degree, flickering, smoothness."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import fmean
from typing import Literal

from screentest.core.frames import Frame, FrameRequest, Image, Size, VideoInfo
from screentest.core.item import Item, Span, Time
from screentest.core.metric import Level, MetricInfo, Outcomes, Resources, SideEffect, Traits
from screentest.core.outcome import Outcome, Point, Score
from screentest.core.registry import register
from screentest.metrics.temporal.motion import STILL_FILM, largest, lengths
from screentest.models.roles import FlowField, Interpolation
from screentest.suites.locot2v.requests import Timeline, Work, declared, inapplicable
from screentest.suites.locot2v.similarity import Batches, Pair, Pairwise

DYNAMIC_DEGREE = "locot2v_dynamic_degree"
STILLNESS = Traits((*STILL_FILM, SideEffect(DYNAMIC_DEGREE)))
LOOKS_PER_SECOND = 8
LARGEST = 0.05
"""The share of the largest flow magnitudes that is looked at."""
ENOUGH = Fraction(4, 16)
"""The share of frames that must move."""
By = Literal["clip", "video", "degree"]


@register("metric", DYNAMIC_DEGREE, summary="how much of the video shows visible motion")
@dataclass(frozen=True, kw_only=True)
class DynamicDegree:
    """Whether there is motion that one can see: a share of clips, a yes or no, or a degree.

    VBench's protocol: optical flow between frames about an eighth of a second apart; a pair moves
    where the mean of the largest 5% of flow magnitudes exceeds six pixels on a short side of 256; a
    video is dynamic where at least a quarter of its frames move.

    The paper defines the dynamic degree as the share of dynamic videos, but the values it prints
    are not shares of 240. So the default is that of VBench-Long, the share of dynamic clips of two
    seconds; ``by="video"`` gives the plain yes or no, ``by="degree"`` the second edition's graded
    form: how far each pair reaches towards the threshold.
    """

    by: By = "clip"
    clip_seconds: float = 2.0
    threshold: float = 6.0
    """In pixels of flow on a short side of 256."""

    info = MetricInfo(outputs=declared(DYNAMIC_DEGREE), level=Level.CLIP, roles=("flow",))

    def start(self, item: Item, resources: Resources) -> Work:
        flow = resources.role("flow")
        video = resources.info(item.video)
        limit = self.threshold * min(video.width, video.height) / 256
        moves: list[Move] = []

        def look(pairs: Sequence[Pair]) -> None:
            fields = flow.flow([(before.image, after.image) for before, after in pairs])
            for (before, after), result in zip(pairs, fields, strict=True):
                moves.append(Move(before.time, after.time, largest_motion(result) / limit))

        def conclude() -> Outcomes:
            if not moves:
                raise inapplicable("the video has one frame to look at, so nothing can move")
            frames.light.require()
            return {DYNAMIC_DEGREE: Outcome.of(self._score(moves, video))}

        step = max(1, round(video.rate / LOOKS_PER_SECOND))
        frames = Pairwise(FrameRequest(), look, step=step)
        return Work(conclude, [frames])

    def _score(self, moves: Sequence[Move], video: VideoInfo) -> Score:
        length = Fraction(str(self.clip_seconds))
        if self.by == "degree":
            degrees = Timeline(length)
            for move in moves:
                degrees.add(move.before, min(move.reach, 1.0))
            return Score(degrees.mean, degrees.curve(video.span.end))
        clips = [video.span] if self.by == "video" else clips_of(video.span, length)
        curve = []
        for clip in clips:
            inside = [move for move in moves if clip.start <= move.before and move.after < clip.end]
            if inside:
                curve.append(Point(clip, float(is_dynamic([move.reach for move in inside]))))
        if not curve:
            raise inapplicable("no clip has two frames to look at")
        return Score(fmean(point.value for point in curve), tuple(curve))


@dataclass(frozen=True, slots=True)
class Move:
    """How far a pair of frames reaches towards the threshold: above 1 it moves."""

    before: Time
    after: Time
    reach: float


def largest_motion(field: FlowField) -> float:
    """Return the mean of the largest 5% of the flow's magnitudes, in pixels."""
    magnitudes = lengths(field)
    return float(largest(magnitudes, max(1, int(LARGEST * magnitudes.size))).mean())


def is_dynamic(reaches: Sequence[float]) -> bool:
    """Return whether at least a quarter of the frames move; never on no moving pair at all.

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


TEMPORAL_FLICKERING = "locot2v_temporal_flickering"


@register("metric", TEMPORAL_FLICKERING, summary="how little consecutive frames differ in pixels")
class TemporalFlickering:
    """How little consecutive frames differ, pixel by pixel.

    VBench's protocol, on every frame in its own size: the mean over all pairs of frames of their
    mean absolute difference over all pixels and channels, as (255 − mean) / 255. It is meant for
    videos whose content stands still; motion lowers it too.
    """

    info = MetricInfo(
        outputs=declared(TEMPORAL_FLICKERING),
        traits={TEMPORAL_FLICKERING: STILLNESS},
        level=Level.FRAME,
        consecutive=True,
    )

    def start(self, item: Item, resources: Resources) -> Work:
        steadiness = Timeline()

        def compare(pairs: Sequence[Pair]) -> None:
            for before, after in pairs:
                steadiness.add(after.time, 1 - difference(before.image, after.image) / 255)

        def conclude() -> Outcomes:
            if not steadiness.count:
                raise inapplicable("the video has one frame, so nothing can flicker")
            frames.light.require()
            score = Score(steadiness.mean, steadiness.curve(resources.info(item.video).span.end))
            return {TEMPORAL_FLICKERING: Outcome.of(score)}

        frames = Pairwise(FrameRequest(), compare)
        return Work(conclude, [frames])


def difference(first: Image, second: Image) -> float:
    """Return the mean absolute difference of two pictures of one size.

    >>> import numpy as np
    >>> difference(np.zeros((2, 2, 3), np.uint8), np.full((2, 2, 3), 51, np.uint8))
    51.0
    """
    import cv2

    return float(cv2.norm(first, second, cv2.NORM_L1)) / first.size


MOTION_SMOOTHNESS = "locot2v_motion_smoothness"


@register("metric", MOTION_SMOOTHNESS, summary="how well frames follow from their neighbours")
@dataclass(frozen=True, kw_only=True)
class MotionSmoothness:
    """Whether a frame is what its neighbours lead one to expect.

    VBench's protocol: every second frame is taken out and made anew by frame interpolation from
    those beside it; the mean absolute error against the true frame, as (255 − error) / 255.
    """

    long_side: int = 0
    """Above 0 measures on smaller frames, which is quicker."""

    info = MetricInfo(
        outputs=declared(MOTION_SMOOTHNESS),
        traits={MOTION_SMOOTHNESS: STILLNESS},
        level=Level.FRAME,
        roles=("interpolation",),
        consecutive=True,
    )

    def start(self, item: Item, resources: Resources) -> Work:
        model: Interpolation = resources.role("interpolation")
        smoothness = Timeline()

        def compare(triples: Sequence[tuple[Frame, Frame, Frame]]) -> None:
            made = model.midpoint([(first.image, second.image) for first, _, second in triples])
            for (_, true, _), guess in zip(triples, made, strict=True):
                smoothness.add(true.time, 1 - difference(guess, true.image) / 255)

        def conclude() -> Outcomes:
            if not smoothness.count:
                raise inapplicable("the video has fewer than three frames")
            frames.light.require()
            curve = smoothness.curve(resources.info(item.video).span.end)
            return {MOTION_SMOOTHNESS: Outcome.of(Score(smoothness.mean, curve))}

        frames = Triples(FrameRequest(size=Size(long_side=self.long_side or None)), compare)
        return Work(conclude, [frames])


class Triples(Batches[tuple[Frame, Frame, Frame]]):
    """Even frames, and the odd one between them to compare with what is made of them."""

    _even: Frame | None = None
    _odd: Frame | None = None

    def take(self, frame: Frame) -> None:
        self.light.see(frame.image)
        if frame.index % 2:
            self._odd = frame
            return
        if self._even is not None and self._odd is not None:
            self.add((self._even, self._odd, frame))
        self._even, self._odd = frame, None

    def close(self, end: Time) -> None:
        super().close(end)
        self._even = self._odd = None
