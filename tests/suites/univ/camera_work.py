"""A camera over a real picture: pans, tilts, zooms and stills of known speed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

Image = NDArray[np.uint8]

MOVES = {
    "static shot": (0.0, 0.0, 0.0),
    "pan right": (1.0, 0.0, 0.0),
    "pan left": (-1.0, 0.0, 0.0),
    "tilt down": (0.0, 1.0, 0.0),
    "tilt up": (0.0, -1.0, 0.0),
    "zoom in": (0.0, 0.0, 1.0),
    "zoom out": (0.0, 0.0, -1.0),
}
"""What the window does: to the right, down (of the frame's width), and narrower."""


def picture(path: Path) -> Image:
    """The picture, wide enough to move over."""
    found = cv2.imread(str(path), cv2.IMREAD_COLOR_RGB)
    assert found is not None
    return np.asarray(cv2.resize(found, (960, 540), interpolation=cv2.INTER_AREA), np.uint8)


def shot(
    image: Image, move: str, speed: float, *, seconds: float = 1.5, rate: int = 8
) -> Iterator[Image]:
    """Frames of 256 × 144; ``speed`` is in widths, or in growth, per second."""
    right, down, narrower = MOVES[move]
    for number in range(round(seconds * rate) + 1):
        # Counted from the middle of the movement, so that the window stays inside.
        moment = number / rate - seconds / 2
        width = 400 * np.exp(-narrower * speed * moment)
        x = 480 + right * speed * moment * width
        y = 270 + down * speed * moment * width
        scale = width / 256
        window = np.array([[scale, 0, x - 128 * scale], [0, scale, y - 72 * scale]])
        flags = cv2.INTER_AREA | cv2.WARP_INVERSE_MAP
        yield np.asarray(
            cv2.warpAffine(image, window, (256, 144), flags=flags, borderMode=cv2.BORDER_REFLECT),
            np.uint8,
        )
