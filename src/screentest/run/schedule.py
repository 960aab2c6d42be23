"""Work through tasks with a pool of workers: deaths are counted, stops obeyed, results passed on.

Whether they are processes of this machine or workers of a cluster changes nothing here.
"""

from __future__ import annotations

import pickle
import signal
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from screentest._util.workers import Done, Lost, WorkerPool
from screentest.core import Failure, Reason, ScreentestError
from screentest.run.channel import as_error
from screentest.run.records import Encoded, RecordKey
from screentest.run.tasks import Ends, Finished, Stop, Task
from screentest.run.worker import failed, failed_to_load


@dataclass(frozen=True, slots=True)
class Patience:
    """How much a task may take, and how often it may go wrong."""

    timeout: float | None
    """Seconds for a task that names none of its own."""
    max_deaths: int
    """How often a task may kill its worker before it is given up."""


def work_through(
    tasks: Sequence[Task],
    pool: WorkerPool[Any, Task],
    size: Callable[[], int],
    patience: Patience,
    stop: Stop,
) -> Ends:
    """The ends of tasks, as they come. ``size`` says how many workers there may be by now."""
    queue = deque(tasks)
    deaths: Counter[tuple[RecordKey, ...]] = Counter()
    fatal: ScreentestError | None = None
    ended: list[Finished] = []
    while not stop.now:
        if not stop.requested and fatal is None:
            pool.ensure(min(size(), len(queue) + pool.busy))
            ended += _hand_out(queue, pool, patience.timeout)
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
                if event.limit or deaths[keys] >= patience.max_deaths:
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


def _hand_out(
    queue: deque[Task], pool: WorkerPool[Any, Task], timeout: float | None
) -> list[Finished]:
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
        if not pool.give(task, parcel, task.timeout or timeout):
            break
        queue.popleft()
    return ended


def _finished(event: Done[Task], attempts: int) -> Finished:
    message: dict[str, Any] = event.message
    outcomes = tuple(
        Encoded(text, tuple(Reason(name) for name in reasons))
        for text, reasons in message["outcomes"]
    )
    requests = tuple(tuple(of_one) for of_one in message["requests"])
    return Finished(event.task, outcomes, requests, message["elapsed"], attempts)


def _give_up(event: Lost[Task], deaths: int) -> Finished:
    if event.limit == "time":
        failure = Failure(
            Reason.TIMED_OUT,
            f"ended after {event.elapsed:.1f} s",
            "Allow more time, or see whether the file can be played at all.",
        )
    elif event.limit == "memory":
        failure = Failure(Reason.TOO_LARGE, "the worker went beyond its part of the memory", _LESS)
    else:
        failure = Failure(
            event.task.on_death,
            f"{event.message or _exit_message(event.exit_code)} ({deaths} of {deaths} times)",
            _ADVICE,
        )
    outcomes = failed(event.task.keys, failure)
    return Finished(event.task, outcomes, elapsed=event.elapsed, attempts=deaths)


_LESS = "Use fewer workers, so that each may hold more."
_ADVICE = "If memory ran out, use fewer workers; otherwise the file or a library is at fault."


def _exit_message(code: int | None) -> str:
    if code is None:
        return "the worker is gone, and nobody could say how it ended"
    if code < 0:
        try:
            return f"the worker died of {signal.Signals(-code).name}"
        except ValueError:
            return f"the worker died of signal {-code}"
    return f"the worker ended by itself (exit code {code})"
