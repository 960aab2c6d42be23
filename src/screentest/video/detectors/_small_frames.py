"""The frames that `abrupt` and `gradual` share: 64 pixels on the long side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import cv2

from screentest.core import Filter, FrameRequest, Layout, Size

if TYPE_CHECKING:
    from screentest.core.frames import Image

# Averaged over areas: grain and fine texture would otherwise change from frame to frame.
SMALL = FrameRequest(size=Size(long_side=64), layout=Layout.BGR, filter=Filter.AREA)


class SameSize:
    """Brings every picture to the size of the first: sizes can change inside a video."""

    def __init__(self) -> None:
        self._size: tuple[int, int] | None = None

    def of(self, picture: Image) -> Image:
        """The picture, scaled where it has to be."""
        size = (picture.shape[1], picture.shape[0])
        if self._size is None:
            self._size = size
        if size == self._size:
            return picture
        return cv2.resize(picture, self._size, interpolation=cv2.INTER_AREA)  # type: ignore[return-value]
