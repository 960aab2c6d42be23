"""Votes in the store: read as records, filtered into a testbed, imported from elsewhere."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, Row, insert, select, update

from screentest._util.collect import grouped
from screentest.annotate.answers import STEPS, BadAnswer, Step, Unit, check_answer, check_comment
from screentest.annotate.material import unit_key
from screentest.annotate.people import imported_worker, note
from screentest.annotate.schema import sittings, units, votes, workers
from screentest.annotate.sitting import prompt_of
from screentest.annotate.store import Database, first_of
from screentest.core import PairKind, UserError, all_aspects
from screentest.judges.votes import VoteRecord, VoteTask, of_two, sides
from screentest.stats import FilteredPairs, Retention, filter_pairs
from screentest.testbeds.subset import subset_of, write_subset
from screentest.testbeds.testbed import Testbed, read_testbed

ANSWERS: Final = ("rating", "score", "answers", "verdict", "text")
"""Parts of an answer that records keep as they are."""


def harmed_seconds(marks: Iterable[Any]) -> float:
    """Return the seconds in which a harm is to be seen, of both videos together."""
    spans = (mark if isinstance(mark, Mapping) else asdict(mark) for mark in marks)
    return 2.0 * float(sum(mark["end"] - mark["start"] for mark in spans))


def choice_word(task: VoteTask, picked: str) -> str:
    """Return the stored choice in the words of records, which `certify` reads too."""
    return dict(zip(("first", "second", "tie"), (*sides(task), "tie"), strict=True))[picked]


def about(unit: Unit | Row[Any]) -> dict[str, Any]:
    """Return what a record says of its unit, whether that is in the store or not."""
    first, second = unit.models or ("", "")
    copied = ("source", "video", "name", "aspect", "severity")
    return {name: getattr(unit, name) for name in copied} | {
        "task": VoteTask(unit.task),
        "unit": unit.key,
        "clips": unit.clip_count,
        "first": first,
        "second": second,
        "duration": unit.seconds,
        "harmed": harmed_seconds(unit.marks),
        "gold": unit.gold is not None,
    }


def read_records(
    connection: Connection, task: VoteTask | None = None, *, only_finished: bool = False
) -> list[VoteRecord]:
    """Return all that was said, in the order of the units and workers."""
    query = (
        select(
            votes.c.id.label("vote"),
            votes.c.step,
            votes.c.answer,
            votes.c.comment,
            votes.c.seconds.label("took"),
            votes.c.watched,
            votes.c.at,
            sittings.c.id.label("sitting"),
            sittings.c.left_video,
            sittings.c.done_at,
            workers.c.label,
            workers.c.excluded,
            units,
        )
        .select_from(votes.join(sittings).join(units, votes.c.unit_id == units.c.id))
        .join(workers, votes.c.worker_id == workers.c.id)
        .order_by(units.c.task, units.c.key, workers.c.label)
    )
    if task is not None:
        query = query.where(units.c.task == task.value)
    answers = grouped((row.sitting, row) for row in connection.execute(query))
    records = [_record(rows) for rows in answers.values()]
    return [record for record in records if record.finished or not only_finished]


def without_excluded(records: Iterable[VoteRecord]) -> list[VoteRecord]:
    """Return what remains when the votes of excluded workers are left out."""
    return [record for record in records if not record.excluded]


def _record(rows: list[Any]) -> VoteRecord:
    task = VoteTask(rows[0].task)
    rows = sorted(rows, key=lambda row: STEPS[task].index(Step(row.step)))
    last = rows[-1]
    answer: dict[str, Any] = {}
    for row in rows:
        answer |= {name: value for name, value in row.answer.items() if name in ANSWERS}
        if "picked" in row.answer:
            answer["choice"] = choice_word(task, row.answer["picked"])
    played = {side for row in rows for side in row.watched}
    return VoteRecord(
        **about(last),
        worker=last.label,
        left=sides(task)[last.left_video] if of_two(task) else "",
        seconds=sum(row.took for row in rows),
        at=last.at,
        excluded=bool(last.excluded),
        finished=last.done_at is not None,
        vote=last.vote,
        comment="\n".join(row.comment for row in rows if row.comment),
        # The most that was played in one of the steps.
        watched={side: max(row.watched.get(side, 0.0) for row in rows) for side in sorted(played)},
        **answer,
    )


# Filtering: which pairs people confirm, the paper's Table 3, and a testbed of what is left.


@dataclass(frozen=True, slots=True)
class Filtering:
    """What became of the pairs."""

    by_aspect: Mapping[str, FilteredPairs]
    unrated: int
    """Pairs with fewer ratings than asked for: neither confirmed nor refused, so left out."""

    @property
    def kept(self) -> frozenset[str]:
        return frozenset(key for result in self.by_aspect.values() for key in result.kept)

    @property
    def total(self) -> Retention:
        return sum((item.retention for item in self.by_aspect.values()), Retention(0, 0, 0))


def filter_records(
    records: Iterable[VoteRecord], *, units: Mapping[str, str], least: int
) -> Filtering:
    """Apply the rule to all pairs (``units``: key to aspect) with at least ``least`` ratings."""
    ratings = grouped(
        (record.unit, record.rating) for record in records if record.rating and not record.gold
    )
    decided = {key: aspect for key, aspect in units.items() if len(ratings.get(key, ())) >= least}
    rated = grouped((aspect, key) for key, aspect in decided.items())
    order = [aspect.value for aspect in all_aspects()]
    aspects = sorted(rated, key=lambda item: order.index(item) if item in order else len(order))
    pairs = {name: {key: ratings.get(key, []) for key in rated[name]} for name in aspects}
    kept = {name: filter_pairs(ratings_of) for name, ratings_of in pairs.items()}
    return Filtering(kept, len(units) - len(decided))


def write_filtered(folder: Path, out: Path, kept: frozenset[str]) -> Testbed:
    """Return a testbed with the kept pairs only, and the placebos as they were.

    The folder must be empty, so that nothing of another testbed is mixed in.
    """
    testbed = read_testbed(folder)
    pairs = [
        pair for pair in testbed.pairs if pair.kind is PairKind.PLACEBO or unit_key(pair) in kept
    ]
    rule = {"filtered": "count(C) = 0 and count(A) > count(B)"}
    filtered = subset_of(testbed, pairs, rule)
    write_subset(folder, out, filtered)
    return filtered


# Importing: votes that were cast elsewhere. Twice is the same as once.


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of the rows."""

    added: int
    known: int
    """Were in the store already."""
    unfinished: int
    """Were not answered to the end, so not taken."""


