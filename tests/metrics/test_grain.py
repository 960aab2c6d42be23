"""Noise is what changes from frame to frame; a wall is what stays."""

from __future__ import annotations

import numpy as np
import pytest

from screentest.core import build
from screentest.metrics.static.picture import contrast, noise, tint
from screentest.metrics.temporal.grain import Fresh, usual


def grain_of(frames: np.ndarray, colours: np.ndarray | None = None) -> float:
    meter = Fresh()
    grey = np.full((*frames.shape, 2), 128.0) if colours is None else colours
    planes = np.concatenate([frames[..., None], grey], axis=3).astype(np.uint8)
    return usual(np.array([row for frame in planes if (row := meter(frame)) is not None]))


def test_noise_is_told_from_what_the_picture_shows() -> None:
    rng = np.random.default_rng(0)
    wall = 120 + rng.normal(0, 12, (64, 96))
    noisy = wall + rng.normal(0, 6, (8, 64, 96))
    assert grain_of(np.repeat(wall[None], 8, axis=0)) == 0.0
    assert grain_of(noisy) == pytest.approx(5.5, abs=1.0)
    assert grain_of(noisy[:2]) == pytest.approx(5.5, abs=1.0)
    assert grain_of(np.repeat(wall[None], 2, axis=0)) == 0.0


@pytest.mark.parametrize("held", [2, 3, 4])
def test_noise_is_seen_where_it_is_held(held: int) -> None:
    """Of doubled frames, and of noise that changes every fourth frame, nothing was seen."""
    rng = np.random.default_rng(0)
    wall = 120 + rng.normal(0, 12, (64, 96))
    noise = rng.normal(0, 6, (4, 64, 96)).repeat(held, axis=0)
    assert grain_of(wall + noise) == pytest.approx(5.5, abs=1.0)


def test_noise_of_colours_is_noise_too() -> None:
    """Both measures were blind to it, and a film full of it won."""
    rng = np.random.default_rng(0)
    wall = np.repeat(120 + rng.normal(0, 12, (1, 96, 128)), 8, axis=0)
    spots = rng.normal(0, 20, (8, 24, 32, 2)).repeat(4, axis=1).repeat(4, axis=2)
    assert grain_of(wall, 128 + spots) > 5
    assert grain_of(wall, np.repeat(128 + spots[:1], 8, axis=0)) == 0.0
    planes = np.concatenate([wall[..., None], 128 + spots], axis=3).astype(np.uint8)[0]
    clean = planes.copy()
    clean[..., 1:] = 128
    seen, light = noise(planes) or (0.0, 0.0)
    assert noise(clean) == (light, light)
    assert seen > light + 2


@pytest.mark.parametrize("name", ["frozen", "frozen.longest_hold", "steadiness.held"])
def test_noisy_frames_are_never_held(name: str) -> None:
    """No two of them are the same: a lead in frozen time is owed to the noise."""
    metric, _, output = name.partition(".")
    traits = build("metric", metric).thing.info.traits[output or metric]
    assert [effect.value for effect in traits.helped_by] == ["grain"]


def test_noise_is_seen_where_some_of_the_picture_moves() -> None:
    rng = np.random.default_rng(1)
    frames = np.repeat(120 + rng.normal(0, 12, (1, 64, 96)), 8, axis=0)
    frames[:, :, 40:] = 120 + rng.normal(0, 40, (8, 64, 56))
    assert grain_of(frames) == 0.0


def test_light_that_is_clipped_in_one_colour_is_lost() -> None:
    picture = np.full((20, 20, 3), 120, np.uint8)
    assert contrast(picture)[2] == 1.0
    picture[:5] = (255, 200, 120)
    picture[-2:] = 0
    assert contrast(picture)[2] == pytest.approx(1 - 7 / 20)


def test_tint_is_of_the_colour_that_was_added() -> None:
    picture = np.random.default_rng(2).integers(40, 180, (20, 20, 3)).astype(np.uint8)
    yellow = (picture * [1.1, 1.02, 0.7]).astype(np.uint8)
    assert tint(yellow)[0] > tint(picture)[0] + 0.1
    assert abs(tint(yellow)[1] - tint(picture)[1]) < 0.06


def test_flicker_is_a_fault_of_its_own_where_frames_are_thrown_back() -> None:
    """A frozen model's lead in flicker was owed to the freeze even against one that flickers."""
    helped = build("metric", "flicker").thing.info.traits["flicker"].helped_by
    moving = [one for one in helped if not one.value.startswith("lens.")]
    assert {one.unless for one in moving} == {"steadiness.returning"}
