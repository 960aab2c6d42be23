"""Transition smoothness: how gradually one scene gives way to the next (equations 3–6).

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

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Literal

from screentest.core.errors import BadOption
from screentest.core.frames import Filter, Frame, FrameRequest, Size, VideoInfo
from screentest.core.item import Item, Span, Time
from screentest.core.metric import Level, MetricInfo, OutputInfo, Resources
from screentest.core.outcome import Outcome, Point, Score
from screentest.core.registry import register
from screentest.suites.locot2v.metrics.warping_error import visible
from screentest.suites.locot2v.requests import Work, inapplicable, mean
from screentest.suites.locot2v.similarity import pixel_likeness, ssim

NAME = "locot2v_transition_smoothness"
CUES = ("pixels", "structure", "features", "motion")
Normalise = Literal["maximum", "range"]
Uncut = Literal["not_applicable", "smooth"]


@register("metric", NAME, version=1, summary="how gradual scene changes are")
def transition_smoothness(
    *,
    k: int = 8,
    weights: tuple[float, float, float, float] = (0.25, 0.25, 0.25, 0.25),
    b: float = 1000.0,
    c: float = 0.01,
    normalise: Normalise = "maximum",
    long_side: int = 512,
    uncut: Uncut = "not_applicable",
) -> TransitionSmoothness:
    """``uncut`` says what a video without transitions is: not a case, or perfectly smooth.

    The printed values of generators that make a single scene suggest the latter.
    """
    if k < 1 or b <= 0 or c <= 0:
        raise BadOption(f"{NAME}: k, b and c are above 0")
    if min(weights) < 0 or not math.isclose(sum(weights), 1, abs_tol=1e-6):
        raise BadOption(f"invalid weights of {NAME}: must be at least 0 and sum to 1")
    return TransitionSmoothness(k, weights, b, c, normalise, long_side, uncut)


@dataclass(frozen=True)
class TransitionSmoothness:
    """1 − normalised variance of similarity around transitions."""

    k: int
    weights: tuple[float, float, float, float]
    b: float
    c: float
    normalise: Normalise
    long_side: int
    uncut: Uncut

    info = MetricInfo(
        outputs={NAME: OutputInfo("1 − abruptness of transitions")},
        level=Level.CLIP,
        roles=("image_features", "flow"),
        shots=True,
        consecutive=True,
    )

    def start(self, item: Item, resources: Resources) -> Work:
        """Nothing streams: only the frames around transitions are looked at."""
        return Work(lambda: {NAME: Outcome.of(self._score(item, resources))})

    def _score(self, item: Item, resources: Resources) -> Score:
        video = resources.info(item.video)
        # A shot that fades in at the very start is not a change of scene.
        moments = [shot.start for shot in resources.shots(item.video) if shot.start > video.start]
        if not moments:
            if self.uncut == "smooth":
                return Score(1.0, (), {"transitions": 0})
            raise inapplicable("the video has no transitions")
        points = []
        for moment in moments:
            frames = list(self._window(item, moment, video, resources))
            if len(frames) < 2 * self.k + 1:
                continue  # cut off by the video's start or end
            cues = similarities(frames, resources)
            value = smoothness(self._combined(cues), self.b, self.c)
            points.append(Point(Span(frames[0].time, frames[-1].time), value))
        if not points:
            raise inapplicable(
                f"no transition has {self.k} frames on both sides",
                advice=f"Give a smaller k: {NAME}:k=2",
            )
        details = {"transitions": len(moments), "with_whole_window": len(points)}
        return Score(mean(point.value for point in points), tuple(points), details)

    def _window(
        self, item: Item, moment: Time, video: VideoInfo, resources: Resources
    ) -> Sequence[Frame]:
        wants = FrameRequest(size=Size(long_side=self.long_side), filter=Filter.AREA)
        return list(resources.frames(item.video, window(moment, self.k, video), wants))

    def _combined(self, cues: Mapping[str, Sequence[float]]) -> list[float]:
        """Equation 3."""
        normal = [normalised(cues[name], self.normalise) for name in CUES]
        rows = zip(*normal, strict=True)
        return [sum(w * s for w, s in zip(self.weights, row, strict=True)) for row in rows]


def window(moment: Time, k: int, video: VideoInfo) -> list[Time]:
    """Return the middle of the frame at ``moment`` and of k on each side, none outside the
    video."""
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
