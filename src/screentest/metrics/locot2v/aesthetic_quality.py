"""Aesthetic quality: how beautiful the frames are, one per second.

The paper's model (Aesthetic Predictor V2.5) says 1 to 10, but hardly anything reaches 10. So
the mean is divided by a reference that can be reached: the mean of the best tenth of a set of
good pictures. ``screentest suite locot2v upper-bound DIR`` computes it; without one, the top of
the backend's own scale is taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from screentest.core import (
    BadOption,
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
    Point,
    Resources,
    Score,
    Span,
    Time,
    register,
)
from screentest.metrics.locot2v._light import Light
from screentest.metrics.locot2v._timeline import mean
from screentest.metrics.locot2v._work import Work
from screentest.models.roles import Aesthetic

NAME = "locot2v_aesthetic_quality"
BATCH = 4
BEST = 0.1
"""The share of reference pictures that makes the upper bound."""


@register("metric", NAME, version=1, summary="beauty of one frame per second")
def aesthetic_quality(*, upper_bound: float = 0.0, rate: float = 1.0) -> AestheticQuality:
    """``upper_bound`` of 0 stands for the top of the backend's scale."""
    if upper_bound < 0 or rate <= 0:
        raise BadOption(f"{NAME}: upper_bound is not below 0 and rate is above 0")
    return AestheticQuality(upper_bound, Fraction(str(rate)))


@dataclass(frozen=True)
class AestheticQuality:
    """Mean over frames, as a share of the upper bound; never above 1."""

    upper_bound: float
    rate: Fraction

    info = MetricInfo(
        outputs={NAME: OutputInfo("mean aesthetic score as a share of the upper bound")},
        level=Level.FRAME,
        roles=("aesthetic",),
    )

    def start(self, item: Item, resources: Resources) -> Work:
        """One pass over one frame per second."""
        backend: Aesthetic = resources.role("aesthetic")
        bound = self.upper_bound or backend.scale[1]
        beauty = _Beauty(backend, FrameRequest(rate=self.rate, filter=Filter.BICUBIC))

        def conclude() -> Outcomes:
            beauty.light.require()
            shares = [min(1.0, max(0.0, score / bound)) for score in beauty.scores]
            end = resources.info(item.video).span.end
            borders = [*beauty.times, max(end, beauty.times[-1])]
            curve = tuple(
                Point(Span(start, stop), share)
                for start, stop, share in zip(borders, borders[1:], shares, strict=False)
            )
            details = {"upper_bound": bound, "raw": mean(beauty.scores)}
            return {NAME: Outcome.of(Score(mean(shares), curve, details))}

        return Work(conclude, [beauty])


class _Beauty(BaseConsumer):
    """Scores frames, a few at a time."""

    def __init__(self, backend: Aesthetic, wants: FrameRequest) -> None:
        self.wants = wants
        self.times: list[Time] = []
        self.scores: list[float] = []
        self.light = Light()
        self._backend = backend
        self._waiting: list[Frame] = []

    def take(self, frame: Frame) -> None:
        self.light.see(frame.image)
        self._waiting.append(frame)
        if len(self._waiting) >= BATCH:
            self._flush()

    def close(self, end: Time) -> None:
        self._flush()

    def _flush(self) -> None:
        if self._waiting:
            frames, self._waiting = self._waiting, []
            self.times += [frame.time for frame in frames]
            found = self._backend.score([frame.image for frame in frames])
            self.scores += [float(score) for score in found]


def best_tenth(scores: list[float]) -> float:
    """The relative reference upper bound: the mean of the best tenth, at least of one.

    >>> best_tenth([1.0] * 18 + [7.0, 8.0])
    7.5
    """
    if not scores:
        raise ValueError("no scores to take the best of")
    count = max(1, round(len(scores) * BEST))
    return float(np.sort(np.asarray(scores, np.float64))[-count:].mean())
