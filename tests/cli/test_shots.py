"""``screentest shots``: a cut list in four forms. How well shots are found is tested elsewhere."""

from __future__ import annotations

import csv
import json
from fractions import Fraction
from pathlib import Path

import pytest

from screentest.cli.shots import CutListFormat, _named_for
from screentest.video.shots import shots_from_json
from tests.cli.conftest import Screentest, fits, invoke

# By construction: cuts at frames 72, 168, 228 and 312 of 372, 24 a second.
STARTS = [Fraction(frame, 24) for frame in (0, 72, 168, 228, 312)]


@pytest.fixture(scope="module")
def film(sample: Path) -> Path:
    return sample / "real_5shots_640x360.mp4"


def test_a_table(screentest: Screentest, film: Path) -> None:
    done = screentest("shots", film)

    assert (done.returncode, done.stderr) == (0, "")
    assert fits(done.stdout)
    assert "   2  0:00:03.000  0:00:07.000  4.000 s  cut" in done.stdout
    assert "real_5shots_640x360.mp4: 5 shots in 0:00:15.500" in done.stdout


def test_json_is_exact_and_names_the_detector_with_its_options(film: Path) -> None:
    done = invoke("shots", film, "--detector", "scdet:threshold=12", "--format", "json")
    told = json.loads(done.stdout)

    assert [shot.start for shot in shots_from_json(done.stdout)] == STARTS
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
    assert done.stderr == "error: there is no detector 'scdt'\nDid you mean 'scdet'?\n"


def test_a_file_that_cannot_be_written_is_an_error(film: Path) -> None:
    done = invoke("shots", film, "--out", "missing/cuts.csv")
    assert done.exit_code == 74
    assert done.stderr == "error: missing/cuts.csv: No such file or directory\n"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("x.json", CutListFormat.JSON),
        ("x.EDL", CutListFormat.EDL),
        ("x.table", CutListFormat.TABLE),
        ("x", CutListFormat.TABLE),
        (None, CutListFormat.TABLE),
    ],
)
def test_the_form_a_name_says(name: str | None, expected: CutListFormat) -> None:
    assert _named_for(Path(name) if name else None) is expected
