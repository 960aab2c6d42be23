"""What backends do alike: check and size pictures, clean texts, name colours."""

from __future__ import annotations

import tomllib
import warnings
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PillowImage
from PIL import ImageOps

from screentest.core import Image, NoValue, Reason
from screentest.models.roles import Mask

Plane: TypeAlias = NDArray[Any]
"""Floating-point numbers in the shape of a picture, in whichever precision."""


def check_picture(image: Image) -> Image:
    """Return the picture itself; a ValueError where it is not height × width × 3 in uint8.

    >>> check_picture(np.zeros((2, 3, 3), np.uint8)).shape
    (2, 3, 3)
    """
    if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8 or 0 in image.shape:
        raise ValueError(f"not an RGB picture: {image.dtype} of shape {image.shape}")
    return image


def check_pair(first: Image, second: Image) -> None:
    """Raise ValueError where two pictures differ in size."""
    if check_picture(first).shape != check_picture(second).shape:
        raise ValueError(f"pictures of two sizes: {first.shape[:2]} and {second.shape[:2]}")


def check_mask(mask: Mask, image: Image) -> NDArray[np.float32]:
    """Return the mask as float32; a ValueError where it does not lie over ``image``."""
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
    """Return the picture with every pixel times ``gain``, in whole levels.

    >>> brightened(np.full((1, 1, 3), 100, np.uint8), 0.5).ravel().tolist()
    [50, 50, 50]
    """
    return image if gain == 1 else to_bytes(image * np.float64(gain))


