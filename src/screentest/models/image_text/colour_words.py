"""Agreement of pictures and texts by colour alone: the stand-in that needs no weights.

A picture becomes the shares of the eleven basic colours in it, a text the colours it names or
implies ("grass" is green, "night" is black). A text without any such word has no direction in
common with any picture: its similarity is 0, which metrics take for no value. Sees nothing but
colour; under its own name, never as CLIPScore (see docs/models.md for figures).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from screentest.core import register
from screentest.models.colours import BASIC_COLOURS, basic_colour, name_pixels
from screentest.models.pictures import check_picture, opencv_identity

if TYPE_CHECKING:
    from screentest.core.frames import Image
    from screentest.models.roles import Vectors

# Words that imply a colour without naming it.
_IMPLIED = {
    "black": "night dark darkness shadow shadows silhouette silhouettes",
    "white": "snow snowy snowstorm cloud clouds ice icy fog mist haze bright",
    "grey": "concrete stone rock rocks rocky road asphalt metal steel mountain mountains "
    "city street monochrome",
    "red": "blood",
    "green": "grass grassy meadow forest tree trees jungle rainforest garden plant plants leaves "
    "shrubs valley mossy field foliage",
    "blue": "sky skies sea ocean water lake river stream jeans",
    "brown": "desert sand dune dunes earth soil wood wooden savannah burrow",
    "yellow": "sunny sunlit sun-drenched",
    "orange": "sunset sunrise fire firelight flame flames",
}
# Roughly what ordinary footage has of each colour: only more than that speaks of a picture.
_USUAL = {
    "black": 0.15,
    "white": 0.05,
    "grey": 0.35,
    "red": 0.02,
    "green": 0.10,
    "yellow": 0.03,
    "blue": 0.12,
    "brown": 0.13,
    "purple": 0.01,
    "pink": 0.02,
    "orange": 0.02,
}
_COLOUR_OF = {word: colour for colour, words in _IMPLIED.items() for word in words.split()}
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_SIDE = 64
_WIDTH = len(BASIC_COLOURS) + 1
_SILENT = len(BASIC_COLOURS)
"""The direction of texts that say nothing of colour, in which no picture lies."""


@register(
    "image_text",
    "colour_words",
    version=1,
    summary="colours in the picture against colours in the text; needs no weights",
    builtin=9,
)
def colour_words() -> ColourWords:
    """Colours alone."""
    return ColourWords()


class ColourWords:
    """Fills the role image_text."""

    @property
    def identity(self) -> Mapping[str, str]:
        """OpenCV's version."""
        return opencv_identity()

    @property
    def max_tokens(self) -> int:
        """It reads texts of any length."""
        return 1_000_000

    def count_tokens(self, text: str) -> int:
        """How many words a text has."""
        return len(_WORD.findall(text))

    def embed_texts(self, texts: Sequence[str], *, truncate: bool = True) -> Vectors:
        """One row per text, always the whole of it."""
        rows = np.zeros((len(texts), _WIDTH), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for colour in _colours(text):
                row[BASIC_COLOURS.index(colour)] += 1
            if not row.any():
                row[_SILENT] = 1
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return rows

    def embed_images(self, images: Sequence[Image]) -> Vectors:
        """One row per image."""
        import cv2

        usual = np.array([_USUAL[name] for name in BASIC_COLOURS])
        rows = np.zeros((len(images), _WIDTH), np.float32)
        for row, image in zip(rows, images, strict=True):
            small = cv2.resize(check_picture(image), (_SIDE, _SIDE), interpolation=cv2.INTER_AREA)
            names = name_pixels(np.asarray(small, np.uint8))
            shares = np.bincount(names.ravel(), minlength=len(BASIC_COLOURS)) / names.size
            # Roots, so that a small red thing counts. No count out of 4096 pixels is exactly
            # the usual 0.01 of purple, so that this is never all zero.
            unusual = np.sqrt(shares) - np.sqrt(usual)
            row[:_SILENT] = unusual / np.linalg.norm(unusual)
        return rows


def _colours(text: str) -> list[str]:
    """The basic colours that a text names or implies, as often as it does.

    >>> _colours("A red-haired woman walks through snow, a red scarf on her")
    ['red', 'white', 'red']
    """
    found = []
    for word in _WORD.findall(text.casefold()):
        for part in [word] if word in _COLOUR_OF else word.split("-"):
            colour = _COLOUR_OF.get(part) or basic_colour(part)
            if colour is not None:
                found.append(colour)
    return found
