"""Votes: one record per person and unit; the files they are kept in.

`screentest annotate export` writes all columns. Votes on pairs from elsewhere need ``video``, the
path of the changed video in its testbed; ``aspect``; and ``choice``: intact, changed or tie. In
CSV, a text that a spreadsheet would take for a formula gets an apostrophe in front; reading takes
it away again. JSON holds every text as it is.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from screentest._util.collect import grouped
from screentest._util.text import plain_cell, safe_cell
from screentest.core import Aspect, BadOption
from screentest.core.codec import DecodeError, from_object, parse_json
from screentest.core.metric import JudgeInfo, Question, Resources
from screentest.core.outcome import Outcome, Reason
from screentest.core.registry import register
from screentest.core.verdict import Choice, Verdict

SCHEMA: Final = 1
PAIR_COLUMNS: Final = ("video", "aspect", "choice")
"""What a vote on a pair needs to count."""
ARENA_COLUMNS: Final = ("first", "second", "choice")
LARGEST: Final = 1 << 30
"""Bytes of a file of votes: some millions of votes."""
_UNKEPT: Final = re.compile("[\0\ud800-\udfff]")
_FLAGS: Final = {"true": True, "false": False}


class VoteTask(StrEnum):
    """A task for people."""

    PAIRS = "pairs"
    """Which of two videos is better for an aspect."""
    CHECK = "check"
    """The same; then, with the intended answer shown, whether the degradation succeeded."""
    RATE = "rate"
    """How well one video shows its prompt: 0 to 5 in halves."""
    QUESTIONS = "questions"
    """Yes or no to each question about one video."""
    PROMPTS = "prompts"
    """Approve or correct a prompt against its video."""
    ARENA = "arena"
    """Which of two models' videos of one prompt is better."""


def of_two(task: VoteTask) -> bool:
    """Tell whether two videos are shown side by side."""
    return task in (VoteTask.PAIRS, VoteTask.CHECK, VoteTask.ARENA)


def of_pair(task: VoteTask) -> bool:
    """Tell whether the two are a pair of a testbed: an original and a changed video."""
    return task in (VoteTask.PAIRS, VoteTask.CHECK)


def sides(task: VoteTask) -> tuple[str, str]:
    """Names of the two videos of a unit in records."""
    return ("first", "second") if task is VoteTask.ARENA else ("intact", "changed")


@dataclass(frozen=True, slots=True)
class VoteRecord:
    """One worker on one unit. What was not asked is None."""

    task: VoteTask = VoteTask.PAIRS
    unit: str = ""
    source: str = ""
    video: str = ""
    name: str = ""
    aspect: str = ""
    severity: float | None = None
    clips: int | None = None
    worker: str = ""
    left: str = ""
    """Which video stood on the left: intact or changed, of models first or second; empty for one
    video."""
    first: str = ""
    """Of an arena: the model of the first video."""
    second: str = ""
    duration: float = 0.0
    """Of all videos of the unit."""
    harmed: float = 0.0
    """Seconds of both videos in which the harm is to be seen; 0 where nobody knows."""
    seconds: float = 0.0
    """From opening the unit to the last answer, by the server's clock."""
    at: float = 0.0
    gold: bool = False
    """The unit has a known answer: it tests the worker."""
    excluded: bool = False
    """The worker was found unreliable."""
    finished: bool = True
    vote: str = ""
    """The id of the last click."""
    choice: str | None = None
    rating: str | None = None
    score: float | None = None
    answers: dict[str, int] | None = None
    verdict: str | None = None
    text: str | None = None
    comment: str = ""
    watched: dict[str, float] = field(default_factory=dict)

    @property
    def counts(self) -> bool:
        """Tell whether the vote counts: finished, by a reliable worker, no test."""
        return self.finished and not self.gold and not self.excluded

    def model(self, which: str | None) -> str:
        """Of an arena: whose the first or the second video is; any other word stays as it is."""
        return {"first": self.first, "second": self.second}.get(which or "", which or "")

    @property
    def correct(self) -> bool | None:
        """Tell whether the original was preferred; None where that was not asked."""
        return None if self.choice is None or not of_pair(self.task) else self.choice == "intact"


COLUMNS: Final = tuple(item.name for item in fields(VoteRecord))


def as_csv(records: Iterable[VoteRecord]) -> str:
    """Return all records as a table."""
    page = io.StringIO(newline="")
    writer = csv.DictWriter(page, COLUMNS, lineterminator="\r\n")
    writer.writeheader()
    for record in records:
        row = row_of(record)
        writer.writerow({name: _cell(value) for name, value in row.items()})
    return page.getvalue()


