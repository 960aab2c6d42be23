"""Technical quality: noise, blur, blocks and other artefacts, in segments below ten seconds.

The paper's model (DOVER++) was trained on videos of about ten seconds. So the video is cut
into equal segments, each shorter than that; the score is their mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from screentest.core import (
    BadOption,
    BaseConsumer,
    Failure,
    Frame,
    FrameRequest,
    Item,
    Level,
    MetricInfo,
    NoValue,
    Outcome,
    Outcomes,
    OutputInfo,
    Point,
    Reason,
    Resources,
    Score,
    Span,
    Time,
    register,
)
from screentest.metrics.locot2v._light import Light
from screentest.metrics.locot2v._timeline import mean
from screentest.metrics.locot2v._work import Work
from screentest.models.roles import Technical

NAME = "locot2v_technical_quality"
MOST_FRAMES = 96
"""Of one segment: what DOVER looks at, and a bound on memory."""


@register("metric", NAME, version=1, summary="absence of technical artefacts, segment by segment")
def technical_quality(*, segment_seconds: float = 10.0, rate: float = 4.0) -> TechnicalQuality:
    """``rate`` is how many frames per second of a segment the model is handed."""
    if segment_seconds <= 0 or not 0 < rate * segment_seconds <= MOST_FRAMES:
        raise BadOption(f"{NAME}: a segment has 1 to {MOST_FRAMES} frames")
    return TechnicalQuality(Fraction(str(segment_seconds)), Fraction(str(rate)))


@dataclass(frozen=True)
class TechnicalQuality:
    """The mean over segments."""

    segment: Fraction
    rate: Fraction

    info = MetricInfo(
        outputs={NAME: OutputInfo("mean technical quality of segments")},
        level=Level.CLIP,
        roles=("technical",),
    )

    def start(self, item: Item, resources: Resources) -> Work:
        """One pass; the frames of one segment are kept at a time."""
        spans = segments(resources.info(item.video).span, self.segment)
        pieces = _Segments(resources.role("technical"), spans, FrameRequest(rate=self.rate))

        def conclude() -> Outcomes:
            pieces.light.require()
            if not pieces.points:
                failure = pieces.failure or Failure(Reason.NOT_APPLICABLE, "no segment has frames")
                return {NAME: Outcome(failure=failure)}
            value = mean(point.value for point in pieces.points)
            details = {"segments": len(spans), "scored": len(pieces.points)}
            return {NAME: Outcome.of(Score(value, tuple(pieces.points), details))}

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
