"""A shot described from pixels: what numbers can tell is filled in, all else stays empty.

Hue, saturation, contrast and brightness come from plain statistics of a frame. The borders
between the words are ours: no paper draws them. They stand here as constants and in the docs with
what they mean.

How the camera moves comes from optical flow: one shift, growth and turn that fit most of a frame.
Points with texture are moved by the flow; the similarity that most of them follow (RANSAC) is
the camera's, and what moves by itself is outvoted. Flow cannot tell a turn of the camera from a
walk beside the scene: a truck is called a pan, a pedestal a tilt, a dolly a zoom.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from screentest.core import BaseConsumer, Frame, FrameRequest, Image, Resources, Size, Span, Time
from screentest.suites.univ.schema import NOTHING, Colour, Description, Lighting
from screentest.suites.univ.vocabulary import VOCABULARIES, Vocabulary

if TYPE_CHECKING:
    from screentest.models.roles import FlowField

RATE = Fraction(8)
LONG_SIDE = 192
GREY_BELOW = 0.10
"""Mean chroma up to which a picture counts as grey."""
PLAIN_SHARE = 0.65
"""The share of all colour that must lie on one side for a tone to be warm or cool."""
BORDERS = {
    "colour_saturation": ("chroma", 0.35, 0.15),
    "colour_contrast": ("contrast", 0.25, 0.13),
    "lighting_brightness": ("luma", 0.60, 0.30),
}
"""What is measured, from where on it is high, and below which it is low."""
_WARM_TO, _WARM_FROM = 70.0, 330.0
"""Degrees of hue: from pink over red and orange to yellow."""


@dataclass(frozen=True, slots=True)
class FrameLook:
    """What was measured on one frame, or the mean of several; all in 0 to 1."""

    luma: float
    contrast: float
    chroma: float
    """The largest of red, green and blue minus the smallest, on average."""
    warm: float
    """The share of all chroma that is warm."""


def look_at(image: Image) -> FrameLook:
    """Measure an RGB picture.

    >>> grey = look_at(np.full((4, 4, 3), 51, np.uint8))
    >>> round(grey.luma, 3), grey.contrast < 1e-6, grey.chroma
    (0.2, True, 0.0)
    """
    import cv2

    rgb = image.astype(np.float32) / 255.0
    luma = rgb @ np.array([0.2126, 0.7152, 0.0722], np.float32)
    high, low = rgb.max(axis=2), rgb.min(axis=2)
    chroma = high - low
    total = float(chroma.sum())
    degrees = cv2.cvtColor(rgb, cv2.COLOR_RGB2HSV)[..., 0]
    is_warm = (degrees <= _WARM_TO) | (degrees >= _WARM_FROM)
    warm = float(chroma[is_warm].sum()) / total if total > 0 else 0.0
    return FrameLook(float(luma.mean()), float(luma.std()), float(chroma.mean()), warm)


def mean_look(looks: list[FrameLook]) -> FrameLook:
    """Return the middle of several looks, each number on its own."""
    columns = np.array([[look.luma, look.contrast, look.chroma, look.warm] for look in looks])
    return FrameLook(*(float(value) for value in np.median(columns, axis=0)))


def hue(look: FrameLook) -> Vocabulary:
    """Return the overall tone."""
    warm, cool, neutral, several = VOCABULARIES["colour_hue"]
    if look.chroma < GREY_BELOW:
        return neutral
    if look.warm >= PLAIN_SHARE:
        return warm
    return cool if look.warm <= 1 - PLAIN_SHARE else several


def strength(about: str, look: FrameLook) -> Vocabulary:
    """Return how strong the colours are, how far light and dark lie apart, or how bright it is."""
    high, medium, low = VOCABULARIES[about]
    measured, high_from, low_below = BORDERS[about]
    value: float = getattr(look, measured)
    if value >= high_from:
        return high
    return low if value < low_below else medium


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
_MOTIONS = VOCABULARIES["camera_motion"]
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
        return CameraStep(start, end, 0.0, 0.0, 0.0)
    seconds = float(end - start)
    scale = math.hypot(fitted[0, 0], fitted[1, 0])
    return CameraStep(
        start,
        end,
        float(fitted[0, 2]) / width / seconds,
        float(fitted[1, 2]) / width / seconds,
        math.log(max(scale, 1e-6)) / seconds,
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


def movements(steps: Sequence[CameraStep]) -> list[Vocabulary]:
    """Return what the camera does, in order of time; empty where no step could be measured."""
    if not steps:
        return []
    labels = [_label(step) for step in _smoothed(steps)]
    durations = [float(step.end - step.start) for step in steps]
    runs = [
        (label, sum(seconds for _, seconds in members))
        for label, members in groupby(zip(labels, durations, strict=True), key=itemgetter(0))
    ]
    long = [run for run in runs if run[1] >= LEAST_SECONDS]
    if not long:  # a short shot, or one that does nothing for long: what it does most
        totals: dict[Vocabulary, float] = {}
        for label, seconds in runs:
            totals[label] = totals.get(label, 0.0) + seconds
        return [max(totals, key=lambda label: totals[label])]
    return [label for label, _ in groupby(label for label, _ in long)]


def _smoothed(steps: Sequence[CameraStep]) -> list[CameraStep]:
    reach = _SMOOTHING // 2
    result = []
    for place, step in enumerate(steps):
        near = steps[max(0, place - reach) : place + reach + 1]
        medians = (
            float(np.median([getattr(item, name) for item in near]))
            for name in ("right", "down", "growth")
        )
        result.append(CameraStep(step.start, step.end, *medians))
    return result


def _label(step: CameraStep) -> Vocabulary:
    """Return the strongest movement, each measured in how often it exceeds its least."""
    across = abs(step.right) / LEAST_SHIFT
    along = abs(step.down) / LEAST_SHIFT
    # A zoom by g moves the picture's edge by half of g.
    growing = abs(step.growth) / LEAST_GROWTH
    strongest = max(across, along, growing)
    if strongest < 1:
        return _MOTIONS("static shot")
    if strongest == growing:
        return _MOTIONS("zoom in") if step.growth > 0 else _MOTIONS("zoom out")
    # The picture goes the other way than the camera.
    if strongest == across:
        if abs(step.right) >= WHIP:
            return _MOTIONS("whip pan")
        return _MOTIONS("pan left") if step.right > 0 else _MOTIONS("pan right")
    return _MOTIONS("tilt up") if step.down > 0 else _MOTIONS("tilt down")


@dataclass(eq=False)
class DescriptionConsumer(BaseConsumer):
    """Takes frames as they come and keeps a few numbers of each."""

    resources: Resources
    looks: list[tuple[Time, FrameLook]] = field(default_factory=list)
    steps: list[CameraStep] = field(default_factory=list)
    _last: tuple[Time, Image] | None = None

    @property
    def wants(self) -> FrameRequest:
        return FrameRequest(rate=RATE, size=Size(long_side=LONG_SIDE))

    def take(self, frame: Frame) -> None:
        image = frame.image
        self.looks.append((frame.time, look_at(image)))
        if self._last is not None:
            before, picture = self._last
            (flow,) = self.resources.role("flow").flow([(picture, image)])
            step = step_between(picture, image, flow, before, frame.time)
            if step is not None:
                self.steps.append(step)
        self._last = (frame.time, image.copy())

    def describe(self, span: Span) -> Description:
        """Return what was seen between two cuts."""
        looks = [look for moment, look in self.looks if moment in span]
        if not looks:
            return NOTHING
        steps = [step for step in self.steps if step.start in span and step.end in span]
        return NOTHING.model_copy(
            update={
                "colour": Colour(
                    hue=_over_time(looks, hue),
                    saturation=_over_time(looks, partial(strength, "colour_saturation")),
                    contrast=_over_time(looks, partial(strength, "colour_contrast")),
                ),
                "lighting": Lighting(
                    direction=[],
                    effect=[],
                    brightness=_over_time(looks, partial(strength, "lighting_brightness")),
                ),
                "camera": NOTHING.camera.model_copy(update={"motion": movements(steps)}),
            }
        )


def _over_time(looks: list[FrameLook], word: Callable[[FrameLook], Vocabulary]) -> list[str]:
    """Return the word for the shot; two where its first third differs from its last."""
    third = len(looks) // 3
    if third < 2:
        return [word(mean_look(looks))]
    first, last = (word(mean_look(part)) for part in (looks[:third], looks[-third:]))
    return [first] if first == last else [first, last]
