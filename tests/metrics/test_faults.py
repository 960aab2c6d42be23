"""Faults of pictures and of their sequence: each number rises with its own harm, on real shots."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from screentest.core import Image
from tests.judges.harmed_shots import decoded, harmed_shot, values_of

LADDER = (0.0, 0.5, 1.0)
RISES = [
    ("ringing", "faults.halos"),
    ("oversharpened", "faults.halos"),
    ("banding", "faults.bands"),
    ("interlaced", "faults.combing"),
    ("sensor_noise", "noise.noise"),
    ("blocks", "blockiness.blockiness"),
    ("colour_bleeding", "tones.bleeding"),
    ("overexposed", "tones.clipped_light"),
    ("garish", "tones.strength"),
    ("harsh_contrast", "tones.spread"),
    ("duotone", "tones.inks"),
    ("dynamics_degree", "steadiness.held"),
    ("stuttering", "steadiness.halting"),
    ("jittering", "steadiness.returning"),
]
FALLS = [
    ("technical_quality", "faults.fine_detail"),
    ("motion_blur", "faults.fine_detail"),
    ("underexposed", "tones.brightness"),
    ("desaturated", "tones.strength"),
    ("washed_out", "tones.spread"),
    ("slowed", "steadiness.lively"),
]


@pytest.fixture(scope="module")
def shot(sample: Path) -> list[Image]:
    """A bird that turns its head: fifteen frames of 192 pixels."""
    return decoded(next(sample.glob("*real*")), 3.0, 7.0, long_side=192)


@pytest.mark.parametrize(("operator", "output"), RISES)
def test_it_rises_with_its_harm(operator: str, output: str, shot: list[Image]) -> None:
    assert np.all(np.diff(_ladder(operator, output, shot)) > 0)


@pytest.mark.parametrize(("operator", "output"), FALLS)
def test_it_falls_with_its_harm(operator: str, output: str, shot: list[Image]) -> None:
    assert np.all(np.diff(_ladder(operator, output, shot)) < 0)


def _ladder(operator: str, output: str, shot: list[Image]) -> list[float]:
    metric = output.partition(".")[0]
    return [values_of(_harmed(operator, shot, one), [metric])[output] for one in LADDER]


def _harmed(operator: str, shot: list[Image], severity: float) -> list[Image]:
    return (harmed_shot(operator, shot, severity, "bird") if severity else None) or shot


def test_what_is_at_the_rim_does_not_count(shot: list[Image]) -> None:
    """Subtitles, logos and bars: nothing that a judge of pictures measures moves."""
    marked = [one.copy() for one in shot]
    for one in marked:
        one[: one.shape[0] * 2 // 3 // 10] = 235
    assert values_of(marked, ["faults", "tones", "steadiness"]) == pytest.approx(
        values_of(shot, ["faults", "tones", "steadiness"]), abs=0.02
    )
