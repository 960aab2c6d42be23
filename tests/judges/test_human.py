"""Votes from files: what counts, what is passed over, what is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from screentest.core import Aspect, BadOption
from screentest.judges.votes import Human, pair_votes, read_votes, share_for_intact

PAIR = {"video": "videos/a/color.mp4", "aspect": "color"}


def written(folder: Path, *rows: object) -> Path:
    path = folder / "votes.json"
    path.write_text(json.dumps({"schema": 1, "votes": rows}), encoding="utf-8")
    return path


def test_tasks_on_one_video_are_passed_over(tmp_path: Path) -> None:
    """An export of a study that had other tasks too."""
    rows = [
        {"task": "check", "choice": "intact", **PAIR},
        {"task": "rate", "video": "b.mp4", "aspect": "", "choice": None, "score": 4.5},
        {"task": "questions", "video": "b.mp4", "aspect": "", "choice": None},
        {"task": "prompts", "video": "b.mp4", "aspect": "", "choice": None},
        {"task": "pairs", "choice": "tie", **PAIR},
    ]
    votes = pair_votes(written(tmp_path, *rows))
    assert [vote.choice for vote in votes] == ["intact", "tie"]
    assert share_for_intact(votes) == {Aspect.COLOR: 0.75}
    with pytest.raises(BadOption, match="no votes"):
        pair_votes(written(tmp_path, *rows[1:4]))


def test_a_vote_without_a_choice_is_reported_with_its_number(tmp_path: Path) -> None:
    with pytest.raises(BadOption, match="vote 2: lacks"):
        pair_votes(written(tmp_path, {"choice": "intact", **PAIR}, {"choice": None, **PAIR}))


def test_only_votes_on_the_asked_videos_count(tmp_path: Path) -> None:
    other = {"video": "videos/b/color.mp4", "aspect": "color", "choice": "changed"}
    votes = pair_votes(written(tmp_path, {"choice": "intact", **PAIR}, other))
    # Wherever the testbed lies now.
    asked = [Path("/elsewhere/testbed/videos/a/color.mp4")]
    assert share_for_intact(votes, asked) == {Aspect.COLOR: 1.0}


def test_excluded_gold_and_unfinished_votes_never_count(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    rows = ["intact,False,False,True", "changed,True,False,True", "changed,TRUE,False,True"]
    table = [f"{PAIR['video']},color,{row}" for row in rows]
    header = "video,aspect,choice,excluded,gold,finished"
    path.write_text("\n".join([header, *table]), encoding="utf-8")
    assert share_for_intact(pair_votes(path)) == {Aspect.COLOR: 1.0}
    assert share_for_intact(read_votes(path)) == {Aspect.COLOR: 1.0}
    judge = Human(votes=str(path))
    (votes,) = judge.votes.values()
    assert [vote.choice for vote in votes] == ["intact"]
    for row in ("changed,False,True,True", "changed,False,False,False"):
        more = [*table, f"{PAIR['video']},color,{row}"]
        path.write_text("\n".join([header, *more]), encoding="utf-8")
        assert share_for_intact(pair_votes(path)) == {Aspect.COLOR: 1.0}
    path.write_text("\n".join([header, *table[1:]]), encoding="utf-8")
    with pytest.raises(BadOption, match=r"\b2 .*excluded"):
        pair_votes(path)


def test_a_flag_that_is_neither_true_nor_false_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("video,aspect,choice,excluded\na.mp4,color,intact,maybe\n", encoding="utf-8")
    with pytest.raises(BadOption, match=r"vote 1: .*excluded 'maybe'"):
        pair_votes(path)
