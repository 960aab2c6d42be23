"""Answers about pictures that are kept: asked once, and the same whether kept or not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from screentest.core import Image
from screentest.models.networks.memory import Memory, remembered
from screentest.models.roles import Detection

if TYPE_CHECKING:
    from screentest.models.roles import Mask

Box = tuple[float, float, float, float]


class Counting:
    """A backend of all three roles that counts the pictures it was shown."""

    identity: Mapping[str, str] = {"weights": "none"}

    def __init__(self) -> None:
        self.seen = 0

    def matte(self, images: Sequence[Image]) -> list[Mask]:
        self.seen += len(images)
        return [np.asarray(image[..., 0] / 255, np.float32) for image in images]

    def segment(self, image: Image, boxes: Sequence[Box]) -> list[Mask]:
        self.seen += 1
        return [(image[..., 1] > box[0]).astype(np.float32) for box in boxes]

    def detect(self, image: Image, phrases: Sequence[str]) -> list[Detection]:
        self.seen += 1
        return [Detection(phrase, 0.5, (0, 0, 1, 1)) for phrase in phrases]


def pictures(count: int, side: int = 24) -> list[Image]:
    rng = np.random.default_rng(3)
    return list(rng.integers(0, 256, (count, side, side, 3), np.uint8))


def test_the_same_picture_is_looked_at_once() -> None:
    backend, memory = Counting(), Memory()
    one, two, three = pictures(3)
    matting = remembered("matting", backend, memory)
    first = matting.matte([one, two])
    again = matting.matte([two.copy(), three, one])
    assert backend.seen == 3
    assert np.array_equal(again[0], first[1])
    assert np.array_equal(again[2], backend.matte([one])[0])


def test_other_boxes_and_other_words_are_other_questions() -> None:
    backend, memory = Counting(), Memory()
    image = pictures(1)[0]
    segmentation = remembered("segmentation", backend, memory)
    for box in (10.0, 99.5, 10.0):
        (mask,) = segmentation.segment(image, [(box, 0, 5, 5)])
        assert mask.dtype == np.float32
        assert np.array_equal(mask, image[..., 1] > box)
    detector = remembered("detection", backend, memory)
    labels = [[one.label for one in detector.detect(image, [word])] for word in ("cat", "dog")]
    assert labels == [["cat"], ["dog"]]
    assert backend.seen == 4


def test_a_mask_that_its_reader_changes_does_not_change_what_is_kept() -> None:
    matting = remembered("matting", Counting(), Memory())
    images = pictures(1)
    first = matting.matte(images)[0]
    whole = first.copy()
    first[:] = 9
    assert np.array_equal(matting.matte(images)[0], whole)


def test_what_was_not_asked_for_longest_goes_first() -> None:
    backend = Counting()
    images = pictures(4)
    memory = Memory(room=3 * 24 * 24 * 4)
    matting = remembered("matting", backend, memory)
    matting.matte(images[:3])
    matting.matte(images[:1])
    matting.matte(images[3:])
    assert (backend.seen, len(memory)) == (4, 3)
    matting.matte(images[:1])
    assert backend.seen == 4
    matting.matte(images[1:2])
    assert backend.seen == 5


def test_a_role_without_pictures_stays_as_it_is() -> None:
    backend = object()
    assert remembered("text_embedding", backend, Memory()) is backend
