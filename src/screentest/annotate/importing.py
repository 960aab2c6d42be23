"""Importing: votes that were cast elsewhere, brought into a store. Twice is the same as once."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, insert, select, update

from screentest.annotate.answers import BadAnswer, check_answer, check_comment
from screentest.annotate.people import imported_worker, note
from screentest.annotate.records import PICKED, Record
from screentest.annotate.store.database import Database
from screentest.annotate.store.schema import sittings, texts, units, votes
from screentest.annotate.tasks import STEPS, Step, of_two
from screentest.core import UserError

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
