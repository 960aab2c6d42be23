"""Background consistency: the subject stays, and what is behind it does not belong to it.

At most one jump a second: more of them are a strobe, which can harm those who watch.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from screentest.core import Image
from screentest.testbeds.functions import degradation
from screentest.testbeds.operators.arithmetic import laid_in, without
from screentest.testbeds.operators.backgrounds import Backgrounds

if TYPE_CHECKING:
    from screentest.models.roles import Mask


@lru_cache(1)
def _packaged() -> Backgrounds:
    return Backgrounds.of(None)


@degradation(
    aspect="background_consistency",
    mask="foreground",
    summary="another place behind the subject",
)
def background_swapped(
    image: Image, mask: Mask, severity: float, clip_rng: np.random.Generator
) -> Image:
    """One landscape, drawn for each clip, which stands still; severity is how much it covers."""
    pictures = _packaged()
    behind = pictures.picture(int(clip_rng.integers(len(pictures.paths))), image.shape[:2])
    return laid_in(image, behind, 1 - mask, severity)


START, SPEED = 0.08, 0.16
"""How far it is displaced at first, and by how much more each second, in widths."""


@degradation(
    aspect="background_consistency",
    mask="foreground",
    summary="the background slides away behind the subject",
)
def background_drifting(
    image: Image,
    mask: Mask,
    severity: float,
    seconds: float,
    clip_rng: np.random.Generator,
) -> Image:
    """To a side drawn for each clip; severity is how far and how fast."""
    width = image.shape[1]
    way = severity * (START + SPEED * seconds) * width * (1 if clip_rng.random() < 0.5 else -1)
    # Beyond the edge it comes back mirrored, so that there is no seam.
    columns = (np.arange(width) + round(way)) % (2 * width)
    columns = np.where(columns < width, columns, 2 * width - 1 - columns)
    return laid_in(image, without(image, mask)[:, columns], 1 - mask)


@degradation(
    aspect="background_consistency",
    mask="foreground",
    summary="the background small and nine times over",
)
def background_tiled(image: Image, mask: Mask, severity: float) -> Image:
    """Three by three of it behind the subject; severity is how much they cover."""
    height, width = image.shape[:2]
    # Every third row and column of a picture that was smoothed a little.
    small = without(image, mask)[1::3, 1::3] if min(height, width) > 2 else image
    times = -(-height // small.shape[0]), -(-width // small.shape[1]), 1
    return laid_in(image, np.tile(small, times)[:height, :width], 1 - mask, severity)


@degradation(
    aspect="background_consistency",
    mask="foreground",
    summary="every second the background is another way round",
)
def background_turning(image: Image, mask: Mask, severity: float, seconds: float) -> Image:
    """Mirrored, upside down, both, and so on; severity is how much it covers what was there."""
    behind = without(image, mask)
    turned = (behind[:, ::-1], behind[::-1], behind[::-1, ::-1])[int(seconds) % 3]
    return laid_in(image, turned, 1 - mask, severity)
