"""``screentest probe``: what ffprobe says, readable; bad files are told apart and harm nobody."""

from __future__ import annotations

import json
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path

from tests.cli.conftest import Screentest, fits


def test_one_video_against_ffprobe(screentest: Screentest, sample: Path, ffprobe: str) -> None:
    film = sample / "sintel_trailer_30s_640x272.mp4"
    asked = subprocess.run(
        [
            *(ffprobe, "-v", "error", "-select_streams", "v", "-count_packets", "-of", "json"),
            *("-show_streams", str(film)),
        ],
        capture_output=True,
        check=True,
    )
    (expected,) = json.loads(asked.stdout)["streams"]
    (told,) = json.loads(screentest("probe", film, "--json").stdout)

    assert told["ok"] is True
    assert (told["width"], told["height"]) == (expected["width"], expected["height"])
    assert told["frames"] == int(expected["nb_read_packets"])
    assert Fraction(told["rate"]) == Fraction(expected["avg_frame_rate"])
    assert told["codec"] == expected["codec_name"]
    exact = expected["duration_ts"] * Fraction(expected["time_base"])
    assert Fraction(told["duration"]) == exact

    done = screentest("probe", film)
    assert done.returncode == 0
    assert fits(done.stdout)
    assert "0:00:30.333 (91/3 s)" in done.stdout


def test_many_videos_are_a_table_and_the_bad_ones_are_listed(
    screentest: Screentest, sample: Path, tmp_path: Path
) -> None:
    videos = tmp_path / "films"
    videos.mkdir()
    for film in sorted(sample.glob("*.mp4")):
        shutil.copy(film, videos)
    (videos / "bad.mp4").write_text("no video")
    done = screentest("probe", *sorted(videos.iterdir()))

    assert done.returncode == 1
    assert fits(done.stdout)
    assert f"In {videos}" in done.stdout.replace("\n", "")
    assert "sintel_trailer_30s_640x272.mp4" in done.stdout
    assert "Cannot be read (1 of 5)" in done.stdout
    assert "bad.mp4: cannot be read as a video" in done.stdout


def test_a_bad_file_alone_is_an_error(screentest: Screentest, tmp_path: Path) -> None:
    (tmp_path / "empty.mp4").touch()
    done = screentest("probe", "empty.mp4")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: 'empty.mp4' is empty\n")

    (told,) = json.loads(screentest("probe", "empty.mp4", "--json").stdout)
    assert told == {
        "path": "empty.mp4",
        "ok": False,
        "reason": "missing_file",
        "detail": "'empty.mp4' is empty",
        "advice": "Copy, download or generate it again.",
    }


def test_names_that_look_like_options_or_commands(
    screentest: Screentest, sample: Path, tmp_path: Path
) -> None:
    names = ["-rf.mp4", "$(touch x).mp4", "a\nb.mp4", "\x1b[31m[red].mp4", "%d.mp4"]
    for name in names:
        shutil.copy(sample / "frenchgp_1906_214x160.mp4", tmp_path / name)
    done = screentest("probe", "--", *names)

    assert done.returncode == 0
    assert fits(done.stdout)
    assert "a\\nb.mp4" in done.stdout
    assert "\\x1b[31m[red].mp4" in done.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names)
