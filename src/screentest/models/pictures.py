"""Small things that all picture backends do alike: check what they are handed, size it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from screentest.core.frames import Image
    from screentest.models.roles import Mask

    Plane: TypeAlias = NDArray[Any]
    """Floating-point numbers in the shape of a picture, in whichever precision."""


def check_picture(image: Image) -> Image:
    """The picture itself; a ValueError where it is not height × width × 3 in uint8.

    >>> check_picture(np.zeros((2, 3, 3), np.uint8)).shape
    (2, 3, 3)
    """
    if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8 or 0 in image.shape:
        raise ValueError(f"not an RGB picture: {image.dtype} of shape {image.shape}")
    return image


def check_pair(first: Image, second: Image) -> None:
    """A ValueError where two pictures differ in size."""
    if check_picture(first).shape != check_picture(second).shape:
        raise ValueError(f"pictures of two sizes: {first.shape[:2]} and {second.shape[:2]}")


def check_mask(mask: Mask, image: Image) -> NDArray[np.float32]:
    """The mask as float32; a ValueError where it does not lie over ``image``."""
    if mask.shape != check_picture(image).shape[:2]:
        raise ValueError(f"a mask of {mask.shape} for a picture of {image.shape[:2]}")
    return mask.astype(np.float32)


def to_bytes(picture: Plane) -> Image:
    """Numbers in 0–255 as pixels: rounded, and cut where they lie beyond.

    >>> to_bytes(np.array([-3.0, 1.6, 300.0])).tolist()
    [0, 2, 255]
    """
    return np.asarray(np.clip(np.rint(picture), 0, 255), np.uint8)


def brightened(image: Image, gain: float) -> Image:
    """The picture with every pixel times ``gain``, in whole levels.

    >>> brightened(np.full((1, 1, 3), 100, np.uint8), 0.5).ravel().tolist()
    [50, 50, 50]
    """
    return image if gain == 1 else to_bytes(image * np.float64(gain))


def limit_long_side(image: Image, side: int) -> Image:
    """The picture with its long side at most ``side`` pixels; never enlarged.

    >>> limit_long_side(np.zeros((720, 1280, 3), np.uint8), 512).shape
    (288, 512, 3)
    """
    import cv2

    height, width = image.shape[:2]
    longest = max(height, width)
    if longest <= side:
        return image
    size = (max(1, round(width * side / longest)), max(1, round(height * side / longest)))
    return cv2.resize(image, size, interpolation=cv2.INTER_AREA).astype(np.uint8)


def opencv_identity() -> Mapping[str, str]:
    """What the numbers of an OpenCV backend depend on."""
    import cv2

    return {"opencv": cv2.__version__}


def to_pillow(image: Any) -> Any:
    """The picture as Pillow holds it, for libraries that take nothing else."""
    from PIL import Image as PillowImage

    return PillowImage.fromarray(image)


# Texts as tokenizers take them.


def readable(text: str) -> str:
    """The text with what has no place in UTF-8 replaced: tokenizers raise on it.

    A JSON file may hold half of a surrogate pair, and Python reads it.

    >>> readable("a \\ud83d dog")
    'a ? dog'
    """
    return text.encode("utf-8", "replace").decode("utf-8")
