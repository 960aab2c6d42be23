"""How straight a run of pictures goes from its first to its last.

A picture is a point, one coordinate per sample. While one picture is blended into another the
points between lie on the straight line between the two. When things or the camera move they
do not: a moving edge passes through values that are in neither picture.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

BEGUN, DONE = 0.05, 0.95
"""The shares of the way between which a picture is neither the first nor the last."""


@dataclass(frozen=True, slots=True)
class Walk:
    """A run of pictures, measured along the line from its first to its last."""

    wandering: float
    """Distance of the pictures on their way from the line, over its length. 0 is straight."""
    progress: NDArray[np.float64]
    """How far along the line each picture is: from 0 to 1."""

    @property
    def two_largest_steps(self) -> float:
        """The share of the way made in the two largest steps: 1 for one cut or two."""
        return float(np.sort(np.diff(self.progress))[-2:].sum())

    @property
    def largest_step_back(self) -> float:
        """The share of the way that was taken back in one step."""
        return max(0.0, -float(np.diff(self.progress).min()))

    def reaches(self, share: float) -> float:
        """At which picture, counted from 0 with fractions, that share of the way is done."""
        after = int(np.argmax(self.progress >= share))
        if after == 0:
            return 0.0
        low, high = float(self.progress[after - 1]), float(self.progress[after])
        return after - 1 + (share - low) / (high - low)


def walk(from_first: NDArray[np.float64], to_last: NDArray[np.float64]) -> Walk:
    """Measure a run by each picture's squared distances from the first and to the last.

    Two sides of a triangle over the line give the foot of its height, and the height.

    >>> walk(np.array([0.0, 1.0, 4.0, 9.0]), np.array([9.0, 4.0, 1.0, 0.0]))
    Walk(wandering=0.0, progress=array([0.        , 0.33333333, 0.66666667, 1.        ]))
    """
    line = from_first[-1]
    progress = (from_first + line - to_last) / (2 * line)
    # Pictures that rest at either end are on the line whatever happens between.
    on_the_way = (progress > BEGUN) & (progress < DONE)
    if not on_the_way.any():
        return Walk(0.0, progress)
    off_line = (from_first - progress**2 * line)[on_the_way]
    return Walk(float(np.sqrt(max(0.0, off_line.mean()) / line)), progress)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two pictures compared, whatever the brightness and contrast of each."""

    likeness: float
    """Their correlation."""
    news: float
    """What neither has from the other: contrast that no brightening explains, of 255."""


def compare(one: NDArray[np.float32], two: NDArray[np.float32]) -> Comparison:
    """Compare two pictures, pixels × 3.

    >>> stripes = np.array([[0, 0, 0], [100, 100, 100]] * 4, np.float32)
    >>> compare(stripes, stripes / 2 + 40)
    Comparison(likeness=1.0, news=0.0)
    """
    first, second = one - one.mean(axis=0), two - two.mean(axis=0)
    spread_one = float(np.sqrt(np.square(first).mean()))
    spread_two = float(np.sqrt(np.square(second).mean()))
    if min(spread_one, spread_two) < 1e-3:
        return Comparison(0.0, 0.0)
    correlation = float((first * second).mean()) / (spread_one * spread_two)
    likeness = min(1.0, max(-1.0, correlation))
    return Comparison(likeness, min(spread_one, spread_two) * (1 - likeness**2) ** 0.5)
