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

    change: float
    """Root mean square difference between first and last, from 0 to 255."""
    wandering: float
    """Distance of the pictures on their way from the line, over its length. 0 is straight."""
    progress: NDArray[np.float32]
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


def walk(pictures: NDArray[np.float32]) -> Walk:
    """Measure a run of three or more pictures, one per row.

    >>> blend = walk(np.array([[0, 90], [30, 60], [60, 30], [90, 0]], np.float32))
    >>> blend.change, blend.wandering, blend.progress.tolist()
    (90.0, 0.0, [0.0, 0.3333333432674408, 0.6666666865348816, 1.0])
    """
    from_first = pictures - pictures[0]
    line = from_first[-1]
    length_squared = max(float(line @ line), 1e-6)
    progress = from_first @ line / np.float32(length_squared)
    off_line = np.square(from_first).sum(axis=1) - np.square(progress) * length_squared
    # Pictures that rest at either end are on the line whatever happens between.
    on_the_way = off_line[(progress > BEGUN) & (progress < DONE)]
    mean_off = max(0.0, float(on_the_way.mean())) if len(on_the_way) else 0.0
    return Walk(
        change=float(np.sqrt(length_squared / len(line))),
        wandering=float(np.sqrt(mean_off / length_squared)),
        progress=progress,
    )


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