def as_json(records: Iterable[VoteRecord]) -> str:
    """Return all records as one document; nothing is lost or changed."""
    rows = [row_of(record) for record in records]
    document = {"schema": SCHEMA, "votes": rows}
    return json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def row_of(record: VoteRecord) -> dict[str, Any]:
    """Return a record with plain values: moments as ISO 8601, UTC."""
    row = {name: getattr(record, name) for name in COLUMNS}
    row["task"] = record.task.value
    row["at"] = datetime.fromtimestamp(record.at, UTC).isoformat(timespec="microseconds")
    return row


def read_votes(path: Path, *, whole: bool = False) -> list[VoteRecord]:
    """Return all votes in a file, also those that do not count; BadOption with a bad row.

    With ``whole`` every column of an export must be there: what is stored again lacks nothing.
    """
    try:
        if not path.is_file() and path.exists():
            raise BadOption(f"{path} is not a plain file")
        if path.stat().st_size > LARGEST:
            raise BadOption(f"{path} has more than {LARGEST:,} bytes", advice="Split it.")
        text = path.read_bytes().decode("utf-8-sig")  # line ends as they are
    except (OSError, UnicodeDecodeError) as error:
        raise BadOption(f"the votes in {path} cannot be read: {error}") from None
    rows = _json_rows(text, path, whole) if path.suffix == ".json" else _csv_rows(text, path, whole)
    records = []
    for number, row in enumerate(rows, start=1):
        try:
            records.append(_record(row, whole))
        except (KeyError, ValueError, TypeError, OverflowError, DecodeError) as error:
            raise BadOption(f"{path}, vote {number}: {_message(error)}") from None
    return records


def pair_votes(path: Path) -> list[VoteRecord]:
    """Return the votes on pairs that count; raises BadOption where there is none."""
    of_pairs = [vote for vote in read_votes(path) if of_pair(vote.task)]
    counted = [vote for vote in of_pairs if vote.counts and vote.choice is not None]
    if not counted:
        left_out = f"; {len(of_pairs):,} are excluded, gold or unfinished" if of_pairs else ""
        raise BadOption(
            f"{path} has no votes on pairs that count{left_out}",
            advice=f"Columns: {', '.join(PAIR_COLUMNS)}.",
        )
    return counted


def read_flag(name: str, value: object) -> bool:
    """Return a column of a vote that is true or false; raises ValueError where it is neither."""
    if str(value).lower() not in _FLAGS:
        raise ValueError(f"invalid {name} {value!r}: must be True or False")
    return _FLAGS[str(value).lower()]


def _cell(value: object) -> object:
    if isinstance(value, str):
        return safe_cell(value)
    if isinstance(value, Mapping):
        return json.dumps(value, ensure_ascii=False) if value else ""
    return value


def _json_rows(text: str, path: Path, whole: bool) -> list[Any]:
    try:
        document = parse_json(text)
    except ValueError as error:
        raise BadOption(f"{path} is not JSON: {error}") from None
    available = isinstance(document, dict) and document.get("schema", not whole) in (True, SCHEMA)
    if not available and (whole or isinstance(document, dict)):
        raise BadOption(
            f"{path} is not an export of votes that this version reads",
            advice="Give a file that `screentest annotate export` wrote.",
        )
    rows = document.get("votes") if isinstance(document, dict) else document
    if not isinstance(rows, list):
        raise BadOption(f"{path} has no list of votes")
    return rows


def _csv_rows(text: str, path: Path, whole: bool) -> list[Any]:
    rows: list[Any] = []
    before = csv.field_size_limit(1 << 24)  # of the whole process: set back below
    try:
        reader = csv.DictReader(io.StringIO(text, newline=""))
        there = set(reader.fieldnames or ())
        # A pair of a testbed has no models.
        needed = ARENA_COLUMNS if there & {"first", "second"} else PAIR_COLUMNS
        missing = sorted(set(COLUMNS if whole else needed) - there)
        if missing:
            raise BadOption(
                f"{path} lacks the column {missing[0]}",
                advice="Give a file that `screentest annotate export` wrote."
                if whole
                else f"Columns: {', '.join(needed)}.",
            )
        for row in reader:
            rows.append(_from_cells(row))
    except (ValueError, csv.Error) as error:
        raise BadOption(f"{path}, vote {len(rows) + 1}: {error}") from None
    finally:
        csv.field_size_limit(before)
    return rows


def _from_cells(row: Mapping[str, str]) -> dict[str, Any]:
    """Return the values of a row of a CSV file; missing and empty columns are left out."""
    plain: dict[str, Any] = {
        name: plain_cell(row[name]) for name in COLUMNS if row.get(name) not in (None, "")
    }
    for name in ("answers", "watched"):
        if name in plain:
            plain[name] = parse_json(plain[name])
    return plain


