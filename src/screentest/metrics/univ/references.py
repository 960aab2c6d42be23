"""Reference pictures: strangers' files, read with care and made small."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from screentest.core import NoValue, Reason, Size
from screentest.models.chat.pictures import Encoding, encode
from screentest.prompts.values import Pictures

MOST_PIXELS = 64_000_000
_FORMATS = ("JPEG", "PNG", "WEBP", "BMP", "TIFF")


def show_references(paths: Sequence[Path], short_side: int) -> list[Pictures]:
    """Each reference as a picture on its own; one that cannot be read fails them all."""
    encoding = Encoding(Size(short_side=short_side))
    return [Pictures([encode(_read(path), encoding)]) for path in paths]


def _read(path: Path) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    from PIL import Image, ImageOps

    try:
        with warnings.catch_warnings():
            # Pillow warns of a picture that is too large before it refuses one.
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(path, formats=_FORMATS) as opened:
                if opened.width * opened.height > MOST_PIXELS:
                    raise _too_large(path)
                upright = ImageOps.exif_transpose(opened).convert("RGB")
                return np.asarray(upright, np.uint8)
    except FileNotFoundError:
        raise NoValue(Reason.MISSING_FILE, f"the reference {path.name} is not there") from None
    except (Image.DecompressionBombWarning, Image.DecompressionBombError):
        raise _too_large(path) from None
    except (OSError, ValueError, SyntaxError) as error:
        raise NoValue(
            Reason.UNDECODABLE,
            f"the reference {path.name} cannot be read: {error}",
            advice="Give a JPEG or PNG.",
        ) from None


def _too_large(path: Path) -> NoValue:
    most = MOST_PIXELS // 1_000_000
    told = f"the reference {path.name} has more than {most} million pixels"
    return NoValue(Reason.TOO_LARGE, told, advice="Give a smaller one.")
