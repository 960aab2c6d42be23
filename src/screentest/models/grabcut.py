"""GrabCut by OpenCV: from a rough idea of foreground and background to a mask along edges."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from screentest.core.frames import Image
    from screentest.models.roles import Mask

ROUNDS = 5


class Guess(IntEnum):
    """What is thought of a pixel before cutting; the numbers are OpenCV's."""

    BACKGROUND = 0
    FOREGROUND = 1
    MAYBE_BACKGROUND = 2
    MAYBE_FOREGROUND = 3


def cut(image: Image, guesses: NDArray[np.uint8]) -> Mask:
    """The mask that fits the colours and edges best; the guess itself where one side is empty."""
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
