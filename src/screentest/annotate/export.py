"""Export and import: votes as CSV or JSON, to read elsewhere and to bring back.

One row per worker and unit. In CSV, a text that a spreadsheet would take for a formula gets an
apostrophe in front; reading takes it away again. JSON holds every text as it is.
"""

from __future__ import annotations

import csv
import io
import json
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, Row, insert, select, update

from screentest.annotate.answers import (
    STEPS,
    BadAnswer,
    Step,
    Task,
    check_answer,
    check_comment,
    of_two,
)
from screentest.annotate.people import imported_worker, note
from screentest.annotate.records import PICKED, Record
from screentest.annotate.store.database import Database
from screentest.annotate.store.schema import sittings, texts, units, votes
from screentest.core import UserError

SCHEMA: Final = 1
COLUMNS: Final = tuple(field.name for field in fields(Record))
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "'")


def as_csv(records: Iterable[Record]) -> str:
    """All records as a table."""
    page = io.StringIO(newline="")
    writer = csv.DictWriter(page, COLUMNS, lineterminator="\r\n")
    writer.writeheader()
    for record in records:
        row = row_of(record)
        writer.writerow({name: _cell(value) for name, value in row.items()})
    return page.getvalue()


def as_json(records: Iterable[Record]) -> str:
    """All records as one document; nothing is lost or changed."""
    rows = [row_of(record) for record in records]
    document = {"schema": SCHEMA, "votes": rows}
    return json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def row_of(record: Record) -> dict[str, Any]:
    """A record with plain values: moments as ISO 8601, UTC."""
    row = {name: getattr(record, name) for name in COLUMNS}
    row["task"] = record.task.value
    row["at"] = datetime.fromtimestamp(record.at, UTC).isoformat(timespec="microseconds")
    return row


def read_export(path: Path) -> list[Record]:
    """The records of a file that was exported; raises UserError with the first bad row."""
    try:
        text = path.read_bytes().decode("utf-8-sig")  # line ends as they are
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path} cannot be read: {error}") from None
    rows = _json_rows(text, path) if path.suffix == ".json" else _csv_rows(text, path)
    records = []
    for number, row in enumerate(rows, start=1):
        try:
            records.append(_record(row))
        except (KeyError, ValueError, TypeError) as error:
            raise UserError(f"{path}, vote {number}: {error}") from None
    return records


def safe_cell(text: str) -> str:
    """A text that no spreadsheet takes for a formula.

    >>> safe_cell("=1+1"), safe_cell("fine"), plain_cell(safe_cell("=1+1"))
    ("'=1+1", 'fine', '=1+1')
    """
    return f"'{text}" if text.startswith(_FORMULA) else text


def plain_cell(text: str) -> str:
    """The text that a safe cell stands for."""
    return text[1:] if text.startswith("'") and text[1:].startswith(_FORMULA) else text


def _cell(value: object) -> object:
    if isinstance(value, str):
        return safe_cell(value)
    if isinstance(value, Mapping):
        return json.dumps(value, ensure_ascii=False) if value else ""
    return value


def _json_rows(text: str, path: Path) -> list[Any]:
    try:
        document = json.loads(text)
    except ValueError as error:
        raise UserError(f"{path} is not JSON: {error}") from None
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise UserError(
            f"{path} is no export of votes that this version reads",
            advice="Give a file that `screentest annotate export` wrote.",
        )
    rows = document.get("votes")
    return rows if isinstance(rows, list) else []


def _csv_rows(text: str, path: Path) -> list[Any]:
    csv.field_size_limit(1 << 24)
    reader = csv.DictReader(io.StringIO(text, newline=""))
    missing = set(COLUMNS) - set(reader.fieldnames or ())
    if missing:
        raise UserError(
            f"{path} lacks the column {sorted(missing)[0]}",
            advice="Give a file that `screentest annotate export` wrote.",
        )
    return [_uncelled(row) for row in reader]


def _uncelled(row: Mapping[str, str]) -> dict[str, Any]:
    plain: dict[str, Any] = {name: plain_cell(row[name] or "") for name in COLUMNS}
    for name in ("severity", "score", "duration", "seconds"):
        plain[name] = float(plain[name]) if plain[name] else None
    plain["clips"] = int(plain["clips"]) if plain["clips"] else None
    for name in ("gold", "excluded", "finished"):
        plain[name] = {"True": True, "False": False}[plain[name]]
    for name in ("choice", "rating", "verdict", "text"):
        plain[name] = plain[name] or None
    plain["answers"] = json.loads(plain["answers"]) if plain["answers"] else None
    plain["watched"] = json.loads(plain["watched"]) if plain["watched"] else {}
    return plain


