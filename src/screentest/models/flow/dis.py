"""Optical flow by OpenCV's dense inverse search (DIS).

Needs no weights. It finds motion in textured parts to about a tenth of a pixel; in flat parts
(a white wall) no method that sees only two pictures can tell, and DIS guesses from the
neighbourhood.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from screentest.core import register
from screentest.models.pictures import brightened, check_pair, opencv_identity

if TYPE_CHECKING:
    from screentest.core.frames import Image
    from screentest.models.roles import FlowField

Preset = Literal["ultrafast", "fast", "medium"]

SMALLEST_SIDE = 32
"""Smaller pictures are mirrored outwards to this: DIS fails on some of them."""


@register("flow", "dis", version=1, summary="OpenCV DIS optical flow; needs no weights", builtin=1)
def dis(*, preset: Preset = "medium") -> DisFlow:
    """Dense inverse search; ``preset`` trades speed for accuracy."""
    return DisFlow(preset)


class DisFlow:
    """Fills the role flow. Safe to call from several threads."""

    def __init__(self, preset: Preset = "medium") -> None:
        self._preset = preset

    @property
    def identity(self) -> Mapping[str, str]:
        """OpenCV's version."""
        return opencv_identity()

    def flow(self, pairs: Sequence[tuple[Image, Image]], *, gain: float = 1.0) -> list[FlowField]:
        """Per pair height × width × 2: where each pixel of the first went, in pixels (x, y)."""
        import cv2

        presets = {
            "ultrafast": cv2.DISOpticalFlow_PRESET_ULTRAFAST,
            "fast": cv2.DISOpticalFlow_PRESET_FAST,
            "medium": cv2.DISOpticalFlow_PRESET_MEDIUM,
        }
        # The searcher keeps buffers between calls, so each call has its own.
        searcher: Any = cv2.DISOpticalFlow.create(presets[self._preset])
        fields: list[FlowField] = []
        for first, second in pairs:
            check_pair(first, second)
            height, width = first.shape[:2]
            # No flow to start from; zeros would be one, and lead elsewhere.
            field = searcher.calc(
                _grey(brightened(first, gain)), _grey(brightened(second, gain)), None
            )
            fields.append(np.ascontiguousarray(field[:height, :width], np.float32))
        return fields


def _grey(image: Image) -> Image:
    import cv2

    grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    below, beside = (max(0, SMALLEST_SIDE - side) for side in grey.shape)
    if below or beside:
        grey = cv2.copyMakeBorder(grey, 0, below, 0, beside, cv2.BORDER_REFLECT)
    return grey.astype(np.uint8, copy=False)
