"""Pictures as vectors without any weights: colours, where they lie, and which way edges run.

The classical stand-in beneath the networks. It sees that two pictures look alike, not that
they show the same thing: a cat on grass is nearer to a dog on grass than to a cat on snow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from screentest.core import register
from screentest.models.pictures import check_picture, opencv_identity

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from screentest.core.frames import Image
    from screentest.models.roles import Vectors

    Numbers: TypeAlias = NDArray[np.float64]

_SIDE = 96
_CELLS = 3
_DIRECTIONS = 9
_LIGHTNESS_BINS, _COLOUR_BINS = 4, 6
_WIDTH = 4 * _CELLS**2 + _LIGHTNESS_BINS * _COLOUR_BINS**2 + _DIRECTIONS * _CELLS**2


@register(
    "image_features",
    "colour_gradient",
    version=1,
    summary="colours, their places and the directions of edges; needs no weights",
    builtin=9,
)
def colour_gradient() -> ColourGradient:
    """Statistics of colour and gradient."""
    return ColourGradient()


class ColourGradient:
    """Fills the role image_features."""

    @property
    def identity(self) -> Mapping[str, str]:
        """OpenCV's version."""
        return opencv_identity()

    def features(self, images: Sequence[Image]) -> Vectors:
        """One row per image: three parts of equal weight."""
        rows = np.empty((len(images), _WIDTH), np.float32)
        for row, image in zip(rows, images, strict=True):
            lab = _lab(image)
            parts = [_layout(lab), _palette(lab), _edges(lab[..., 0])]
            row[:] = np.concatenate([_unit(part) for part in parts]) / len(parts) ** 0.5
        return rows


def _lab(image: Image) -> Numbers:
    """Lightness 0–1 and two colour axes around 0, as the eye spaces them; small and square."""
    import cv2

    small = cv2.resize(check_picture(image), (_SIDE, _SIDE), interpolation=cv2.INTER_AREA)
    lab = cv2.cvtColor(small.astype(np.float32) / 255, cv2.COLOR_RGB2LAB)
    return np.asarray(lab, np.float64) / 100


def _cells(plane: Numbers) -> Numbers:
    """Cells × pixels × channels."""
    side = _SIDE // _CELLS
    blocks = plane.reshape(_CELLS, side, _CELLS, side, -1)
    return blocks.transpose(0, 2, 1, 3, 4).reshape(_CELLS**2, side * side, -1)


def _layout(lab: Numbers) -> Numbers:
    """The mean colour of each cell: light, dark, and the two colour axes.

    Both light and dark, so that no picture is all zeros and black is far from white.
    """
    lightness, *colours = np.moveaxis(_cells(lab).mean(axis=1), -1, 0)
    # Colour axes are short for most pictures: twice, to weigh as much as lightness.
    return np.concatenate([lightness, 1 - lightness, *(2 * axis for axis in colours)])


def _palette(lab: Numbers) -> Numbers:
    """How much of the picture has which colour, wherever; roots, so that small areas count."""
    edges = [
        np.linspace(0, 1, _LIGHTNESS_BINS + 1),
        *[np.linspace(-0.6, 0.6, _COLOUR_BINS + 1)] * 2,
    ]
    inside = np.clip(lab.reshape(-1, 3), [0, -0.6, -0.6], [1, 0.6, 0.6])
    counts, _ = np.histogramdd(inside, bins=edges)
    return np.asarray(np.sqrt(counts / counts.sum())).ravel()


def _edges(lightness: Numbers) -> Numbers:
    """Per cell, how strong edges are in each direction; zero for a picture without any."""
    down, across = np.gradient(lightness)
    strength = np.hypot(across, down)
    # Edges have no front and back: directions repeat after half a turn.
    turn = np.mod(np.arctan2(down, across), np.pi) / np.pi * _DIRECTIONS
    place = np.minimum(turn.astype(np.int64), _DIRECTIONS - 1)
    cells = _cells(np.stack([place, strength], axis=-1))
    return np.concatenate(
        [
            np.bincount(cell[:, 0].astype(np.int64), cell[:, 1], minlength=_DIRECTIONS)
            for cell in cells
        ]
    )


def _unit(part: Numbers) -> Numbers:
    """A part at length one; an even one where there is nothing, such as edges in a flat picture."""
    length = float(np.linalg.norm(part))
    if length < 1e-9:
        return np.full_like(part, part.size**-0.5)
    return np.asarray(part / length)
