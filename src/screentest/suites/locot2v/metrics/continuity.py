"""Continuity of neighbouring frames: warping error and transition smoothness."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from statistics import fmean
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from screentest.core.errors import BadOption
from screentest.core.frames import Filter, Frame, FrameRequest, Image, Size, VideoInfo
from screentest.core.item import Item, Span, Time
from screentest.core.metric import Level, MetricInfo, Outcomes, Resources
from screentest.core.outcome import Outcome, Point, Score
from screentest.core.registry import register
from screentest.models.roles import FlowField
from screentest.suites.locot2v.metrics.motion import STILLNESS
from screentest.suites.locot2v.requests import Timeline, Work, declared, inapplicable
from screentest.suites.locot2v.similarity import Pair, Pairwise, pixel_likeness, ssim

Plane: TypeAlias = NDArray[Any]
RELATIVE, ABSOLUTE = 0.01, 0.5
"""A round trip may miss by this: squared pixels, relative to the motion and at all."""
EDGE_RELATIVE, EDGE_ABSOLUTE = 0.01, 0.002
"""How much the flow may change from pixel to pixel."""


def moved(picture: Plane, by: FlowField) -> Plane:
    """Return the picture as seen from pixels that look ``by`` away; bilinear."""
    import cv2

    across, down = _places(by)
    plane = np.asarray(picture, np.float32)
    return np.asarray(cv2.remap(plane, across, down, cv2.INTER_LINEAR), plane.dtype).reshape(
        plane.shape
    )


def visible(there: FlowField, back: FlowField, *, edges: bool = True) -> NDArray[np.bool_]:
    """Return which pixels of the later picture can be compared at all.

    With ``edges``, none that looks outside the earlier one.

    Lai et al. (2018) by way of EvalCrafter: a pixel is not compared where going there and coming
    back ends elsewhere, or where the flow itself changes abruptly.
    """
    out = moved(there, back)
    allowed = RELATIVE * (_squares(out) + _squares(back)) + ABSOLUTE
    hidden = _squares(out + back) > allowed
    edge = _steepness(back) > EDGE_RELATIVE * _squares(back) + EDGE_ABSOLUTE
    if not edges:
        return np.asarray(~hidden & ~edge)
    across, down = _places(back)
    height, width = across.shape
    inside = (across >= 0) & (across <= width - 1) & (down >= 0) & (down <= height - 1)
    return np.asarray(inside & ~hidden & ~edge)


def _places(by: FlowField) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    height, width = by.shape[:2]
    across, down = np.meshgrid(
        np.arange(width, dtype=np.float32), np.arange(height, dtype=np.float32)
    )
    return across + by[..., 0], down + by[..., 1]


def _squares(field: Plane) -> Plane:
    return np.asarray(np.einsum("hwc,hwc->hw", field, field))


def _steepness(field: FlowField) -> Plane:
    """Return the squared change of the flow to the right and downwards; 0 at the far edges."""
    total = np.zeros(field.shape[:2], np.float32)
    total[:, :-1] += _squares(np.diff(field, axis=1))
    total[:-1, :] += _squares(np.diff(field, axis=0))
    return total


WARPING_ERROR = "locot2v_warping_error"
ONE_LEVEL = 3 / 255**2
"""The error of pictures that differ by one grey level in each channel everywhere."""
TOO_DARK = 1 / 255
"""How bright the second edition's code shows pictures to the flow network."""
Scale = Literal["negative_log", "exponential"]
Compat = Literal["paper", "upstream"]


