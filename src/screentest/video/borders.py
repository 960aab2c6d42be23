"""Borders: what stands unchanged around the picture of a film from its first frame to its last.

Letterbox and pillarbox bars, and bars that hold a logo. While a film is scanned, the darkest and
the lightest level of every pixel are kept; when it is over, the lines at each side are looked at:

- In a film whose picture changes all over (cuts, a moving camera) every line that stands still is
  part of a border, whatever it shows, as long as the picture begins along a straight line.
- In one that changes little, much stands still. There only two opposite bars count, plain, of one
  level and about as wide as each other, that end in a straight line.

So a border is there in every frame. Bars that come and go are part of the picture: they say
something of the film. What is dark for its own sake (night, vignettes, titles on black, fades) has
no straight line along which the picture begins. Bars that move, such as a blurred copy of the
picture at its sides, are not found.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TypeAlias

import numpy as np
from av.video.frame import VideoFrame
from numpy.typing import NDArray

from screentest.core.frames import BaseConsumer, Borders, Frame, FrameRequest, Image, Layout
from screentest.core.item import Time
from screentest.video.probe import Converter, conversion_key

Levels: TypeAlias = NDArray[np.int16]

RATE = Fraction(4)
"""Frames a second that are looked at."""
STILL = 12
"""Levels within which the pixels of a border stay: encoders leave a few."""
LIT = 24
"""Levels by which the picture must differ from a plain bar beside it."""
CHANGED = 48
"""Levels that a pixel of the picture has gone through in a film that changes all over."""
MOVING = 0.8
"""The share of such pixels in the picture of such a film."""
STRAIGHT = 0.7
"""The share of a line along which the picture must begin."""
CLEAN, STRAY = 0.005, 0.05
"""The share of a line's pixels that may be otherwise: at the rim, and anywhere in a bar, where
encoders leave ghosts of the picture."""
THINNEST = 0.01
"""Of the side: what is thinner is a seam and changes no number."""
LEAST = 0.25
"""Of the side: what the borders must leave."""
EVEN = 0.1
"""By how much of the wider one two bars of a film that changes little may differ."""


@dataclass(frozen=True, slots=True)
class _Bar:
    """What could be a border at one side, in lines from the rim on."""

    still: int
    """Lines that do not change."""
    plain: int
    """Those of them that are of one level."""
    level: int


class BorderFinder(BaseConsumer):
    """Keeps the darkest and lightest levels of a video, and says at the end what they mean."""

    wants = FrameRequest(rate=RATE, layout=Layout.LUMA)

    def __init__(self) -> None:
        self._low: Image | None = None
        self._high: Image | None = None
        self._sizes: set[tuple[int, ...]] = set()
        self._next: Time | None = None

    def take(self, frame: Frame) -> None:
        import cv2

        self._sizes.add(frame.image.shape)
        if self._low is None or self._high is None:
            self._low, self._high = frame.image.copy(), frame.image.copy()
        elif len(self._sizes) == 1:
            cv2.min(self._low, frame.image, dst=self._low)
            cv2.max(self._high, frame.image, dst=self._high)

    def see(self, moment: Time, luma: Image) -> None:
        """Take some of the frames, for those who have each of them at hand outside of a scan."""
        if self._next is None or moment >= self._next:
            self._next = moment + 1 / RATE
            self.take(Frame(moment, 0, luma))

    @property
    def borders(self) -> Borders | None:
        """None where there are none, or where the size of the picture changes."""
        if self._low is None or self._high is None or len(self._sizes) != 1:
            return None
        return borders_between(self._low, self._high)


_luma = Converter(conversion_key(BorderFinder.wants))


def borders_of(frame: VideoFrame) -> Borders | None:
    """Return the borders that one decoded frame has by itself."""
    picture = _luma(frame)
    return borders_between(picture, picture)


def borders_between(low: Image, high: Image) -> Borders | None:
    """Return the borders of a film whose pixels have these darkest and lightest levels.

    >>> picture = np.zeros((90, 160), np.uint8)
    >>> picture[:, 40:120] = 128
    >>> borders_between(picture, picture)
    Borders(left=40, top=0, right=40, bottom=0, width=160, height=90)
    >>> picture[20:, 60:] = 0  # one corner is dark: no straight line
    >>> borders_between(picture, picture) is None
    True
    """
    import cv2

    height, width = low.shape
    changes = np.asarray(cv2.absdiff(high, low), np.uint8)
    # Columns and rows as lines, from the rim inwards: left, right, top, bottom.
    columns, rows = (low.T, high.T, changes.T), (low, high, changes)
    bars = [
        _bar(*(plane[::step] for plane in view)) for view in (columns, rows) for step in (1, -1)
    ]
    left, right, top, bottom = (bar.still for bar in bars)
    inside = changes[top : height - bottom, left : width - right]
    moving = inside.size > 0 and float(np.mean(inside >= CHANGED)) >= MOVING
    if not moving:
        left, right, top, bottom = (bar.plain for bar in bars)
    if left + right > (1 - LEAST) * width or top + bottom > (1 - LEAST) * height:
        return None
    depths: list[int] = []
    pictures = (slice(top, height - bottom), slice(left, width - right))
    for view, picture, pair in zip((columns, rows), pictures, (bars[:2], bars[2:]), strict=True):
        sides = [tuple(plane[::step, picture] for plane in view) for step in (1, -1)]
        depths += _depths(sides, pair, moving)
    if not any(depths):
        return None
    return Borders(depths[0], depths[2], depths[1], depths[3], width, height)


def _bar(low: Image, high: Image, changes: Image) -> _Bar:
    """Return the lines from the rim on that stand still, and that are plain."""
    still = _leading(np.mean(changes > STILL, axis=1))
    level = int(np.median(low[0]))
    away = [np.abs(plane[:still].astype(np.int16) - level) > STILL for plane in (low, high)]
    return _Bar(still, _leading(np.mean(away[0] | away[1], axis=1)), level)


def _leading(stray: NDArray[np.float64]) -> int:
    """Count the first lines with few stray pixels, the outer half with hardly any.

    >>> _leading(np.array([0.0, 0.0, 0.02, 0.9])), _leading(np.array([0.0, 0.02, 0.02, 0.9]))
    (3, 2)
    """
    within, clean = (
        len(stray) if (fits := stray <= most).all() else int(np.argmin(fits))
        for most in (STRAY, CLEAN)
    )
    return min(within, 2 * clean)


_Side: TypeAlias = tuple[Image, ...]
"""Lines of the darkest levels, of the lightest, and of what is between them."""


def _depths(sides: Sequence[_Side], bars: Sequence[_Bar], moving: bool) -> list[int]:
    """Return the widths of the borders at two opposite sides: 0 where there is none."""
    least = max(2, THINNEST * len(sides[0][0]))
    depths = []
    for side, bar in zip(sides, bars, strict=True):
        depth = _begins(side, bar.still, lambda *three: three[2] >= CHANGED) if moving else 0
        depth = depth or _begins(side, bar.plain, partial(_apart, bar.level))
        depths.append(depth if depth >= least else 0)
    if moving:
        return depths
    alike = abs(bars[0].level - bars[1].level) <= STILL
    even = abs(depths[0] - depths[1]) <= max(4, EVEN * max(depths))
    return depths if all(depths) and alike and even else [0, 0]


def _apart(level: int, low: Levels, high: Levels, changes: Levels) -> NDArray[np.bool_]:
    """Return where pixels have been unlike a bar of that level."""
    return np.asarray(np.maximum(high - level, level - low) >= LIT)


def _begins(side: _Side, depth: int, shows: Callable[..., NDArray[np.bool_]]) -> int:
    """At which line the picture begins, all along it; 0 where it begins bit by bit."""
    # A bar's edge may be soft, more so in a large picture.
    reach = max(4, len(side[0]) // 180)
    pixels = shows(*(plane[depth : depth + reach].astype(np.int16) for plane in side))
    along = np.mean(pixels, axis=1) >= STRAIGHT
    # The first line is often half of each; colours are coded for two lines.
    return -(-(depth + int(np.argmax(along))) // 2) * 2 if depth and along.any() else 0
