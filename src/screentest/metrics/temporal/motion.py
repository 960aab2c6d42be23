"""What changes from frame to frame: motion, held frames, flicker."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from screentest.core import Image, NoValue, Reason, Score, SideEffect, Traits, register
from screentest.metrics.curve import (
    GREY,
    FilmMetric,
    ShotMetric,
    ShotOutput,
    at_rate,
    declared,
    mean_of,
)
from screentest.metrics.functions import metric
from screentest.metrics.static.picture import BLURRED, GRAINY, SMOOTHED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from screentest.metrics.curve import Rows, SeenShots
    from screentest.models.roles import FlowField


FASTEST = 0.05
"""The share of the picture that moves most: a small thing that moves is motion too."""
SMALLEST = 16
STILL_FILM = (SideEffect("frozen"), SideEffect("steadiness.held"))


@metric(
    summary="how fast things move, by optical flow",
    outputs=declared("motion"),
    request=GREY,
    nothing="one frame does not move",
)
def motion(before: Image, after: Image, *, rate: float = 8.0) -> tuple[float, float] | None:
    """Speed of all of the picture, and of what is fastest: picture diagonals a second."""
    if min(after.shape) < SMALLEST:
        return None
    speed = lengths(flow(before, after))
    most = max(1, int(FASTEST * speed.size))
    scale = rate / float(np.hypot(*after.shape))
    return float(speed.mean()) * scale, float(largest(speed, most).mean()) * scale


def flow(before: Image, after: Image) -> FlowField:
    """Return where each pixel went, by OpenCV's dense inverse search at its quickest."""
    import cv2

    # A new one for each pair: a small picture changes its scales for good.
    search: Any = cv2.DISOpticalFlow.create(cv2.DISOpticalFlow_PRESET_ULTRAFAST)
    # The rows of a decoded picture may have a margin; DIS takes none.
    pair = np.ascontiguousarray(before), np.ascontiguousarray(after)
    field: FlowField = search.calc(*pair, None)
    return field


def lengths(field: FlowField) -> NDArray[np.float64]:
    """Return the length of each vector of a flow field, the same wherever the field is in memory.

    cv2.magnitude is not: it rounds in two ways, by the address of its result.

    >>> lengths(np.array([[[3, 4], [0, 1]]], np.float32))
    array([5., 1.])
    """
    across, down = (field[..., axis].astype(np.float64).ravel() for axis in (0, 1))
    return np.asarray(np.sqrt(across * across + down * down))


