"""Flashes: how often a video flashes in a second, by the rule of WCAG 2, measured from the file.

Success criterion 2.3.1: a general flash is a pair of opposing changes of relative luminance by a
tenth and more, where the darker picture is below 0.8; a red flash a pair of opposing changes to or
from a saturated red. More than three in a second, over a quarter of what is seen, may harm people
with photosensitive epilepsy. Such a video is announced before it can be played.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from screentest._util.machine import processors
from screentest.core import Progress, Silent, Size, Time
from screentest.core.frames import BaseConsumer, Filter, Frame, FrameRequest
from screentest.video.sandbox import Supervisor
from screentest.video.scan import scan

Cells = NDArray[np.float32]

MOST: Final = 3
"""Flashes a second that are safe."""
AREA: Final = 0.25
"""The share of the picture that must flash together."""
_GRID: Final = 64
"""The long side of what is looked at: cells, not pixels, so that noise is not a flash."""
_LUMINANCE, _DARK = 0.1, 0.8
_RED, _SATURATED = 20 / 320, 0.8
_WEIGHTS: Final = np.array([0.2126, 0.7152, 0.0722], np.float32)


_CODED: Final = np.arange(256) / 255
_LINEAR: Final = np.where(
    _CODED <= 0.04045, _CODED / 12.92, ((_CODED + 0.055) / 1.055) ** 2.4
).astype(np.float32)


class Flashes(BaseConsumer):
    """The worst second of one video, as flashes that a quarter of the picture takes part in."""

    wants = FrameRequest(size=Size(long_side=_GRID), filter=Filter.AREA)

    def __init__(self) -> None:
        self.worst = 0
        self._luminance = _Turns(_LUMINANCE, darkest=_DARK)
        self._red = _Turns(_RED)

    def take(self, frame: Frame) -> None:
        light = _LINEAR[frame.image]
        luminance = light @ _WEIGHTS
        turns = self._luminance.take(luminance, frame.time)
        turns = np.maximum(turns, self._red.take(_redness(light), frame.time))
        # As many turns as a quarter of the cells have, or more; two of them are a flash.
        shared = np.partition(turns.ravel(), -_quarter(turns))[-_quarter(turns)]
        self.worst = max(self.worst, int(shared) // 2)


def _quarter(cells: Cells) -> int:
    return max(1, int(np.ceil(AREA * cells.size)))


def _redness(light: Cells) -> Cells:
    """Return how much redder than all else a saturated red is; 0 elsewhere."""
    red, rest = light[..., 0], light[..., 1] + light[..., 2]
    saturated = red >= _SATURATED * np.maximum(red + rest, 1e-6)
    return np.asarray(np.where(saturated, np.maximum(red - rest, 0), 0), np.float32)


class _Turns:
    """For each cell, its changes of direction within the last second.

    A change counts once it is as large as ``least`` from the last extreme; smaller ones are waves
    on the way.
    """

    def __init__(self, least: float, *, darkest: float = np.inf) -> None:
        self._least, self._darkest = least, darkest
        self._low: Cells | None = None
        self._recent: deque[tuple[Time, Cells]] = deque()

    def take(self, value: Cells, now: Time) -> Cells:
        """Return the number of changes in the second that ends now."""
        if self._low is None:
            self._low, self._high = value.copy(), value.copy()
            self._way = np.zeros(value.shape, np.int8)
            self._count = np.zeros(value.shape, np.float32)
            return self._count
        # The extremes since the last change: a rise is from the low one, a fall from the high one.
        self._low, self._high = np.minimum(self._low, value), np.maximum(self._high, value)
        rises = (self._way <= 0) & (value - self._low >= self._least) & (self._low < self._darkest)
        falls = (self._way >= 0) & (self._high - value >= self._least) & (value < self._darkest)
        falls &= ~rises
        turned = rises | falls
        self._way = np.where(rises, 1, np.where(falls, -1, self._way)).astype(np.int8)
        self._low = np.where(turned, value, self._low)
        self._high = np.where(turned, value, self._high)
        if turned.any():
            self._recent.append((now, turned.astype(np.float32)))
            self._count = self._count + self._recent[-1][1]
        while self._recent and self._recent[0][0] <= now - 1:
            self._count = self._count - self._recent.popleft()[1]
        return self._count


def flashes_in(path: Path) -> int:
    """Flashes a second, in the worst second of a file."""
    flashes = Flashes()
    scan(path, [flashes])
    return flashes.worst


def measure_all(
    paths: Iterable[Path], *, progress: Progress | None = None
) -> Iterator[tuple[Path, int]]:
    """Yield the same of several files, in their order; as many at once as there are processors."""
    wanted = list(dict.fromkeys(paths))
    workers = max(1, min(processors(), len(wanted)))
    with Supervisor(workers) as supervisor, progress or Silent() as watched:
        watched.begin("looking for flashes", len(wanted), "video")
        for path, result in zip(wanted, supervisor.map(flashes_in, wanted), strict=True):
            yield path, result.unwrap()
            watched.advance()


def are_risky(worst: int) -> bool:
    """Return whether people are to be warned."""
    return worst > MOST
