"""Planning: what a task will take and cost, before anybody is asked.

>>> plan = estimate([(60.0, 600)], votes=5, wage=12.0, effort=Effort())
>>> round(plan.minutes_per_task, 2), plan.tasks
(2.83, 5)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
            raise BadOption("an effort cannot be negative, and nobody reads at speed 0")
        if not 0 <= self.reading_share <= 1:
            raise BadOption("a share is between 0 and 1")

    def seconds(self, duration: float, characters: int) -> float:
        """For one task."""
        read = characters * self.reading_share / self.reading
        return self.watching * duration + read + self.overhead


@dataclass(frozen=True, slots=True)
class Plan:
    """Time and money. Money is in the currency of the wage."""

    units: int
    tasks: int
    hours: float
    cost: float
    price_per_task: float
    longest_minutes: float

    @property
    def minutes_per_task(self) -> float:
        """The mean."""
        return self.hours * 60 / self.tasks


def estimate(
    units: Sequence[tuple[float, int]], *, votes: int, wage: float, effort: Effort, fee: float = 0.0
) -> Plan:
    """The plan for units of (seconds of video, characters of text); ``fee`` is the platform's."""
    if not units:
        raise BadOption("there is nothing to plan")
    if wage < 0 or fee < 0:
        raise BadOption("a wage and a fee cannot be negative")
    times = [effort.seconds(duration, characters) for duration, characters in units]
    hours = sum(times) * votes / 3600
    cost = hours * wage * (1 + fee)
    tasks = len(units) * votes
    return Plan(len(units), tasks, hours, cost, cost / tasks, max(times) / 60)
