"""Consistency by features of pictures: VBench's formula, shot by shot.

VBench takes DINO's features for the subject and CLIP's for the background, and means over frames:
the mean of a frame's cosine with the frame before and with the first one, none below 0. A video of
VBench is one shot. Of longer ones each shot is taken for itself, as VBench-Long does within its
clips, so that a cut is no fault. Frames are whole, as VBench takes them.

Which features are taken is chosen for each metric: ``--model image_features.subject=dinov2
--model image_features.background=clip_b16``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from screentest.core.frames import Image
from screentest.core.metric import Resources
from screentest.metrics.functions import metric

if TYPE_CHECKING:
    from screentest.models.roles import Vectors

SUBJECT, BACKGROUND = "image_features.subject", "image_features.background"
LONG_SIDE = 336
"""The encoders look at 224 × 224; a wide picture is not enlarged for them."""
_OF_FEATURES: Mapping[str, Any] = {
    "unit": "cosine",
    "frames": 8,
    "long_side": LONG_SIDE,
    "inside": False,
    "nothing": "no shot has two frames",
}


def consistency(vectors: Vectors) -> float | None:
    """VBench's: of each frame but the first, with the one before and with the first.

    >>> half = np.array([[1, 0], [1, 0], [0, 1]], np.float32)
    >>> consistency(half), consistency(half[:1])
    (0.5, None)
    """
    if len(vectors) < 2:
        return None
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    with_last = np.clip(np.sum(unit[1:] * unit[:-1], axis=1), 0, 1)
    with_first = np.clip(unit[1:] @ unit[0], 0, 1)
    return float((with_last + with_first).mean() / 2)


@metric(**_OF_FEATURES, roles=(SUBJECT,))
def subject_consistency(shot: Sequence[Image], resources: Resources) -> float | None:
    """Return how much what is shown stays the same within a shot: VBench's formula, features of
    choice."""
    return consistency(resources.role(SUBJECT).features(shot))


@metric(**_OF_FEATURES, roles=(BACKGROUND,))
def background_consistency(shot: Sequence[Image], resources: Resources) -> float | None:
    """Return how much the scene stays the same within a shot: VBench's formula, features of
    choice."""
    return consistency(resources.role(BACKGROUND).features(shot))
