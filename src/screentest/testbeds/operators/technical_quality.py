"""Technical quality: fine detail lost.

SLVMEval brings the whole film to a long side of 512 pixels, and the chosen clips down to 256
by Lanczos and up again. A film smaller than 512 keeps its size; its clips go to half of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from screentest.core import Aspect, BadOption, register
from screentest.testbeds.contract import Chosen, Context, DegradationInfo
from screentest.testbeds.operators.shared import AnyClip, changed_clips
from screentest.video import Pixels, VideoPart, frame_by_frame

if TYPE_CHECKING:
    from screentest.core.frames import Image


@register("degradation", "technical_quality", version=1, summary="half the resolution")
def technical_quality(*, base: int = 512, low: int = 256) -> TechnicalQuality:
    """Long sides, in pixels, of the film and of what the chosen clips are reduced to."""
    if not 16 <= low < base:
        raise BadOption(f"technical_quality cannot go from {base} pixels down to {low}")
    return TechnicalQuality(base, low)


class TechnicalQuality(AnyClip):
    """Severity is the share of the way down, in octaves: at one half the sides are 1/√2."""

    def __init__(self, base: int, low: int) -> None:
        self.info = DegradationInfo(Aspect.TECHNICAL_QUALITY, long_side=base)
        self._factor = low / base

    def parts(self, context: Context, chosen: Sequence[Chosen], severity: float) -> list[VideoPart]:
        """The film with the chosen clips made small and large again."""
        factor = self._factor**severity
        change = frame_by_frame(lambda image: reduced(image, factor))
        return changed_clips(context, chosen, lambda _: change, Pixels.RGB)


def reduced(image: Image, factor: float) -> Image:
    """The picture scaled by ``factor`` and back, both by Lanczos."""
    from PIL import Image as Pictures

    height, width = image.shape[:2]
    small = max(1, round(width * factor)), max(1, round(height * factor))
    lanczos = Pictures.Resampling.LANCZOS
    shrunk = Pictures.fromarray(image).resize(small, lanczos)
    return np.asarray(shrunk.resize((width, height), lanczos), np.uint8)
