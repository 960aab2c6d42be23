"""A contact sheet: many frames on one picture, each with its time below it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from screentest.core import Time, timecode

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

    from screentest.core.frames import Image

MOST_TILES = 400
TILE_WIDTH = 240
_GAP = 8
_LABEL = 20
_PAPER = (24, 24, 24)
_INK = (235, 235, 235)


@dataclass(frozen=True, slots=True)
class Tile:
    """A small picture and when it is on the screen."""

    time: Time
    image: Image


def chosen_for_sheet(count: int, most: int = MOST_TILES) -> list[int]:
    """Which of ``count`` frames go on a sheet that takes ``most``: all, or evenly spread ones.

    >>> chosen_for_sheet(3)
    [0, 1, 2]
    >>> chosen_for_sheet(10, most=4)
    [0, 3, 6, 9]
    """
    if count <= most:
        return list(range(count))
    if most == 1:
        return [0]
    return [round(n * (count - 1) / (most - 1)) for n in range(most)]


def thumbnail(image: Image, width: int = TILE_WIDTH) -> Image:
    """A copy of a picture for a tile; tall ones are limited by their height instead."""
    import numpy as np
    from PIL import Image as Pictures

    picture = Pictures.fromarray(image)
    picture.thumbnail((width, width), Pictures.Resampling.BOX)
    return np.asarray(picture)


def contact_sheet(tiles: Sequence[Tile]) -> Picture:
    """The tiles in rows, as near to a screen's shape as they go, times below them."""
    from PIL import Image as Pictures
    from PIL import ImageDraw, ImageFont

    if not 0 < len(tiles) <= MOST_TILES:
        raise ValueError(f"a contact sheet takes 1 to {MOST_TILES} frames, not {len(tiles)}")
    width = max(tile.image.shape[1] for tile in tiles)
    height = max(tile.image.shape[0] for tile in tiles)
    cell_width, cell_height = width + _GAP, height + _LABEL + _GAP
    columns = _columns(len(tiles), cell_width, cell_height)
    rows = math.ceil(len(tiles) / columns)
    sheet = Pictures.new("RGB", (columns * cell_width + _GAP, rows * cell_height + _GAP), _PAPER)
    pen = ImageDraw.Draw(sheet)
    font = ImageFont.load_default(size=13)
    for number, tile in enumerate(tiles):
        row, column = divmod(number, columns)
        left, top = _GAP + column * cell_width, _GAP + row * cell_height
        picture = Pictures.fromarray(tile.image)
        sheet.paste(
            picture, (left + (width - picture.width) // 2, top + (height - picture.height) // 2)
        )
        pen.text(
            (left + width // 2, top + height + 2),
            timecode(tile.time),
            fill=_INK,
            font=font,
            anchor="ma",
        )
    return sheet


def _columns(count: int, width: int, height: int) -> int:
    """As many as make the sheet about half as wide again as it is high."""
    return max(1, min(count, round(math.sqrt(count * 1.5 * height / width))))
