"""Assignment: which unit a worker gets next.

A unit is handed out until it has its votes, counting those who are at work on it; nobody gets
one twice. Work that is left lying comes back after a while. Gold items, whose answer is known,
are mixed in for everybody.
"""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Row, func, insert, or_, select, true, update

from screentest.annotate.answers import EXAMPLE, STEPS
from screentest.annotate.media import served_length
from screentest.annotate.people import note
from screentest.annotate.schema import files, media, sittings, units
from screentest.annotate.store import Database, count, steady
from screentest.judges.votes import VoteTask, of_pair, of_two

LEASE_SECONDS: Final = 3600.0


@dataclass(frozen=True, slots=True)
class Rules:
    """How work is handed out."""

    task: VoteTask
    votes: int = 5
    lease: float = LEASE_SECONDS
    gold_every: int = 10
    """One gold item after so many ordinary ones, as long as there are any."""
    ties: bool = False
    watch: float = 0.0
    """The share of each video that must have been played before an answer is taken."""
    most: int | None = None
    """After so many ordinary items a worker is done; None: when nothing is left."""
    per_source: int = 1
    """So many pairs of one original for each worker, gold items included, examples not."""


def share_to_watch(task: VoteTask) -> float:
    """Return the share of each video that is asked for where nobody says: half of it.

    The check asks for the harmed parts alone, and the server knows whether they were looked at.
    """
    return 0.0 if task is VoteTask.CHECK else 0.5


def current_sitting(connection: Connection, worker: int, task: VoteTask) -> Row[Any] | None:
    """Return what the worker is at, if it is still theirs."""
    return connection.execute(
        select(sittings)
        .join(units)
        .where(
            sittings.c.worker_id == worker,
            sittings.c.done_at.is_(None),
            sittings.c.expires_at > time.time(),
            units.c.task == task.value,
            units.c.closed.is_(False),
        )
        .order_by(sittings.c.issued_at)
    ).first()


def next_sitting(database: Database, worker: int, rules: Rules) -> str | None:
    """Return the sitting the worker is at, or a new one; None where there is no more work."""
    with database.write() as connection:
        database.lock(connection)
        current = current_sitting(connection, worker, rules.task)
        if current is not None:
            return str(current.id)
        if rules.most is not None and _done(connection, worker, rules) >= rules.most:
            return None
        now = time.time()
        unit = _example(connection, worker, rules)
        if unit is None and _gold_is_due(connection, worker, rules):
            unit = _candidate(connection, worker, rules, now, gold=True)
        if unit is None:
            unit = _candidate(connection, worker, rules, now, gold=False)
        return None if unit is None else _sit(connection, worker, unit, rules, now)


def left_for(connection: Connection, worker: int, rules: Rules) -> int:
    """Return how many units the worker could still be given at most; 0: there are none."""
    over = select(sittings.c.unit_id).where(*_is_over(worker))
    wanted = [*_open(rules, gold=False), units.c.id.not_in(over), _allowed(worker, rules)]
    numbers = connection.scalars(select(func.count()).where(*wanted).group_by(units.c.source))
    left = sum(min(n, rules.per_source) if of_pair(rules.task) else n for n in numbers)
    if rules.most is None:
        return left
    return min(left, max(0, rules.most - _done(connection, worker, rules)))


def _allowed(worker: int, rules: Rules) -> ColumnElement[bool]:
    """Whether the worker has begun fewer pairs of a unit's source than there may be."""
    begun = select(sittings.c.unit_id).where(sittings.c.worker_id == worker)
    full = (
        select(units.c.source)
        .where(units.c.task == rules.task.value, units.c.id.in_(begun))
        .where(or_(units.c.gold.is_(None), units.c.gold[EXAMPLE].as_string().is_(None)))
        .group_by(units.c.source)
        .having(func.count() >= rules.per_source)
    )
    free = or_(units.c.id.in_(begun), units.c.source.not_in(full))
    return free if of_pair(rules.task) else true()


def _is_over(worker: int) -> list[ColumnElement[bool]]:
    """Sittings that the worker has finished or skipped."""
    over = or_(sittings.c.done_at.is_not(None), sittings.c.skipped.is_(True))
    return [sittings.c.worker_id == worker, over]


def _done(connection: Connection, worker: int, rules: Rules) -> int:
    """Return how many ordinary units the worker has finished."""
    return count(
        connection,
        sittings.join(units),
        units.c.task == rules.task.value,
        units.c.is_gold.is_(False),
        sittings.c.worker_id == worker,
        sittings.c.done_at.is_not(None),
    )


def skip(database: Database, worker: int, sitting: str) -> None:
    """Give a unit that a worker cannot judge to others, and never to them again."""
    with database.write() as connection:
        changed = connection.execute(
            update(sittings)
            .where(
                sittings.c.id == sitting,
                sittings.c.worker_id == worker,
                sittings.c.done_at.is_(None),
            )
            .values(skipped=True, expires_at=0.0)
        )
        if changed.rowcount:
            note(connection, "skip", worker, sitting=sitting)


def keep_alive(connection: Connection, sitting: str, rules: Rules) -> None:
    """Note that the worker is still at it."""
    connection.execute(
        update(sittings)
        .where(sittings.c.id == sitting)
        .values(expires_at=time.time() + rules.lease)
    )


