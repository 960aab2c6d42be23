"""Temporal flickering: how little consecutive frames differ, pixel by pixel.

VBench's protocol: the mean over all pairs of frames of their mean absolute difference over all
pixels and channels, as (255 − mean) / 255. It is meant for videos whose content stands still;
motion lowers it too.
"""

from __future__ import annotations

from collections.abc import Sequence

from screentest.core import (
    FrameRequest,
    Item,
    Level,
    MetricInfo,
    Outcome,
    Outcomes,
    OutputInfo,
    Resources,
    Score,
    register,
)
from screentest.metrics.locot2v._pairs import Pair, Pairwise
from screentest.metrics.locot2v._timeline import Timeline
from screentest.metrics.locot2v._work import Work, inapplicable

NAME = "locot2v_temporal_flickering"


@register("metric", NAME, version=1, summary="how little consecutive frames differ in pixels")
def temporal_flickering() -> TemporalFlickering:
    """VBench's temporal flickering, on every frame in its own size."""
    return TemporalFlickering()


class TemporalFlickering:
    """(255 − mean absolute difference) / 255."""

    info = MetricInfo(
        outputs={NAME: OutputInfo("1 − mean absolute difference of consecutive frames")},
        level=Level.FRAME,
    )

    def start(self, item: Item, resources: Resources) -> Work:
        """One pass over all frames."""
        steadiness = Timeline()

        def compare(pairs: Sequence[Pair]) -> None:
            for before, after in pairs:
                steadiness.add(after.time, 1 - difference(before.image, after.image) / 255)

        def conclude() -> Outcomes:
            if not steadiness.count:
                raise inapplicable("the video has one frame, so nothing can flicker")
            frames.light.require()
            score = Score(steadiness.mean, steadiness.curve(resources.info(item.video).span.end))
            return {NAME: Outcome.of(score)}

        frames = Pairwise(FrameRequest(), compare)
        return Work(conclude, [frames])


def difference(first: object, second: object) -> float:
    """The mean absolute difference of two pictures of one size.

    >>> import numpy as np
    >>> difference(np.zeros((2, 2, 3), np.uint8), np.full((2, 2, 3), 51, np.uint8))
    51.0
    """
    import cv2
    import numpy as np

    one, two = np.asarray(first), np.asarray(second)
    return float(cv2.norm(one, two, cv2.NORM_L1)) / one.size
