"""Backgrounds: a folder of pictures that can stand behind something."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from screentest.core import BadOption
from screentest.run import hash_file
from screentest.sample import backgrounds as packaged

if TYPE_CHECKING:
    from screentest.core.frames import Image

SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".webp", ".bmp", ".tif", ".tiff"})
_KEPT = 32
"""Pictures held ready; a folder may have thousands."""


class Backgrounds:
    """The pictures of a folder that can be read, by name."""

    def __init__(self, paths: tuple[Path, ...], unreadable: tuple[str, ...] = ()) -> None:
        self.paths = paths
        self.unreadable = unreadable
        """Names of files that look like pictures and are none; they are left out."""
        self._digest = ""
        self._fitted = lru_cache(_KEPT)(self._fit)

    @classmethod
    def of(cls, folder: Path | None) -> Backgrounds:
        """The pictures of ``folder``, or the packaged ones."""
        if folder is None:
            return cls(tuple(packaged()))
        if not folder.is_dir():
            raise BadOption(f"{folder} is no folder", advice="Give one with pictures in it.")
        found = sorted(path for path in folder.iterdir() if path.suffix.lower() in SUFFIXES)
        readable = tuple(path for path in found if _opens(path))
        if not readable:
            raise BadOption(
                f"no picture in {folder} can be read",
                advice="Put some landscapes there (JPEG or PNG).",
            )
        broken = tuple(path.name for path in found if path not in readable)
        return cls(readable, broken)

    @property
    def digest(self) -> str:
        """A hash of all their content; a changed folder makes another testbed."""
        if not self._digest:
            hashes = "\n".join(hash_file(path) for path in self.paths)
            self._digest = hashlib.sha256(hashes.encode()).hexdigest()[:16]
        return self._digest

    def picture(self, number: int, shape: tuple[int, ...]) -> Image:
        """Picture ``number``, filling height × width; what is too much is cut off evenly."""
        height, width = shape
        return self._fitted(number, height, width)

    def _fit(self, number: int, height: int, width: int) -> Image:
        from PIL import Image as Pictures
        from PIL import ImageOps

        with Pictures.open(self.paths[number]) as opened:
            upright = ImageOps.exif_transpose(opened).convert("RGB")
            return np.asarray(ImageOps.fit(upright, (width, height)), np.uint8)


def _opens(path: Path) -> bool:
    """Whether all of the picture can be decoded."""
    from PIL import Image as Pictures

    try:
        with Pictures.open(path) as opened:
            opened.load()
    except (OSError, ValueError, SyntaxError, Pictures.DecompressionBombError):
        return False
    return True
