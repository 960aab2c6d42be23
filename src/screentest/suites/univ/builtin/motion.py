"""How the camera moves, from optical flow: one shift, growth and turn that fit most of a frame.

Points with texture are moved by the flow; the similarity that most of them follow (RANSAC) is
the camera's, and what moves by itself is outvoted. Flow cannot tell a turn of the camera from a
walk beside the scene: a truck is called a pan, a pedestal a tilt, a dolly a zoom.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from screentest.core import Image
from screentest.suites.univ.vocabulary import CameraMotion

if TYPE_CHECKING:
    from screentest.core.item import Time
    from screentest.models.roles import FlowField

LEAST_SHIFT = 0.03
"""Of the picture's width per second: slower drifts are a static shot."""
LEAST_GROWTH = 0.03
"""Growth per second, as a logarithm: 0.03 is three per cent."""
LEAST_SECONDS = 0.5
"""A movement that is shorter is not named."""
WHIP = 1.5
"""Widths per second from which a pan is a whip pan."""
_SMOOTHING = 5
"""Steps over which a movement is averaged: a shaking hand is not a pan."""
_GRID = 6
_TEXTURED = 6.0
"""The local standard deviation of grey from which flow has something to hold on to."""
_FEWEST = 12
_CELL = 12
_NOISE = 1.0
"""Grey levels by which two explanations must differ to count."""


@dataclass(frozen=True, slots=True)
class CameraStep:
    """What the picture does from one frame to the next, per second."""

    start: Time
    end: Time
    right: float
    """Widths."""
    down: float
    """Widths too, so that both axes compare."""
    growth: float
    turn: float


def step_between(
    first: Image, second: Image, field: FlowField, start: Time, end: Time
) -> CameraStep | None:
    """Return the movement of the picture; None where too little of it has texture to tell."""
    import cv2

    height, width = field.shape[:2]
    grey = cv2.cvtColor(first, cv2.COLOR_RGB2GRAY).astype(np.float32)
    mean = cv2.blur(grey, (9, 9))
    spread = np.sqrt(np.maximum(cv2.blur(grey * grey, (9, 9)) - mean * mean, 0))
    rows, columns = np.mgrid[_GRID // 2 : height : _GRID, _GRID // 2 : width : _GRID]
    textured = spread[rows, columns] >= _TEXTURED
    y, x = rows[textured], columns[textured]
    if len(x) < _FEWEST:
        return None
    points = np.stack([x, y], axis=1).astype(np.float32)
    moved = points + field[y, x]
    # From the middle of the picture: growth then moves nothing sideways.
    middle = np.array([(width - 1) / 2, (height - 1) / 2], np.float32)
    fitted: Any
    fitted, _ = cv2.estimateAffinePartial2D(
        points - middle, moved - middle, ransacReprojThreshold=0.7, maxIters=500
    )
    if fitted is None:
        return None
    if not _explains(fitted, middle, grey, second):
        return CameraStep(start, end, 0.0, 0.0, 0.0, 0.0)
    seconds = float(end - start)
    scale = math.hypot(fitted[0, 0], fitted[1, 0])
    return CameraStep(
        start,
        end,
        float(fitted[0, 2]) / width / seconds,
        float(fitted[1, 2]) / width / seconds,
        math.log(max(scale, 1e-6)) / seconds,
        math.atan2(fitted[1, 0], fitted[0, 0]) / seconds,
    )


def _explains(fitted: Any, middle: Any, grey: Any, second: Image) -> bool:
    """Return whether the movement explains more of the picture than stillness does.

    Something large that moves before a plain ground has most of the texture, and would pass for
    the camera. Cell by cell the second frame is compared with the first as it was and as it
    would be after the movement; the ground, which did not change, then votes for stillness.
    """
    import cv2

    height, width = grey.shape
    after = cv2.cvtColor(second, cv2.COLOR_RGB2GRAY).astype(np.float32)
    move = np.array(fitted, np.float64)
    move[:, 2] += middle - move[:, :2] @ middle
    back = cv2.warpAffine(
        after,
        move,
        (width, height),
        flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
        borderMode=cv2.BORDER_REPLICATE,
    )
    cells = (max(1, width // _CELL), max(1, height // _CELL))
    still, moving = (
        cv2.resize(np.abs(picture - grey), cells, interpolation=cv2.INTER_AREA)
        for picture in (after, back)
    )
    for_moving = int(np.sum(still > 1.4 * moving + _NOISE))
    for_still = int(np.sum(moving > 1.4 * still + _NOISE))
    return for_moving >= 1.5 * for_still


def movements(steps: Sequence[CameraStep]) -> list[CameraMotion]:
    """Return what the camera does, in order of time; empty where no step could be measured."""
    if not steps:
        return []
    labels = [_label(step) for step in _smoothed(steps)]
    durations = [float(step.end - step.start) for step in steps]
    runs: list[tuple[CameraMotion, float]] = []
    for label, members in groupby(range(len(labels)), key=lambda place: labels[place]):
        runs.append((label, sum(durations[place] for place in members)))
    long = [run for run in runs if run[1] >= LEAST_SECONDS]
    if not long:  # a short shot, or one that does nothing for long: what it does most
        totals: dict[CameraMotion, float] = {}
        for label, seconds in runs:
            totals[label] = totals.get(label, 0.0) + seconds
        return [max(totals, key=lambda label: totals[label])]
    merged: list[CameraMotion] = []
    for label, _ in long:
        if not merged or merged[-1] is not label:
            merged.append(label)
    return merged


def _smoothed(steps: Sequence[CameraStep]) -> list[CameraStep]:
    reach = _SMOOTHING // 2
    result = []
    for place, step in enumerate(steps):
        near = steps[max(0, place - reach) : place + reach + 1]
        right, down, growth, turn = (
            float(np.median([getattr(item, name) for item in near]))
            for name in ("right", "down", "growth", "turn")
        )
        result.append(CameraStep(step.start, step.end, right, down, growth, turn))
    return result


def _label(step: CameraStep) -> CameraMotion:
    """Return the strongest movement, each measured in how often it exceeds its least."""
    across = abs(step.right) / LEAST_SHIFT
    along = abs(step.down) / LEAST_SHIFT
    # A zoom by g moves the picture's edge by half of g.
    growing = abs(step.growth) / LEAST_GROWTH
    strongest = max(across, along, growing)
    if strongest < 1:
        return CameraMotion.STATIC
    if strongest == growing:
        return CameraMotion.ZOOM_IN if step.growth > 0 else CameraMotion.ZOOM_OUT
    # The picture goes the other way than the camera.
    if strongest == across:
        if abs(step.right) >= WHIP:
            return CameraMotion.WHIP_PAN
        return CameraMotion.PAN_LEFT if step.right > 0 else CameraMotion.PAN_RIGHT
    return CameraMotion.TILT_UP if step.down > 0 else CameraMotion.TILT_DOWN
