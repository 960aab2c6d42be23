"""Metrics of what happens between frames."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from screentest.core.outcome import FRAME_RATE
from tests.metrics.films import falls, filtered, measured, score


@pytest.fixture(scope="module")
def film(sample: Path) -> Path:
    """Five live shots."""
    return next(sample.glob("*real*"))


def test_held_frames_are_those_ffmpeg_finds(film: Path, ffmpeg: str, tmp_path: Path) -> None:
    """freezedetect reports where the picture stands still for half a second or more."""
    # Grain, since the bird holds still by itself now and then.
    filters = "noise=c0s=8:allf=t,loop=loop=47:size=1:start=12"
    held = filtered(ffmpeg, film, tmp_path / "held.mp4", filters, start=4)
    told = subprocess.run(
        [ffmpeg, "-i", str(held), "-vf", "freezedetect=n=-60dB:d=0.5", "-f", "null", "-"],
        capture_output=True,
        text=True,
        check=True,
    ).stderr
    durations = [float(one) for one in re.findall(r"freeze_duration: ([\d.]+)", told)]
    seconds = sum(float(p.span.duration) * p.value for p in score("frozen", "frozen", held).curve)
    assert seconds == pytest.approx(sum(durations), abs=0.1)
    longest = max(point.value for point in score("frozen", "longest_hold", held).curve)
    assert longest / 24 == pytest.approx(max(durations), abs=0.1)


def test_motion_is_the_speed_of_what_moves(ffmpeg: str, tmp_path: Path) -> None:
    """A textured picture scrolls by a known number of pixels a frame; the flow must say so."""
    values = []
    for pixels in (8, 4, 2, 0):
        rng = np.random.default_rng(5)
        texture = rng.integers(60, 200, (18, 60)).astype(np.uint8)
        out = tmp_path / f"{pixels}.mp4"
        wide = np.kron(texture, np.ones((16, 16), np.uint8))
        frames = b"".join(
            np.ascontiguousarray(wide[:, pixels * n : pixels * n + 512]).tobytes()
            for n in range(24)
        )
        raw = ["-f", "rawvideo", "-pix_fmt", "gray", "-s", "512x288", "-r", "8", "-i", "-"]
        subprocess.run(
            [ffmpeg, "-v", "error", *raw, "-pix_fmt", "yuv420p", "-crf", "10", str(out)],
            input=frames,
            check=True,
        )
        values.append(score("motion", "motion", out).value)
        # Diagonals a second: pixels a frame at 8 frames a second over √(512² + 288²).
        assert values[-1] == pytest.approx(pixels * 8 / np.hypot(512, 288), rel=0.25, abs=0.003)
    assert falls(values)


def test_flicker_is_not_a_cut_and_grows(film: Path, ffmpeg: str, tmp_path: Path) -> None:
    """Brightness that changes from frame to frame, harder each time; a cut alone is calm."""
    values = []
    for strength in (60, 30, 10, 0):
        brighter = f"clip(lum(X,Y)+{strength}*mod(N,2),0,255)"
        filters = f"scale=160:-2,geq=lum='{brighter}':cb='cb(X,Y)':cr='cr(X,Y)'"
        out = tmp_path / f"{strength}.mp4"
        values.append(score("flicker", "flicker", filtered(ffmpeg, film, out, filters)).value)
    assert falls(values), values
    assert values[0] > 40
    still = tmp_path / "cut.mp4"
    subprocess.run(
        [
            *(ffmpeg, "-v", "error", "-f", "lavfi", "-i", "color=gray:s=128x96:d=1:r=24"),
            *("-f", "lavfi", "-i", "color=white:s=128x96:d=1:r=24"),
            *("-filter_complex", "[0][1]concat=n=2", "-pix_fmt", "yuv420p", str(still)),
        ],
        check=True,
    )
    calm = score("flicker", "flicker", still)
    assert calm.value < 1
    assert (
        calm.details[FRAME_RATE] == 24
    )  # it depends on it: models at other rates are not compared
    assert FRAME_RATE not in score("contrast", "contrast", still).details


def test_one_frame_has_no_motion(ffmpeg: str, tmp_path: Path, film: Path) -> None:
    single = filtered(ffmpeg, film, tmp_path / "one.mp4", "trim=end_frame=1")
    for metric in ("motion", "flicker", "frozen"):
        assert not any(one.ok for one in measured(metric, single).values())
