"""Every segmentation backend keeps the contract: one mask per box, of what is in it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from screentest.core import registry
from screentest.models import Models
from screentest.models.roles import Segmentation
from tests.models.real_frames import frame, overlap
from tests.models.tiny_backend import MARKS, tiny_backend


@pytest.fixture
def backend() -> Segmentation:
    made: Segmentation = registry.build("segmentation", "grabcut").thing
    return made


@pytest.fixture(params=["grabcut", pytest.param("sam2", marks=MARKS)], scope="module")
def any_backend(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Segmentation:
    """SAM 2 has random weights, so that only the contract can be asked of it."""
    made: Segmentation
    if request.param == "sam2":
        made = tiny_backend("segmentation", "sam2", "sam2", tmp_path_factory)
    else:
        made = registry.build("segmentation", request.param).thing
    return made


@pytest.mark.parametrize("shape", [(48, 64), (90, 31)])
def test_each_box_has_a_mask_over_the_picture(any_backend: Segmentation, shape: tuple[int, int]):
    noise = np.random.default_rng(4).integers(0, 256, (*shape, 3), np.uint8)
    boxes = [(2, 3, 20, 30), (10.5, 10.5, 28.25, 40.75)]
    masks = any_backend.segment(noise, boxes)
    assert [mask.shape for mask in masks] == [shape] * 2
    for mask in masks:
        assert mask.dtype == np.float32
        assert 0 <= mask.min() <= mask.max() <= 1
    assert any_backend.segment(noise, []) == []
    with pytest.raises(ValueError, match="not an RGB picture"):
        any_backend.segment(noise[..., 0], boxes)


def test_a_shape_is_found_in_its_box(backend: Segmentation):
    noise = np.random.default_rng(0).integers(170, 200, (150, 200, 3), np.uint8)
    rows, columns = np.ogrid[:150, :200]
    thing = (rows - 75) ** 2 + (columns - 90) ** 2 < 35**2
    noise[thing] = noise[thing] - np.uint8(120)
    (mask,) = backend.segment(noise, [(50, 35, 130, 115)])
    assert mask.shape == (150, 200)
    assert mask.dtype == np.float32
    assert overlap(mask, thing) > 0.95


def test_two_things_have_two_masks(backend: Segmentation):
    picture = np.full((120, 240, 3), 220, np.uint8)
    picture[40:80, 30:70] = (30, 60, 160)
    picture[30:90, 150:200] = (170, 40, 30)
    boxes = [(25, 35, 75, 85), (145, 25, 205, 95)]
    left, right = backend.segment(picture, boxes)
    for mask, true in ((left, np.s_[40:80, 30:70]), (right, np.s_[30:90, 150:200])):
        expected = np.zeros((120, 240))
        expected[true] = 1
        assert overlap(mask, expected) > 0.9
    swapped = backend.segment(picture, boxes[::-1])
    assert np.array_equal(swapped[0], right)
    assert np.array_equal(swapped[1], left)
    assert backend.segment(picture, []) == []


def test_real_things_in_boxes_by_hand(backend: Segmentation, shared_data: Path):
    """The person, the blue mug, a red cup: the masks hold their colours and leave the ground."""
    single = shared_data / "video" / "singleshot"
    person = frame(single / "intel_one_by_one_person.mp4", 120, 512)
    height, width = person.shape[:2]
    (mask,) = backend.segment(person, [(0.5 * width, 0.03 * height, 0.67 * width, 0.93 * height)])
    assert 0.4 < mask[:, round(0.5 * width) : round(0.67 * width)].mean() < 0.8

    coffee = frame(single / "sam2_coffee.mp4", 30, 512)
    height, width = coffee.shape[:2]
    (mask,) = backend.segment(coffee, [(0.58 * width, 0.47 * height, 0.73 * width, 0.76 * height)])
    found, ground = coffee[mask > 0.5].mean(axis=0), coffee[mask < 0.5].mean(axis=0)
    assert found[2] > found[0] + 60  # blue
    assert abs(ground[2] - ground[0]) < 40


@pytest.mark.parametrize(
    "box", [(-50, -50, -10, -10), (500, 10, 600, 20), (30, 30, 30, 60), (60, 10, 20, 40)]
)
def test_a_box_that_holds_nothing_gives_an_empty_mask(
    backend: Segmentation, box: tuple[float, float, float, float]
):
    (mask,) = backend.segment(np.full((80, 100, 3), 99, np.uint8), [box])
    assert mask.max() == 0


@pytest.mark.parametrize(
    "box", [(0, 0, 100, 80), (-20, -20, 300, 300), (5, 5, 6, 6), (0, 0, 100, 1), (99, 79, 100, 80)]
)
def test_any_box_over_the_picture_gives_something(
    backend: Segmentation, box: tuple[float, float, float, float]
):
    noise = np.random.default_rng(3).integers(0, 256, (80, 100, 3), np.uint8)
    (mask,) = backend.segment(noise, [box])
    assert mask.shape == (80, 100)
    assert 0 < mask.max() <= 1


def test_nothing_lies_far_outside_the_box(backend: Segmentation, sample: Path):
    picture = frame(sample / "real_5shots_640x360.mp4", 100, 320)
    (mask,) = backend.segment(picture, [(100, 40, 200, 140)])
    outside = np.ones(mask.shape, bool)
    outside[38:142, 98:202] = False
    assert (mask > 0.5)[outside].sum() == 0


def test_the_role_is_filled_without_a_choice():
    assert Models().signature("segmentation").name
