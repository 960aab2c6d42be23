"""Released preferences: the counts of the releases, and what is wrong in rows."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from screentest.analysis.people.preferences import Preference, Vote, read_preferences
from screentest.core import BadOption, ManifestError
from screentest.inputs.fields import ProblemKind

# Prompts of the releases that are read.
POLAR_BEAR = "A polar bear is playing guitar"
JUMP = "a person jumps from building"


def write(path: Path, content: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def test_genai_bench(shared_data: Path) -> None:
    """Counts as printed by those who released it: 619 left, 651 right, 404 both bad, 215 ties."""
    reading = read_preferences(shared_data / "genai/data.json")
    assert not reading.problems
    assert Counter(row.vote for row in reading.rows) == {
        Vote.A: 619,
        Vote.B: 651,
        Vote.BOTH_BAD: 404,
        Vote.TIE: 215,
    }
    assert reading.rows[0] == Preference(
        "86aa85eec53c4b1293ef632e6183fe93.mp4",
        "aadd660eca2b4d4788195c729920121f.mp4",
        "overall",
        Vote.B,
        prompt=POLAR_BEAR,
    )


def test_uve(shared_data: Path) -> None:
    reading = read_preferences(shared_data / "uve/annotations.json")
    assert not reading.problems
    assert len(reading.rows) == 1876
    assert Counter(row.vote for row in reading.rows) == {
        Vote.A: 635,
        Vote.B: 632,
        Vote.BOTH_GOOD: 311,
        Vote.BOTH_BAD: 298,
    }
    assert Counter(row.aspect for row in reading.rows)["tv_alignment_motion"] == 198


def test_fetv(shared_data: Path) -> None:
    """541 real videos, four generated ones, three aspects, three raters."""
    reading = read_preferences(shared_data / "fetv")
    assert not reading.problems
    assert len(reading.rows) == 541 * 4 * 3 * 3
    assert {row.rater for row in reading.rows} == {"human0", "human1", "human2"}
    assert all(row.video_a.startswith("ground-truth/") for row in reading.rows)
    first = [row for row in reading.rows if row.video_a == "ground-truth/0"]
    # human0 gave 4, 5, 5 to the real one and 2, 2, 2 to CogVideo's.
    mine = [row for row in first if (row.rater, row.video_b) == ("human0", "cogvideo/0")]
    assert [(row.aspect, row.vote) for row in mine] == [
        ("static_quality", Vote.A),
        ("temporal_quality", Vote.A),
        ("alignment", Vote.A),
    ]
    assert mine[0].prompt == JUMP


def test_video_bench(shared_data: Path) -> None:
    """2,271 prompts and videos, 21 pairs of seven models, four raters."""
    reading = read_preferences(shared_data / "videobench")
    assert not reading.problems
    assert len(reading.rows) == 2271 * 21 * 4
    assert len({row.aspect for row in reading.rows}) == 9
    assert {row.rater for row in reading.rows} == {"0", "1", "2", "3"}


def test_tvge(shared_data: Path) -> None:
    """495 prompts with five models and 17 with four, for two aspects."""
    reading = read_preferences(shared_data / "t2vscore")
    assert not reading.problems
    assert len(reading.rows) == 2 * (495 * 10 + 17 * 6)
    first = reading.rows[0]
    assert (first.video_a, first.video_b, first.vote) == ("floor33/0", "gen2/0", Vote.B)


def test_plain_csv(tmp_path: Path) -> None:
    lines = [
        "video_a,video_b,aspect,vote,rater",
        "x.mp4,y.mp4,aesthetics,A,ann",
        "x.mp4,y.mp4,aesthetics,better,ben",
        "x.mp4,,aesthetics,b,ben",
        'x.mp4,"y, 2.mp4",overall,tie,ben',
    ]
    reading = read_preferences(write(tmp_path / "votes.csv", "\n".join(lines)))
    assert reading.rows == [
        Preference("x.mp4", "y.mp4", "aesthetics", Vote.A, "ann"),
        Preference("x.mp4", "y, 2.mp4", "overall", Vote.TIE, "ben"),
    ]
    assert [(one.line, one.kind) for one in reading.problems] == [
        (3, ProblemKind.BAD_ROW),
        (4, ProblemKind.BAD_ROW),
    ]
    assert all(name in reading.problems[0].message for name in ("vote", "'better'", *Vote))
    assert "video_b" in reading.problems[1].message
    with pytest.raises(ManifestError, match="has no column vote"):
        read_preferences(write(tmp_path / "no.csv", "video_a,video_b,aspect\n"))


def test_wrong_rows_cost_only_themselves(tmp_path: Path) -> None:
    good = {"video_left": "a", "video_right": "b", "vote_type": "leftvote", "prompt": "x"}
    rows = [good, 7, good | {"vote_type": "mine"}, good | {"video_right": None}]
    reading = read_preferences(write(tmp_path / "data.json", rows))
    assert len(reading.rows) == 1
    assert [one.id for one in reading.problems] == ["1", "2", "3"]
    marks = {"prompt": "x", "models": {"m": [1.0], "n": [2.0]}}
    folder = tmp_path / "tvge"
    write(folder / "x_quality_score.json", {"0": marks, "1": {"models": {"m": ["?"]}}, "2": 3})
    again = read_preferences(folder)
    assert [row.vote for row in again.rows] == [Vote.B]
    assert len(again.problems) == 2


def test_ratings_that_do_not_fit(tmp_path: Path) -> None:
    row = {"prompt_en": "x", "videos": {"m": "m.mp4", "n": "n.mp4"}}
    rows = [row | {"human_anno": {"m": [1, 2], "n": [1, 3]}}, row | {"human_anno": {"m": [1]}}]
    rows += [row | {"human_anno": {"m": [1], "n": [1, 2]}}, row]
    write(tmp_path / "scene.json", rows)
    reading = read_preferences(tmp_path, "video_bench")
    assert [(one.rater, one.vote) for one in reading.rows] == [("0", Vote.TIE), ("1", Vote.B)]
    assert [one.id for one in reading.problems] == ["2", "3"]


@pytest.mark.parametrize("content", ["{", "[]", "\ufeff{}", "[1]", '{"x": 1}'])
def test_nothing_of_the_kind(content: str, tmp_path: Path) -> None:
    with pytest.raises(ManifestError):
        read_preferences(write(tmp_path / "x.json", content))


def test_not_there(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match="not there"):
        read_preferences(tmp_path / "gone.csv")
    with pytest.raises(BadOption, match="unknown format 'votes'"):
        read_preferences(tmp_path, "votes")


def test_forms_that_no_release_has(tmp_path: Path) -> None:
    marks = dict.fromkeys(("static_quality", "temporal_quality", "alignment"), 3)
    (tmp_path / "human0").mkdir()
    (tmp_path / "fetv_data.json").write_text("5", encoding="utf-8")
    for model in ("ground-truth", "other"):
        rows = json.dumps([{"\u00b2": marks}])
        (tmp_path / "human0" / f"{model}.json").write_text(rows, encoding="utf-8")
    assert {row.prompt for row in read_preferences(tmp_path).rows} == {""}
    odd = [{"videos": {"a": ["x"]}, "human_anno": {"a": [1]}}]
    (tmp_path / "action.json").write_text(json.dumps(odd), encoding="utf-8")
    with pytest.raises(ManifestError, match="videos are not names"):
        read_preferences(tmp_path, "video_bench")
