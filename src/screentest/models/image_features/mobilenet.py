"""Pictures as vectors by MobileNetV3-small: what is seen, more than how it is coloured.

The 576 numbers before the classifier of a network trained on ImageNet. Frames of one shot are
near (cosine 0.8 to 1.0), those of unrelated videos at 0.3 to 0.6. Not DINO and not CLIP: it
goes by its own name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from screentest.core import register
from screentest.models import weights
from screentest.models.pictures import check_picture
from screentest.models.runtimes import ONNX, onnx_session, runs, versions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from screentest.core.frames import Image
    from screentest.models.roles import Vectors

WEIGHTS = "mobilenet-v3-small"
WIDTH = 576
SIDE = 224
_BATCH = 8
# Of the pictures it was trained on, per channel.
_MEAN = np.array([0.485, 0.456, 0.406], np.float32) * 255
_DEVIATION = np.array([0.229, 0.224, 0.225], np.float32) * 255


@register(
    "image_features",
    "mobilenet",
    version=1,
    summary="MobileNetV3-small, 576 numbers per picture",
    builtin=1,
    ready=lambda: runs(ONNX) and weights.available(WEIGHTS),
    weights=(WEIGHTS,),
    neutral=("threads",),
    get=f"screentest models pull {WEIGHTS}",
)
def mobilenet(*, threads: int = 0) -> MobileNet:
    """MobileNetV3-small; ``threads`` is 0 for this process's part of the machine."""
    return MobileNet(threads)


class MobileNet:
    """Fills the role image_features."""

    def __init__(self, threads: int = 0) -> None:
        self._session = onnx_session(weights.path(WEIGHTS), wanted_threads=threads)

    @property
    def identity(self) -> Mapping[str, str]:
        """The weights and the runtime."""
        return {"weights": weights.entry(WEIGHTS).files[1].sha256[:12], **versions(ONNX)}

    def features(self, images: Sequence[Image]) -> Vectors:
        """One row per image."""
        rows = np.empty((len(images), WIDTH), np.float32)
        for start in range(0, len(images), _BATCH):
            batch = np.stack([_prepared(image) for image in images[start : start + _BATCH]])
            rows[start : start + _BATCH] = self._session.run(None, {"input": batch})[0]
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return rows


def _prepared(image: Image) -> NDArray[np.float32]:
    """The whole picture, squeezed to a square: a crop would not see its sides."""
    import cv2

    small = cv2.resize(check_picture(image), (SIDE, SIDE), interpolation=cv2.INTER_AREA)
    scaled = (small.astype(np.float32) - _MEAN) / _DEVIATION
    return np.ascontiguousarray(scaled.transpose(2, 0, 1))
