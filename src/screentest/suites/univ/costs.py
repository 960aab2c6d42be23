"""What judging cost: tokens and seconds per case and task, from the ledger of a run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from screentest.core.calls import CallStatus
from screentest.metrics.univ.tasks import Task
from screentest.run import RunReader
from screentest.run.ledger import Call
from screentest.suites.univ.tables import task_of

PUBLISHED: Mapping[Task, tuple[int, int]] = {
    Task.V2V: (25104, 45),
    Task.TV2V: (25898, 62),
    Task.R2V: (16743, 44),
    Task.RV2V: (27534, 55),
    Task.T2V: (19567, 49),
    Task.V2T: (1413, 27),
}
"""Table D1: tokens in and out together, and seconds, of one case."""


@dataclass(frozen=True, slots=True)
class TaskCost:
    """What one case of a task takes on average."""

    task: Task
    cases: int
    calls: float
    tokens_in: float
    tokens_out: float
    seconds: float
    """Of waiting for the model, calls one after the other."""
    failed: int = 0
    """Calls that were not answered; their time is in the seconds."""

    @property
    def tokens(self) -> float:
        """In and out together."""
        return self.tokens_in + self.tokens_out


def task_costs(run: RunReader) -> list[TaskCost]:
    """The cost table of a run, in the order of tasks; each case counts once."""
    cases: dict[Task, set[str]] = {}
    for record in run.records():
        task = task_of(record.key.evaluator)
        if task is not None and record.requests:
            cases.setdefault(task, set()).add(record.key.item)
    calls: dict[Task, list[Call]] = {}
    for call in run.calls():
        task = _task_of_call(call)
        if task is not None:
            calls.setdefault(task, []).append(call)
    return [_cost(task, len(cases.get(task, ())), calls[task]) for task in Task if task in calls]


def _task_of_call(call: Call) -> Task | None:
    suite, _, rest = call.intent.purpose.partition(".")
    name = rest.partition(".")[0]
    return Task(name) if suite == "univ" and name in set(Task) else None


def _cost(task: Task, cases: int, calls: Sequence[Call]) -> TaskCost:
    receipts = [call.receipt for call in calls if call.receipt is not None]
    per = max(1, cases)
    return TaskCost(
        task,
        cases,
        len(calls) / per,
        math.fsum(one.tokens_in or 0 for one in receipts) / per,
        math.fsum(one.tokens_out or 0 for one in receipts) / per,
        math.fsum(one.latency for one in receipts) / per,
        sum(one.status is not CallStatus.ANSWERED for one in receipts),
    )
