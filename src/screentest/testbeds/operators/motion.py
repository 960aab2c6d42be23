"""How things move: the families of dynamics degree, and what a bad transfer does to motion."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from screentest.core import Image
from screentest.testbeds.functions import degradation
from screentest.testbeds.operators.arithmetic import mixed, of_planes, planes
from screentest.video.edit.pictures import Pixels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

SLOWEST, FASTEST = 6.0, 4.0


@degradation(
    aspect="dynamics_degree", needs="motion", summary="slow motion; the middle of the clip fills it"
)
def slowed(count: int, severity: float, *, factor: float = SLOWEST) -> Numbers:
    """Clips in slow motion, ``factor`` times slower at full severity.

    A clip keeps its length: its middle is what is left to be seen. Pictures in between are made
    along the optical flow, so that it is slow and not jerky.
    """
    middle = (count - 1) / 2
    return np.asarray(middle + (np.arange(count) - middle) / factor**severity)


@degradation(aspect="dynamics_degree", needs="motion", summary="fast motion; the clip gets shorter")
def sped_up(count: int, severity: float, *, factor: float = FASTEST) -> Numbers:
    """Clips in fast motion, ``factor`` times faster at full severity; nothing is left out."""
    speed = factor**severity
    shown = np.round(np.arange(max(1, round(count / speed))) * speed)
    return np.asarray(np.minimum(shown, count - 1))


@degradation(
    aspect="dynamics_degree", needs="motion", summary="motion that halts and jumps, twice a second"
)
def stuttering(count: int, severity: float, rate: float, *, halt: float = 0.5) -> Numbers:
    """A picture is held, then motion jumps to where it would be: ``halt`` seconds at full severity.

    Halts are of equal length: a step of the ladder is the length of a halt.
    """
    step = max(1, round(halt * rate * severity))
    return np.arange(count, dtype=np.float64) // step * step


@degradation(
    aspect="dynamics_degree", needs="motion", summary="motion that shakes back and forth in time"
)
def jittering(
    count: int, severity: float, rate: float, rng: np.random.Generator, *, reach: float = 0.4
) -> Numbers:
    """Each picture comes too early or too late, by up to ``reach`` seconds at full severity."""
    shake = rng.uniform(-1, 1, count)
    return np.clip(np.round(np.arange(count) + shake * reach * rate * severity), 0, count - 1)


@degradation(aspect="dynamics_degree", needs="motion", summary="motion that runs backwards")
def reversed_motion(count: int, severity: float) -> Numbers:
    """Clips run backwards, or so much of their middle."""
    shown = np.arange(count, dtype=np.float64)
    length = round(count * severity)
    first = (count - length) // 2
    shown[first : first + length] = shown[first : first + length][::-1]
    return shown


@degradation(
    aspect="technical_quality", needs="movement", summary="lost frames; the one before is held"
)
def dropped_frames(
    count: int, severity: float, rng: np.random.Generator, *, lost: float = 0.6
) -> Numbers:
    """Frames are lost here and there, a share of ``lost`` at full severity."""
    # One draw for all severities: what is lost at one is lost at all above.
    there = rng.random(count) >= lost * severity
    there[0] = True
    return np.maximum.accumulate(np.where(there, np.arange(count, dtype=np.float64), 0))


@degradation(
    aspect="technical_quality",
    needs="movement",
    pixels=Pixels.I420,
    ahead=2,
    version=2,
    summary="every other line of a later moment: a comb where something moves",
)
def interlaced(image: Image, after: Image, severity: float) -> Image:
    """Two fields, two frames apart, shown as one picture; below full severity they are mixed."""
    luma, chroma = planes(image)
    # Chroma stays with the first field: at half the resolution a comb in it is not seen.
    combed = luma.copy()
    combed[1::2] = mixed(luma[1::2], planes(after)[0][1::2], severity)
    return of_planes(combed, chroma)
