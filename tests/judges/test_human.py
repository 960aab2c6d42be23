"""Votes from files: what counts, what is passed over, what is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from screentest.core import Aspect, BadOption
from screentest.judges.human import Vote, read_votes, share_for_intact

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
    ballots = read_votes(written(tmp_path, *rows))
    assert [ballot.vote for ballot in ballots] == [Vote.INTACT, Vote.TIE]
    assert share_for_intact(ballots) == {Aspect.COLOR: 0.75}
    with pytest.raises(BadOption, match="no votes on pairs"):
        read_votes(written(tmp_path, *rows[1:4]))


def test_a_vote_without_a_choice_is_told_with_its_number(tmp_path: Path) -> None:
    with pytest.raises(BadOption, match="vote 2 lacks"):
        read_votes(written(tmp_path, {"choice": "intact", **PAIR}, {"choice": None, **PAIR}))


def test_only_votes_on_the_asked_videos_count(tmp_path: Path) -> None:
    other = {"video": "videos/b/color.mp4", "aspect": "color", "choice": "changed"}
    ballots = read_votes(written(tmp_path, {"choice": "intact", **PAIR}, other))
    # Wherever the testbed lies now.
    asked = [Path("/elsewhere/testbed/videos/a/color.mp4")]
    assert share_for_intact(ballots, asked) == {Aspect.COLOR: 1.0}
