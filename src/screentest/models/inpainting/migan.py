"""Filling holes by MI-GAN, a small network run by onnxruntime.

The hole is filled by Telea's method first: the network looks at what lies under the mask near
its rim, and leaves a dark rim where that is black. What it returns outside the hole is not
used: there the picture stays as it was, bit by bit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from screentest.core import register
from screentest.models import weights
from screentest.models.inpainting.telea import continued, filled_into, hole_of
from screentest.models.pictures import opencv_identity
from screentest.models.runtimes import ONNX, onnx_session, runs, versions

if TYPE_CHECKING:
    from screentest.core.frames import Image
    from screentest.models.roles import Mask

WEIGHTS = "migan"
RADIUS = 5.0
_KEPT = 255


@register(
    "inpainting",
    "migan",
    version=1,
    summary="MI-GAN: continues textures, knows no prompt",
    builtin=1,
    ready=lambda: runs(ONNX) and weights.available(WEIGHTS),
    weights=(WEIGHTS,),
    neutral=("threads",),
    get=f"screentest models pull {WEIGHTS}",
)
def migan(*, threads: int = 0) -> MiGan:
    """MI-GAN; ``threads`` is 0 for this process's part of the machine."""
    return MiGan(threads)


class MiGan:
    """Fills the role inpainting; the prompt is not looked at."""

    def __init__(self, threads: int = 0) -> None:
        self._session = onnx_session(weights.path(WEIGHTS), wanted_threads=threads)

    @property
    def identity(self) -> Mapping[str, str]:
        """The weights, the runtime, and the OpenCV that fills first."""
        return {"weights": weights.digest(WEIGHTS), **versions(ONNX), **opencv_identity()}

    def inpaint(self, image: Image, mask: Mask, prompt: str = "") -> Image:
        """The picture with the masked part made new; the rest is untouched."""
        hole = hole_of(mask, image)
        if not hole.any():
            return image.copy()
        start = continued(image, hole, RADIUS)
        kept = np.where(hole, 0, _KEPT).astype(np.uint8)
        (found,) = self._session.run(
            None,
            {
                "image": np.ascontiguousarray(start.transpose(2, 0, 1)[None]),
                "mask": kept[None, None],
            },
        )
        return filled_into(image, hole, np.asarray(found[0].transpose(1, 2, 0), np.uint8))
