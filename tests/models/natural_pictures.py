"""The good pictures to which the natural-scene statistics were fitted: the packaged sample."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import av
import cv2
import numpy as np
from numpy.typing import NDArray

FILMS = (
    "bbb_first30s_640x360.mp4",
    "sintel_trailer_30s_640x272.mp4",
    "real_5shots_640x360.mp4",
)


def good_pictures(sample: Path) -> Iterator[NDArray[np.float64]]:
    """One frame a second of each film that shows something; each landscape at three sizes."""
    for name in FILMS:
        with av.open(str(sample / name)) as container:
            for number, frame in enumerate(container.decode(video=0)):
                if number % 24 == 12:
                    picture = grey(frame.to_ndarray(format="rgb24"))
                    if picture.std() > 15:
                        yield picture
    for path in sorted((sample / "backgrounds").glob("*.jpg")):
        landscape = cv2.imread(str(path))
        height, width = landscape.shape[:2]
        for side in (640, 512, 400):
            size = (side, round(side * height / width))
            small = cv2.resize(landscape, size, interpolation=cv2.INTER_AREA)
            yield grey(cv2.cvtColor(small, cv2.COLOR_BGR2RGB))


def grey(picture: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Grey levels as floating-point numbers."""
    return cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY).astype(np.float64)
