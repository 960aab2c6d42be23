"""Motion smoothness: whether a frame is what its neighbours lead one to expect.

VBench's protocol: every second frame is taken out and made anew by frame interpolation from
those beside it; the mean absolute error against the true frame, as (255 − error) / 255.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from screentest.core import (
    BaseConsumer,
    Frame,
    FrameRequest,
    Item,
    Level,
    MetricInfo,
    Outcome,
    Outcomes,
    OutputInfo,
    Resources,
    Score,
    Size,
    Time,
    register,
)
from screentest.metrics.locot2v._light import Light
from screentest.metrics.locot2v._pairs import BATCH
from screentest.metrics.locot2v._timeline import Timeline
from screentest.metrics.locot2v._work import Work, inapplicable
from screentest.metrics.locot2v.temporal_flickering import difference
from screentest.models.roles import Interpolation

NAME = "locot2v_motion_smoothness"


@register("metric", NAME, version=1, summary="how well frames follow from their neighbours")
def motion_smoothness(*, long_side: int = 0) -> MotionSmoothness:
    """``long_side`` above 0 measures on smaller frames, which is quicker."""
    return MotionSmoothness(long_side)


@dataclass(frozen=True)
class MotionSmoothness:
    """(255 − mean error of interpolated frames) / 255."""

    long_side: int

    info = MetricInfo(
        outputs={NAME: OutputInfo("1 − error of frames interpolated from their neighbours")},
        level=Level.FRAME,
        roles=("interpolation",),
    )

    def start(self, item: Item, resources: Resources) -> Work:
        """One pass over all frames."""
        wants = FrameRequest(size=Size(long_side=self.long_side or None))
        triples = Triples(wants, resources.role("interpolation"))

        def conclude() -> Outcomes:
            smoothness = triples.smoothness
            if not smoothness.count:
                raise inapplicable("the video has fewer than three frames")
            triples.light.require()
            curve = smoothness.curve(resources.info(item.video).span.end)
            return {NAME: Outcome.of(Score(smoothness.mean, curve))}

        return Work(conclude, [triples])


@dataclass
class Triples(BaseConsumer):
    """Even frames, and the odd one between them to compare with what is made of them."""

    wants: FrameRequest
    model: Interpolation
    smoothness: Timeline = field(default_factory=Timeline)
    light: Light = field(default_factory=Light)
    _even: Frame | None = None
    _odd: Frame | None = None
    _waiting: list[tuple[Frame, Frame, Frame]] = field(default_factory=list)

    def take(self, frame: Frame) -> None:
        """Keep it until its neighbours have come."""
        self.light.see(frame.image)
        if frame.index % 2:
            self._odd = frame
            return
        if self._even is not None and self._odd is not None:
            self._waiting.append((self._even, self._odd, frame))
        self._even, self._odd = frame, None
        if len(self._waiting) >= BATCH:
            self._flush()

    def close(self, end: Time) -> None:
        """Work on what waits."""
        self._flush()
        self._even = self._odd = None

    def _flush(self) -> None:
        if not self._waiting:
            return
        triples, self._waiting = self._waiting, []
        made = self.model.midpoint([(one.image, two.image) for one, _, two in triples])
        for (_, true, _), guess in zip(triples, made, strict=True):
            self.smoothness.add(true.time, 1 - difference(guess, true.image) / 255)
