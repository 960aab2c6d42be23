"""Every recolouring backend keeps the contract; the built-in one gives the colour it is asked."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from screentest.core import NoValue, Reason, registry
from screentest.models import Models
from screentest.models.backends.image_edit import MaskedHue
from screentest.models.pictures import BASIC_COLOURS, name_colour, name_pixels, to_oklab
from screentest.models.roles import ImageEdit
from tests.models.real_frames import Image, frame

Mask = NDArray[np.float32]


@pytest.fixture
def backend() -> ImageEdit:
    made: ImageEdit = registry.build("image_edit", "masked_hue").thing
    return made


@pytest.fixture
def cockatoo(sample: Path) -> Image:
    return frame(sample / "real_5shots_640x360.mp4", 100, 320)


def ellipse(picture: Image, soft: float = 1.5) -> Mask:
    """A mask in the middle with a soft edge."""
    height, width = picture.shape[:2]
    mask = np.zeros((height, width), np.float32)
    cv2.ellipse(mask, (width // 2, height // 2), (width // 5, height // 3), 0, 0, 360, 1, -1)
    return cv2.GaussianBlur(mask, (0, 0), soft)


@pytest.mark.parametrize("colour", BASIC_COLOURS)
@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("real_5shots_640x360.mp4", 100),  # a white cockatoo in shade
        ("bbb_first30s_640x360.mp4", 300),  # a meadow
        ("sintel_trailer_30s_640x272.mp4", 250),  # dark
    ],
)
def test_the_masked_part_has_the_colour(
    backend: ImageEdit, sample: Path, name: str, number: int, colour: str
):
    picture = frame(sample / name, number, 320)
    mask = ellipse(picture)
    changed = backend.recolour(picture, mask, "thing", colour)
    inside = mask >= 0.5
    assert name_colour(changed[inside].mean(axis=0)) == colour
    share = np.mean(name_pixels(changed)[inside] == BASIC_COLOURS.index(colour))
    assert share > 0.5
    assert changed.shape == picture.shape
    assert changed.dtype == np.uint8


@pytest.mark.parametrize("colour", ["red", "blue", "green", "purple", "grey"])
def test_light_and_shade_stay(backend: ImageEdit, cockatoo: Image, colour: str):
    mask = ellipse(cockatoo)
    changed = backend.recolour(cockatoo, mask, "bird", colour)
    inside = mask > 0.99
    before, after = (to_oklab(picture)[..., 0][inside] for picture in (cockatoo, changed))
    assert np.corrcoef(before, after)[0, 1] > 0.9
    assert after.std() > 0.3 * before.std()


def test_outside_the_mask_nothing_changes(backend: ImageEdit, cockatoo: Image):
    before = cockatoo.copy()
    mask = ellipse(cockatoo)
    changed = backend.recolour(cockatoo, mask, "bird", "red")
    assert np.array_equal(changed[mask == 0], cockatoo[mask == 0])
    assert np.array_equal(cockatoo, before)
    assert (changed[mask > 0.5] != cockatoo[mask > 0.5]).any()


def test_the_edge_of_a_soft_mask_is_between(backend: ImageEdit, cockatoo: Image):
    soft = np.full(cockatoo.shape[:2], 0.5, np.float32)
    full = np.ones(cockatoo.shape[:2], np.float32)
    half, whole = (
        np.abs(backend.recolour(cockatoo, mask, "bird", "green").astype(int) - cockatoo).mean()
        for mask in (soft, full)
    )
    assert 0 < half < whole


def test_one_pixel_can_be_recoloured(backend: ImageEdit):
    picture = np.zeros((1, 1, 3), np.uint8)
    mask = np.ones((1, 1), np.float32)
    for colour in BASIC_COLOURS:
        assert name_colour(backend.recolour(picture, mask, "dot", colour)[0, 0]) == colour


@pytest.mark.parametrize("word", ["Gray", "the golden one", "dark red"])
def test_other_words_for_the_eleven_are_understood(backend: ImageEdit, cockatoo: Image, word: str):
    backend.recolour(cockatoo, ellipse(cockatoo), "bird", word)


def test_what_cannot_be_done_is_said(backend: ImageEdit, cockatoo: Image):
    for mask, colour, said in [
        (None, "red", "needs a mask"),
        (ellipse(cockatoo), "shiny", "none of the eleven"),
        (np.zeros(cockatoo.shape[:2], np.float32), "red", "empty"),
    ]:
        with pytest.raises(NoValue, match=said) as caught:
            backend.recolour(cockatoo, mask, "bird", colour)
        assert caught.value.reason is Reason.NOT_APPLICABLE
        assert caught.value.advice


def test_a_mask_of_another_size_is_refused(backend: ImageEdit, cockatoo: Image):
    with pytest.raises(ValueError, match="mask"):
        backend.recolour(cockatoo, np.ones((3, 3), np.float32), "bird", "red")


def test_without_a_mask_it_takes_the_foreground_if_told_to():
    picture = np.full((90, 120, 3), 200, np.uint8)
    picture[30:60, 40:80] = (40, 60, 160)
    salient = registry.build("image_edit", "masked_hue:without_mask=salient").thing
    changed = salient.recolour(picture, None, "box", "yellow")
    assert name_colour(changed[45, 60]) == "yellow"
    assert np.array_equal(changed[:15], picture[:15])
    assert "matting" in salient.identity


def test_the_role_is_filled_without_a_choice():
    models = Models()
    assert isinstance(models.role("image_edit"), MaskedHue)
    assert str(models.signature("image_edit")) == "masked_hue|v:1|without_mask:refuse"
