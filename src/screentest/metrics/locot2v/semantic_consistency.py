"""Semantic consistency: how little the meaning of the picture jumps from frame to frame.

EvalCrafter's protocol with another encoder: the mean cosine similarity of the features of
consecutive frames. The paper takes SigLIP 2 for the features.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from screentest.core import (
    BaseConsumer,
    Filter,
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
from screentest.metrics.locot2v._timeline import Timeline
from screentest.metrics.locot2v._work import Work, inapplicable
from screentest.models.roles import ImageFeatures

if TYPE_CHECKING:
    from screentest.models.roles import Vectors

NAME = "locot2v_semantic_consistency"
BATCH = 8
SHORT_SIDE = 384
"""No encoder of this role looks at more."""


@register("metric", NAME, version=1, summary="similarity of consecutive frames' features")
def semantic_consistency() -> SemanticConsistency:
    """On every frame."""
    return SemanticConsistency()


class SemanticConsistency:
    """Mean cosine similarity of consecutive frames."""

    info = MetricInfo(
        outputs={NAME: OutputInfo("mean cosine of consecutive frames' features", low=-1.0)},
        level=Level.FRAME,
        roles=("image_features",),
    )

    def start(self, item: Item, resources: Resources) -> Work:
        """One pass over all frames."""
        likeness = _Likeness(resources.role("image_features"))

        def conclude() -> Outcomes:
            if not likeness.line.count:
                raise inapplicable("the video has one frame, which is consistent with nothing")
            likeness.light.require()
            curve = likeness.line.curve(resources.info(item.video).span.end)
            return {NAME: Outcome.of(Score(likeness.line.mean, curve))}

        return Work(conclude, [likeness])


class _Likeness(BaseConsumer):
    """Features of frames, a few at a time; only the last vector is kept."""

    wants = FrameRequest(size=Size(short_side=SHORT_SIDE), filter=Filter.AREA)

    def __init__(self, encoder: ImageFeatures) -> None:
        self.line = Timeline()
        self.light = Light()
        self._encoder = encoder
        self._waiting: list[Frame] = []
        self._last: Vectors | None = None

    def take(self, frame: Frame) -> None:
        self.light.see(frame.image)
        self._waiting.append(frame)
        if len(self._waiting) >= BATCH:
            self._flush()

    def close(self, end: Time) -> None:
        self._flush()

    def _flush(self) -> None:
        if not self._waiting:
            return
        frames, self._waiting = self._waiting, []
        for frame, vector in zip(
            frames, self._encoder.features([one.image for one in frames]), strict=True
        ):
            if self._last is not None:
                self.line.add(frame.time, float(vector @ self._last))
            self._last = vector
