"""Engines on this machine: worker processes, or none.

Workers only return results; they write nothing. A task that kills its worker is tried again
and then given up with a typed reason; the run goes on either way. ``work_through`` does the same
with the workers of a cluster.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import Pipe
from pathlib import Path
from typing import Any, Final

from screentest._util.machine import can_be_watched, memory, processors
from screentest._util.workers import Done, Lost, ProcessPool, WorkerPool, is_main_needed
from screentest.core import BadOption, Failure, LedgerClient, Reason, ScreentestError, registry
from screentest.run.channel import LedgerServer, as_error
from screentest.run.records import Encoded, RecordKey
from screentest.run.tasks import Ends, Finished, Stop, Task
from screentest.run.worker import failed, failed_to_load, live, perform, shares


def work_through(
    tasks: Sequence[Task],
    pool: WorkerPool[Any, Task],
    size: Callable[[], int],
    stop: Stop,
    *,
    timeout: float | None,
    max_deaths: int,
) -> Ends:
    """Yield the ends of tasks, as they come. ``size`` says how many workers there may be by now."""
    queue = deque(tasks)
    suspects: deque[Task] = deque()
    """Tasks under which a worker held too much that had done others: a fresh one tells whose
    it was."""
    shared: deque[Task] = deque()
    """Tasks lost with others of their worker: alone with one, each tells whose fault it was."""
    deaths: Counter[tuple[RecordKey, ...]] = Counter()
    fatal: ScreentestError | None = None
    ended: list[Finished] = []
    while not stop.now:
        if not stop.requested and fatal is None:
            # Where such a worker was lost there is a place for a fresh one, beside idle ones.
            wanted = len(queue) + len(shared) + pool.busy
            pool.ensure(size() if suspects else min(size(), wanted))
            ended += _hand_out(suspects, pool, timeout, "fresh")
            ended += _hand_out(shared, pool, timeout, "alone")
            if not shared:
                ended += _hand_out(queue, pool, timeout)
            work_left = bool(queue or suspects or shared or pool.busy)
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
                if event.beside:
                    shared.append(event.task)
                    continue
                if event.limit == "memory" and event.before:
                    suspects.append(event.task)
                    continue
                deaths[keys] += 1
                if not event.limit and deaths[keys] < max_deaths:
                    queue.append(event.task)
                elif parts := event.task.parts(timeout):
                    queue.extend(parts)
                else:
                    ended.append(_give_up(event, deaths[keys]))
            elif event.message["kind"] == "stop":
                if not stop.requested:  # else a call was refused, and the task is left
                    fatal = fatal or as_error(event.message["error"])
            else:
                ended.append(_finished(event, 1 + deaths[keys]))
    if ended:
        yield ended
    if fatal is not None:
        raise fatal


def _hand_out(
    queue: deque[Task], pool: WorkerPool[Any, Task], timeout: float | None, kind: str = ""
) -> list[Finished]:
    """Give tasks to idle workers; those that cannot be sent have ended already."""
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
        if not pool.give(task, parcel, task.timeout or timeout, kind):
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
        how, code = event.message, event.exit_code
        if not how and code is None:
            how = "the worker is gone, and nobody could say how it ended"
        elif not how and code is not None:
            named = {number.value: number.name for number in signal.Signals}
            how = f"the worker ended by itself (exit code {code})"
            if code < 0:
                how = f"the worker died of {named.get(-code, f'signal {-code}')}"
        failure = Failure(event.task.on_death, f"{how} ({deaths} of {deaths} times)", _ADVICE)
    outcomes = failed(event.task.keys, failure)
    return Finished(event.task, outcomes, elapsed=event.elapsed, attempts=deaths)


_LESS = "Use fewer workers, so that each may hold more."
_ADVICE = "If memory ran out, use fewer workers; otherwise the file or a library is at fault."


_FOR_WORKERS = 0.9
"""Of all memory; the rest is for the system, the writer and the command."""


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
    """Bytes that a worker may hold; else its equal part of the machine's, so that one film or
    model that takes too much ends its own task, and not whatever the system happens to kill.
    Linux only."""
    cards: tuple[str, ...] = ()
    """The GPUs that workers are spread over; each sees its own alone."""

    def __post_init__(self) -> None:
        if self.workers is not None and self.workers < 1:
            raise BadOption.of("workers", self.workers, "1 or more")
        if self.max_deaths < 1:
            raise BadOption.of("max_deaths", self.max_deaths, "1 or more")

    def run(self, tasks: Sequence[Task], ledger: LedgerClient, stop: Stop) -> Ends:
        """Yield the ends of tasks, as they come."""
        size = min(self.workers or processors(), max(1, len(tasks)))
        main = _is_main_needed(tasks)
        limit = self.memory_limit or _part_of_memory(size)
        with Pool(ledger, limit, shares(size), with_main=main, cards=self.cards) as pool:
            pool.server.is_stopping = lambda: stop.requested  # calls under way end, no new ones
            yield from work_through(
                tasks, pool, lambda: size, stop, timeout=self.timeout, max_deaths=self.max_deaths
            )


class Pool(ProcessPool[Task]):
    """Worker processes of a run: each has a second pipe, by which it asks the ledger."""

    def __init__(
        self,
        ledger: LedgerClient,
        memory_limit: int | None = None,
        threads: Mapping[str, str] | None = None,
        *,
        with_main: bool = False,
        cards: Sequence[str] = (),
    ) -> None:
        # A worker decodes untrusted files: what it says is only ever read as data.
        super().__init__(
            live,
            read=json.loads,
            preload=["screentest.run.worker", "pydantic"],
            with_main=with_main,
            memory_limit=memory_limit,
        )
        self._threads = dict(threads or {})
        self._cards = cards
        self.server = LedgerServer(ledger)

    @contextmanager
    def arguments(self) -> Iterator[tuple[Any, ...]]:
        """Its end of the ledger's pipe, its share of processors, the user's own modules."""
        asks, answers = Pipe()
        held = Counter(worker.card for worker in self._workers)
        self.card = min(self._cards, key=lambda card: held[card], default="")
        share = {**self._threads, **({CARDS: self.card} if self.card else {})}
        with asks:
            yield asks, share, registry.extra_modules
        self.server.serve(answers)

    def close(self) -> None:
        """End all workers, and answer what they asked."""
        super().close()
        self.server.close()


@dataclass(frozen=True, slots=True)
class InlineEngine:
    """Does tasks in this process, one by one: for debugging, and where processes cannot be started.

    A task that crashes or hangs takes the run with it; limits are not kept.
    """

    def run(self, tasks: Sequence[Task], ledger: LedgerClient, stop: Stop) -> Ends:
        """Yield the ends of tasks, in the order given."""
        for task in tasks:
            if stop.requested:
                return
            done = perform(task.function, task.keys, task.payload, ledger)
            yield [Finished(task, done.outcomes, done.requests, done.elapsed)]


CARDS: Final = "CUDA_VISIBLE_DEVICES"


def cards_here() -> list[str]:
    """Return the GPUs of this machine that this process may use, as CUDA names them."""
    if CARDS in os.environ:
        return [name.strip() for name in os.environ[CARDS].split(",") if name.strip()]
    return [str(n) for n, _ in enumerate(Path("/proc/driver/nvidia/gpus").glob("*"))]


def _is_main_needed(tasks: Sequence[Task]) -> bool:
    """Return True if workers must import the main script. One task of each kind tells."""
    kinds = {(id(task.function), type(task.payload)): task for task in tasks}
    return any(is_main_needed(_pickled(task)) for task in kinds.values())


def _pickled(task: Task) -> bytes:
    try:
        return pickle.dumps((task.function, task.payload))
    except Exception:  # noqa: BLE001 - pickling runs the code of the payload
        return b""  # it will be refused where it is sent


def _part_of_memory(workers: int) -> int | None:
    allowed = memory() if can_be_watched() else None
    return int(_FOR_WORKERS * allowed / workers) if allowed else None
