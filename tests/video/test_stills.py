"""Stills: the right pictures under the right names, all of them or none."""

from __future__ import annotations

import json
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from screentest.core import BadOption, Reason, Size
from screentest.video.stills import (
    CONTACT_SHEET,
    Evenly,
    PerSecond,
    PerShot,
    save_stills,
    still_name,
)


@pytest.fixture(scope="module")
def film(sample: Path) -> Path:
    return sample / "real_5shots_640x360.mp4"


def shown_times(ffprobe: str, video: Path) -> list[Fraction]:
    """When each frame is shown, by FFmpeg's own account."""
    told = subprocess.run(
        [
            *(ffprobe, "-v", "error", "-select_streams", "v", "-show_entries"),
            *("frame=best_effort_timestamp:stream=time_base", "-of", "json", str(video)),
        ],
        capture_output=True,
        check=True,
    )
    answer = json.loads(told.stdout)
    base = Fraction(answer["streams"][0]["time_base"])
    return [frame["best_effort_timestamp"] * base for frame in answer["frames"]]


def test_two_frames_a_second(film: Path, tmp_path: Path, ffprobe: str) -> None:
    stills = save_stills(film, PerSecond(Fraction(2)), tmp_path).unwrap()
    times = shown_times(ffprobe, film)

    # 15.5 s: moments 0, ½ … 15; at each the last frame shown no later.
    expected = [max(t for t in times if t <= Fraction(n, 2)) for n in range(31)]
    assert [still.time for still in stills] == expected
    assert [still.index for still in stills] == [times.index(time) for time in expected]
    assert [still.name for still in stills] == [
        f"{n:04}_{float(time):010.3f}s.png" for n, time in enumerate(expected)
    ]
    assert sorted(p.name for p in tmp_path.iterdir()) == [s.name for s in stills] + [CONTACT_SHEET]


def test_the_pictures_are_those_that_ffmpeg_decodes(
    film: Path, tmp_path: Path, ffmpeg: str
) -> None:
    stills = save_stills(film, Evenly(5), tmp_path / "ours").unwrap()
    wanted = "+".join(f"eq(n,{still.index})" for still in stills)
    subprocess.run(
        [
            *(ffmpeg, "-v", "error", "-i", str(film), "-vf", f"select='{wanted}'", "-vsync", "0"),
            *("-pix_fmt", "rgb24", str(tmp_path / "%d.png")),
        ],
        check=True,
    )
    for number, still in enumerate(stills, start=1):
        ours = np.asarray(Image.open(tmp_path / "ours" / still.name)).astype(int)
        theirs = np.asarray(Image.open(tmp_path / f"{number}.png")).astype(int)
        assert ours.shape == theirs.shape == (360, 640, 3)
        # Two ways from YUV to RGB differ by rounding only; another frame differs by far more.
        assert np.abs(ours - theirs).mean() < 1.5


def test_the_middle_of_each_shot(film: Path, tmp_path: Path) -> None:
    stills = save_stills(film, PerShot(), tmp_path).unwrap()
    # Shots by construction: 0–72–168–228–312–372 frames of 1/24 s.
    assert [still.index for still in stills] == [36, 120, 198, 270, 342]


def test_format_and_size(film: Path, tmp_path: Path) -> None:
    (still,) = save_stills(
        film, Evenly(1), tmp_path, suffix="jpg", size=Size(long_side=320)
    ).unwrap()
    with Image.open(tmp_path / still.name) as picture:
        assert (picture.format, picture.size) == ("JPEG", (320, 180))
    with pytest.raises(BadOption, match="is not a format"):
        save_stills(film, Evenly(1), tmp_path / "x", suffix="bmp")


def test_what_is_there_is_replaced_only_when_told(film: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.png").touch()
    save_stills(film, Evenly(3), tmp_path).unwrap()
    with pytest.raises(BadOption, match="holds stills already"):
        save_stills(film, Evenly(2), tmp_path)
    assert len(list(tmp_path.iterdir())) == 5

    again = save_stills(film, Evenly(2), tmp_path, replace=True).unwrap()
    names = {still.name for still in again} | {CONTACT_SHEET, "mine.png"}
    assert {path.name for path in tmp_path.iterdir()} == names


def test_a_bad_file_leaves_nothing_behind(tmp_path: Path) -> None:
    bad = tmp_path / "bad.mp4"
    bad.write_bytes(b"no video")
    outcome = save_stills(bad, Evenly(3), tmp_path / "out")

    assert outcome.failure is not None
    assert outcome.failure.reason is Reason.UNDECODABLE
    assert list(tmp_path.iterdir()) == [bad]


def test_a_wish_for_endless_frames_is_refused(film: Path, tmp_path: Path) -> None:
    for choice in (Evenly(10**12), PerSecond(Fraction(10**12))):
        with pytest.raises(BadOption, match="2,000,000"):
            save_stills(film, choice, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_names_say_nothing_of_the_video(film: Path, tmp_path: Path) -> None:
    strange = tmp_path / "-$(touch x)\n%d'.mp4"
    shutil.copy(film, strange)
    stills = save_stills(strange, Evenly(1), tmp_path / "out").unwrap()
    assert [still.name for still in stills] == ["0000_000007.750s.png"]


@pytest.mark.parametrize(
    ("number", "time", "name"),
    [
        (12345, Fraction(0), "12345_000000.000s.png"),
        (0, Fraction(-1, 24), "0000_-000000.042s.png"),
        (1, Fraction(9_999_999), "0001_9999999.000s.png"),
        (1, Fraction(59_9996, 10_000), "0001_000060.000s.png"),
    ],
)
def test_names_of_odd_times(number: int, time: Fraction, name: str) -> None:
    assert still_name(number, time, "png") == name
