"""Progress of a collection of votes: how far it is, and when it will be done."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, case, func, select

from screentest.annotate.assignment import Rules
from screentest.annotate.store.schema import sittings, units, workers

HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class VoteCoverage:
    """Votes of an aspect, cast and wanted."""

    aspect: str
    units: int
    complete: int
    votes: int
    wanted: int


@dataclass(frozen=True, slots=True)
class CollectionProgress:
    """The state of a collection at one moment."""

    coverage: Sequence[VoteCoverage]
    per_hour: Sequence[int]
    """Finished units in each of the last 24 hours, the oldest first."""
    at_work: int
    invited: int
    excluded: int

    @property
    def votes(self) -> int:
        return sum(row.votes for row in self.coverage)

    @property
    def wanted(self) -> int:
        """All that are to come in."""
        return sum(row.wanted for row in self.coverage)

    @property
    def hours_left(self) -> float | None:
        """At the pace of the hours with any work among the last three; None: no pace."""
        missing = sum(max(0, row.wanted - row.votes) for row in self.coverage)
        if not missing:
            return 0.0
        busy = [count for count in self.per_hour[-3:] if count]
        return missing / (sum(busy) / len(busy)) if busy else None


def progress_of(connection: Connection, rules: Rules) -> CollectionProgress:
    """Progress of the collection, from the votes in the store."""
    now = time.time()
    in_task = units.c.task == rules.task.value
    full = case((units.c.votes >= rules.votes, 1), else_=0)
    got = case((units.c.votes > rules.votes, rules.votes), else_=units.c.votes)
    rows = connection.execute(
        select(units.c.aspect, func.count(), func.sum(full), func.sum(got))
        .where(in_task, units.c.is_gold.is_(False), units.c.closed.is_(False))
        .group_by(units.c.aspect)
        .order_by(units.c.aspect)
    )
    coverage = [
        VoteCoverage(aspect or rules.task.value, count, complete, votes, count * rules.votes)
        for aspect, count, complete, votes in rows
    ]
    finished = connection.execute(
        select(sittings.c.done_at)
        .select_from(sittings.join(units))
        .where(in_task, sittings.c.done_at > now - 24 * HOUR)
    ).scalars()
    hours = [0] * 24
    for moment in finished:
        hours[23 - min(23, int((now - moment) / HOUR))] += 1
    alive = connection.execute(
        select(func.count())
        .select_from(sittings.join(units))
        .where(in_task, sittings.c.done_at.is_(None), sittings.c.expires_at > now)
    ).scalar_one()
    invited = connection.execute(select(func.count()).select_from(workers)).scalar_one()
    excluded = connection.execute(
        select(func.count()).select_from(workers).where(workers.c.excluded.is_(True))
    ).scalar_one()
    return CollectionProgress(coverage, hours, alive, invited, excluded)
