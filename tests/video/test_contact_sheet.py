"""The contact sheet: every tile in its place, its time below it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL.Image import Image as Picture

from screentest.video.stills import MOST_TILES, Tile, chosen_for_sheet, contact_sheet, thumbnail


def tile(number: int, height: int = 30, width: int = 40) -> Tile:
    """In a red of its own, which neither the paper nor the ink of a sheet has."""
    image = np.zeros((height, width, 3), np.uint8)
    image[..., 0] = 200
    image[..., 1] = number
    return Tile(Fraction(number), image)


def places_of(number: int, sheet: Picture) -> tuple[list[int], list[int]]:
    rows, columns = np.nonzero((np.asarray(sheet) == (200, number, 0)).all(axis=2))
    return rows.tolist(), columns.tolist()


@given(count=st.integers(1, 3000), most=st.integers(1, 400))
def test_chosen_frames_are_spread_from_first_to_last(count: int, most: int) -> None:
    chosen = chosen_for_sheet(count, most)

    assert len(chosen) == min(count, most)
    assert chosen == sorted(set(chosen))
    assert chosen[0] == 0
    assert chosen[-1] == (count - 1 if most > 1 or count == 1 else 0)


def test_each_tile_is_pasted_whole_and_in_order() -> None:
    sheet = contact_sheet([tile(n) for n in range(7)])
    corners = []
    for number in range(7):
        rows, columns = places_of(number, sheet)
        assert len(rows) == 30 * 40
        corners.append((min(rows), min(columns)))
    assert corners == sorted(corners)


def test_there_is_a_label_below_each_tile() -> None:
    alone = np.asarray(contact_sheet([tile(0)]))
    below = alone[8 + 30 : -8]
    assert (below > 150).any(), "no light ink below the tile"


def test_pictures_of_other_sizes_are_centred_in_their_cell() -> None:
    # Six go in rows of three: the fifth stands below the second.
    sheet = contact_sheet([tile(0), tile(1, 20, 20), *(tile(n) for n in range(2, 6))])
    rows, columns = places_of(1, sheet)
    assert len(rows) == 20 * 20
    assert min(rows) == min(places_of(0, sheet)[0]) + (30 - 20) // 2
    assert min(columns) == min(places_of(4, sheet)[1]) + (40 - 20) // 2


def test_no_tiles_and_too_many() -> None:
    for count in (0, MOST_TILES + 1):
        with pytest.raises(ValueError, match="1 to 400 frames"):
            contact_sheet([tile(0)] * count)


@pytest.mark.parametrize(
    ("height", "width", "small"),
    [(360, 640, (135, 240)), (640, 360, (240, 135)), (100, 100, (100, 100))],
)
def test_thumbnails_keep_their_shape(height: int, width: int, small: tuple[int, int]) -> None:
    image = np.zeros((height, width, 3), np.uint8)
    assert thumbnail(image).shape[:2] == small