def import_records(database: Database, records: Iterable[VoteRecord]) -> Imported:
    """Add what is not there yet; all of it or, where a row is wrong, nothing."""
    added = available = unfinished = 0
    with database.write() as connection:
        for record in records:
            if not record.finished:
                unfinished += 1
            elif _add(connection, record):
                added += 1
            else:
                available += 1
        note(connection, "import", added=added, known=available, unfinished=unfinished)
    return Imported(added, available, unfinished)


def _add(connection: Connection, record: VoteRecord) -> bool:
    unit = first_of(connection, units, task=record.task.value, key=record.unit)
    if unit is None:
        raise UserError(
            f"the store has no unit {record.unit!r} of the task {record.task.value}",
            advice="Open the testbed it belongs to once with `screentest annotate serve`.",
        )
    worker = imported_worker(connection, record.worker)
    sitting = first_of(connection, sittings, unit_id=unit.id, worker_id=worker)
    if sitting is not None and sitting.done_at is not None:
        return False
    words = sides(record.task)
    if record.left not in (words if of_two(record.task) else ("",)):
        raise UserError(
            f"{record.unit}, {record.worker}: left of two videos must be {' or '.join(words)}"
        )
    if (record.first, record.second) != tuple(unit.models or ("", "")):
        raise UserError(f"{record.unit}, {record.worker}: the store has other models there")
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
                left_video=words.index(record.left) if record.left else 0,
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
    record: VoteRecord,
    unit: Row[Any],
    worker: int,
    sitting: str,
    step: Step,
    *,
    last: bool,
) -> None:
    name = record.vote if last else f"{record.vote[:48]}-{step.value}"
    # Begun here, so this step may be answered already: what is here stays.
    if first_of(connection, votes, sitting_id=sitting, step=step.value):
        return
    if first_of(connection, votes, id=name):
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


def _answer(
    connection: Connection, record: VoteRecord, unit: Row[Any], step: Step
) -> dict[str, Any]:
    if step is Step.CHOICE:
        words = (*sides(record.task), "tie")
        if record.choice not in words:
            raise BadAnswer(f"choice must be {', '.join(words[:2])} or tie")
        picked = ("first", "second", "tie")[words.index(record.choice)]
        side = "left" if record.choice == record.left else "right"
        return {"choice": "same" if picked == "tie" else side, "picked": picked}
    prompt = prompt_of(connection, unit) if step is Step.REVIEW else ""
    given = {name: getattr(record, name) for name in ANSWERS} | {"confirmed": True}
    names = [question["id"] for question in unit.questions]
    return check_answer(step, given, questions=names, prompt=prompt)
