"""``screentest frames``: options to stills. What the stills show is tested with them."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from screentest.cli.frames import _choice, _size
from screentest.core import NATIVE, BadOption, Size
from screentest.video.stills import Evenly, PerSecond, PerShot
from tests.cli.conftest import Screentest, invoke


def test_frames_and_a_contact_sheet(screentest: Screentest, sample: Path, tmp_path: Path) -> None:
    film = sample / "real_5shots_640x360.mp4"
    done = screentest("frames", film, "--count", "2", "--out", "stills", "--format", "jpg")

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "2 frames and contact_sheet.jpg in stills\n"
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
