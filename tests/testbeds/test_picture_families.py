"""Operators on single pictures: what each promises, on pictures made here."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from screentest.core import BUILTIN_ASPECTS, Frame, Image, build
from screentest.core.registry import registry
from screentest.models import Detection, ModelChoice, Models
from screentest.testbeds.contract import Region, Rng
from screentest.testbeds.masks import MaskDegradation
from screentest.testbeds.operators.arithmetic import of_planes
from screentest.testbeds.operators.pictures import contrast_table, partly
from screentest.testbeds.sightings import ClipSample, check_region
from screentest.video.edit.pictures import Pixels

MODULES = ("technical", "looks", "styles", "backgrounds", "shapes")
NAMES = [
    entry.name
    for entry in registry.entries("degradation")
    if entry.factory.__module__.rpartition(".")[2] in MODULES
    and entry.name not in BUILTIN_ASPECTS
    and hasattr(build("degradation", entry.name).thing, "frames")  # it works on single pictures
]


def scene(height: int, width: int, pixels: Pixels) -> Image:
    """Shades, an edge, texture and some colour."""
    rows, columns = np.mgrid[:height, :width]
    red = 40 + 170 * columns / width + 10 * np.sin(rows)
    green = 40 + 110 * rows / height + 90 * (columns > width / 2)
    blue = 90 + 30 * np.sin(columns / 25) * np.cos(rows / 3)
    image: Image = np.clip(np.stack([red, green, blue], axis=-1), 0, 255).astype(np.uint8)
    if pixels is not Pixels.I420:
        return image
    luma = image.mean(axis=2)
    chroma = [128 + (image[..., n] - luma)[::2, ::2] / 2 for n in (2, 0)]
    return of_planes(luma.astype(np.uint8), np.stack(chroma).astype(np.uint8))


def harmed(
    name: str, image: Image, severity: float, *, count: int = 1, clip: int = 0
) -> list[Image]:
    thing, rng = build("degradation", name).thing, Rng.of(7, "film", clip)
    if isinstance(thing, MaskDegradation):
        change = thing.frames(lambda image: ellipse(name, *image.shape[:2]), rng, severity)
    else:
        change = thing.frames(rng, severity)
    return list(change(Frame(Fraction(n, 25), n, image) for n in range(count)))


def pixels_of(name: str) -> Pixels:
    return getattr(build("degradation", name).thing, "pixels", Pixels.RGB)


def ellipse(name: str, height: int, width: int) -> NDArray[np.float32]:
    """A soft one to the left of the middle; for two things, one more beside it."""
    rows, columns = np.mgrid[:height, :width]
    found = [
        np.clip(3 - 3 * np.hypot((rows / height - 0.5) / 0.4, (columns / width - x) / 0.2), 0, 1)
        for x in (0.35, 0.75)
    ]
    both = np.stack(found, axis=-1).astype(np.float32)
    return both if name == "colours_swapped" else both[..., 0]


def shapes(name: str) -> list[tuple[int, int]]:
    return [(16, 16), (18, 34)] if pixels_of(name) is Pixels.I420 else [(16, 16), (19, 33), (1, 1)]


@pytest.mark.parametrize("name", NAMES)
def test_no_severity_changes_no_bit(name: str) -> None:
    image = scene(48, 64, pixels_of(name))
    assert np.array_equal(harmed(name, image, 0.0)[0], image)


@pytest.mark.parametrize("name", NAMES)
def test_the_distance_grows_with_severity(name: str) -> None:
    image = scene(90, 160, pixels_of(name))
    found = [
        float(np.abs(harmed(name, image, severity)[0].astype(int) - image).mean())
        for severity in (0, 0.1, 0.25, 0.5, 0.75, 1)
    ]
    assert found[0] == 0 < found[1]
    assert found == sorted(found)


@pytest.mark.parametrize("name", NAMES)
def test_any_size_and_plain_grey_will_do(name: str) -> None:
    pixels = pixels_of(name)
    for height, width in shapes(name):
        image = scene(height, width, pixels)
        for picture in (image, np.full_like(image, 128), np.zeros_like(image)):
            (found,) = harmed(name, picture, 1.0)
            assert found.shape == image.shape
            assert found.dtype == np.uint8


@pytest.mark.parametrize("name", NAMES)
def test_a_frame_is_the_same_by_itself_and_in_other_memory(name: str) -> None:
    image = scene(48, 62, pixels_of(name))
    before = image.copy()
    first, second = harmed(name, image, 0.7, count=2)
    # The same numbers, at another alignment and with other strides.
    room = np.zeros(image.nbytes + 7, np.uint8)[3 : 3 + image.nbytes]
    moved = room.reshape(image.shape)
    moved[...] = image
    again = harmed(name, moved, 0.7, count=2)
    assert np.array_equal(again[0], first)
    assert np.array_equal(again[1], second)
    assert np.array_equal(image, before)


def test_only_what_lives_in_time_changes_from_frame_to_frame() -> None:
    moving = set()
    for name in NAMES:
        first, second = harmed(name, scene(48, 64, pixels_of(name)), 1.0, count=2)
        if not np.array_equal(first, second):
            moving.add(name)
    assert moving == {"sensor_noise", "old_film", "background_drifting"}


def test_what_is_drawn_for_a_clip_differs_from_clip_to_clip() -> None:
    image = scene(48, 64, Pixels.RGB)
    found = {harmed("colour_cast", image, 1, clip=clip)[0].tobytes() for clip in range(20)}
    assert len(found) == 4


def test_no_level_of_the_papers_contrast_comes_back_as_severity_grows() -> None:
    full = contrast_table(-0.8)
    levels = np.arange(256)
    last: NDArray[np.int_] = np.zeros(256, int)
    for severity in np.linspace(0, 1, 41):
        table = partly(full, severity).astype(int)
        way = np.abs(table - levels)
        assert (way >= last).all()
        assert np.ptp(table[16:236]) > 80  # never plain grey
        last = way
    assert np.array_equal(partly(full, 1), full)
    assert np.array_equal(partly(full, 0), levels)


def test_harm_around_a_thing_may_lie_beside_it_but_not_be_missing() -> None:
    class Detector:
        def detect(self, image: Image, phrases: list[str]) -> list[Detection]:
            return [Detection(phrases[0], 1.0, (24.0, 9.0, 88.0, 81.0))]

    before = scene(90, 160, Pixels.RGB)
    (after,) = harmed("object_duplicated", before, 1.0)

    def fault(changed: Image, region: Region) -> str | None:
        sample = ClipSample([(before, changed)], {"object": "thing"}, 1.0, models)
        measured = check_region(sample, region)
        assert measured is not None
        return measured.fault and measured.fault.kind

    class Finding(Models):
        def choice(self, role: str, use: str = "") -> ModelChoice:
            return ModelChoice(role, "efficientdet")

        def role(self, name: str) -> Any:
            return Detector()

    models = Finding()
    assert fault(after, Region.AROUND) is None
    assert fault(after, Region.THING) in ("beside_thing", "thing_unchanged")
    assert fault(before, Region.AROUND) == "thing_unchanged"