@register("metric", WARPING_ERROR, summary="what differs between frames beyond their motion")
@dataclass(frozen=True, kw_only=True)
class WarpingError:
    """What differs between consecutive frames beyond their motion; higher is better.

    EvalCrafter's protocol: frames at half their size; the earlier one is moved onto the later by
    optical flow; the squared difference, summed over the channels, is averaged over the pixels that
    both show, then over all pairs of frames. The paper takes the negative logarithm, so that more
    is better.

    A logarithm has no upper end, and the paper does not say how it was brought to 0–1. Here an
    error of 1 gives 0 and one of a single grey level in every channel gives 1. With
    ``scale="exponential"`` the score is exp(−5 × error), as in the code of the second edition; the
    range of the printed values fits that one. ``compat="upstream"`` also takes over what that code
    does otherwise: the flow network is handed pictures 255 times too dark, pixels that look outside
    the picture are compared with black, and a pair in which nothing can be compared counts as
    perfect.
    """

    scale: Scale = "negative_log"
    alpha: float = 5.0
    """The steepness of the exponential."""
    shrink: float = 0.5
    """The size of frames."""
    compat: Compat = "paper"

    info = MetricInfo(
        outputs=declared(WARPING_ERROR),
        traits={WARPING_ERROR: STILLNESS},
        level=Level.FRAME,
        roles=("flow",),
        consecutive=True,
    )

    def __post_init__(self) -> None:
        if self.alpha <= 0:
            raise BadOption(f"invalid alpha {self.alpha}: must be above 0")

    def start(self, item: Item, resources: Resources) -> Work:
        flow = resources.role("flow")
        video = resources.info(item.video)
        small = tuple(max(1, round(side * self.shrink)) for side in (video.width, video.height))
        wants = FrameRequest(size=Size(exact=(small[0], small[1])), filter=Filter.BILINEAR)
        errors = Timeline()
        hidden = 0
        slipped = self.compat == "upstream"

        def compare(pairs: Sequence[Pair]) -> None:
            nonlocal hidden
            images = [(first.image, second.image) for first, second in pairs]
            both = [way for first, second in images for way in ((first, second), (second, first))]
            fields = flow.flow(both, gain=TOO_DARK) if slipped else flow.flow(both)
            for place, (before, after) in enumerate(pairs):
                there, back = fields[2 * place], fields[2 * place + 1]
                error = pair_error(before.image, after.image, there, back, edges=not slipped)
                if error is None:
                    hidden += 1
                    error = 0.0 if slipped else None
                if error is not None:
                    errors.add(after.time, error)

        def conclude() -> Outcomes:
            if not errors.count:
                what = "no two frames show the same things" if hidden else "the video has one frame"
                raise inapplicable(f"{what}, so there is nothing to compare")
            frames.light.require()
            details = {"error": errors.mean, "pairs": errors.count, "without_overlap": hidden}
            curve = errors.curve(video.span.end)
            scaled = tuple(type(entry)(entry.span, self._scaled(entry.value)) for entry in curve)
            return {WARPING_ERROR: Outcome.of(Score(self._scaled(errors.mean), scaled, details))}

        frames = Pairwise(wants, compare)
        return Work(conclude, [frames])

    def _scaled(self, error: float) -> float:
        if self.scale == "exponential":
            return math.exp(-self.alpha * error)
        return negative_log(error)


def pair_error(
    before: Image, after: Image, there: FlowField, back: FlowField, *, edges: bool = True
) -> float | None:
    """Return the squared error per pixel that both frames show; None where there is none.

    With ``edges``, pixels that look outside the picture are not compared.
    """
    both = visible(there, back, edges=edges)
    shared = int(both.sum())
    if not shared:
        return None
    gap = (moved(before, back) - after.astype(np.float32))[both].astype(np.float64) / 255
    return float((gap * gap).sum() / shared)


def negative_log(error: float) -> float:
    """−log(error), from 0 at an error of 1 to 1 at an error of one grey level and below.

    >>> negative_log(1.0), negative_log(ONE_LEVEL), negative_log(0.0)
    (0.0, 1.0, 1.0)
    >>> round(negative_log(math.sqrt(ONE_LEVEL)), 12)
    0.5
    """
    if error <= ONE_LEVEL:
        return 1.0
    return max(0.0, math.log(error) / math.log(ONE_LEVEL))


TRANSITION_SMOOTHNESS = "locot2v_transition_smoothness"
CUES = ("pixels", "structure", "features", "motion")
Normalise = Literal["maximum", "range"]
Uncut = Literal["not_applicable", "smooth"]


