"""Engines on this machine: worker processes, or none.

Workers only return results; they write nothing. A task that kills its worker is tried again
and then given up with a typed reason; the run goes on either way.
"""

from __future__ import annotations

import pickle
import signal
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from screentest.core import BadOption, Failure, LedgerClient, Reason, ScreentestError
from screentest.run._perform import failed, failed_to_load, perform
from screentest.run._pool import Done, Lost, Pool
from screentest.run._signals import Stop
from screentest.run._threads import processors, shares
from screentest.run._wire import as_error
from screentest.run.records import Encoded, RecordKey
from screentest.run.tasks import Ends, Finished, Task


@dataclass(frozen=True, slots=True)
class LocalEngine:
    """Maps tasks over worker processes, which live on between tasks."""

    workers: int | None = None
    """How many processes; None for one per processor."""
    timeout: float | None = None
    """Seconds for a task that names none of its own."""
    max_deaths: int = 2
    """How often a task may kill its worker before it is given up."""
    memory_limit: int | None = None
    """Bytes that a worker may hold; Linux only."""

    def __post_init__(self) -> None:
        if self.workers is not None and self.workers < 1:
            raise BadOption(f"there cannot be {self.workers} workers")
        if self.max_deaths < 1:
            raise BadOption("a task may kill at least one worker before it is given up")

    def run(self, tasks: Sequence[Task], ledger: LedgerClient, stop: Stop) -> Ends:
        """The ends of tasks, as they come."""
        size = min(self.workers or processors(), max(1, len(tasks)))
        queue = deque(tasks)
        deaths: Counter[tuple[RecordKey, ...]] = Counter()
        fatal: ScreentestError | None = None
        ended: list[Finished] = []
        with Pool(ledger, self.memory_limit, shares(size)) as pool:
            while not stop.now:
                if not stop.requested and fatal is None:
                    pool.ensure(min(size, len(queue) + pool.busy))
                    ended += self._hand_out(queue, pool)
                    work_left = bool(queue or pool.busy)
                else:
                    work_left = bool(pool.busy)
                if ended:
                    yield ended  # workers go on while this is written
                    ended = []
                if not work_left:
                    break
                for event in pool.wait(stop.wake):
                    keys = event.task.keys
                    if isinstance(event, Lost):
                        deaths[keys] += 1
                        if event.limit or deaths[keys] >= self.max_deaths:
                            ended.append(_give_up(event, deaths[keys]))
                        else:
                            queue.append(event.task)
                    elif event.message["kind"] == "stop":
                        fatal = fatal or as_error(event.message["error"])
                    else:
                        ended.append(_finished(event, 1 + deaths[keys]))
            if ended:
                yield ended
        if fatal is not None:
            raise fatal

    def _hand_out(self, queue: deque[Task], pool: Pool) -> list[Finished]:
        """Give tasks to idle workers: never more are under way than there are workers.

        Those that cannot be sent have ended already.
        """
        ended = []
        while queue:
            task = queue[0]
            try:
                work = pickle.dumps((task.function, task.payload))
            except Exception as error:  # noqa: BLE001 - pickling runs the code of the payload
                queue.popleft()
                ended.append(Finished(task, failed_to_load(task.keys, error).outcomes))
                continue
            parcel = pickle.dumps((task.keys, work))
            if not pool.give(task, parcel, task.timeout or self.timeout):
                break
            queue.popleft()
        return ended


@dataclass(frozen=True, slots=True)
class InlineEngine:
    """Does tasks in this process, one by one: for debugging, and where processes cannot be had.

    A task that crashes or hangs takes the run with it; timeouts are not kept.
    """

    def run(self, tasks: Sequence[Task], ledger: LedgerClient, stop: Stop) -> Ends:
        """The ends of tasks, in the order given."""
        for task in tasks:
            if stop.requested:
                return
            done = perform(task.function, task.keys, task.payload, ledger)
            yield [Finished(task, done.outcomes, done.requests, done.elapsed)]


def _finished(event: Done, attempts: int) -> Finished:
    message: dict[str, Any] = event.message
    outcomes = tuple(
        Encoded(text, tuple(Reason(name) for name in reasons))
        for text, reasons in message["outcomes"]
    )
    requests = tuple(tuple(of_one) for of_one in message["requests"])
    return Finished(event.task, outcomes, requests, message["elapsed"], attempts)


def _give_up(event: Lost, deaths: int) -> Finished:
    if event.limit == "time":
        failure = Failure(
            Reason.TIMED_OUT,
            f"ended after {event.elapsed:.1f} s",
            "Allow more time, or see whether the file can be played at all.",
        )
    elif event.limit == "memory":
        failure = Failure(
            Reason.TOO_LARGE, "the worker went beyond its memory limit", "Raise the limit."
        )
    else:
        failure = Failure(
            event.task.on_death, f"{_told(event.exit_code)} ({deaths} of {deaths} times)", _ADVICE
        )
    outcomes = failed(event.task.keys, failure)
    return Finished(event.task, outcomes, elapsed=event.elapsed, attempts=deaths)


_ADVICE = "If memory ran out, use fewer workers; otherwise the file or a library is at fault."


def _told(code: int | None) -> str:
    if code is None:
        return "the worker is gone, and nobody could say how it ended"
    if code < 0:
        try:
            return f"the worker died of {signal.Signals(-code).name}"
        except ValueError:
            return f"the worker died of signal {-code}"
    return f"the worker ended by itself (exit code {code})"
