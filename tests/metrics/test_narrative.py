"""Films as a whole: number of shots, repetition, and shots unlike the others."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from screentest.core import Reason, Score
from tests.metrics.films import CODING, filtered, measured, score


@pytest.fixture(scope="module")
def film(sample: Path) -> Path:
    """Five live shots, cut at frames 72, 168, 228 and 312 of 24 a second."""
    return next(sample.glob("*real*"))


@pytest.mark.parametrize(
    ("captions", "alike", "had"), [(5, 1.0, 1.0), (10, 0.5, 0.5), (4, 0.8, 1.0)]
)
def test_shots_are_counted(film: Path, captions: int, alike: float, had: float) -> None:
    texts = [f"Clip {number}." for number in range(captions)]
    found = measured("shot_count", film, texts)
    assert found["shot_count"].unwrap().value == pytest.approx(alike)
    assert found["shots_had"].unwrap().value == pytest.approx(had)


def test_without_a_script_there_is_nothing_to_count_against(film: Path) -> None:
    failure = measured("shot_count", film)["shot_count"].failure
    assert failure is not None
    assert failure.reason is Reason.NOT_APPLICABLE


def test_a_shot_shown_twice_is_found(film: Path, ffmpeg: str, tmp_path: Path) -> None:
    """The second shot (four seconds) once more at the end: 4 of 19.5 seconds are a repetition."""
    again = tmp_path / "again.mp4"
    graph = "[0]split[a][b];[b]trim=3:7,setpts=PTS-STARTPTS[c];[a][c]concat=n=2"
    command = [ffmpeg, "-v", "error", "-i", str(film), "-filter_complex", graph, *CODING]
    subprocess.run([*command, str(again)], check=True)
    assert score("repeated_shots", "repeated_shots", film).value == 0
    found = score("repeated_shots", "repeated_shots", again)
    assert found.value == pytest.approx(4 / 19.5, abs=0.02)
    assert found.curve[-1].note == "as at 0:00:03.000"


@pytest.fixture(scope="module")
def usual(film: Path, ffmpeg: str, tmp_path_factory: pytest.TempPathFactory) -> Score:
    """What the untouched film scores."""
    out = tmp_path_factory.mktemp("usual") / "intact.mp4"
    intact = filtered(ffmpeg, film, out, "fps=12,scale=320:-2", seconds=15.5)
    return score("shot_consistency", "shot_consistency", intact)


@pytest.mark.parametrize("harm", ["gblur=3", "noise=c0s=30:allf=t", "elbg=l=6"])
def test_a_shot_in_another_look_stands_out(
    harm: str, usual: Score, film: Path, ffmpeg: str, tmp_path: Path
) -> None:
    """Blurred, with grain, in six colours like a poster: seconds 3 to 7 only."""
    graph = f"fps=12,scale=320:-2,split[a][b];[b]{harm}[c];[a][c]overlay=enable='between(t,3,6.99)'"
    changed = filtered(ffmpeg, film, tmp_path / "changed.mp4", graph, seconds=15.5)
    found = score("shot_consistency", "shot_consistency", changed)
    assert found.value < usual.value
    worst = min(found.curve, key=lambda point: point.value)
    assert round(float(worst.span.start)) == 3
