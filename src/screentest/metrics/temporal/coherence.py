"""Whether a shot moves as a camera and real things do: smoothly, as a whole, from where it was.

Each frame is compared with both of its neighbours by optical flow. Where motion is even, the way
to the next frame is the way to the frame before, turned round. What is left over is acceleration:
that of the whole picture is a camera that jitters, that of its parts is geometry that wobbles.
Content that one neighbour explains and the other does not has just appeared, or is about to vanish.
What stays where all around it moves on is dirt on the lens.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from screentest.core import Image, NoValue, Reason, Traits, register
from screentest.metrics.curve import GREY, Rows, ShotMetric, ShotOutput, declared
from screentest.metrics.functions import metric
from screentest.metrics.static.faults import BENT, STEPS, Floats, Mean, inner, settled
from screentest.metrics.static.picture import BLURRED, SMOOTHED
from screentest.metrics.temporal import steadiness
from screentest.metrics.temporal.motion import SMALLEST, STILL_FILM, flow
from screentest.models.roles import FlowField

Vectors = NDArray[np.float64]
CELL = 8
"""Pixels of a side of the cells whose mean flow is looked at: its finest scale is half of that."""
ROUNDS = 2
"""Rounds of the robust fit after the first."""
ALMOST_NONE = 1e-6 * np.eye(3)
"""What makes a fit of too few places solvable."""
BLOCKS = 16
"""Blocks in the longer side of a picture, in which content is looked for."""
FINE, BLOCK = 3, 9
"""Pixels of a side below which detail is texture, or belongs to one block."""
LEAST_CONTRAST = 2.0
"""Levels of detail in a block below which grain is all there is."""
LEAST_TEXTURE = 1.0
"""Levels of texture that grain and encoding make."""
MOST = 2.0
"""The most by which a block counts: after a cut nothing is where it was."""
WORST_BLOCKS = 0.95
"""The quantile of blocks that stands for a frame: what pops up is small."""
USUAL_SPEED = 4
"""Steps in a quarter of a second, beside which what motion does to texture does not count."""
FEWEST_STEPS = 8
"""Steps of a shot below which it is chance how even they are."""
LEAST_STEP = 0.1
"""Levels of change below which nothing moves."""
LIGHTS = np.log(np.arange(256, dtype=np.float32) + 16)
"""Brightness in which dirt takes as much from what is light as from what is dark."""
SPOT, AROUND = 11, 17
"""Pixels of what may be dirt, and of what is around it."""
FAINTEST = 0.15
"""The detail, in e-folds of light, below which nothing shows whether it stays."""
STRONGEST = 5.0
"""How much stronger than around it detail may count."""
STAYS = 24
"""Frames after which what was seen before counts for little."""


@register("metric", "coherence", version=2, summary="whether geometry, camera and content hold")
def coherence() -> ShotMetric:
    """Every frame is looked at."""
    return ShotMetric(COHERENCE, GREY, Neighbours, "fewer than three frames have no acceleration")


class Neighbours:
    """Compares each frame with the one before and the one after it, one frame late."""

    def __init__(self) -> None:
        self._last: list[Image] = []
        self._mean, self._power = Mean(STAYS), Mean(STAYS)

    def __call__(self, image: Image) -> tuple[float, float, float, float, float] | None:
        """Jitter, warping, popping and dirt, and the change since the frame before."""
        import cv2

        before = [item for item in self._last if item.shape == image.shape]
        self._last = [*before[-1:], image]
        if min(image.shape) < SMALLEST:
            return None
        light = LIGHTS[inner(image)]
        detail = np.asarray(cv2.blur(light, (3, 3)) - cv2.blur(light, (SPOT, SPOT)))
        stays = staying(self._mean(detail), self._power(detail * detail))
        if len(before) < 2:
            return None
        first, middle, last = (*before, image)
        back, on = flow(middle, first), flow(middle, last)
        popped = popping(first, middle, last, back, on)
        return *accelerations(back, on), popped, stays, steadiness.moved(middle, last)


def staying(mean: Floats, power: Floats) -> float:
    """Return how much strong detail stays, beyond the share that stays around it.

    >>> power = np.random.default_rng(0).normal(0, 1, (64, 64)).astype(np.float32) ** 2
    >>> moves, spot = np.zeros((2, 64, 64), np.float32)
    >>> spot[30:34, 30:34] = 1
    >>> staying(moves, power), staying(spot, np.maximum(power, spot)) > 0.001
    (0.0, True)
    """
    import cv2

    own, least = mean * mean, np.float32(FAINTEST**2)
    around, stays = (cv2.blur(item, (AROUND, AROUND)) for item in (power, own))
    beyond = np.maximum(own / (power + least / 4) - stays / (around + least / 4), 0)
    return float((beyond * np.minimum(own / (around + least), STRONGEST)).mean())


def accelerations(back: FlowField, on: FlowField) -> tuple[float, float]:
    """Return the acceleration of all of the picture and of its parts.

    Both are shares of the motion, beside one step that any flow is wrong by.

    >>> even = np.full((64, 64, 2), 2.0, np.float32)
    >>> accelerations(-even, even)
    (0.0, 0.0)
    """
    height, width = on.shape[:2]
    size, scale = (width // CELL, height // CELL), STEPS / max(height, width)
    into, out = (_mean_of(field, size[::-1]).astype(np.float64) * scale for field in (back, on))
    speed = sum(np.sqrt((way * way).sum(axis=2)) for way in (into, out)) / 2
    shift, rest = without_affine((into + out).reshape(-1, 2), *speed.shape)
    around = _around(rest.reshape(speed.shape)) / (_around(speed) + 1)
    return float(np.hypot(*shift)) / (1 + float(np.median(speed))), float(np.median(around))


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
    detail = _mean_of(_detail(middle, BLOCK), size) + LEAST_CONTRAST
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


def _detail(picture: Image, side: int) -> Floats:
    """Return how strong detail is that is smaller than ``side`` pixels."""
    import cv2

    single = picture.astype(np.float32)
    return np.asarray(np.abs(single - cv2.blur(single, (side, side))))


def _within(blocks: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
    """Return the blocks that are not at an edge, where a camera that moves shows what is new."""
    return blocks[1:-1, 1:-1] if min(blocks.shape) > 2 else blocks


def _mean_of(values: NDArray[np.float32], size: tuple[int, int]) -> NDArray[np.float32]:
    import cv2

    return np.asarray(cv2.resize(values, size[::-1], interpolation=cv2.INTER_AREA))


def moved(picture: Image | Floats, field: FlowField) -> NDArray[np.float32]:
    """Return the picture as it is where the flow leads."""
    import cv2

    height, width = picture.shape
    across = field[..., 0] + np.arange(width, dtype=np.float32)
    down = field[..., 1] + np.arange(height, dtype=np.float32)[:, None]
    source, edge = picture.astype(np.float32), cv2.BORDER_REPLICATE
    return np.asarray(cv2.remap(source, across, down, cv2.INTER_LINEAR, borderMode=edge))


def skipped(rows: Rows) -> float:
    """Return by how much steps exceed both of their neighbours, in e-folds: root mean square.

    Where a frame is missing, one change is twice as large as those beside it.

    >>> steps = np.full((18, 5), 4.0)
    >>> steps[9, 4] = 8.0
    >>> skipped(steps[:9].repeat(2, 0)), round(skipped(steps), 2)
    (0.0, 0.18)
    """
    steps = np.log(steadiness.own(rows)[:, 4] + LEAST_STEP)
    if len(steps) < FEWEST_STEPS:
        raise NoValue(Reason.NOT_APPLICABLE, f"fewer than {FEWEST_STEPS} steps are too few")
    leaps = np.clip(steps[1:-1] - np.maximum(steps[:-2], steps[2:]), 0, 1)
    return float(np.sqrt((leaps * leaps).mean()))


_INFO = declared("coherence")
_HELPED = Traits((*STILL_FILM, BLURRED, SMOOTHED))
"""What stands still does not wobble, and flow sees little of what is blurred."""
COHERENCE = {
    "jitter": ShotOutput(_INFO["jitter"], steadiness.own_mean(0), Traits(STILL_FILM)),
    "warping": ShotOutput(_INFO["warping"], steadiness.own_mean(1), _HELPED),
    "popping": ShotOutput(_INFO["popping"], steadiness.own_mean(2), _HELPED),
    "dirt": ShotOutput(_INFO["dirt"], settled(3), Traits((*STILL_FILM, BLURRED, *BENT))),
    "skipped": ShotOutput(_INFO["skipped"], skipped, Traits(STILL_FILM)),
}


def mean_inside(rows: Rows) -> float:
    """Return the mean of a shot, without the pair that may be across the cut before it."""
    return float((rows[1:] if len(rows) > 2 else rows)[:, 0].mean())


@metric(
    version=2,
    summary="things whose texture melts away or comes back as they move",
    outputs={"melting": ShotOutput(declared("melting")["melting"], mean_inside, _HELPED)},
    request=GREY,
    nothing="one frame does not change",
)
def melting(before: Image, after: Image) -> float | None:
    """How far texture differs from that a quarter of a second before, moved on, in e-folds.

    What changes all of the picture, as focus does, is left out. What moves far is blurred by it:
    so the difference is that beside the motion.

    >>> frame = np.random.default_rng(0).integers(0, 256, (90, 160)).astype(np.uint8)
    >>> melting(frame, frame)
    0.0
    """
    if min(after.shape) < SMALLEST:
        return None
    back, size = flow(after, before), _size(after)
    first, last = (_detail(item, FINE) for item in (before, after))
    was, now = _mean_of(moved(first, back), size), _mean_of(last, size)
    lost = np.log((now + LEAST_TEXTURE) / (was + LEAST_TEXTURE))
    speed = np.sqrt((back * back).sum(axis=2)) * (STEPS / max(after.shape))
    beyond = _around(lost - np.median(lost)) / (1 + _mean_of(speed, size) / USUAL_SPEED)
    return float(np.abs(_within(beyond)).mean())
