"""How blurred, blocky and noisy a picture is, each as one number on its own scale.

Pure functions on a grey picture (float, 0–255). Each is made to react to its own distortion and
as little as can be to the others and to what the picture shows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from screentest.models.pictures import Plane

BLOCK = 8
"""The grid of JPEG, MPEG and H.264 blocks, in pixels."""
EDGE_SHARE = 0.95
"""Blur is judged on the steepest twentieth of all places, where noise matters least."""
SMOOTHEST = 0.05
"""Noise is judged on the smoothest twentieth of all blocks, where detail matters least."""


def blur(grey: Plane) -> float:
    """How much of the edges survives a second blurring: 0.2 very sharp, 0.95 very blurred.

    After Crété and others, 2007: blurring takes much from a sharp edge and little from one that
    is blurred already.

    >>> edge = np.tile(np.repeat([0.0, 200.0], 32), (64, 1))
    >>> ramp = np.tile(np.linspace(0, 200, 64), (64, 1))
    >>> blur(edge) < 0.3 < 0.9 < blur(ramp)
    True
    """
    import cv2

    smooth = cv2.GaussianBlur(grey, (0, 0), 1.5)
    kept = []
    for axis in (0, 1):
        slope = np.abs(np.diff(smooth, axis=axis))
        edges = slope >= np.quantile(slope, EDGE_SHARE)
        steps = np.abs(np.diff(grey, axis=axis))[edges]
        if steps.sum() < 1e-3:
            continue  # stripes have edges in one direction only
        for width in (5, 9):
            size = (1, width) if axis == 0 else (width, 1)
            again = np.abs(np.diff(cv2.blur(grey, size), axis=axis))[edges]
            kept.append(np.minimum(steps, again).sum() / steps.sum())
    return float(np.mean(kept)) if kept else 1.0


def blockiness(grey: Plane) -> float:
    """How far steps on a grid of 8 pixels stand above all other steps: 0 none, 1 and more strong.

    The place of the grid is found. A grid of 2 or 4 pixels, as scaling leaves, does not count,
    nor does one long edge.

    >>> line = np.arange(64.0)
    >>> blockiness(np.add.outer(line, line)), blockiness(np.add.outer(line // 8 * 8, line)) > 0.5
    (0.0, True)
    """
    found = []
    for lines in (grey, grey.T):
        steps = np.abs(np.diff(lines, axis=1))
        rise = steps[:, 1:-1] - (steps[:, :-2] + steps[:, 2:]) / 2
        profile = np.clip(rise, -20, 20).mean(axis=0)
        phases = sorted(float(np.median(profile[start::BLOCK])) for start in range(BLOCK))
        found.append(max(0.0, phases[-1] - phases[-2]) / (float(steps.mean()) + 0.5))
    return float(np.mean(found))


def noise(grey: Plane) -> float:
    """The deviation of noise in grey levels, from the smoothest blocks that are not cut off.

    Being that of the smoothest, it reads about a quarter low.

    >>> flat = np.full((128, 128), 120.0)
    >>> round(noise(flat + np.random.default_rng(0).normal(0, 10, flat.shape)), 1)
    7.4
    """
    import cv2

    kernel = np.array([[1, -2, 1], [-2, 4, -2], [1, -2, 1]], np.float64) / 6
    detail = _blocks(np.asarray(cv2.filter2D(grey, -1, kernel))).std(axis=1)
    cut_off = _blocks((grey < 4) | (grey > 251)).mean(axis=1) >= 0.2
    usable = detail[~cut_off] if (~cut_off).sum() > 20 else detail
    return float(np.quantile(usable, SMOOTHEST))


def _blocks(plane: Plane) -> Plane:
    """Rows of 64 pixels, one per block; what is left at the edges is left out."""
    height, width = (side // BLOCK for side in plane.shape)
    whole = plane[: height * BLOCK, : width * BLOCK]
    return whole.reshape(height, BLOCK, width, BLOCK).swapaxes(1, 2).reshape(-1, BLOCK**2)
