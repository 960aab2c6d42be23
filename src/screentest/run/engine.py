"""Engines on this machine: worker processes, or none.

Workers only return results; they write nothing. A task that kills its worker is tried again
and then given up with a typed reason; the run goes on either way.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import Pipe
from typing import Any

from screentest._util.machine import can_be_watched, memory, processors
from screentest._util.workers import ProcessPool, is_main_needed
from screentest.core import BadOption, LedgerClient, registry
from screentest.run.channel import LedgerServer
from screentest.run.schedule import Patience, work_through
from screentest.run.tasks import Ends, Finished, Stop, Task
from screentest.run.worker import live, perform, shares

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

    def __post_init__(self) -> None:
        if self.workers is not None and self.workers < 1:
            raise BadOption(f"invalid number of workers {self.workers}: must be 1 or more")
        if self.max_deaths < 1:
            raise BadOption(f"invalid max_deaths {self.max_deaths}: must be 1 or more")

    def run(self, tasks: Sequence[Task], ledger: LedgerClient, stop: Stop) -> Ends:
        """The ends of tasks, as they come."""
        size = min(self.workers or processors(), max(1, len(tasks)))
        patience = Patience(self.timeout, self.max_deaths)
        main = _is_main_needed(tasks)
        limit = self.memory_limit or _part_of_memory(size)
        with Pool(ledger, limit, shares(size), with_main=main) as pool:
            yield from work_through(tasks, pool, lambda: size, patience, stop)


class Pool(ProcessPool[Task]):
    """Worker processes of a run: each has a second pipe, by which it asks the ledger."""

    def __init__(
        self,
        ledger: LedgerClient,
        memory_limit: int | None = None,
        threads: Mapping[str, str] | None = None,
        *,
        with_main: bool = False,
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
        self._server = LedgerServer(ledger)

    @contextmanager
    def arguments(self) -> Iterator[tuple[Any, ...]]:
        """Its end of the ledger's pipe, its share of processors, the user's own modules."""
        asks, answers = Pipe()
        with asks:
            yield asks, self._threads, registry.extra_modules
        self._server.serve(answers)

    def close(self) -> None:
        """End all workers, and answer what they asked."""
        super().close()
        self._server.close()


@dataclass(frozen=True, slots=True)
class InlineEngine:
    """Does tasks in this process, one by one: for debugging, and where processes cannot be started.

    A task that crashes or hangs takes the run with it; timeouts are not kept.
    """

    def run(self, tasks: Sequence[Task], ledger: LedgerClient, stop: Stop) -> Ends:
        """The ends of tasks, in the order given."""
        for task in tasks:
            if stop.requested:
                return
            done = perform(task.function, task.keys, task.payload, ledger)
            yield [Finished(task, done.outcomes, done.requests, done.elapsed)]


def _is_main_needed(tasks: Sequence[Task]) -> bool:
    """Whether workers must import the main script. One task of each kind tells."""
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
