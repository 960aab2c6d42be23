"""Technical quality by plain measurements: blur, blockiness, noise, and how natural it looks.

Needs no weights. Each harm has a weight; the score is exp(−their weighted sum), so that 1 is a
sharp clean picture and every harm lowers it further. The weights were chosen so that harming
real frames step by step (JPEG, blur, lower resolution, noise) lowers the score at each step;
how well it agrees with people is not known. It never goes under the name of DOVER.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from screentest.core import Image, NoValue, Reason, register
from screentest.models.networks import distortions
from screentest.models.pictures import OpenCvBackend, Plane, check_picture

SMALLEST_SIDE = 32
LEAST_DETAIL = 2.0
"""Frames whose grey levels deviate less than this (black, a fade's end) show nothing to judge."""


@register(
    "technical",
    "scene_statistics",
    summary="blur, blockiness, noise and natural-scene statistics; needs no weights",
)
class SceneStatistics(OpenCvBackend):
    """Blur, blockiness, noise and unnaturalness of frames, weighed into one number from 0 to 1."""

    def score(self, frames: Sequence[Image]) -> float:
        """Return the mean over the frames that show something; NoValue where none does."""
        if not frames:
            raise ValueError("no frames to score")
        scores = [_score(grey) for grey in map(_grey, frames) if grey.std() >= LEAST_DETAIL]
        if not scores:
            raise NoValue(
                Reason.NOT_APPLICABLE,
                "the frames are of one colour, so that there is nothing to judge",
                advice="Score a piece that shows something.",
            )
        return float(np.mean(scores))


def _score(grey: Plane) -> float:
    """Weigh the harms of a grey picture (float, 0–255), each from 0 (nothing) to about 1."""
    blur = float(np.clip((distortions.blur(grey) - 0.2) / 0.75, 0, 1))
    # A little of both is in every camera and codec. Beyond it, each doubling counts alike.
    blockiness = _growing(distortions.blockiness(grey) - 0.05, 0.2, 2.0)
    noise = _growing(distortions.noise(grey) - 0.5, 2.0, 24.0)
    unnatural = float(np.clip(distortions.distance(grey) / 8, 0, 1))
    return math.exp(-(1.5 * blur + 1.2 * blockiness + 1.5 * noise + 0.5 * unnatural))


def _growing(amount: float, unit: float, large: float) -> float:
    """0 up to nothing, 1 at ``large``, growing like a logarithm from ``unit`` on.

    >>> _growing(-1, 2, 24), _growing(24, 2, 24)
    (0.0, 1.0)
    """
    return math.log1p(max(0.0, amount) / unit) / math.log1p(large / unit)


def _grey(image: Image) -> Plane:
    import cv2

    height, width = check_picture(image).shape[:2]
    if min(height, width) < SMALLEST_SIDE:
        raise NoValue(
            Reason.NOT_APPLICABLE,
            f"frames of {width} × {height} are too small to judge",
            advice=f"It takes {SMALLEST_SIDE} pixels a side.",
        )
    return cv2.cvtColor(image, cv2.COLOR_RGB2GRAY).astype(np.float64)
