"""Plan: what a task will take and cost, before anybody is asked.

>>> plan = estimate([(60.0, 600)], votes=5, wage=12.0, effort=Effort())
>>> round(plan.minutes_per_task, 2), plan.tasks
(2.83, 5)
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, case, func, select

from screentest.annotate.assignment import Rules
from screentest.annotate.store.schema import sittings, units, workers
from screentest.core import BadOption


@dataclass(frozen=True, slots=True)
class Effort:
    """How long a person takes. Ours, to be replaced by what `annotate workers` measures."""

    watching: float = 1.5
    """Times the duration of the videos: they are played, and parts of them again."""
    reading: float = 15.0
    """Characters a second."""
    reading_share: float = 1.0
    """Of the text that is read at all."""
    overhead: float = 40.0
    """Seconds to get into a task and to answer."""

    def __post_init__(self) -> None:
        if min(self.watching, self.overhead) < 0 or self.reading <= 0:
            raise BadOption("invalid effort: must not be negative, and reading must be above 0")
        if not 0 <= self.reading_share <= 1:
            raise BadOption("invalid share: must be in [0, 1]")

    def seconds(self, duration: float, characters: int) -> float:
        read = characters * self.reading_share / self.reading
        return self.watching * duration + read + self.overhead


@dataclass(frozen=True, slots=True)
class Estimate:
    """Time and money. Money is in the currency of the wage."""

    units: int
    tasks: int
    hours: float
    cost: float
    price_per_task: float
    longest_minutes: float

    @property
    def minutes_per_task(self) -> float:
        return self.hours * 60 / self.tasks


def estimate(
    units: Sequence[tuple[float, int]], *, votes: int, wage: float, effort: Effort, fee: float = 0.0
) -> Estimate:
    """The plan for units of (seconds of video, characters of text); ``fee`` is the platform's."""
    if not units:
        raise BadOption("there is nothing to plan")
    if wage < 0 or fee < 0:
        raise BadOption("invalid wage or fee: must not be negative")
    times = [effort.seconds(duration, characters) for duration, characters in units]
    hours = sum(times) * votes / 3600
    cost = hours * wage * (1 + fee)
    tasks = len(units) * votes
    return Estimate(len(units), tasks, hours, cost, cost / tasks, max(times) / 60)


# CollectionProgress: how far the collection is, and when it will be done.

HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class VoteCoverage:
    """How many of the wanted votes of an aspect are in."""

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
    """How far the collection is, from the votes in the store."""
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
