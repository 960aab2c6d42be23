"""Whether a shot moves as a camera and real things do: smoothly, as a whole, from where it was.

Each frame is compared with both of its neighbours by optical flow. Where motion is even, the way
to the next frame is the way to the frame before, turned round. What is left over is acceleration:
that of the whole picture is a camera that jitters, that of its parts is geometry that wobbles.
Content that one neighbour explains and the other does not has just appeared, or is about to vanish.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from screentest.core import Image, NoValue, Reason, Traits, register
from screentest.metrics.curve import GREY, Rows, ShotMetric, ShotOutput, declared
from screentest.metrics.functions import metric
from screentest.metrics.static.picture import BLURRED, SMOOTHED
from screentest.metrics.temporal.motion import SMALLEST, STILL_FILM
from screentest.models.roles import FlowField

Vectors = NDArray[np.float64]
CELL = 8
"""Pixels of a side of the cells whose mean flow is looked at: its finest scale is half of that."""
ROUNDS = 2
"""Rounds of the robust fit after the first."""
ALMOST_NONE = 1e-6 * np.eye(3)
"""What makes a fit of too few places solvable."""
STEPS = 640
"""Steps in the longer side of a picture: motion is measured in them."""
BLOCKS = 16
"""Blocks in the longer side of a picture, in which content is looked for."""
LEAST_CONTRAST = 2.0
"""Levels of detail in a block below which grain is all there is."""
MOST = 2.0
"""The most by which a block counts: after a cut nothing is where it was."""
WORST_BLOCKS = 0.95
"""The quantile of blocks that stands for a frame: what pops up is small."""
USUAL_SPEED = 16
"""Steps in a quarter of a second, beside which what is uncovered does not count."""
LONGEST = 0.95
"""The quantile of steps that stands for those over missing frames."""


@register("metric", "coherence", summary="whether geometry, camera and content stay together")
def coherence() -> ShotMetric:
    """Every frame is looked at."""
    return ShotMetric(COHERENCE, GREY, Neighbours, "fewer than three frames have no acceleration")


class Neighbours:
    """Compares each frame with the one before and the one after it, one frame late."""

    def __init__(self) -> None:
        self._last: list[Image] = []

    def __call__(self, image: Image) -> tuple[float, float, float, float, float] | None:
        """Jitter, warping and popping, and the steps into the frame and out of it."""
        # The rows of a decoded picture may have a margin; DIS takes none.
        picture = np.ascontiguousarray(image)
        before = [item for item in self._last if item.shape == picture.shape]
        self._last = [*before[-1:], picture]
        if len(before) < 2 or min(picture.shape) < SMALLEST:
            return None
        first, middle, last = (*before, picture)
        back, on = flow(middle, first), flow(middle, last)
        whole, warped, steps = accelerations(back, on)
        return whole, warped, popping(first, middle, last, back, on), *steps


def flow(before: Image, after: Image) -> FlowField:
    """Return where each pixel went, by dense inverse search at its quickest."""
    import cv2

    # A new one for each pair: a small picture changes its scales for good.
    search: Any = cv2.DISOpticalFlow.create(cv2.DISOpticalFlow_PRESET_ULTRAFAST)
    field: FlowField = search.calc(before, after, None)
    return field


def accelerations(back: FlowField, on: FlowField) -> tuple[float, float, tuple[float, float]]:
    """Return the acceleration of all of the picture and of its parts, and the length of both steps.

    Both are shares of the motion, beside one step that any flow is wrong by.

    >>> even = np.full((64, 64, 2), 2.0, np.float32)
    >>> accelerations(-even, even)[:2]
    (0.0, 0.0)
    """
    height, width = on.shape[:2]
    size, scale = (width // CELL, height // CELL), STEPS / max(height, width)
    into, out = (_mean_of(field, size[::-1]).astype(np.float64) * scale for field in (back, on))
    lengths = [np.sqrt((way * way).sum(axis=2)) for way in (into, out)]
    speed = (lengths[0] + lengths[1]) / 2
    shift, rest = without_affine((into + out).reshape(-1, 2), *speed.shape)
    around = _around(rest.reshape(speed.shape)) / (_around(speed) + 1)
    return (
        float(np.hypot(*shift)) / (1 + float(np.median(speed))),
        float(np.median(around)),
        (_root_mean_square(lengths[0]), _root_mean_square(lengths[1])),
    )


def _root_mean_square(values: Vectors) -> float:
    return float(np.sqrt((values * values).mean()))


def without_affine(vectors: Vectors, rows: int, columns: int) -> tuple[Vectors, Vectors]:
    """Return the shift of the whole, and the length of what no affine motion of it explains.

    Places that do otherwise count for little in the fit: they are what is looked for.
    """
    places = _places(rows, columns)
    fit, rest = _fit(vectors, places, places)
    for _ in range(ROUNDS):
        squares = (rest * rest).sum(axis=1)
        usual = float(np.median(squares)) + 1e-6
        weights = 1 / (1 + squares / (4 * usual)) ** 2
        fit, rest = _fit(vectors, places, places * weights[:, None])
    return fit[0], np.sqrt((rest * rest).sum(axis=1))


def _fit(vectors: Vectors, places: Vectors, weighted: Vectors) -> tuple[Vectors, Vectors]:
    fit: Vectors = np.linalg.solve(
        np.asarray(places.T @ weighted + ALMOST_NONE), np.asarray(weighted.T @ vectors)
    ).astype(np.float64)
    return fit, vectors - places @ fit


@cache
def _places(rows: int, columns: int) -> Vectors:
    """Return 1 and the place across and down for each cell, from the middle on."""
    down, across = np.mgrid[:rows, :columns].reshape(2, -1) / max(rows, columns)
    return np.stack([np.ones(len(across)), across - across.mean(), down - down.mean()], axis=1)


def _around(values: Vectors) -> Vectors:
    import cv2

    return np.asarray(cv2.blur(values, (3, 3)))


def popping(first: Image, middle: Image, last: Image, back: FlowField, on: FlowField) -> float:
    """Return how much better one neighbour explains the worst blocks of a frame than the other."""
    size, centre = _size(middle), middle.astype(np.float32)
    detail = _mean_of(np.abs(_detail(centre)), size) + LEAST_CONTRAST
    errors = [
        _mean_of(np.abs(moved(picture, way) - centre), size)
        for picture, way in ((first, back), (last, on))
    ]
    excess = _within(np.minimum(np.abs(errors[0] - errors[1]) / detail, MOST)).ravel()
    place = int(WORST_BLOCKS * (excess.size - 1))
    return float(np.partition(excess, place)[place])


def _size(picture: Image) -> tuple[int, int]:
    """Return how many blocks there are down and across."""
    height, width = (max(1, round(side * BLOCKS / max(picture.shape))) for side in picture.shape)
    return height, width


def _detail(picture: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the picture without what is larger than a block: light may change."""
    import cv2

    return np.asarray(picture - cv2.blur(picture, (9, 9)))