@register("metric", TRANSITION_SMOOTHNESS, summary="how gradual scene changes are")
@dataclass(frozen=True, kw_only=True)
class TransitionSmoothness:
    """How gradually one scene gives way to the next (equations 3–6).

    Around each transition that the shot detector finds lies a window of 2k + 1 frames, and so 2k
    pairs of neighbours. Each pair has a similarity s, the weighted sum of four, each normalised
    within the window: pixels (1 − mean absolute error), structure (SSIM), features (cosine), and
    motion consistency (the share of pixels whose flow forward and back agree). With ŝ = s / Σ s,

        abruptness = b · Var(ŝ) / (b · Var(ŝ) + c)      smoothness = 1 − abruptness

    and the video's score is the mean over its transitions.

    The paper gives no values for k, b, c and the weights, and does not say how features are
    normalised. Here each is divided by its largest value in the window: a steady sequence stays
    steady, and one bad pair stands out. Stretching to 0–1 (``normalise="range"``) would make
    mountains of the smallest differences, and let a dissolve look more abrupt than a cut. The
    defaults put a hard cut between two unlike scenes near 0.1 and a slow dissolve above 0.8.
    """

    k: int = 8
    weights: tuple[float, float, float, float] = (0.25, 0.25, 0.25, 0.25)
    b: float = 1000.0
    c: float = 0.01
    normalise: Normalise = "maximum"
    long_side: int = 512
    uncut: Uncut = "not_applicable"
    """What a video without transitions is: not a case, or perfectly smooth. The printed values of
    generators that make a single scene suggest the latter."""

    info = MetricInfo(
        outputs=declared(TRANSITION_SMOOTHNESS),
        level=Level.CLIP,
        roles=("image_features", "flow"),
        shots=True,
        consecutive=True,
    )

    def __post_init__(self) -> None:
        if self.k < 1 or self.b <= 0 or self.c <= 0:
            raise BadOption(f"{TRANSITION_SMOOTHNESS}: k, b and c are above 0")
        if min(self.weights) < 0 or not math.isclose(sum(self.weights), 1, abs_tol=1e-6):
            raise BadOption(
                f"invalid weights of {TRANSITION_SMOOTHNESS}: must be at least 0 and sum to 1"
            )

    def start(self, item: Item, resources: Resources) -> Work:
        """Nothing streams: only the frames around transitions are looked at."""
        return Work(lambda: {TRANSITION_SMOOTHNESS: Outcome.of(self._score(item, resources))})

    def _score(self, item: Item, resources: Resources) -> Score:
        video = resources.info(item.video)
        # A shot that fades in at the very start is not a change of scene.
        moments = [shot.start for shot in resources.shots(item.video) if shot.start > video.start]
        if not moments:
            if self.uncut == "smooth":
                return Score(1.0, (), {"transitions": 0})
            raise inapplicable("the video has no transitions")
        wants = FrameRequest(size=Size(long_side=self.long_side), filter=Filter.AREA)
        points = []
        for moment in moments:
            frames = list(resources.frames(item.video, window(moment, self.k, video), wants))
            if len(frames) < 2 * self.k + 1:
                continue  # cut off by the video's start or end
            cues = similarities(frames, resources)
            value = smoothness(self._combined(cues), self.b, self.c)
            points.append(Point(Span(frames[0].time, frames[-1].time), value))
        if not points:
            raise inapplicable(
                f"no transition has {self.k} frames on both sides",
                advice=f"Give a smaller k: {TRANSITION_SMOOTHNESS}:k=2",
            )
        details = {"transitions": len(moments), "with_whole_window": len(points)}
        return Score(fmean(point.value for point in points), tuple(points), details)

    def _combined(self, cues: Mapping[str, Sequence[float]]) -> list[float]:
        """Equation 3."""
        normal = [normalised(cues[name], self.normalise) for name in CUES]
        rows = zip(*normal, strict=True)
        return [sum(w * s for w, s in zip(self.weights, row, strict=True)) for row in rows]


def window(moment: Time, k: int, video: VideoInfo) -> list[Time]:
    """Return the middle of the frame at ``moment`` and of k on each side, within the video."""
    half = Fraction(1, 2)
    moments = [moment + (number + half) / video.rate for number in range(-k, k + 1)]
    return [item for item in moments if item in video.span]


def similarities(frames: Sequence[Frame], resources: Resources) -> dict[str, list[float]]:
    """Return the four similarities of each frame with the one before, none below 0."""
    images = [frame.image for frame in frames]
    pairs = list(pairwise(images))
    features = resources.role("image_features").features(images)
    both = [way for first, second in pairs for way in ((first, second), (second, first))]
    fields = resources.role("flow").flow(both)
    return {
        "pixels": [pixel_likeness(first, second) for first, second in pairs],
        "structure": [max(0.0, ssim(first, second)) for first, second in pairs],
        "features": [max(0.0, float(first @ second)) for first, second in pairwise(features)],
        "motion": [
            float(visible(fields[place], fields[place + 1]).mean())
            for place in range(0, len(fields), 2)
        ],
    }


def normalised(values: Sequence[float], how: Normalise) -> list[float]:
    """One cue within its window; equal values stay equal.

    >>> normalised([0.8, 0.4], "maximum"), normalised([0.8, 0.4, 0.6], "range")
    ([1.0, 0.5], [1.0, 0.0, 0.5])
    """
    most, least = max(values), min(values)
    if most == least:
        return [1.0] * len(values)
    if how == "maximum":
        return [value / most for value in values]
    return [round((value - least) / (most - least), 12) for value in values]


def smoothness(similarity: Sequence[float], b: float, c: float) -> float:
    """Equations 4 and 5; the variance is that of the whole window, not of a sample.

    >>> smoothness([0.7] * 16, 1000, 0.01)
    1.0
    >>> round(smoothness([1.0] * 15 + [0.5], 1000, 0.01), 4)
    0.1409
    """
    total = math.fsum(similarity)
    if total == 0:
        raise inapplicable("no two frames around a transition have anything in common")
    shares = [value / total for value in similarity]
    centre = math.fsum(shares) / len(shares)
    variance = math.fsum((share - centre) ** 2 for share in shares) / len(shares)
    return 1 - variance * b / (variance * b + c)
