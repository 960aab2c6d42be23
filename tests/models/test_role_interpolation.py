"""Every interpolation backend keeps the contract and beats the plain mean of two pictures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from screentest.core import registry
from screentest.models import Models
from screentest.models.backends.interpolation import FlowMidpoint
from screentest.models.roles import Interpolation
from tests.models.real_frames import Image, frames, psnr

# Clips in which something moves: (file of the sample, first frame).
MOVING = [
    ("real_5shots_640x360.mp4", 100),  # the cockatoo comes near
    ("bbb_first30s_640x360.mp4", 130),  # the camera sinks
    ("sintel_trailer_30s_640x272.mp4", 250),
]


@pytest.fixture(scope="module")
def backend() -> Interpolation:
    made: Interpolation = registry.build("interpolation", "flow_midpoint").thing
    return made


def triple(path: Path, first: int, side: int = 320) -> tuple[Image, Image, Image]:
    """A frame, the true one after it, and the next: the middle one is to be found again."""
    one, middle, two = frames(path, first, 3, side)
    return one, middle, two


def mean_of(one: Image, two: Image) -> Image:
    return np.rint((one.astype(float) + two) / 2).astype(np.uint8)


@pytest.mark.parametrize("shape", [(16, 16), (33, 70), (90, 48)])
def test_the_picture_has_the_size_of_the_two(backend: Interpolation, shape: tuple[int, int]):
    one, two = np.random.default_rng(1).integers(0, 256, (2, *shape, 3), np.uint8)
    (between,) = backend.midpoint([(one, two)])
    assert between.shape == (*shape, 3)
    assert between.dtype == np.uint8


@pytest.mark.parametrize(("name", "first"), MOVING)
def test_between_equal_pictures_nothing_changes(
    backend: Interpolation, sample: Path, name: str, first: int
):
    one, _, _ = triple(sample / name, first)
    (between,) = backend.midpoint([(one, one)])
    # 40 dB is a difference nobody sees.
    assert psnr(between, one) > 40


def test_it_beats_the_plain_mean_on_moving_pictures(
    backend: Interpolation, sample: Path, record_property: pytest.RecordProperty
):
    gains = []
    for name, first in MOVING:
        one, middle, two = triple(sample / name, first)
        (between,) = backend.midpoint([(one, two)])
        plain, found = psnr(mean_of(one, two), middle), psnr(between, middle)
        record_property(name, f"plain mean {plain:.2f} dB, {type(backend).__name__} {found:.2f} dB")
        gains.append(found - plain)
        assert found > plain, f"{name}: {found:.2f} dB, the plain mean {plain:.2f} dB"
    assert np.mean(gains) > 1, f"gains in dB: {gains}"


def test_a_batch_gives_what_single_pairs_give(backend: Interpolation, sample: Path):
    pairs = [(one, two) for one, _, two in (triple(sample / n, f, 128) for n, f in MOVING)]
    pairs += pairs[:1] * 5
    together = backend.midpoint(pairs)
    for pair, found in zip(pairs, together, strict=True):
        (alone,) = backend.midpoint([pair])
        # One grey level for floating point: convolutions sum batches in another order.
        assert np.abs(alone.astype(int) - found).max() <= 1
    assert backend.midpoint([]) == []


def test_two_sizes_are_refused(backend: Interpolation):
    with pytest.raises(ValueError, match="two sizes"):
        backend.midpoint([(np.zeros((9, 9, 3), np.uint8), np.zeros((9, 8, 3), np.uint8))])


def test_more_real_clips(shared_data: Path):
    """Over people, animals and objects the gain over the plain mean is 2 dB and more."""
    clips = {"dog": 30, "cups": 30, "bedroom": 30, "coffee": 30, "blocks": 40}
    gains = []
    for name, first in clips.items():
        one, middle, two = triple(shared_data / f"video/singleshot/sam2_{name}.mp4", first)
        (between,) = registry.build("interpolation", "flow_midpoint").thing.midpoint([(one, two)])
        gains.append(psnr(between, middle) - psnr(mean_of(one, two), middle))
    assert min(gains) > 0
    assert np.mean(gains) > 2


def test_what_is_hidden_comes_from_the_picture_that_shows_it():
    """A square moves over noise: half-way it stands half-way, and noise is behind it."""
    noise = np.random.default_rng(2).integers(60, 120, (96, 128, 3), np.uint8)
    pictures = [noise.copy() for _ in range(3)]
    for picture, left in zip(pictures, (30, 36, 42), strict=True):
        picture[30:60, left : left + 30] = (250, 40, 40)
    (between,) = registry.build("interpolation", "flow_midpoint").thing.midpoint(
        [(pictures[0], pictures[2])]
    )
    assert psnr(between, pictures[1]) > psnr(mean_of(pictures[0], pictures[2]), pictures[1]) + 3


def test_the_role_is_filled_without_a_choice():
    models = Models()
    assert isinstance(models.role("interpolation"), FlowMidpoint)
    assert "opencv" in dict(models.signature("interpolation").parts)
