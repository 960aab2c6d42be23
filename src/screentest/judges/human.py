"""human: the votes of people, as a judge like any other.

Votes are a CSV or JSON file as `screentest annotate export` writes it: ``video``, the path of
the changed video in its testbed; ``aspect``; ``choice``: intact, changed or tie; one row per
vote. What nobody voted on has no verdict. An export may hold other tasks beside: ratings,
questions and prompts are about one video, and are passed over.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from screentest.core import (
    Aspect,
    BadOption,
    Choice,
    Item,
    JudgeInfo,
    Outcome,
    Question,
    Reason,
    Resources,
    Verdict,
    register,
)

COLUMNS = ("video", "aspect", "choice")
_OF_ONE_VIDEO = frozenset({"rate", "questions", "prompts"})
"""What an export calls the tasks in which nothing is chosen."""


class Vote(StrEnum):
    """What somebody preferred."""

    INTACT = "intact"
    CHANGED = "changed"
    TIE = "tie"


@dataclass(frozen=True, slots=True)
class Ballot:
    """One vote on one pair."""

    video: str
    aspect: Aspect
    vote: Vote
    worker: str = ""


def read_votes(path: Path) -> list[Ballot]:
    """The votes in a file; raises BadOption with the first row that is wrong."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadOption(f"the votes in {path} cannot be read: {error}") from None
    if path.suffix == ".json":
        rows = _json_rows(text, path)
    else:
        rows = list(csv.DictReader(io.StringIO(text)))
    ballots = [
        _ballot(row, number, path)
        for number, row in enumerate(rows, start=1)
        if not (isinstance(row, dict) and row.get("task") in _OF_ONE_VIDEO)
    ]
    if not ballots:
        raise BadOption(f"{path} holds no votes on pairs", advice=f"Columns: {', '.join(COLUMNS)}.")
    return ballots


def _json_rows(text: str, path: Path) -> list[Any]:
    try:
        rows = json.loads(text)
    except ValueError as error:
        raise BadOption(f"{path} is not JSON: {error}") from None
    if isinstance(rows, dict):
        rows = rows.get("votes")
    if not isinstance(rows, list):
        raise BadOption(f"{path} holds no list of votes")
    return rows


def _ballot(row: Any, number: int, path: Path) -> Ballot:
    where = f"{path}, vote {number}"
    if not isinstance(row, dict) or any(not row.get(name) for name in COLUMNS):
        raise BadOption(f"{where} lacks one of {', '.join(COLUMNS)}")
    try:
        aspect, vote = Aspect(row["aspect"]), Vote(row["choice"])
    except ValueError as error:
        raise BadOption(f"{where}: {error}") from None
    return Ballot(str(row["video"]), aspect, vote, str(row.get("worker") or ""))


def share_for_intact(
    ballots: Iterable[Ballot], videos: Iterable[Path] | None = None
) -> dict[Aspect, float]:
    """How often people prefer the intact video, by aspect; a tie is half a vote.

    With ``videos``, the changed videos of some pairs, only votes on those count.
    """
    tails = None if videos is None else {_tail(video) for video in videos}
    points = {Vote.INTACT: 1.0, Vote.TIE: 0.5, Vote.CHANGED: 0.0}
    by_aspect: dict[Aspect, list[float]] = defaultdict(list)
    for ballot in ballots:
        if tails is not None and _tail(Path(ballot.video)) not in tails:
            continue
        by_aspect[ballot.aspect].append(points[ballot.vote])
    return {aspect: sum(found) / len(found) for aspect, found in by_aspect.items()}


@dataclass(frozen=True, slots=True)
class Human:
    """The majority of the votes on a pair."""

    ballots: Mapping[tuple[str, Aspect], Sequence[Ballot]]
    signature_parts: Mapping[str, str] = field(default_factory=dict)

    info = JudgeInfo("the majority of people's votes")

    def judge(self, question: Question, resources: Resources) -> Outcome[Verdict]:
        """The side with more votes; as many on both sides are a tie."""
        for item, changed in ((question.second, Choice.SECOND), (question.first, Choice.FIRST)):
            votes = self._votes(item, question.aspect)
            if votes:
                return Outcome.of(_majority(votes, changed))
        return Outcome.failed(Reason.NOT_APPLICABLE, "nobody has voted on this pair")

    def _votes(self, item: Item, aspect: Aspect) -> Sequence[Ballot]:
        return self.ballots.get((_tail(item.video), aspect), ())


def _tail(video: Path) -> str:
    """What a video is called wherever its testbed lies: folder, source and file."""
    return "/".join(video.parts[-3:])


def _majority(votes: Sequence[Ballot], changed: Choice) -> Verdict:
    counts = Counter(ballot.vote for ballot in votes)
    for_intact = counts[Vote.INTACT] + counts[Vote.TIE] / 2
    for_changed = len(votes) - for_intact
    told = f"{counts[Vote.INTACT]} for the intact, {counts[Vote.CHANGED]} for the changed video"
    if for_intact == for_changed:
        return Verdict(Choice.TIE, rationale=told)
    return Verdict(changed if for_changed > for_intact else changed.flipped, rationale=told)


@register("judge", "human", version=1, summary="people's votes from the annotation app or a CSV")
def human(*, votes: str) -> Human:
    """``votes`` is the file."""
    path = Path(votes)
    by_pair: dict[tuple[str, Aspect], list[Ballot]] = defaultdict(list)
    for ballot in read_votes(path):
        by_pair[_tail(Path(ballot.video)), ballot.aspect].append(ballot)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    return Human(dict(by_pair), {"votes": digest})
