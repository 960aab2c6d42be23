"""Metrics of single pictures: against FFmpeg's own measurements, closed forms and ladders."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import cv2
import numpy as np
import pytest

from screentest.core import Reason
from screentest.metrics.static import picture as tones
from screentest.metrics.static.picture import colourfulness, sharpness
from tests.metrics.films import falls, filtered, measured, score


@pytest.fixture(scope="module")
def film(sample: Path) -> Path:
    """Five live shots, the first three seconds one of them."""
    return next(sample.glob("*real*"))


@pytest.mark.parametrize(
    ("metric", "output", "ladder"),
    [
        ("contrast", "contrast", ["null", "eq=contrast=0.8", "eq=contrast=0.5", "eq=contrast=0.2"]),
        ("contrast", "tonal_range", ["null", "eq=contrast=0.8", "eq=contrast=0.4"]),
        ("contrast", "exposure", ["null", "eq=contrast=2", "eq=contrast=4"]),
        ("colourfulness", "colourfulness", ["hue=s=1.5", "null", "hue=s=0.5", "hue=s=0.1"]),
        ("sharpness", "sharpness", ["null", "gblur=0.6", "gblur=1", "gblur=2"]),
        (
            "noise",
            "noise",
            ["noise=c0s=40:allf=t", "noise=c0s=20:allf=t", "noise=c0s=8:allf=t", "null"],
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_step_shows(
    metric: str, output: str, ladder: list[str], film: Path, ffmpeg: str, tmp_path: Path
) -> None:
    values = []
    for rung, filters in enumerate(ladder):
        video = filtered(ffmpeg, film, tmp_path / f"{rung}.mp4", filters)
        values.append(score(metric, output, video).value)
    assert falls(values), values


def test_a_lower_resolution_shows(film: Path, ffmpeg: str, tmp_path: Path) -> None:
    """Down and up again by Lanczos: SLVMEval's harm, in its own filter."""
    values = [
        score(
            "sharpness",
            "sharpness",
            filtered(
                ffmpeg,
                film,
                tmp_path / f"{side}.mp4",
                f"scale={side}:-2:flags=lanczos,scale=640:360:flags=lanczos",
            ),
        ).value
        for side in (640, 480, 320, 200)
    ]
    assert falls(values), values


def test_coarser_coding_is_blockier(film: Path, ffmpeg: str, tmp_path: Path) -> None:
    values = []
    for quantiser in (31, 16, 2):
        coding = ("-c:v", "mpeg2video", "-qscale:v", str(quantiser), "-an")
        out = tmp_path / f"{quantiser}.mpg"
        video = filtered(ffmpeg, film, out, "null", seconds=2, coding=coding)
        values.append(score("blockiness", "blockiness", video).value)
    assert falls(values), values


def test_contrast_agrees_with_ffmpegs_percentiles(film: Path, ffmpeg: str, tmp_path: Path) -> None:
    """signalstats gives the 10th and 90th percentile of luma: at other contrasts they must
    stand to our deviation in the same ratio, since scaling the levels scales both.
    """
    ratios = []
    for contrast in (1.0, 0.7, 0.4):
        out = tmp_path / f"{contrast}.mp4"
        video = filtered(ffmpeg, film, out, f"eq=contrast={contrast}")
        spread = np.mean(_stats(ffmpeg, video, "YHIGH")) - np.mean(_stats(ffmpeg, video, "YLOW"))
        ratios.append(score("contrast", "contrast", video).value / float(spread))
    assert np.ptp(ratios) / np.mean(ratios) < 0.05


def _stats(ffmpeg: str, video: Path, name: str) -> list[float]:
    command = [ffmpeg, "-v", "error", "-i", str(video), "-vf"]
    told = subprocess.run(
        [
            *command,
            f"signalstats,metadata=print:key=lavfi.signalstats.{name}:file=-",
            "-f",
            "null",
            "-",
        ],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return [float(found) for found in re.findall(rf"{name}=([\d.]+)", told)]


def test_contrast_of_a_ramp_is_that_of_the_uniform_distribution() -> None:
    """The deviation of 0…255, each equally often, is √((256² − 1) / 12)."""
    ramp = np.repeat(np.arange(256, dtype=np.uint8)[None, :, None], 3, axis=2)
    assert tones.contrast(ramp)[0] * 127.5 == pytest.approx(np.sqrt((256**2 - 1) / 12))


def test_colourfulness_by_hand() -> None:
    """Half red, half green: red–green is ±255, blue–yellow 127.5 throughout, so
    255 + 0.3 · 127.5 by the published formula.
    """
    picture = np.zeros((10, 10, 3), np.uint8)
    picture[:5, :, 0], picture[5:, :, 1] = 255, 255
    assert colourfulness(picture) == pytest.approx(255 + 0.3 * 127.5)


def test_sharpness_does_not_depend_on_contrast() -> None:
    noise = np.random.default_rng(3).normal(0, 30, (128, 128))
    texture = cv2.GaussianBlur(noise, (0, 0), 0.8)
    strong, weak = (
        sharpness(np.clip(128 + factor * texture, 0, 255).astype(np.uint8)) for factor in (2.0, 1.0)
    )
    assert strong is not None
    assert weak is not None
    assert strong == pytest.approx(weak, rel=0.02)


def test_black_has_nothing_to_measure(ffmpeg: str, tmp_path: Path) -> None:
    out = tmp_path / "black.mp4"
    command = [ffmpeg, "-v", "error", "-f", "lavfi", "-i", "color=black:s=128x96:d=1"]
    subprocess.run([*command, "-pix_fmt", "yuv420p", str(out)], check=True)
    for metric in ("sharpness", "noise", "blockiness", "naturalness"):
        outcomes = measured(metric, out)
        assert {one.failure.reason for one in outcomes.values() if one.failure} == {
            Reason.NOT_APPLICABLE
        }
    assert score("contrast", "contrast", out).value == 0


def test_one_blurred_shot_is_found_and_weighs(film: Path, ffmpeg: str, tmp_path: Path) -> None:
    """The curve points at the seconds that were blurred; the score falls more than the mean."""
    intact = filtered(ffmpeg, film, tmp_path / "intact.mp4", seconds=15)
    blurred = filtered(
        ffmpeg, film, tmp_path / "blurred.mp4", "gblur=2:enable='between(t,3,6.99)'", seconds=15
    )
    before, after = (score("sharpness", "sharpness", video) for video in (intact, blurred))
    worst = min(after.curve, key=lambda point: point.value)
    assert (round(float(worst.span.start)), round(float(worst.span.end))) == (3, 7)
    fall = before.value - after.value
    mean_fall = float(str(before.details["mean"])) - float(str(after.details["mean"]))
    assert fall > mean_fall > 0
