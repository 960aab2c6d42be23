"""``screentest probe``, ``frames`` and ``shots``: files and options to what is printed.

How well shots are found, and what stills show, is tested with them.
"""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path

import pytest

from screentest.cli.video import _choice, _format_of, _size
from screentest.core import NATIVE, BadOption, Size
from screentest.video.stills import Evenly, PerSecond, PerShot
from tests.messages import names
from tests.terminal import Screentest, fits, invoke

# ---- probe


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
    assert names(done.stdout, "(1 of 5)", "bad.mp4: ")


def test_a_bad_file_alone_is_an_error(screentest: Screentest, tmp_path: Path) -> None:
    (tmp_path / "empty.mp4").touch()
    done = screentest("probe", "empty.mp4")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: 'empty.mp4' is empty\n")

    (told,) = json.loads(screentest("probe", "empty.mp4", "--json").stdout)
    assert told.pop("advice")
    assert {name: value for name, value in told.items() if value is not None} == {
        "path": "empty.mp4",
        "ok": False,
        "reason": "empty_file",
        "detail": "'empty.mp4' is empty",
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
    # Where coverage is measured, workers leave their figures in the working folder.
    found = [path.name for path in tmp_path.iterdir() if not path.name.startswith(".coverage")]
    assert sorted(found) == sorted(names)


# ---- frames


def test_frames_and_a_contact_sheet(screentest: Screentest, sample: Path, tmp_path: Path) -> None:
    film = sample / "real_5shots_640x360.mp4"
    done = screentest("frames", film, "--count", "2", "--out", "stills", "--format", "jpg")

    assert (done.returncode, done.stderr) == (0, "")
    assert names(done.stdout, "2 frames", "contact_sheet.jpg", "stills")
    assert sorted(path.name for path in (tmp_path / "stills").iterdir()) == [
        "0000_000003.875s.jpg",
        "0001_000011.625s.jpg",
        "contact_sheet.jpg",
    ]


def test_frames_that_are_there_are_replaced_when_told(
    sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    film = sample / "real_5shots_640x360.mp4"
    assert invoke("frames", film, "--count", "2", "--out", "stills").exit_code == 0
    again = invoke("frames", film, "--count", "2", "--out", "stills")
    assert again.exit_code == 2
    assert "--overwrite" in again.stderr

    told = invoke("frames", film, "--fps", "1/10", "--out", "stills", "--overwrite", "--json")
    assert json.loads(told.stdout) == [
        {"path": "stills/0000_000000.000s.png", "time": "0", "index": 0},
        {"path": "stills/0001_000010.000s.png", "time": "10", "index": 240},
    ]


@pytest.mark.parametrize(
    ("per_shot", "fps", "count", "expected"),
    [
        (True, None, None, PerShot("content")),
        (False, "24000/1001", None, PerSecond(Fraction(24000, 1001))),
        (False, "0.5", None, PerSecond(Fraction(1, 2))),
        (False, None, 7, Evenly(7)),
    ],
)
def test_which_frames(per_shot: bool, fps: str | None, count: int | None, expected: object) -> None:
    assert _choice(per_shot, fps, count, "content") == expected


@pytest.mark.parametrize(
    ("per_shot", "fps", "count"),
    [(False, None, None), (True, "2", None), (True, None, 3), (False, "2", 3)]
    + [(False, wrong, None) for wrong in ("0", "-1", "x", "1/0", "nan", "")],
)
def test_which_frames_must_be_clear(per_shot: bool, fps: str | None, count: int | None) -> None:
    with pytest.raises(BadOption):
        _choice(per_shot, fps, count, "default")


def test_sizes() -> None:
    assert _size(None) == NATIVE
    assert _size("512") == Size(long_side=512)
    assert _size("640x360") == _size("640X360") == _size("640×360") == Size(exact=(640, 360))
    for wrong in ("", "x", "0", "640x", "-3", "1x2x3", "99999", "12.5", "²"):
        with pytest.raises(BadOption, match="--size"):
            _size(wrong)


def test_a_count_of_nothing_is_wrong_usage() -> None:
    assert invoke("frames", "x.mp4", "--count", "0", "--out", "x").exit_code == 2


# ---- shots

# By construction: cuts at frames 72, 168, 228 and 312 of 372, 24 a second.
STARTS = [Fraction(frame, 24) for frame in (0, 72, 168, 228, 312)]


@pytest.fixture(scope="module")
def film(sample: Path) -> Path:
    return sample / "real_5shots_640x360.mp4"


def test_a_table(screentest: Screentest, film: Path) -> None:
    done = screentest("shots", film)

    assert (done.returncode, done.stderr) == (0, "")
    assert fits(done.stdout)
    rows = [line.split()[:6] for line in done.stdout.splitlines()]
    assert ["2", "0:00:03.000", "0:00:07.000", "4.000", "s", "cut"] in rows
    assert names(done.stdout, "real_5shots_640x360.mp4", "5 shots", "0:00:15.500")


def test_json_is_exact_and_names_the_detector_with_its_options(film: Path) -> None:
    done = invoke("shots", film, "--detector", "scdet:threshold=12", "--format", "json")
    told = json.loads(done.stdout)

    assert [Fraction(shot["start"]) for shot in told["shots"]] == STARTS
    assert told["detector"] == "scdet:threshold=12.0"
    assert told["duration"] == "31/2"


def test_files_are_written_in_the_form_their_name_says(film: Path, tmp_path: Path) -> None:
    for name in ("cuts.csv", "cuts.edl", "cuts.txt"):
        done = invoke("shots", film, "--out", tmp_path / name)
        assert (done.exit_code, done.output) == (0, "")

    rows = list(csv.DictReader((tmp_path / "cuts.csv").read_text().splitlines()))
    assert [float(row["start_seconds"]) for row in rows] == [float(start) for start in STARTS]
    assert (tmp_path / "cuts.edl").read_text().startswith("TITLE: real_5shots_640x360.mp4\n")
    assert len((tmp_path / "cuts.txt").read_text().splitlines()) == 2 + 5


def test_a_wrong_detector_suggests_a_right_one(film: Path) -> None:
    done = invoke("shots", film, "--detector", "scdt")
    assert done.exit_code == 2
    assert names(done.stderr, "detector 'scdt'", "'scdet'")


def test_a_file_that_cannot_be_written_is_an_error(film: Path) -> None:
    done = invoke("shots", film, "--out", "missing/cuts.csv")
    assert done.exit_code == 74
    assert names(done.stderr.splitlines()[0], "error: ", "missing/cuts.csv")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("x.json", "json"),
        ("x.EDL", "edl"),
        ("x.table", "table"),
        ("x", "table"),
        (None, "table"),
    ],
)
def test_the_form_a_name_says(name: str | None, expected: str) -> None:
    assert _format_of(Path(name) if name else None) is expected
