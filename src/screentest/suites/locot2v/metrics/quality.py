"""Quality of the frames: aesthetic, one frame a second, and technical, in segments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import fmean

import numpy as np

from screentest.core.errors import BadOption, NoValue
from screentest.core.frames import BaseConsumer, Filter, Frame, FrameRequest
from screentest.core.item import Item, Span, Time
from screentest.core.metric import Level, MetricInfo, Outcomes, Resources
from screentest.core.outcome import Failure, Json, Outcome, Point, Reason, Score
from screentest.core.registry import register
from screentest.models.roles import Aesthetic, Technical
from screentest.suites.locot2v.requests import Work, declared
from screentest.suites.locot2v.similarity import Light, Singly

AESTHETIC_QUALITY = "locot2v_aesthetic_quality"
BEST = 0.1
"""The share of reference pictures that makes the upper bound."""


@register("metric", AESTHETIC_QUALITY, summary="beauty of one frame per second")
@dataclass(frozen=True, kw_only=True)
class AestheticQuality:
    """How beautiful the frames are, one per second, as a share of the upper bound; never above 1.

    The paper's model (Aesthetic Predictor V2.5) says 1 to 10, but hardly anything reaches 10. So
    the mean is divided by a reference that can be reached: the mean of the best tenth of a set of
    good pictures. ``screentest suite locot2v upper-bound DIR`` computes it; without one, the top of
    the backend's own scale is taken.
    """

    upper_bound: float = 0.0
    """0 stands for the top of the backend's scale."""
    rate: float = 1.0

    info = MetricInfo(outputs=declared(AESTHETIC_QUALITY), level=Level.FRAME, roles=("aesthetic",))

    def __post_init__(self) -> None:
        if self.upper_bound < 0 or self.rate <= 0:
            raise BadOption("invalid upper_bound or rate: must be at least 0 and above 0")

    def start(self, item: Item, resources: Resources) -> Work:
        backend: Aesthetic = resources.role("aesthetic")
        bound = self.upper_bound or backend.scale[1]
        times: list[Time] = []
        scores: list[float] = []

        def judge(frames: Sequence[Frame]) -> None:
            times.extend(frame.time for frame in frames)
            scores.extend(float(score) for score in backend.score([item.image for item in frames]))

        def conclude() -> Outcomes:
            frames.light.require()
            shares = [min(1.0, max(0.0, score / bound)) for score in scores]
            end = resources.info(item.video).span.end
            borders = [*times, max(end, times[-1])]
            curve = tuple(
                Point(Span(start, stop), share)
                for start, stop, share in zip(borders, borders[1:], shares, strict=False)
            )
            details = {"upper_bound": bound, "raw": fmean(scores)}
            return {AESTHETIC_QUALITY: Outcome.of(Score(fmean(shares), curve, details))}

        wants = FrameRequest(rate=Fraction(str(self.rate)), filter=Filter.BICUBIC)
        frames = Singly(wants, judge)
        return Work(conclude, [frames])


def best_tenth(scores: list[float]) -> float:
    """Return the relative reference upper bound: the mean of the best tenth, at least of one.

    >>> best_tenth([1.0] * 18 + [7.0, 8.0])
    7.5
    """
    if not scores:
        raise ValueError("no scores to take the best of")
    count = max(1, round(len(scores) * BEST))
    return float(np.sort(np.asarray(scores, np.float64))[-count:].mean())


TECHNICAL_QUALITY = "locot2v_technical_quality"
MOST_FRAMES = 96
"""Of one segment at a chosen rate."""
USUAL_RATE = Fraction(4)
MOST_BYTES = 2**30
"""Of the pictures of one segment where the model wants every frame."""


@register("metric", TECHNICAL_QUALITY, summary="absence of technical artefacts, segment by segment")
@dataclass(frozen=True, kw_only=True)
class VideoTechnicalQuality:
    """Technical quality: noise, blur, blocks and other artefacts, in segments below ten seconds.

    The paper's model (DOVER++) was trained on videos of about ten seconds. So the video is cut into
    equal segments, each shorter than that; the score is their mean. DOVER++ samples among all
    frames of a segment: a backend that does says ``native_rate``, and is handed every frame. Of
    large pictures the segments are shorter then, so that one stays within a gigabyte.
    """

    segment_seconds: float = 10.0
    rate: float = 0.0
    """How many frames per second of a segment the model is handed. 0 is what the model wants: every
    frame, where it says so, else four a second."""

    info = MetricInfo(outputs=declared(TECHNICAL_QUALITY), level=Level.CLIP, roles=("technical",))

    def __post_init__(self) -> None:
        if self.segment_seconds <= 0 or not 0 <= self.rate * self.segment_seconds <= MOST_FRAMES:
            raise BadOption(f"{TECHNICAL_QUALITY}: a segment has 1 to {MOST_FRAMES} frames")

    def start(self, item: Item, resources: Resources) -> Work:
        """One pass; the frames of one segment are kept at a time."""
        backend: Technical = resources.role("technical")
        video = resources.info(item.video)
        every = not self.rate and bool(getattr(backend, "native_rate", False))
        fitting = MOST_BYTES / (video.width * video.height * 3 * video.rate)
        longest, rate = Fraction(str(self.segment_seconds)), Fraction(str(self.rate)) or USUAL_RATE
        spans = segments(video.span, min(longest, fitting) if every else longest)
        wanted = FrameRequest() if every else FrameRequest(rate=rate)
        pieces = _Segments(backend, spans, wanted)

        def conclude() -> Outcomes:
            pieces.light.require()
            if not pieces.points:
                failure = pieces.failure or Failure(Reason.NOT_APPLICABLE, "no segment has frames")
                return {TECHNICAL_QUALITY: Outcome(failure=failure)}
            value = fmean(point.value for point in pieces.points)
            details: dict[str, Json] = {
                "segments": len(spans),
                "scored": len(pieces.points),
                "rate": "native" if every else float(rate),
            }
            return {TECHNICAL_QUALITY: Outcome.of(Score(value, tuple(pieces.points), details))}

        return Work(conclude, [pieces])


class _Segments(BaseConsumer):
    """Gathers the frames of a segment, scores them, and lets them go."""

    def __init__(self, backend: Technical, spans: list[Span], wants: FrameRequest) -> None:
        self.wants = wants
        self.points: list[Point] = []
        self.failure: Failure | None = None
        self.light = Light()
        self._backend = backend
        self._spans = spans
        self._place = 0
        self._frames: list[Frame] = []

    def take(self, frame: Frame) -> None:
        self.light.see(frame.image)
        while self._place + 1 < len(self._spans) and frame.time >= self._spans[self._place].end:
            self._flush()
        self._frames.append(frame)

    def close(self, end: Time) -> None:
        self._flush()

    def _flush(self) -> None:
        frames, self._frames = self._frames, []
        span = self._spans[self._place]
        self._place += 1
        if not frames:
            return
        try:
            score = self._backend.score([frame.image for frame in frames])
        except NoValue as error:
            # A black piece shows nothing to judge; the others still do.
            if error.reason is not Reason.NOT_APPLICABLE:
                raise
            self.failure = error.failure
        else:
            self.points.append(Point(span, score))


def segments(span: Span, seconds: Fraction) -> list[Span]:
    """Equal parts, each shorter than ``seconds``.

    >>> [str(part.duration) for part in segments(Span(Fraction(0), Fraction(20)), Fraction(10))]
    ['20/3', '20/3', '20/3']
    """
    count = int(span.duration // seconds) + 1
    part = span.duration / count
    return [Span(span.start + n * part, span.start + (n + 1) * part) for n in range(count)]
