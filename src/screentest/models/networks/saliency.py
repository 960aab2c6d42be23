"""Where the eye goes: a map of what differs from the edge of the picture. Needs no weights.

Two cues. The minimum barrier distance (Zhang and others, 2015): to leave an object towards the
edge of the picture, one has to cross a step in colour, however the path is chosen. And the
distance from the colours of the four edges. Both with a mild preference for the middle.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from screentest.core import Image
from screentest.models.pictures import Plane, check_picture, limit_long_side, to_oklab
from screentest.models.roles import Mask

SIDE = 160
SWEEPS = 3
EDGE_SHARE = 0.08
EDGE_WEIGHT = 0.5
COLOUR_WEIGHTS = (1.0, 1.5, 1.5)


def saliency(image: Image) -> Plane:
    """Per pixel 0–1: how much it stands out. All 0 for a picture of one colour.

    >>> picture = np.zeros((60, 80, 3), np.uint8)
    >>> picture[20:40, 30:50] = 255
    >>> found = saliency(picture)
    >>> float(found[30, 40]) > 0.9, float(found[5, 5]) < 0.1
    (True, True)
    """
    import cv2

    height, width = check_picture(image).shape[:2]
    small = to_oklab(limit_long_side(image, SIDE))
    lab = np.asarray(cv2.GaussianBlur(small, (0, 0), 1.0)).reshape(small.shape)
    barriers = barrier_distance(lab) @ np.array(COLOUR_WEIGHTS)
    both = stretched(barriers) + EDGE_WEIGHT * _edge_contrast(lab)
    salience = stretched(both * (1 + _middle(*both.shape)) * (both > 0))
    large = cv2.resize(salience, (width, height), interpolation=cv2.INTER_LINEAR)
    return np.asarray(large).reshape(height, width)


def barrier_distance(plane: Plane) -> Plane:
    """Per pixel the smallest range of values on any path to the edge, nearly.

    Channels, on a third axis, are treated each on its own.

    >>> barrier_distance(np.array([[1, 1, 1], [1, 5, 1], [1, 1, 1]], float))[1].tolist()
    [0.0, 4.0, 0.0]
    """
    height, width = plane.shape[:2]
    distance = np.full(plane.shape, np.inf)
    distance[[0, -1]] = 0
    distance[:, [0, -1]] = 0
    highest, lowest = plane.copy(), plane.copy()

    def relax(line: tuple[slice | int, ...], before: tuple[slice | int, ...]) -> None:
        high = np.maximum(highest[before], plane[line])
        low = np.minimum(lowest[before], plane[line])
        spread = high - low
        better = spread < distance[line]
        np.copyto(distance[line], spread, where=better)
        np.copyto(highest[line], high, where=better)
        np.copyto(lowest[line], low, where=better)

    everything = slice(None)
    for _ in range(SWEEPS):
        for row in range(1, height):
            relax((row, everything), (row - 1, everything))
        for column in range(1, width):
            relax((everything, column), (everything, column - 1))
        for row in range(height - 2, -1, -1):
            relax((row, everything), (row + 1, everything))
        for column in range(width - 2, -1, -1):
            relax((everything, column), (everything, column + 1))
    return distance


def _edge_contrast(lab: Plane) -> Plane:
    """Distance of each colour from those at the four edges; the farthest edge does not count,
    since the object may touch it.
    """
    depth = max(1, round(EDGE_SHARE * min(lab.shape[:2])))
    edges = (lab[:depth], lab[-depth:], lab[:, :depth], lab[:, -depth:])
    distances = np.stack([stretched(_distance_from(lab, edge.reshape(-1, 3))) for edge in edges])
    return stretched(distances.sum(axis=0) - distances.max(axis=0))


def _distance_from(lab: Plane, colours: Plane) -> Plane:
    centred = colours - colours.mean(axis=0)
    spread = centred.T @ centred / len(colours) + 1e-3 * np.eye(3)
    away = lab - colours.mean(axis=0)
    return np.asarray(np.sqrt(((away @ np.linalg.inv(spread)) * away).sum(axis=-1)))


def _middle(height: int, width: int) -> Plane:
    down = (np.arange(height) - (height - 1) / 2) / (0.35 * height)
    across = (np.arange(width) - (width - 1) / 2) / (0.35 * width)
    return np.asarray(np.exp(-(down[:, None] ** 2 + across**2) / 2))


def stretched(plane: Plane, flat: float = 1e-9) -> Plane:
    """Return the map with its lowest value at 0 and its highest at 1; all 0 where it is flat.

    >>> stretched(np.array([0.2, 0.3, 0.4])).round(3).tolist()
    [0.0, 0.5, 1.0]
    """
    low, high = float(plane.min()), float(plane.max())
    if high - low < flat:
        return np.zeros_like(plane)
    return np.asarray((plane - low) / (high - low))


ROUNDS = 5


class Guess(IntEnum):
    """Guesses about a pixel before cutting; the numbers are OpenCV's."""

    BACKGROUND = 0
    FOREGROUND = 1
    MAYBE_BACKGROUND = 2
    MAYBE_FOREGROUND = 3


def cut(image: Image, guesses: NDArray[np.uint8]) -> Mask:
    """Return the mask that fits the colours and edges best, by OpenCV's GrabCut; the guess itself
    where one side is empty.
    """
    import cv2

    front = np.isin(guesses, (Guess.FOREGROUND, Guess.MAYBE_FOREGROUND))
    if front.all() or not front.any():
        return front.astype(np.float32)
    labels = guesses.copy()
    cv2.setRNGSeed(0)  # it clusters colours from random starts
    blank = (0, 0, 0, 0)
    models = np.zeros((1, 65)), np.zeros((1, 65))
    blue_first = np.ascontiguousarray(image[..., ::-1])
    cv2.grabCut(blue_first, labels, blank, *models, ROUNDS, cv2.GC_INIT_WITH_MASK)
    return np.isin(labels, (Guess.FOREGROUND, Guess.MAYBE_FOREGROUND)).astype(np.float32)
