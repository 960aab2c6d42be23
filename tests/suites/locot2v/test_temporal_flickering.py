"""Temporal flickering against VBench's own numbers and against its definition."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from screentest.core import Reason
from screentest.testing.films import gliding, texture, write_film
from tests.suites.locot2v.films import all_frames, failure, score

NAME = "locot2v_temporal_flickering"
# Short files of different kinds; all 38 agree (docs/evidence/locot2v.md).
SHORT = (
    "ai_generated/cogvideox_4.mp4",
    "ai_generated/talc_20_talc.mp4",
    "etva_microgravity/sora.mp4",
    "tiny/frenchgp_1906_214x160.mp4",
)


@pytest.mark.parametrize("name", SHORT)
def test_equals_vbench(name: str, shared_data: Path) -> None:
    """VBench's own function gave these, printed to six places."""
    known = json.loads((shared_data / "reference/vbench_temporal_flickering.json").read_text())
    assert score(NAME, shared_data / "video" / name).value == pytest.approx(
        known["values"][name], abs=5.1e-7
    )


def test_equals_the_definition_to_float_precision(sample: Path) -> None:
    video = sample / "frenchgp_1906_214x160.mp4"
    frames = all_frames(video)
    gaps = [np.abs(one.astype(float) - two).mean() for one, two in itertools.pairwise(frames)]
    assert score(NAME, video).value == pytest.approx((255 - np.mean(gaps)) / 255, rel=1e-13)


def test_a_still_picture_does_not_flicker(tmp_path: Path) -> None:
    assert score(NAME, write_film(tmp_path / "still.mkv", [texture(1)] * 5)).value == 1.0


def test_black_and_white_in_turn_is_the_worst(tmp_path: Path) -> None:
    black = np.zeros((32, 32, 3), np.uint8)
    assert score(NAME, write_film(tmp_path / "strobe.mkv", [black, black + 255] * 3)).value == 0.0


def test_flicker_lowers_it_step_by_step(tmp_path: Path) -> None:
    glide = gliding(12, 1)
    values = []
    for strength in (0, 10, 20, 40):
        flickering = [
            np.clip(picture.astype(int) + strength * (-1) ** number, 0, 255).astype(np.uint8)
            for number, picture in enumerate(glide)
        ]
        values.append(score(NAME, write_film(tmp_path / f"{strength}.mkv", flickering)).value)
    assert values == sorted(values, reverse=True)
    assert len(set(values)) == 4


def test_the_curve_tells_where_it_flickers(tmp_path: Path) -> None:
    picture = texture(1)
    bright = np.clip(picture.astype(int) + 60, 0, 255).astype(np.uint8)
    # Two seconds still, two seconds flickering, at 8 frames per second.
    found = score(NAME, write_film(tmp_path / "late.mkv", [picture] * 16 + [bright, picture] * 8))
    calm, restless = found.curve
    assert calm.value == 1.0
    assert restless.value < 0.9
    assert (float(restless.span.start), float(restless.span.end)) == (2.0, 4.0)


def test_one_frame_has_no_answer(tmp_path: Path) -> None:
    lost = failure(NAME, write_film(tmp_path / "one.mkv", [texture(1)])).failure
    assert lost is not None
    assert lost.reason is Reason.NOT_APPLICABLE