def limit_long_side(image: Image, side: int) -> Image:
    """Return the picture with its long side at most ``side`` pixels; never enlarged.

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
    """Return the identity of an OpenCV backend."""
    import cv2

    return {"opencv": cv2.__version__}


class OpenCvBackend:
    """A backend whose numbers depend on its options and on OpenCV alone."""

    @property
    def identity(self) -> Mapping[str, str]:
        return opencv_identity()


def writable(image: Image) -> Image:
    """Return the picture, or a copy of one that is read-only: torch warns of sharing those."""
    return np.require(image, requirements="W")


def to_pillow(image: Any) -> Any:
    """Return the picture as Pillow holds it, for libraries that take nothing else."""
    return PillowImage.fromarray(image)


MOST_PIXELS = 64_000_000
_FORMATS = ("JPEG", "PNG", "WEBP", "BMP", "TIFF")


def read_picture(path: Path) -> Image:
    """Return a picture of a file, upright, as RGB; raises NoValue where it cannot be read."""
    try:
        with warnings.catch_warnings():
            # Pillow warns of a picture that is too large before it refuses one.
            warnings.simplefilter("error", PillowImage.DecompressionBombWarning)
            with PillowImage.open(path, formats=_FORMATS) as opened:
                if opened.width * opened.height > MOST_PIXELS:
                    raise _too_large(path)
                upright = ImageOps.exif_transpose(opened).convert("RGB")
                return np.asarray(upright, np.uint8)
    except FileNotFoundError:
        raise NoValue(Reason.MISSING_FILE, f"the picture {path.name} is not there") from None
    except (PillowImage.DecompressionBombWarning, PillowImage.DecompressionBombError):
        raise _too_large(path) from None
    except (OSError, ValueError, SyntaxError) as error:
        raise NoValue(
            Reason.UNDECODABLE,
            f"cannot read the picture {path.name}: {error}",
            advice="Give a JPEG or PNG.",
        ) from None


def _too_large(path: Path) -> NoValue:
    most = MOST_PIXELS // 1_000_000
    message = f"the picture {path.name} has more than {most} million pixels"
    return NoValue(Reason.TOO_LARGE, message, advice="Give a smaller one.")


def readable(text: str) -> str:
    """Return the text with what has no place in UTF-8 replaced: tokenizers raise on it.

    A JSON file may hold half of a surrogate pair, and Python reads it.

    >>> readable("a \\ud83d dog")
    'a ? dog'
    """
    return text.encode("utf-8", "replace").decode("utf-8")


COLOURS = tomllib.loads(Path(__file__).with_name("colours.toml").read_text(encoding="utf-8"))
BASIC_COLOURS: tuple[str, ...] = tuple(COLOURS["typical"])
# How bright a thing is depends on the light, so lightness counts half in naming it.
_NAMING_WEIGHTS = np.array([0.5, 1.0, 1.0])
_ROWS_AT_ONCE = 1 << 13
IMAGENET_MEAN = np.array([0.485, 0.456, 0.406], np.float32)
IMAGENET_DEVIATION = np.array([0.229, 0.224, 0.225], np.float32)
"""Of the pictures that most networks were trained on, per channel."""

_TO_CONES, _TO_LAB = np.array(COLOURS["oklab"]["cones"]), np.array(COLOURS["oklab"]["lab"])
_FROM_LAB, _FROM_CONES = np.linalg.inv(_TO_LAB), np.linalg.inv(_TO_CONES)


def to_oklab(pixels: Image | Plane | Sequence[float]) -> Plane:
    """sRGB in 0–255, last axis of three, as lightness (0–1), green–red and blue–yellow.

    >>> to_oklab((255, 255, 255)).round(3).tolist()
    [1.0, 0.0, 0.0]
    """
    values = np.asarray(pixels)
    if values.dtype == np.uint8:
        linear = _linear_of_bytes()[values]
    else:
        linear = _linear(values.astype(np.float64) / 255)
    return np.asarray(np.cbrt(linear @ _TO_CONES.T) @ _TO_LAB.T)


def from_oklab(colours: Plane) -> Image:
    """Back to sRGB bytes; what no screen can show is cut at the edge of what it can.

    >>> from_oklab(to_oklab((12, 200, 77))).tolist()
    [12, 200, 77]
    """
    linear = np.clip(((colours @ _FROM_LAB.T) ** 3) @ _FROM_CONES.T, 0, 1)
    encoded = np.where(linear <= 0.0031308, linear * 12.92, 1.055 * linear ** (1 / 2.4) - 0.055)
    return to_bytes(encoded * 255)


def name_colour(colour: Sequence[float] | Plane) -> str:
    """Return the name of one sRGB colour in 0–255: one of Berlin and Kay's eleven basic terms.

    Colours are compared in OKLab (Björn Ottosson, 2020), where equal distances look about equally
    different. A colour has the name of the nearest of a few typical colours per name.

    >>> name_colour((200, 30, 40)), name_colour((120, 75, 40)), name_colour((250, 190, 205))
    ('red', 'brown', 'pink')
    """
    return BASIC_COLOURS[int(_nearest(to_oklab(colour).reshape(1, 3))[0])]


def name_pixels(image: Image) -> NDArray[np.intp]:
    """For each pixel the number of its name in BASIC_COLOURS.

    >>> name_pixels(np.full((1, 2, 3), 255, np.uint8)).tolist()
    [[1, 1]]
    """
    flat = image.reshape(-1, 3)
    parts = [
        _nearest(to_oklab(flat[start : start + _ROWS_AT_ONCE]))
        for start in range(0, len(flat), _ROWS_AT_ONCE)
    ]
    return np.concatenate(parts).reshape(image.shape[:-1])


def basic_colour(words: str) -> str | None:
    """Return the basic colour that a phrase names, None where it names none.

    >>> basic_colour("dark Gray"), basic_colour("the golden one"), basic_colour("shiny")
    ('grey', 'yellow', None)
    """
    for word in reversed(words.lower().replace("-", " ").split()):
        name: str = COLOURS["other_words"].get(word, word)
        if name in BASIC_COLOURS:
            return name
    return None


def focal_colour(name: str) -> Plane:
    """Return a colour that everybody calls by this basic name, in OKLab; never pure black or white.

    >>> from_oklab(focal_colour("white")).tolist()
    [244, 244, 240]
    """
    return to_oklab(list(bytes.fromhex(COLOURS["typical"][name].split()[0])))


def _nearest(colours: Plane) -> NDArray[np.intp]:
    typical, numbers = _typical()
    wanted = (colours * _NAMING_WEIGHTS).astype(np.float32)
    # |x - t|² / 2 without |x|², which is the same for all t.
    distances = (typical**2).sum(axis=1) / 2 - wanted @ typical.T
    return np.asarray(numbers[distances.argmin(axis=1)], np.intp)


@cache
def _typical() -> tuple[Plane, NDArray[np.intp]]:
    colours, numbers = [], []
    for number, name in enumerate(BASIC_COLOURS):
        for code in COLOURS["typical"][name].split():
            colours.append(list(bytes.fromhex(code)))
            numbers.append(number)
    typical = to_oklab(np.array(colours)) * _NAMING_WEIGHTS
    return typical.astype(np.float32), np.array(numbers, np.intp)


def _linear(encoded: Plane) -> Plane:
    return np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)


@cache
def _linear_of_bytes() -> Plane:
    return _linear(np.arange(256) / 255)