def _within(blocks: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
    """Return the blocks that are not at an edge, where a camera that moves shows what is new."""
    return blocks[1:-1, 1:-1] if min(blocks.shape) > 2 else blocks


def _mean_of(values: NDArray[np.float32], size: tuple[int, int]) -> NDArray[np.float32]:
    import cv2

    return np.asarray(cv2.resize(values, size[::-1], interpolation=cv2.INTER_AREA))


def moved(picture: Image, field: FlowField) -> NDArray[np.float32]:
    """Return the picture as it is where the flow leads."""
    import cv2

    height, width = picture.shape
    across = field[..., 0] + np.arange(width, dtype=np.float32)
    down = field[..., 1] + np.arange(height, dtype=np.float32)[:, None]
    source, edge = picture.astype(np.float32), cv2.BORDER_REPLICATE
    return np.asarray(cv2.remap(source, across, down, cv2.INTER_LINEAR, borderMode=edge))


def _own(rows: Rows) -> Rows:
    """Return the rows of frames with both neighbours in this shot."""
    return rows[2:] if len(rows) > 4 else rows


def _mean(rows: Rows, column: int) -> float:
    return float(_own(rows)[:, column].mean())


def skipped(rows: Rows) -> float:
    """Return by how much the longest steps exceed both of their neighbours, in e-folds.

    Where a frame is missing, one step is twice as long. Most steps are not: the quantile is of the
    few that are.

    >>> even, one_gone = [[0, 0, 0, 4.0, 4.0]] * 9, [[0, 0, 0, 4.0, 8.0], [0, 0, 0, 8.0, 4.0]]
    >>> skipped(np.array(even)), round(skipped(np.array(even + one_gone + even)), 2)
    (0.0, 0.12)
    """
    own = _own(rows)
    steps = np.log(np.append(own[:, 3], own[-1, 4]) + 1)
    if len(steps) < 3:
        raise NoValue(Reason.NOT_APPLICABLE, "fewer than three steps have none beside them")
    leaps = steps[1:-1] - np.maximum(steps[:-2], steps[2:])
    return min(1.0, max(0.0, float(np.quantile(leaps, LONGEST))))


_INFO = declared("coherence")
_HELPED = Traits((*STILL_FILM, BLURRED, SMOOTHED))
"""What stands still does not wobble, and flow sees little of what is blurred."""
COHERENCE = {
    "jitter": ShotOutput(_INFO["jitter"], lambda rows: _mean(rows, 0), Traits(STILL_FILM)),
    "warping": ShotOutput(_INFO["warping"], lambda rows: _mean(rows, 1), _HELPED),
    "popping": ShotOutput(_INFO["popping"], lambda rows: _mean(rows, 2), _HELPED),
    "skipped": ShotOutput(_INFO["skipped"], skipped, Traits(STILL_FILM)),
}


def mean_inside(rows: Rows) -> float:
    """Return the mean of a shot, without the pair that may be across the cut before it."""
    return float((rows[1:] if len(rows) > 2 else rows)[:, 0].mean())


@metric(
    summary="things that change their form or texture as they move",
    outputs={"melting": ShotOutput(declared("melting")["melting"], mean_inside, _HELPED)},
    request=GREY,
    nothing="one frame does not change",
)
def melting(before: Image, after: Image) -> float | None:
    """Share of the detail that is not what was there a quarter of a second before, moved on.

    What moves far uncovers more: so the share is that beside the motion.

    >>> frame = np.random.default_rng(0).integers(0, 256, (90, 160)).astype(np.uint8)
    >>> melting(frame, frame)
    0.0
    """
    if min(after.shape) < SMALLEST:
        return None
    first, last = np.ascontiguousarray(before), np.ascontiguousarray(after)
    back, size = flow(last, first), _size(last)
    now = _detail(last.astype(np.float32))
    error = _mean_of(np.abs(_detail(moved(first, back)) - now), size)
    shares = np.minimum(error / (_mean_of(np.abs(now), size) + LEAST_CONTRAST), MOST)
    speed = np.sqrt((back * back).sum(axis=2)) * (STEPS / max(last.shape))
    return float(_within(shares / (1 + _mean_of(speed, size) / USUAL_SPEED)).mean())
