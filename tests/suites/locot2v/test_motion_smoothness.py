"""Motion smoothness: VBench's rule against a plain reference, and on motion that is known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from screentest.core import Reason, registry
from screentest.testing.films import gliding, texture, write_film
from tests.suites.locot2v.films import all_frames, failure, score

NAME = "locot2v_motion_smoothness"


def test_equals_a_plain_reference(tmp_path: Path) -> None:
    """Even frames are kept, odd ones made anew; seven frames have three of those."""
    video = write_film(tmp_path / "film.mkv", gliding(7, 2))
    frames = all_frames(video)
    model = registry.build("interpolation", "flow_midpoint").thing
    errors = []
    for odd in (1, 3, 5):
        (guess,) = model.midpoint([(frames[odd - 1], frames[odd + 1])])
        errors.append(np.abs(guess.astype(float) - frames[odd]).mean())
    assert score(NAME, video).value == pytest.approx((255 - np.mean(errors)) / 255, rel=1e-12)


def test_a_last_odd_frame_has_no_neighbour(tmp_path: Path) -> None:
    pictures = gliding(7, 2)
    seven = score(NAME, write_film(tmp_path / "7.mkv", pictures))
    eight = score(NAME, write_film(tmp_path / "8.mkv", [*pictures, texture(9)]))
    assert eight.value == seven.value


def test_judder_lowers_it(tmp_path: Path) -> None:
    """The same glide with neighbours swapped: back and forth instead of onwards."""
    smooth = gliding(13, 3)
    swapped = [smooth[n - 1 if n % 4 == 2 else n + 1 if n % 4 == 1 else n] for n in range(13)]
    assert (
        score(NAME, write_film(tmp_path / "judder.mkv", swapped)).value
        < score(NAME, write_film(tmp_path / "smooth.mkv", smooth)).value
    )


def test_a_still_picture_is_smooth(tmp_path: Path) -> None:
    assert score(NAME, write_film(tmp_path / "still.mkv", [texture(1)] * 5)).value == pytest.approx(
        1.0
    )


@pytest.mark.parametrize("count", [1, 2])
def test_fewer_than_three_frames_have_no_answer(count: int, tmp_path: Path) -> None:
    lost = failure(NAME, write_film(tmp_path / "short.mkv", [texture(1)] * count)).failure
    assert lost is not None
    assert lost.reason is Reason.NOT_APPLICABLE
