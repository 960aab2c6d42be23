"""A manifest against its folder: every contradiction is found, in both directions."""

from __future__ import annotations

import json
import os
import shutil
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from screentest.core import BadOption
from screentest.inputs.check import ManifestReport, check_manifest
from screentest.inputs.fields import ProblemKind
from tests.messages import names


class Recorder:
    """A progress that remembers what it was told."""

    def __init__(self) -> None:
        self.told: list[Any] = []

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, *args: object) -> None:
        self.told.append("closed")

    def begin(self, what: str, total: float | None, unit: str, done: float = 0) -> None:
        self.told.append((what, total, unit))

    def advance(self, amount: float = 1, note: str = "") -> None:
        self.told.append(note)


@pytest.fixture
def film(sample: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(sample / "frenchgp_1906_214x160.mp4", tmp_path / "film.mp4"))


def manifest(folder: Path, rows: Iterable[dict[str, Any]]) -> Path:
    path = folder / "m.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def found(report: ManifestReport) -> list[tuple[ProblemKind, int | None]]:
    return [(problem.kind, problem.line) for problem in report.problems]


def test_a_manifest_that_agrees_with_its_folder(film: Path, tmp_path: Path) -> None:
    path = manifest(tmp_path, [{"id": "a", "video": "film.mp4", "references": ["r.png"]}])
    from PIL import Image

    Image.new("RGB", (8, 8)).save(tmp_path / "r.png")
    watching = Recorder()
    report = check_manifest(path, progress=watching)

    assert report.ok
    assert report.opened == 2
    assert watching.told == [
        ("checking", 2, "files"),
        "film.mp4",
        "r.png",
        "closed",
    ]


def test_everything_wrong_is_found_at_once(film: Path, tmp_path: Path, sample: Path) -> None:
    (tmp_path / "empty.mp4").touch()
    (tmp_path / "text.mp4").write_text("hello")
    (tmp_path / "folder.mp4").mkdir()
    os.mkfifo(tmp_path / "pipe.mp4")
    os.link(film, tmp_path / "twin.mp4")
    (tmp_path / "dangling.mp4").symlink_to("nowhere")
    (tmp_path / "playlist.mp4").write_text("#EXTM3U\nfile:///etc/hostname\n")
    extra = tmp_path / "more" / "extra.MKV"
    extra.parent.mkdir()
    shutil.copy(film, extra)
    (tmp_path / ".hidden").mkdir()
    shutil.copy(film, tmp_path / ".hidden" / "not-looked-at.mp4")
    made = tmp_path / "bed" / "videos" / "film" / "intact.mp4"  # by `build`: not looked at either
    made.parent.mkdir(parents=True)
    shutil.copy(film, made)
    (tmp_path / "bed" / "testbed.json").write_text("{}")
    rows = [
        {"id": "good", "video": "film.mp4"},
        {"id": "twin", "video": "twin.mp4"},
        {"id": "gone", "video": "flim.mp4"},
        {"id": "empty", "video": "empty.mp4"},
        {"id": "text", "video": "text.mp4"},
        {"id": "folder", "video": "folder.mp4"},
        {"id": "pipe", "video": "pipe.mp4"},
        {"id": "dangling", "video": "dangling.mp4"},
        {"id": "playlist", "video": "playlist.mp4"},
        {"id": "good", "video": "film.mp4"},
        {"id": "row", "video": "film.mp4", "colour": "red"},
        {"id": "art", "video": "twin.mp4", "references": ["text.mp4", "none.png"]},
        {"id": "edit", "video": "film.mp4", "source": "none.mp4"},
    ]
    report = check_manifest(manifest(tmp_path, rows))

    assert found(report) == [
        (ProblemKind.DUPLICATE_VIDEO, 2),
        (ProblemKind.MISSING, 3),
        (ProblemKind.UNREADABLE, 4),
        (ProblemKind.UNREADABLE, 5),
        (ProblemKind.UNREADABLE, 6),
        (ProblemKind.UNREADABLE, 7),
        (ProblemKind.MISSING, 8),
        (ProblemKind.UNREADABLE, 9),
        (ProblemKind.DUPLICATE_ID, 10),
        (ProblemKind.BAD_ROW, 11),
        (ProblemKind.DUPLICATE_VIDEO, 12),
        (ProblemKind.MISSING, 12),
        (ProblemKind.UNREADABLE, 12),
        (ProblemKind.DUPLICATE_VIDEO, 13),
        (ProblemKind.MISSING, 13),
        (ProblemKind.UNLISTED, None),
    ]
    assert report.problems[1].advice == "There is 'film.mp4'."
    assert report.problems[-1].path == extra