def has_room(connection: Connection, unit: Row[Any], worker: int, rules: Rules) -> bool:
    """Return whether a late vote of a worker on a unit, which is locked, is still wanted."""
    if unit.gold is not None:
        return True
    others = count(
        connection, sittings, sittings.c.unit_id == unit.id, *_at_work(worker, rules, time.time())
    )
    return bool(unit.votes + others < rules.votes)


def _at_work(worker: int, rules: Rules, now: float) -> list[ColumnElement[bool]]:
    """Sittings of others that hold a place; none does that a clock far ahead gave out."""
    alive = sittings.c.expires_at.between(now, now + 2 * rules.lease)
    return [sittings.c.worker_id != worker, sittings.c.done_at.is_(None), alive]


def _candidate(
    connection: Connection, worker: int, rules: Rules, now: float, *, gold: bool
) -> Row[Any] | None:
    """Return what comes next, locked; units begun by others first, so that they get finished."""
    done = select(sittings.c.unit_id).where(*_is_over(worker))
    at_work = (
        select(sittings.c.unit_id, func.count().label("count"))
        .where(*_at_work(worker, rules, now))
        .group_by(sittings.c.unit_id)
        .subquery()
    )
    query = (
        select(units)
        .select_from(units.outerjoin(at_work, at_work.c.unit_id == units.c.id))
        .where(*_open(rules, gold=gold), units.c.id.not_in(done), _allowed(worker, rules))
        .order_by(units.c.votes.desc(), units.c.place)
        .limit(1)
        # A late vote may be on its way to it: PostgreSQL waits for that and looks again.
        .with_for_update(of=units)
    )
    if not gold:
        query = query.where(units.c.votes + func.coalesce(at_work.c.count, 0) < rules.votes)
    begun = select(sittings.c.unit_id).where(sittings.c.worker_id == worker)
    available = select(units.c.source).where(units.c.id.in_(begun))
    # Who has seen the intact film in another pair would recognise it: other films first.
    fresh = connection.execute(query.where(units.c.source.not_in(available))).first()
    return fresh if fresh is not None else connection.execute(query).first()


def _example(connection: Connection, worker: int, rules: Rules) -> Row[Any] | None:
    """Return an example that the worker has not seen: examples come before everything else."""
    begun = select(sittings.c.unit_id).where(*_is_over(worker))
    rows = connection.execute(
        select(units)
        .where(*_open(rules, gold=True), units.c.id.not_in(begun))
        .order_by(units.c.key)
        .with_for_update(of=units)
    )
    return next((row for row in rows if EXAMPLE in row.gold), None)


def _open(rules: Rules, *, gold: bool) -> list[ColumnElement[bool]]:
    conditions = [
        units.c.task == rules.task.value,
        units.c.closed.is_(False),
        units.c.is_gold.is_(gold),
    ]
    return conditions if gold else [*conditions, units.c.votes < rules.votes]


def _gold_is_due(connection: Connection, worker: int, rules: Rules) -> bool:
    done = connection.execute(
        select(units.c.gold)
        .select_from(sittings.join(units))
        .where(
            sittings.c.worker_id == worker,
            sittings.c.done_at.is_not(None),
            units.c.task == rules.task.value,
        )
        .order_by(sittings.c.done_at.desc())
        .limit(rules.gold_every)
    ).all()
    # The first gold item comes half-way into the first round, not as the very first item.
    first = len(done) < rules.gold_every
    enough = rules.gold_every // 2 if first else rules.gold_every
    return len(done) >= enough and all(row.gold is None or EXAMPLE in row.gold for row in done)


def _sit(connection: Connection, worker: int, unit: Row[Any], rules: Rules, now: float) -> str:
    earlier = connection.scalar(
        select(sittings.c.id).where(sittings.c.unit_id == unit.id, sittings.c.worker_id == worker)
    )
    if earlier is not None:  # its time ran out, and nobody else has taken it
        keep_alive(connection, earlier, rules)
        return str(earlier)
    name = secrets.token_urlsafe(16)
    left = _side(connection, unit.id) if of_two(rules.task) else 0
    connection.execute(
        insert(sittings).values(
            id=name,
            unit_id=unit.id,
            worker_id=worker,
            left_video=left,
            step=STEPS[rules.task][0].value,
            issued_at=now,
            step_at=steady(),
            expires_at=now + rules.lease,
            skipped=False,
        )
    )
    _lay_out(connection, name, unit, left)
    return name


def _side(connection: Connection, unit: int) -> int:
    """Return which video goes to the left: the one that was there less often, else by chance."""
    here = sittings.c.unit_id == unit
    counts = [count(connection, sittings, here, sittings.c.left_video == side) for side in (0, 1)]
    if counts[0] == counts[1]:
        return secrets.randbelow(2)
    return 0 if counts[0] < counts[1] else 1


def _lay_out(connection: Connection, sitting: str, unit: Row[Any], left: int) -> None:
    """Fresh names for the videos of every sitting: nobody recognises one by its address."""
    numbers = [unit.first_file] if unit.second_file is None else [unit.first_file, unit.second_file]
    sizes = connection.scalars(select(files.c.bytes).where(files.c.id.in_(numbers)))
    length = served_length(sizes)
    order = numbers if left == 0 else numbers[::-1]
    for side, number in zip(("left", "right"), order, strict=False):
        connection.execute(
            insert(media).values(
                id=secrets.token_urlsafe(16),
                sitting_id=sitting,
                side=side,
                file_id=number,
                length=length,
            )
        )
