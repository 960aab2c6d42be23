"""How blurred, blocky, noisy and unnatural a picture is, each as one number on its own scale.

Pure functions on a grey picture (float, 0–255). Each is made to react to its own distortion and as
little as can be to the others and to what the picture shows.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

import numpy as np

from screentest.models.pictures import Plane

FITTED = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
BLOCK = 8
"""The grid of JPEG, MPEG and H.264 blocks, in pixels."""
EDGE_SHARE = 0.95
"""Blur is judged on the steepest twentieth of all places, where noise matters least."""
SMOOTHEST = 0.05
"""Noise is judged on the smoothest twentieth of all blocks, where detail matters least."""


def blur(grey: Plane) -> float:
    """Return the share of edges that survives a second blurring: 0.2 very sharp, 0.95 very blurred.

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
    """Excess of steps on a grid of 8 pixels over all other steps: 0 none, 1 and more strong.

    The place of the grid is found. A grid of 2 or 4 pixels, as scaling leaves, does not count,
    nor does one long edge.

    >>> line = np.arange(64.0)
    >>> blockiness(np.add.outer(line, line)), blockiness(np.add.outer(line // 8 * 8, line)) > 0.5
    (0.0, True)
    """
    strengths = []
    for lines in (grey, grey.T):
        steps = np.abs(np.diff(lines, axis=1))
        rise = steps[:, 1:-1] - (steps[:, :-2] + steps[:, 2:]) / 2
        profile = np.clip(rise, -20, 20).mean(axis=0)
        phases = sorted(float(np.median(profile[start::BLOCK])) for start in range(BLOCK))
        strengths.append(max(0.0, phases[-1] - phases[-2]) / (float(steps.mean()) + 0.5))
    return float(np.mean(strengths))


def noise(grey: Plane) -> float:
    """Return the deviation of noise in grey levels, from the smoothest blocks that are not cut off.

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


SCALES = 2


def statistics(grey: Plane) -> Plane:
    """Ten numbers: at two sizes the shape, the log variance and three neighbour correlations of
    locally normalised brightness.

    >>> statistics(np.random.default_rng(0).normal(128, 20, (64, 64))).shape
    (10,)
    """
    import cv2

    numbers: list[float] = []
    for scale in range(SCALES):
        if scale:
            height, width = grey.shape
            grey = cv2.resize(grey, (width // 2, height // 2), interpolation=cv2.INTER_AREA)
        local = normalised(np.asarray(grey))
        power = float((local**2).mean()) + 1e-9
        numbers += [
            float(np.abs(local).mean()) ** 2 / power,
            float(np.log(local.var() + 1e-6)),
            float((local[:, 1:] * local[:, :-1]).mean()) / power,
            float((local[1:] * local[:-1]).mean()) / power,
            float((local[1:, 1:] * local[:-1, :-1]).mean()) / power,
        ]
    return np.array(numbers)


def normalised(grey: Plane) -> Plane:
    """Brightness with its local mean taken away, divided by its local deviation.

    >>> float(np.abs(normalised(np.full((20, 20), 77.0))).max()) < 1e-6
    True
    """
    import cv2

    mean = cv2.GaussianBlur(grey, (7, 7), 7 / 6)
    spread = np.sqrt(np.abs(cv2.GaussianBlur(grey * grey, (7, 7), 7 / 6) - mean * mean))
    return np.asarray((grey - mean) / (spread + 1))


def distance(grey: Plane) -> float:
    """Distance of a picture from good ones, in standard deviations: 1 to 4 is usual, 6 is far.

    Locally normalised brightness (Ruderman, 1994) has nearly the same distribution in all
    undistorted photographs; blur, noise and compression each change it. As in NIQE (Mittal and
    others, 2013), the distance to a Gaussian fitted to good pictures says how much. That Gaussian
    was fitted here to the packaged sample (frames of four openly licensed films and four
    landscapes), not to NIQE's corpus, so its distances are not NIQE's.
    """
    centre, inverse = _model()
    away = statistics(grey) - centre
    return float(np.sqrt(away @ inverse @ away))


@cache
def _model() -> tuple[Plane, Plane]:
    centre = np.array(FITTED["mean"])
    spread = np.zeros((len(centre), len(centre)))
    spread[np.tril_indices(len(centre))] = FITTED["covariance"]
    return centre, np.linalg.inv(spread + np.tril(spread, -1).T)
