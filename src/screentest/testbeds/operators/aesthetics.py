"""Aesthetics: dull, flat, with light and dark exchanged.

SLVMEval applies FFmpeg's ``eq`` filter with contrast −0.8: luma is inverted and its range
compressed to 80%. Here it is the same lookup on the luma plane; chroma is not touched.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from screentest.core import Aspect, register
from screentest.testbeds.contract import Chosen, Context, DegradationInfo
from screentest.testbeds.operators.shared import AnyClip, changed_clips
from screentest.video import Pixels, VideoPart, frame_by_frame

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from screentest.core.frames import Image


@register("degradation", "aesthetics", version=1, summary="contrast turned round and made flat")
def aesthetics(*, contrast: float = -0.8) -> Aesthetics:
    """``contrast`` as FFmpeg's eq takes it."""
    return Aesthetics(contrast)


class Aesthetics(AnyClip):
    """Severity goes from contrast 1, which changes nothing, to the full one."""

    info = DegradationInfo(Aspect.AESTHETICS)

    def __init__(self, contrast: float) -> None:
        self._contrast = contrast

    def parts(self, context: Context, chosen: Sequence[Chosen], severity: float) -> list[VideoPart]:
        """The film with the contrast of the chosen clips changed."""
        table = contrast_table(1 + (self._contrast - 1) * severity)
        change = frame_by_frame(lambda picture: _with_luma(picture, table))
        return changed_clips(context, chosen, lambda _: change, Pixels.I420)


def contrast_table(contrast: float) -> NDArray[np.uint8]:
    """For every level of luma the one that FFmpeg's ``eq=contrast=…`` makes of it.

    FFmpeg's own fixed-point arithmetic, so that no level is off by one.

    >>> contrast_table(-0.8)[[16, 60, 126, 200, 235]].tolist()
    [216, 181, 128, 69, 41]
    """
    slope = int(contrast * 256 * 16)
    offset = 255 - 128 - int(slope / 32)  # C's division: towards zero
    levels = (np.arange(256) * slope >> 12) + offset
    return np.asarray(np.clip(levels, 0, 255), np.uint8)


def _with_luma(picture: Image, table: NDArray[np.uint8]) -> Image:
    rows = picture.shape[0] * 2 // 3
    result = picture.copy()
    result[:rows] = table[picture[:rows]]
    return result
