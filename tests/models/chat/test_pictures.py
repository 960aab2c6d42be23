from __future__ import annotations

import io
from fractions import Fraction

import numpy as np
import pytest
from PIL import Image

from screentest.core import Frame, Size
from screentest.models.chat.messages import Encoding, Picture, Text, encode, timed


@pytest.fixture
def image() -> np.ndarray:
    # A smooth picture, as JPEG likes them, with distinct channels.
    y, x = np.mgrid[0:90, 0:160]
    return np.stack([x, y * 2, 255 - x], axis=-1).astype(np.uint8)


def decoded(picture: Picture) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(picture.data)).convert("RGB"))


def test_jpeg_as_pillow_reads_it(image: np.ndarray) -> None:
    picture = encode(image, Encoding(quality=90))
    assert picture.media_type == "image/jpeg"
    assert decoded(picture).shape == image.shape
    # The channels are in their places: a swap would be off by a hundred.
    assert np.abs(decoded(picture).astype(int) - image).mean() < 2


def test_png_loses_nothing(image: np.ndarray) -> None:
    picture = encode(image, Encoding(quality=None))
    assert picture.media_type == "image/png"
    assert (decoded(picture) == image).all()
    assert (picture.pixels() == image).all()


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (Size(long_side=80), (80, 45)),
        (Size(short_side=45), (80, 45)),
        (Size(long_side=500), (160, 90)),
        (Size(exact=(20, 30)), (20, 30)),
    ],
)
def test_sizes_never_grow(image: np.ndarray, size: Size, expected: tuple[int, int]) -> None:
    picture = encode(image, Encoding(size))
    assert (picture.width, picture.height) == expected
    assert Image.open(io.BytesIO(picture.data)).size == expected


def test_lower_quality_is_smaller(image: np.ndarray) -> None:
    noisy = np.random.default_rng(1).integers(0, 255, image.shape).astype(np.uint8)
    assert len(encode(noisy, Encoding(quality=30)).data) < len(encode(noisy, Encoding()).data)


def test_quality_is_1_to_100() -> None:
    with pytest.raises(ValueError, match="1 to 100"):
        Encoding(quality=0)


def test_times_stand_before_their_pictures(image: np.ndarray) -> None:
    frames = [Frame(Fraction(1, 3), 8, image), Frame(Fraction(5, 2), 60, image)]
    parts = timed(frames, Encoding())
    assert [part.text for part in parts if isinstance(part, Text)] == [
        "[0.33 second]",
        "[2.50 second]",
    ]
    assert [type(part) for part in parts] == [Text, Picture] * 2
