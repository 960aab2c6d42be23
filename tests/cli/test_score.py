"""``screentest score``: what is printed of numbers, of what is missing and of who measured."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from screentest.sample import sample_videos
from tests.messages import names
from tests.terminal import Screentest, fits

FILM = sample_videos()[2].item.video
STAND_IN = ("--model", "image_text=colour_words")


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    """A film, half of it, and one that is not there."""
    whole = FILM.read_bytes()
    (tmp_path / "half.mp4").write_bytes(whole[: len(whole) // 2])
    videos = {"whole": str(FILM), "half": "half.mp4", "gone": "gone.mp4"}
    rows = [{"id": name, "video": video, "prompt": "green"} for name, video in videos.items()]
    path = tmp_path / "videos.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def test_coverage_reasons_and_models_are_beside_the_numbers(
    screentest: Screentest, manifest: Path
) -> None:
    asked = ("score", manifest, "--metrics", "clipscore,sharpness", *STAND_IN)
    done = screentest(*asked)
    # The others are scored; which files were not read is said, and by the exit code too.
    assert done.returncode == 3, done.stderr
    assert fits(done.stdout)
    assert done.stdout.count("1/3") == 2
    unread = done.stdout.partition("Unreadable: 2 of 3")[2]
    told = " ".join(unread.split())
    assert names(told, "half.mp4: ", "gone.mp4: ")
    assert "Not scored" not in told
    assert "models: image_text=colour_words (chosen)" in done.stdout
    again = json.loads(screentest(*asked, "--json").stdout)
    assert again["pending"] == 0
    assert {one["item"]: one["reason"] for one in again["unread"]} == {
        "half": "undecodable",
        "gone": "missing_file",
    }
    for row in again["summary"]:
        assert (row["scored"], row["total"], row["low"], row["high"]) == (1, 3, None, None)


def test_who_asks_no_model_hears_of_none(screentest: Screentest, manifest: Path) -> None:
    done = screentest("score", manifest, "--metrics", "sharpness")
    assert done.returncode == 3, done.stderr
    assert "built-in" not in done.stdout


OWN = '''
import screentest

@screentest.metric(rate=2, long_side=64)
def level(image) -> float:
    """How bright it is, in levels."""
    return float(image.mean())
'''


def test_a_file_of_ones_own_has_metrics(process: Screentest, tmp_path: Path) -> None:
    """Worker processes read it, too; its numbers have no range but what they are."""
    (tmp_path / "own.py").write_text(OWN, encoding="utf-8")
    (tmp_path / "bad.py").write_text("1 / 0", encoding="utf-8")
    film = sample_videos()[1].item.video
    asked = ("--metrics", "level,contrast", "--workers", "2", "--json", "--out", tmp_path / "run")
    done = process("score", film, "--plugin", tmp_path / "own.py", *asked)
    rows = {row["metric"]: row for row in json.loads(done.stdout)["summary"]}
    assert 1 < rows["level"]["mean"] < 255
    for name in ("bad.py", "none.py"):
        wrong = process("score", film, "--plugin", tmp_path / name)
        assert wrong.returncode == 2
        assert name in wrong.stderr