def largest(values: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """Return the ``count`` largest values in order: sums of what partition leaves may differ.

    >>> largest(np.array([3.0, 1.0, 4.0, 1.5]), 2)
    array([3., 4.])
    """
    return np.sort(np.partition(values, -count)[-count:])


def change(before: Image, after: Image) -> float:
    """Return the mean change from one picture to the next, in levels of brightness."""
    import cv2

    return float(cv2.mean(cv2.absdiff(before, after))[0])


def longest(rows: Rows) -> float:
    """Return the longest row of held frames in a shot, in frames.

    >>> longest(np.array([[0], [1], [1], [0], [1]]))
    2.0
    """
    held = np.concatenate(([0], rows[:, 0] > 0, [0])).astype(int)
    edges = np.flatnonzero(np.diff(held))
    return float((edges[1::2] - edges[::2]).max()) if len(edges) else 0.0


FROZEN = declared("frozen")


@metric(
    summary="time in which the picture stands still",
    outputs={
        # No two noisy frames are the same.
        "frozen": ShotOutput(FROZEN["frozen"], mean_of(0), Traits((GRAINY,))),
        "longest_hold": ShotOutput(FROZEN["longest_hold"], longest, Traits((GRAINY,))),
    },
    rate=None,
    request=GREY,
    nothing="one frame cannot stand still",
)
def frozen(before: Image, after: Image, *, level: float = 0.05) -> float:
    """1 for a held frame, whose mean change is up to ``level`` levels of brightness; else 0.

    Even a still scene has grain that changes from frame to frame; a held frame has none. What
    the encoder does to a held frame stays far below a level of brightness.
    """
    return float(change(before, after) <= level)


@register("metric", "flicker", summary="pictures that jump from frame to frame")
def flicker() -> ShotMetric:
    """Every frame is looked at."""
    return ShotMetric(FLICKER, GREY, Flicker, "fewer than three frames cannot flicker")


class Flicker:
    """The smaller one of the steps into a frame and out of it, one frame late.

    A cut is one jump. Where every frame jumps, both steps are large: so the smaller of the two is
    what counts, and a cut between two calm shots has none.
    """

    def __init__(self) -> None:
        self._last: Image | None = None
        self._step: float | None = None

    def __call__(self, image: Image) -> tuple[float] | None:
        """In levels of brightness; None for the first two frames, and where the size changes."""
        last, self._last = self._last, image
        into, self._step = self._step, None
        if last is not None and last.shape == image.shape:
            self._step = change(last, image)
        return None if into is None or self._step is None else (min(into, self._step),)


FLICKER = {
    "flicker": ShotOutput(
        declared("flicker")["flicker"],
        mean_of(0),
        # What moves changes, and the more the finer its detail is; where frames are out of order
        # as well, it is flicker.
        Traits(
            (
                *(
                    replace(item, unless="steadiness.returning")
                    for item in (*STILL_FILM, SideEffect("steadiness.uneven"), BLURRED, SMOOTHED)
                ),
                SideEffect("lens.vignette"),
                SideEffect("lens.doubled"),
            )
        ),
    )
}


# Loops: a clip that goes round, as when a generator falls back to its first frames.


GRID = (12, 8)
"""Columns and rows to which a picture is reduced."""
SHORTEST = 0.5
"""Seconds: what comes back sooner is flicker."""
LONGEST = 120
"""Seconds: a film that long has shots, which ``repeated_shots`` looks up."""


@register("metric", "loops", version=1, summary="time that repeats what was shown before")
def loops(*, rate: float = 8.0, level: float = 1.0) -> FilmMetric:
    """Compares each stretch with those before it, across cuts; a held picture is no loop.

    ``level``: the mean difference, in levels, up to which two pictures are the same.
    """
    score = partial(repeated, rate=rate, level=level)
    return FilmMetric("loops", at_rate(GREY, rate), fields, score)


def fields(image: Image) -> list[float]:
    """Return the picture in 12 × 8 fields."""
    import cv2

    small = cv2.resize(image, GRID, interpolation=cv2.INTER_AREA)
    result: list[float] = small.astype(np.float64).ravel().tolist()
    return result


def repeated(seen: SeenShots, shots: int, *, rate: float, level: float) -> Score:
    """Return the share of frames in stretches that were there before, with something else in
    between."""
    rows = np.concatenate([rows for _, rows in seen]) if seen else np.empty((0, 1))
    least = max(2, round(SHORTEST * rate))
    if len(rows) < 2 * least:
        raise NoValue(Reason.NOT_APPLICABLE, f"a loop takes {2 * SHORTEST:g} s or more")
    if len(rows) > LONGEST * rate:
        raise NoValue(
            Reason.NOT_APPLICABLE,
            f"longer than {LONGEST} s: loops are looked for in clips",
            advice="repeated_shots is for films.",
        )
    again = repeats(rows, least, level)
    return Score(float(again.mean()), (), {"shots": shots, "frames": len(rows)})


def repeats(rows: Rows, least: int, level: float) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return which frames belong to ``least`` or more in a row that were all shown ``lag`` frames
    before.

    >>> once = np.arange(0.0, 80.0, 10.0)[:, None]
    >>> repeats(np.concatenate([once, once]), 4, 1.0).astype(int).tolist()
    [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1]
    >>> bool(repeats(np.zeros((16, 1)), 4, 1.0).any())
    False
    """
    result = np.zeros(len(rows), bool)
    for lag in range(least, len(rows) - least + 1):
        same = np.abs(rows[lag:] - rows[:-lag]).mean(axis=1) <= level
        run = 0
        for place, alike in enumerate(same):
            run = run + 1 if alike else 0
            if run >= least:
                stretch = rows[place - run + 1 : place + lag + 1]
                # Where the picture stands still all the while, nothing comes back.
                if float(np.abs(stretch - stretch[0]).mean(axis=1).max()) > 2 * level:
                    result[lag + place - run + 1 : lag + place + 1] = True
    return result
