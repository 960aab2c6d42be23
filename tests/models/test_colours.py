"""Colour names against names from outside, and OKLab against its author's numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import ImageColor

from screentest.models.pictures import (
    BASIC_COLOURS,
    basic_colour,
    focal_colour,
    from_oklab,
    name_colour,
    name_pixels,
    to_oklab,
)

byte = st.integers(0, 255)


# From Björn Ottosson's page on OKLab, converted from XYZ; pure sRGB red, green and blue as
# every published implementation has them.
@pytest.mark.parametrize(
    ("colour", "expected"),
    [
        ((255, 0, 0), (0.62796, 0.22486, 0.12585)),
        ((0, 255, 0), (0.86644, -0.23389, 0.17950)),
        ((0, 0, 255), (0.45201, -0.03246, -0.31153)),
        ((255, 255, 255), (1.0, 0.0, 0.0)),
        ((0, 0, 0), (0.0, 0.0, 0.0)),
    ],
)
def test_oklab_of_the_primaries(colour: tuple[int, int, int], expected: tuple[float, ...]):
    assert to_oklab(colour) == pytest.approx(expected, abs=1e-4)


def test_bytes_and_numbers_are_converted_alike():
    picture = np.random.default_rng(0).integers(0, 256, (5, 7, 3), np.uint8)
    assert np.allclose(to_oklab(picture), to_oklab(picture.astype(float)))


@given(byte, byte, byte)
def test_there_and_back_is_exact(red: int, green: int, blue: int):
    assert from_oklab(to_oklab((red, green, blue))).tolist() == [red, green, blue]


def test_colours_no_screen_shows_are_cut_to_bytes():
    assert from_oklab(np.array([[2.0, 0.5, 0.5], [-1.0, 0.0, 0.0]])).dtype == np.uint8


# The colour keywords of CSS that end in a basic term (Pillow carries the table). Left out: those
# whose keyword is known to contradict what people see.
ODD_KEYWORDS = {
    "brown": "a dark red, #a52a2a",
    "aliceblue": "nearly white",
    "rosybrown": "a greyish pink",
    "sandybrown": "a light orange",
    "navajowhite": "a pale orange",
    "indianred": "between red and pink",
    "mediumvioletred": "a deep pink",
    "palevioletred": "a pink",
    "greenyellow": "a light green",
    "slateblue": "between blue and purple",
    "darkslateblue": "between blue and purple",
    "mediumslateblue": "between blue and purple",
}


def keywords() -> list[tuple[str, str]]:
    found = []
    for keyword in ImageColor.colormap:
        for name in BASIC_COLOURS:
            if keyword.replace("gray", "grey").endswith(name) and keyword not in ODD_KEYWORDS:
                found.append((keyword, name))
    return found


def test_there_are_enough_keywords_to_tell():
    assert len(keywords()) > 60
    assert {name for _, name in keywords()} | {"brown"} == set(BASIC_COLOURS)


@pytest.mark.parametrize(("keyword", "name"), keywords())
def test_css_keywords_have_their_own_name(keyword: str, name: str):
    assert name_colour(ImageColor.getrgb(keyword)[:3]) == name


@pytest.mark.parametrize("name", BASIC_COLOURS)
def test_a_typical_colour_has_its_name_in_light_and_shade(name: str):
    for light in (0.95, 1.0, 1.05):
        assert name_colour(from_oklab(light * focal_colour(name))) == name


@pytest.mark.parametrize("level", range(0, 256, 5))
def test_greys_are_black_grey_or_white_in_this_order(level: int):
    order = ["black", "grey", "white"]
    here = order.index(name_colour((level, level, level)))
    assert here >= order.index(name_colour((max(0, level - 5),) * 3))


def test_pixels_are_named_like_single_colours():
    colours = np.random.default_rng(1).integers(0, 256, (9, 1000, 3), np.uint8)
    names = name_pixels(colours)
    assert names.shape == (9, 1000)
    for row, column in ((0, 0), (3, 500), (8, 999)):
        assert BASIC_COLOURS[names[row, column]] == name_colour(colours[row, column])


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("red", "red"),
        ("Gray", "grey"),
        ("a dark-blue", "blue"),
        ("reddish brown", "brown"),
        ("scarlet", "red"),
        ("", None),
        ("redder", None),
        ("transparent", None),
    ],
)
def test_words_for_colours(words: str, expected: str | None):
    assert basic_colour(words) == expected