@pytest.mark.parametrize(
    ("on_disk", "in_row", "advice"),
    [
        ("Film.mp4", "film.mp4", "There is 'Film.mp4'."),
        ("film .mp4", "film.mp4", "There is 'film .mp4'."),
        (
            unicodedata.normalize("NFD", "café.mp4"),
            unicodedata.normalize("NFC", "café.mp4"),
            "Unicode",
        ),
        ("sub/film.mp4", "sub\\film.mp4", "forward slashes"),
        ("other.mp4", "film.mp4", ""),
        ("b.mp4", "c.mp4", ""),
        ("clip-0008.mp4", "clip-0009.mp4", ""),
        ("fiilm.mp4", "film.mp4", "There is 'fiilm.mp4'."),
        ("film.mkv", "film.mp4", "There is 'film.mkv'."),
    ],
)
def test_a_name_that_is_nearly_right_is_suggested(
    tmp_path: Path, film: Path, on_disk: str, in_row: str, advice: str
) -> None:
    target = tmp_path / on_disk
    target.parent.mkdir(exist_ok=True)
    film.rename(target)
    (problem,) = check_manifest(
        manifest(tmp_path, [{"id": "a", "video": in_row}]), partial=True
    ).problems

    assert problem.kind is ProblemKind.MISSING
    assert advice in problem.advice
    assert bool(advice) == bool(problem.advice)


def test_videos_are_searched_for_where_told(tmp_path: Path, film: Path) -> None:
    (tmp_path / "set").mkdir()
    path = manifest(tmp_path / "set", [{"id": "a", "video": "../film.mp4"}])
    shutil.copy(film, tmp_path / "other.mp4")

    assert check_manifest(path).ok
    assert found(check_manifest(path, videos=tmp_path)) == [(ProblemKind.UNLISTED, None)]
    assert check_manifest(path, videos=tmp_path, partial=True).ok
    with pytest.raises(BadOption, match="is not a folder"):
        check_manifest(path, videos=film)


def test_a_script_that_runs_past_its_video(tmp_path: Path, film: Path) -> None:
    # The film lasts 19.2 s (288 frames at 15 a second, from its captions file).
    clips = [{"start": 0, "end": 19}, {"start": 19, "end": 40}, {"start": 40, "end": 41}]
    path = manifest(tmp_path, [{"id": "a", "video": "film.mp4", "script": clips}])

    (problem,) = check_manifest(path).problems
    assert problem.kind is ProblemKind.MISMATCH
    assert names(problem.message, 1, 3, "0:00:19.200")


def test_damage_inside_a_video_is_found_by_looking_deep(tmp_path: Path, film: Path) -> None:
    content = bytearray(film.read_bytes())
    for place in range(len(content) // 2, len(content) // 2 + 4000):
        content[place] ^= 0x5A
    film.write_bytes(content)
    path = manifest(tmp_path, [{"id": "a", "video": "film.mp4"}])

    assert check_manifest(path).ok
    (problem,) = check_manifest(path, deep=True).problems
    assert problem.kind is ProblemKind.DAMAGED


def test_a_video_cut_at_its_end_is_found_without_decoding(tmp_path: Path, film: Path) -> None:
    film.write_bytes(film.read_bytes()[:150_000])  # of 234,442; its index stands at the front
    path = manifest(tmp_path, [{"id": "a", "video": "film.mp4"}])

    (problem,) = check_manifest(path).problems
    assert problem.kind is ProblemKind.DAMAGED
    assert "84,442 bytes" in problem.message


STRANGE = ("-rf.mp4", "a\nb.mp4", "$(touch x).mp4", "%d.mp4", "\x1b[2J.mp4", "'\".mp4", "猫.mp4")


def test_strange_names_are_just_names(tmp_path: Path, film: Path) -> None:
    for name in STRANGE:
        shutil.copy(film, tmp_path / name)
    film.unlink()
    rows = [{"id": str(number), "video": name} for number, name in enumerate(STRANGE)]
    before = sorted(tmp_path.iterdir())
    path = manifest(tmp_path, rows)
    report = check_manifest(path)

    assert report.ok
    assert report.opened == len(STRANGE)
    assert sorted(tmp_path.iterdir()) == sorted([*before, path])
    for problem in check_manifest(manifest(tmp_path, rows[:0])).problems:
        assert problem.message.isprintable()
