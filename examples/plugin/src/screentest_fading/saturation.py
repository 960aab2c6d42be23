"""Saturation: how far red, green and blue lie apart, over time."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from screentest.core import (
    BaseConsumer,
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
    Size,
    Span,
    Time,
    register,
)


# Raise the version whenever the numbers change: it stands in their signature.
@register("metric", "saturation", version=1, summary="how colourful a video is")
def saturation(*, rate: float = 2.0) -> Saturation:
    """``rate``: frames a second. Options of the factory are options of the metric."""
    return Saturation(rate)


def saturation_of(image: np.ndarray) -> float:
    """0 for grey, 1 where one channel is full and another empty everywhere.

    >>> saturation_of(np.full((2, 2, 3), 90, np.uint8))
    0.0
    """
    return float(np.mean(image.max(axis=2) - image.min(axis=2))) / 255


class Saturation:
    """Declares what it gives; the work on one video is a measurement's."""

    info = MetricInfo(
        {"saturation": OutputInfo("mean distance of the channels: 0 grey")}, Level.FRAME
    )

    def __init__(self, rate: float) -> None:
        self._wants = FrameRequest(Fraction(rate).limit_denominator(1000), Size(long_side=128))

    def start(self, item: Item, resources: Resources) -> SaturationMeasurement:
        """Begin on one video."""
        return SaturationMeasurement(self._wants)


class SaturationMeasurement(BaseConsumer):
    """Takes frames as they are decoded, once for all metrics. Keeps numbers, not frames."""

    def __init__(self, wants: FrameRequest) -> None:
        self.wants = wants
        self.consumers = (self,)
        self._values: list[tuple[Time, float]] = []
        self._end = Fraction(0)

    def take(self, frame: Frame) -> None:
        """Measure one frame."""
        self._values.append((frame.time, saturation_of(frame.image)))

    def close(self, end: Time) -> None:
        """The last frame lasted until ``end``."""
        self._end = end

    def finish(self) -> Outcomes:
        """The mean, with the curve. What cannot be measured has a reason, and is never 0."""
        if not self._values:
            raise NoValue(Reason.NOT_APPLICABLE, "no frame was seen")
        ends = [time for time, _ in self._values[1:]] + [self._end]
        curve = tuple(
            Point(Span(time, end), value)
            for (time, value), end in zip(self._values, ends, strict=True)
        )
        mean = sum(point.value for point in curve) / len(curve)
        return {"saturation": Outcome.of(Score(mean, curve))}
