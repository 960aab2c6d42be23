"""Semantic consistency against the plain mean of cosines."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from screentest.core import Filter, FrameRequest, Reason, Size, registry
from screentest.testing.films import gliding, texture, write_film
from tests.suites.locot2v.films import all_frames, failure, score

NAME = "locot2v_semantic_consistency"


def test_equals_the_mean_cosine_of_neighbours(tmp_path: Path) -> None:
    """Nineteen frames, so that batches of eight leave a rest."""
    video = write_film(tmp_path / "film.mkv", [*gliding(10, 3), *gliding(9, 3, seed=8)])
    wants = FrameRequest(size=Size(short_side=384), filter=Filter.AREA)
    encoder = registry.build("image_features", "colour_gradient").thing
    rows = np.concatenate([encoder.features([picture]) for picture in all_frames(video, wants)])
    cosines = (rows[1:] * rows[:-1]).sum(1) / (
        np.linalg.norm(rows[1:], axis=1) * np.linalg.norm(rows[:-1], axis=1)
    )
    assert score(NAME, video).value == pytest.approx(cosines.mean(), rel=1e-5)


def test_other_pictures_in_between_lower_it(tmp_path: Path) -> None:
    glide = gliding(8, 2)
    steady = score(NAME, write_film(tmp_path / "steady.mkv", glide)).value
    flashing = [texture(50 + n) if n % 3 == 0 else picture for n, picture in enumerate(glide)]
    assert score(NAME, write_film(tmp_path / "flashing.mkv", flashing)).value < steady


def test_black_frames_are_like_each_other(tmp_path: Path) -> None:
    """A film that begins and ends in black is none the worse for it."""
    black = np.zeros((64, 64, 3), np.uint8)
    grey = black + 90
    found = score(NAME, write_film(tmp_path / "black.mkv", [black] * 4 + [grey]))
    assert found.curve[0].value < 1
    assert found.value >= 0.75


def test_one_frame_has_no_answer(tmp_path: Path) -> None:
    lost = failure(NAME, write_film(tmp_path / "one.mkv", [texture(1)])).failure
    assert lost is not None
    assert lost.reason is Reason.NOT_APPLICABLE
