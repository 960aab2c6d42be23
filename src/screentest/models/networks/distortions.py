"""How blurred, blocky, noisy and unnatural a picture is, each as one number on its own scale.

Pure functions on a grey picture (float, 0–255). Each is made to react to its own distortion and as
little as can be to the others and to what the picture shows.
"""

from __future__ import annotations

from functools import cache
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
    centre = np.array(MEAN.split(), np.float64)
    spread = np.zeros((len(centre), len(centre)))
    spread[np.tril_indices(len(centre))] = np.array(COVARIANCE.split(), np.float64)
    return centre, np.linalg.inv(spread + np.tril(spread, -1).T)


# Fitted to the packaged sample, with 0.3 of the variances added to the covariance's diagonal: the
# sample is small. A test fits it again.
MEAN = """
0.567413 -1.86227 0.379392 0.324903 0.0657515
0.572011 -1.69541 0.376571 0.276102 0.0651954
"""
COVARIANCE = """
0.00621119
0.0171884 0.485458
-0.00110523 -0.0317649 0.0140849
0.00105883 0.0100734 -0.00374251 0.0236301
0.00153311 -0.00911541 0.000406458 0.010182 0.013024
0.00405754 0.0220207 -0.00172532 0.00278703 0.00203918 0.00530724
0.0159761 0.361735 -0.0286553 0.0217435 -0.000825549 0.0223202 0.473033
-0.00020868 -0.0681437 0.0123454 -0.00762414 0.000958862 -0.00244224 -0.0673661 0.0298004
0.000132133 -0.0511139 0.00130242 0.0144984 0.0112244 0.000646977 -0.0393966 0.00643225
0.0335019
0.00126688 -0.0452718 0.00217135 0.00730341 0.00963325 0.000643248 -0.0382776 0.00954108
0.0163686 0.0206949
"""
"""Its lower half, row by row."""
