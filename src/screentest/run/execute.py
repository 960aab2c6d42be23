"""Executing tasks into a run: what is done stays done, what is missing is made.

with RunStore(folder, command="score") as store:
    report = execute(store, tasks, engine=LocalEngine(workers=4))
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from enum import StrEnum

from screentest.core import Progress, Reason, Silent, StorageError
from screentest.run.engine import LocalEngine
from screentest.run.records import RecordKey
from screentest.run.store import RunStore
from screentest.run.tasks import Engine, Stop, Task


class Retry(StrEnum):
    """Which failures of earlier starts are tried again."""

    TRANSIENT = "transient"
    """Those that may be gone by now: timeouts, services, budgets, models, crashes."""
    ALL = "all"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Execution:
    """What one start of a run did."""

    total: int
    reused: int
    """Records that were there already."""
    made: int
    failures: Mapping[Reason, int] = field(default_factory=dict)
    """Of the records just made, how many lack a value for each reason."""
    changed: int = 0
    """Records thrown away since a file changed while it was read."""
    signal: int | None = None
    """The signal that stopped it."""

    @property
    def pending(self) -> int:
        """Records still to be made; start the same command again for them."""
        return self.total - self.reused - self.made

    def __add__(self, other: Execution) -> Execution:
        """Both as one, where the work was done in two steps."""
        failures = Counter(self.failures)
        failures.update(other.failures)
        return Execution(
            self.total + other.total,
            self.reused + other.reused,
            self.made + other.made,
            dict(sorted(failures.items())),
            self.changed + other.changed,
            self.signal if self.signal is not None else other.signal,
        )

    @property
    def exit_code(self) -> int:
        """For a command line: 0, or 128 and the number of the signal as shells have it."""
        return 0 if self.signal is None else 128 + self.signal


def execute(
    store: RunStore,
    tasks: Sequence[Task],
    *,
    engine: Engine | None = None,
    progress: Progress | None = None,
    what: str = "scoring",
) -> Execution:
    """Carry out what the run does not have yet. Each result is on the disk before it is reported.

    Ctrl-C once finishes what is in flight, twice stops now; both leave a run that goes on
    when the same tasks are executed again.
    """
    keys = [key for task in tasks for key in task.keys]
    _refuse_twins(keys)
    store.add_to_plan(keys)
    again = Retry(store.retry)
    missing = _missing(store, tasks, again)
    # Or what is tried again would be read again from the same bad answer.
    store.ledger.asks_again = again is Retry.ALL
    total = len(keys)
    reused = total - sum(len(task.keys) for task in missing)
    stop = Stop()
    try:
        with stop.listening(), progress or Silent() as shown:
            shown.begin(what, total=total, unit="records", done=reused)
            done = Execution(total, reused, 0)
            done += _carry_out(store, missing, engine or LocalEngine(), stop, shown)
    finally:
        stop.close()
    if stop.requested and done.pending:
        store.interrupted()
        return replace(done, signal=stop.signal)
    return done


def _refuse_twins(keys: Sequence[RecordKey]) -> None:
    twins = [key for key, count in Counter(keys).items() if count > 1]
    if twins:
        raise ValueError(f"two tasks would make the same record: {twins[0]}")


def _missing(store: RunStore, tasks: Sequence[Task], retry: Retry) -> list[Task]:
    """Return the tasks that are left, each for the records it still has to make."""

    def is_missing(reasons: Sequence[Reason]) -> bool:
        """Return whether a record is to be made: it is absent, or its failures are tried again."""
        again = retry is Retry.TRANSIENT and any(reason.transient for reason in reasons)
        return not reasons or retry is Retry.ALL or again

    missing = {key for key, reasons in store.unfinished().items() if is_missing(reasons)}
    left = [(task, [key for key in task.keys if key in missing]) for task in tasks]
    return [task.only(keys) for task, keys in left if keys]


def _carry_out(
    store: RunStore, tasks: Sequence[Task], engine: Engine, stop: Stop, progress: Progress
) -> Execution:
    """Do the tasks; of what it returns, the total and what was reused are not counted."""
    done = Execution(0, 0, 0)
    trouble: StorageError | None = None
    with closing(engine.run(tasks, store.ledger, stop)) as batches:
        for together in batches:
            whole = [end for end in together if all(map(store.inputs.is_same, end.task.files))]
            ended, kept = (sum(len(end.task.keys) for end in ends) for ends in (together, whole))
            done += Execution(0, 0, 0, changed=ended - kept)
            try:
                store.write(*whole)
            except StorageError as error:
                # What is in flight may have been paid for, and there is room kept for it.
                trouble = trouble or error
                stop.request()
                continue
            for end in whole:
                failures = Counter(reason for one in end.outcomes for reason in one.reasons)
                done += Execution(0, 0, len(end.outcomes), failures)
                progress.advance(len(end.task.keys), note=end.task.keys[0].item)
    if trouble is not None:
        raise trouble
    return done
