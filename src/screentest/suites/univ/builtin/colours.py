"""Hue, saturation, contrast and brightness of a frame in words, from plain statistics.

The borders between the words are ours: no paper draws them. They stand here as constants and
in the docs with what they mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from screentest.core import Image
from screentest.suites.univ.vocabulary import Brightness, Contrast, Hue, Saturation

if TYPE_CHECKING:
    from numpy.typing import NDArray


GREY_BELOW = 0.10
"""Mean chroma up to which a picture counts as grey."""
PLAIN_SHARE = 0.65
"""The share of all colour that must lie on one side for a tone to be warm or cool."""
VIVID_FROM, PALE_BELOW = 0.35, 0.15
"""Mean chroma of vivid and of pale pictures."""
HARD_FROM, FLAT_BELOW = 0.25, 0.13
"""Standard deviation of luma, of 1, of pictures with much and with little contrast."""
BRIGHT_FROM, DARK_BELOW = 0.60, 0.30
"""Mean luma, of 1."""
_WARM_TO, _WARM_FROM = 70.0, 330.0
"""Degrees of hue: from pink over red and orange to yellow."""


@dataclass(frozen=True, slots=True)
class FrameLook:
    """What was measured on one frame, or the mean of several; all in 0 to 1."""

    luma: float
    contrast: float
    chroma: float
    """The largest of red, green and blue minus the smallest, on average."""
    warm: float
    """The share of all chroma that is warm."""


def look_at(image: Image) -> FrameLook:
    """Measure an RGB picture.

    >>> grey = look_at(np.full((4, 4, 3), 51, np.uint8))
    >>> round(grey.luma, 3), grey.contrast < 1e-6, grey.chroma
    (0.2, True, 0.0)
    """
    rgb = image.astype(np.float32) / 255.0
    luma = rgb @ np.array([0.2126, 0.7152, 0.0722], np.float32)
    high, low = rgb.max(axis=2), rgb.min(axis=2)
    chroma = high - low
    total = float(chroma.sum())
    warm = float(chroma[_is_warm(rgb, chroma)].sum()) / total if total > 0 else 0.0
    return FrameLook(float(luma.mean()), float(luma.std()), float(chroma.mean()), warm)


def _is_warm(rgb: NDArray[np.floating], chroma: NDArray[np.floating]) -> NDArray[np.bool_]:
    red, green, blue = rgb[..., 0], rgb[..., 1], rgb[..., 2]
    high, safe = rgb.max(axis=2), np.where(chroma > 0, chroma, 1)
    sector = np.where(
        high == red,
        ((green - blue) / safe) % 6,
        np.where(high == green, (blue - red) / safe + 2, (red - green) / safe + 4),
    )
    degrees = sector * 60
    return np.asarray((degrees <= _WARM_TO) | (degrees >= _WARM_FROM))


def mean_look(looks: list[FrameLook]) -> FrameLook:
    """Return the middle of several looks, each number on its own."""
    columns = np.array([[look.luma, look.contrast, look.chroma, look.warm] for look in looks])
    return FrameLook(*(float(value) for value in np.median(columns, axis=0)))


def hue(look: FrameLook) -> Hue:
    """Return the overall tone."""
    if look.chroma < GREY_BELOW:
        return Hue.NEUTRAL
    if look.warm >= PLAIN_SHARE:
        return Hue.WARM
    return Hue.COOL if look.warm <= 1 - PLAIN_SHARE else Hue.MULTI


def saturation(look: FrameLook) -> Saturation:
    """Return how strong the colours are."""
    if look.chroma >= VIVID_FROM:
        return Saturation.HIGH
    return Saturation.LOW if look.chroma < PALE_BELOW else Saturation.MODERATE


def contrast(look: FrameLook) -> Contrast:
    """Return how far light and dark lie apart."""
    if look.contrast >= HARD_FROM:
        return Contrast.HIGH
    return Contrast.LOW if look.contrast < FLAT_BELOW else Contrast.MEDIUM


def brightness(look: FrameLook) -> Brightness:
    """Return how bright it is."""
    if look.luma >= BRIGHT_FROM:
        return Brightness.HIGH
    return Brightness.LOW if look.luma < DARK_BELOW else Brightness.MODERATE
