"""Repeated shots: pictures that were shown before, as when a generator goes round in a loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from screentest.core import (
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
    register,
    timecode,
)
from screentest.metrics._curve import FrameRows
from screentest.metrics._requests import SAMPLED, colour

if TYPE_CHECKING:
    from screentest.core.frames import Image
    from screentest.metrics._curve import Rows

GRID = (8, 6)
"""Columns and rows to which a picture is reduced."""
LEAST_DETAIL = 4.0
"""Deviation of a reduced picture below which it is black or plain: no repetition to speak of."""


@register("metric", "repeated_shots", version=1, summary="shots that were shown before")
def repeated_shots(*, rate: float = SAMPLED, level: float = 3.0) -> RepeatedShots:
    """``level``: the mean difference, in levels, up to which two pictures are the same."""
    return RepeatedShots(rate, level)


class RepeatedShots:
    """Looks each shot up among those before it."""

    info = MetricInfo(
        {
            "repeated_shots": OutputInfo(
                "share of the time in shots that were shown before", higher_is_better=False
            )
        },
        Level.CLIP,
        shots=True,
    )

    def __init__(self, rate: float, level: float) -> None:
        self._frames, self._level = colour(rate), level

    def start(self, item: Item, resources: Resources) -> _Looking:
        """Begin on one video."""
        return _Looking(item, resources, FrameRows(self._frames, reduced), self._level)


class _Looking:
    def __init__(self, item: Item, resources: Resources, rows: FrameRows, level: float) -> None:
        self._item, self._resources, self._rows = item, resources, rows
        self._level = level
        self.consumers = (rows,)

    def finish(self) -> Outcomes:
        """1 for a shot that was there before, 0 for another."""
        shots = self._resources.shots(self._item.video)
        seen = [(shot.span, rows) for shot in shots if len(rows := self._rows.of(shot))]
        if not seen:
            raise NoValue(Reason.NOT_APPLICABLE, "no shot shows anything to compare")
        points = []
        for number, (span, rows) in enumerate(seen):
            twin = next(
                (before for before, other in seen[:number] if same(rows, other, self._level)), None
            )
            note = f"as at {timecode(twin.start)}" if twin else ""
            points.append(Point(span, float(twin is not None), note))
        durations = np.array([float(point.span.duration) for point in points]) + 1e-9
        repeated = np.array([point.value for point in points])
        share = float(durations @ repeated / durations.sum())
        return {"repeated_shots": Outcome.of(Score(share, tuple(points), {"shots": len(shots)}))}


def reduced(image: Image) -> list[float] | None:
    """The picture in 8 × 6 fields; None where it is plain."""
    import cv2

    fields = cv2.resize(image, GRID, interpolation=cv2.INTER_AREA).astype(np.float64)
    flat: list[float] = fields.ravel().tolist()
    return flat if fields.std() >= LEAST_DETAIL else None


def same(one: Rows, two: Rows, level: float) -> bool:
    """Whether the shorter of two shots runs through the longer one, picture by picture.

    A second shot from the same angle begins like the first and then goes its own way.
    """
    short, long = sorted((one, two), key=len)
    for start in range(len(long) - len(short) + 1):
        apart = np.abs(long[start : start + len(short)] - short).mean(axis=1)
        if float(apart.max()) <= level:
            return True
    return False