def _record(row: Any) -> Record:
    if not isinstance(row, Mapping):
        raise ValueError("not an object")
    values = {name: row[name] for name in COLUMNS}
    values["task"] = Task(values["task"])
    values["at"] = datetime.fromisoformat(values["at"]).timestamp()
    for name in ("unit", "worker", "vote", "comment"):
        if not isinstance(values[name], str):
            raise ValueError(f"{name} is text")
    return Record(**values)


# Importing: votes that were cast elsewhere, brought into a store. Twice is the same as once.

_VIDEO = {"intact": 0, "changed": 1, "": 0}
_STORED = {word: stored for stored, word in PICKED.items()}


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of the rows."""

    added: int
    known: int
    """Were in the store already."""
    unfinished: int
    """Were not answered to the end, so not taken."""


def import_records(database: Database, records: Iterable[Record]) -> Imported:
    """Add what is not there yet; all of it or, where a row is wrong, nothing."""
    added = known = unfinished = 0
    with database.write() as connection:
        for record in records:
            if not record.finished:
                unfinished += 1
            elif _add(connection, record):
                added += 1
            else:
                known += 1
        note(connection, "import", added=added, known=known, unfinished=unfinished)
    return Imported(added, known, unfinished)


def _add(connection: Connection, record: Record) -> bool:
    unit = connection.execute(
        select(units).where(units.c.task == record.task.value, units.c.key == record.unit)
    ).first()
    if unit is None:
        raise UserError(
            f"the store has no unit {record.unit!r} of the task {record.task.value}",
            advice="Open the testbed it belongs to once with `screentest annotate serve`.",
        )
    worker = imported_worker(connection, record.worker)
    sitting = connection.execute(
        select(sittings).where(sittings.c.unit_id == unit.id, sittings.c.worker_id == worker)
    ).first()
    if sitting is not None and sitting.done_at is not None:
        return False
    if record.left not in _VIDEO or of_two(record.task) != (record.left != ""):
        raise UserError(f"{record.unit}, {record.worker}: left is intact or changed for a pair")
    name = secrets.token_urlsafe(16)
    steps = STEPS[record.task]
    moment = {"issued_at": record.at - record.seconds, "step_at": record.at, "done_at": record.at}
    if sitting is not None:  # begun here and left lying
        name = sitting.id
        connection.execute(update(sittings).where(sittings.c.id == name).values(**moment))
    else:
        connection.execute(
            insert(sittings).values(
                id=name,
                unit_id=unit.id,
                worker_id=worker,
                left_video=_VIDEO[record.left],
                step=steps[-1].value,
                expires_at=record.at,
                skipped=False,
                **moment,
            )
        )
    for step in steps:
        _vote(connection, record, unit, worker, name, step, last=step is steps[-1])
    connection.execute(update(units).where(units.c.id == unit.id).values(votes=units.c.votes + 1))
    return True


def _vote(
    connection: Connection,
    record: Record,
    unit: Row[Any],
    worker: int,
    sitting: str,
    step: Step,
    *,
    last: bool,
) -> None:
    name = record.vote if last else f"{record.vote[:48]}-{step.value}"
    # Begun here, so this step may be answered already: what is here stays.
    if connection.execute(
        select(votes.c.id).where(votes.c.sitting_id == sitting, votes.c.step == step.value)
    ).first():
        return
    if connection.execute(select(votes.c.id).where(votes.c.id == name)).first():
        raise UserError(f"the vote {name!r} is in the store for something else")
    try:
        answer = _answer(connection, record, unit, step)
        comment = check_comment(record.comment) if last else ""
    except BadAnswer as error:
        raise UserError(f"{record.unit}, {record.worker}: {error}") from None
    connection.execute(
        insert(votes).values(
            id=name,
            sitting_id=sitting,
            unit_id=unit.id,
            worker_id=worker,
            step=step.value,
            answer=answer,
            comment=comment,
            seconds=record.seconds if last else 0.0,
            watched=record.watched if last else {},
            at=record.at,
        )
    )


def _answer(connection: Connection, record: Record, unit: Row[Any], step: Step) -> dict[str, Any]:
    if step is Step.CHOICE:
        if record.choice not in _STORED:
            raise BadAnswer("choice is intact, changed or tie")
        picked = _STORED[record.choice]
        side = "left" if record.choice == record.left else "right"
        return {"choice": "same" if picked == "tie" else side, "picked": picked}
    prompt = ""
    if step is Step.REVIEW:
        prompt = connection.execute(
            select(texts.c.prompt).where(texts.c.id == unit.text_id)
        ).scalar_one()
    given = {
        "rating": record.rating,
        "confirmed": True,
        "score": record.score,
        "answers": record.answers,
        "verdict": record.verdict,
        "text": record.text,
    }
    names = [question["id"] for question in unit.questions]
    return check_answer(step, given, questions=names, prompt=prompt)
