"""Whether a video shows anything: one that is black all through is steady, and worth nothing.

Without this, a generator that fails into darkness would have the best flickering, warping and
consistency of all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from screentest.metrics.locot2v._work import inapplicable

if TYPE_CHECKING:
    from screentest.core.frames import Image

BLACK = 16
"""Levels up to this are black: what encoders leave of it."""


def is_black(image: Image) -> bool:
    """Whether a picture shows nothing."""
    return bool(image.max() <= BLACK)


class Light:
    """Looks at frames until one shows something.

    >>> import numpy as np
    >>> light = Light()
    >>> light.see(np.zeros((2, 2, 3), np.uint8))
    >>> light.seen
    False
    """

    def __init__(self) -> None:
        self.seen = False

    def see(self, image: Image) -> None:
        """Look at one more frame."""
        if not self.seen:
            self.seen = not is_black(image)

    def require(self) -> None:
        """Raise where all was black."""
        if not self.seen:
            raise inapplicable("every frame is black")