def _record(row: Any, whole: bool) -> VoteRecord:
    if not isinstance(row, Mapping):
        raise ValueError("not an object")
    values = {name: row[name] for name in COLUMNS if row.get(name) is not None}
    if whole:
        for name in ("task", "unit", "at", "gold", "excluded", "finished"):
            values[name] = row[name]
    if "task" in values:
        values["task"] = VoteTask(values["task"])
    elif values.get("first"):  # a pair of a testbed has no models
        values["task"] = VoteTask.ARENA
    if "at" in values:
        values["at"] = datetime.fromisoformat(values["at"]).timestamp()
    for name in ("gold", "excluded", "finished"):
        if values.get(name) is not None:
            values[name] = read_flag(name, values[name])
    record = from_object(VoteRecord, values)
    for name in ("severity", "duration", "harmed", "seconds", "score", "at"):
        if not math.isfinite(getattr(record, name) or 0.0):
            raise ValueError(f"invalid {name}: must be finite")
    if not all(map(math.isfinite, record.watched.values())):
        raise ValueError("invalid watched: must be finite")
    for name, value in values.items():
        if isinstance(value, str) and name not in ("comment", "text") and _UNKEPT.search(value):
            raise ValueError(f"invalid {name}: it has characters that no store keeps")
    if of_two(record.task) and record.finished:
        needed = PAIR_COLUMNS if of_pair(record.task) else ARENA_COLUMNS
        if any(not values.get(name) for name in needed):
            raise ValueError(f"lacks one of {', '.join(needed)}")
        choices = (*sides(record.task), "tie")
        if record.choice not in choices:
            raise ValueError(f"invalid choice {record.choice!r}: must be {', '.join(choices)}")
        if of_pair(record.task):
            Aspect(record.aspect)
        elif record.first == record.second:
            raise ValueError(f"{record.first!r} is compared with itself")
    return record


def _message(error: Exception) -> str:
    return f"lacks {error}" if isinstance(error, KeyError) else str(error)


# human: the votes of people, as a judge like any other.
# Votes are a file as `screentest annotate export` writes it. Only votes on pairs count that were
# finished, are of a reliable worker, and are not gold. What nobody voted on has no verdict.
# A certificate counts votes, as the SLVMEval paper does, and not majorities: four
# votes of five for the intact video are 0.8 of a point.


POINTS: Mapping[str | None, float] = {"intact": 1.0, "tie": 0.5, "changed": 0.0}


def share_for_intact(
    votes: Iterable[VoteRecord], videos: Iterable[Path] | None = None
) -> dict[Aspect, float]:
    """Share of votes for the original, by aspect; a tie is half a vote.

    With ``videos``, the changed videos of some pairs, only votes on those count.
    """
    tails = None if videos is None else {_tail(video) for video in videos}
    by_aspect = grouped(
        (Aspect(vote.aspect), POINTS[vote.choice])
        for vote in votes
        if vote.counts and (tails is None or _tail(Path(vote.video)) in tails)
    )
    return {aspect: sum(result) / len(result) for aspect, result in by_aspect.items()}


@register("judge", "human", summary="people's votes from the annotation app or a CSV")
class Human:
    """The majority of a pair, with the share of its votes; ``votes`` is the file."""

    info = JudgeInfo("people's votes, each counting alike")

    def __init__(self, *, votes: str) -> None:
        path = Path(votes)
        self.votes = grouped(
            ((_tail(Path(vote.video)), Aspect(vote.aspect)), vote) for vote in pair_votes(path)
        )
        digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
        self.signature_parts: Mapping[str, str] = {"votes": digest}

    def judge(self, question: Question, resources: Resources) -> Outcome[Verdict]:
        """Return the side with more votes; as many on both sides are a tie."""
        for item, changed in ((question.second, Choice.SECOND), (question.first, Choice.FIRST)):
            votes = self.votes.get((_tail(item.video), question.aspect))
            if votes:
                return Outcome.of(_counted(votes, changed))
        return Outcome.failed(Reason.NOT_APPLICABLE, "nobody has voted on this pair")


def _tail(video: Path) -> str:
    """Return the name of a video wherever its testbed is: folder, source and file."""
    return "/".join(video.parts[-3:])


def _counted(votes: Sequence[VoteRecord], changed: Choice) -> Verdict:
    counts = Counter(vote.choice for vote in votes)
    for_intact = sum(POINTS[vote.choice] for vote in votes)
    for_changed = len(votes) - for_intact
    message = f"{counts['intact']} for the original, {counts['changed']} for the changed video"
    first = for_changed if changed is Choice.FIRST else for_intact
    choice = Choice.TIE
    if for_intact != for_changed:
        choice = changed if for_changed > for_intact else changed.flipped
    return Verdict(choice, rationale=message, share=first / len(votes))
