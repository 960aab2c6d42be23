"""Real pictures for the tests of picture backends: consecutive frames of a video file."""

from __future__ import annotations

from functools import cache
from itertools import islice
from pathlib import Path

import av
import cv2
import numpy as np
from numpy.typing import NDArray

Image = NDArray[np.uint8]


@cache
def frames(path: Path, first: int, count: int, long_side: int) -> tuple[Image, ...]:
    """``count`` frames from number ``first`` on, their long side made ``long_side``."""
    with av.open(str(path)) as container:
        chosen = islice(container.decode(video=0), first, first + count)
        pictures = [frame.to_ndarray(format="rgb24") for frame in chosen]
    assert len(pictures) == count, f"{path.name} is too short"
    scale = long_side / max(pictures[0].shape[:2])
    sized = [
        cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        for picture in pictures
    ]
    for picture in sized:
        picture.flags.writeable = False  # handed to many tests: none may change it
    return tuple(sized)


def frame(path: Path, number: int, long_side: int) -> Image:
    """One frame."""
    return frames(path, number, 1, long_side)[0]


def psnr(one: NDArray[np.generic], two: NDArray[np.generic]) -> float:
    """Peak signal-to-noise ratio in dB of two 8-bit pictures."""
    error = np.mean((one.astype(float) - two.astype(float)) ** 2)
    return float(10 * np.log10(255**2 / max(error, 1e-12)))


def overlap(one: NDArray[np.generic], two: NDArray[np.generic]) -> float:
    """Intersection over union of two masks."""
    first, second = one > 0.5, two > 0.5
    return float((first & second).sum() / max(1, (first | second).sum()))
