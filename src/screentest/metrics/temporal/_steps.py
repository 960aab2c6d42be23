"""The change from one picture to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from screentest.core.frames import Image


class Steps:
    """Remembers the picture before."""

    def __init__(self) -> None:
        self._before: Image | None = None

    def __call__(self, image: Image) -> float | None:
        """The mean change in levels; None for the first picture, and where the size changes."""
        import cv2

        before, self._before = self._before, image
        if before is None or before.shape != image.shape:
            return None
        return float(cv2.mean(cv2.absdiff(before, image))[0])
