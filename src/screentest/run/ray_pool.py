"""Workers on the nodes of a Ray cluster, and what becomes of them.

Each is an actor with one task at most, so that it is known when a task began and a task that
takes too long can be ended; a result is fetched to the driver only for a task in flight.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Final

from screentest._util.version import VERSION
from screentest._util.workers import Done, Lost, Worker, WorkerPool, drain
from screentest.core import LedgerClient, RunError, ScreentestError
from screentest.run.channel import error_message
from screentest.run.ray_worker import LedgerListener, RayWorker
from screentest.run.tasks import Task

_FALSE_STARTS: Final = 3


@dataclass(slots=True, eq=False)
class ActorWorker(Worker[Task]):
    """An actor as the driver sees it."""

    actor: Any


@dataclass(frozen=True, slots=True)
class Needs:
    """What Ray is to keep free for each worker."""

    cpus: float = 1.0

    def fit_into(self, resources: Mapping[str, float]) -> int:
        """How many workers a node has room for.

        >>> Needs(cpus=2).fit_into({"CPU": 17})
        8
        """
        return int(resources.get("CPU", 0) / self.cpus)


class RayPool(WorkerPool[ActorWorker, Task]):
    """A number of workers, each replaced when it or its node is lost. Use it as a context."""

    def __init__(
        self,
        ray: Any,
        ledger: LedgerClient,
        needs: Needs,
        threads: Mapping[str, str],
        hosts: Sequence[Any] = (),
    ) -> None:
        """``hosts`` have the models that need a GPU."""
        super().__init__()
        self._ray = ray
        self._listener = LedgerListener(ledger, ray.util.get_node_ip_address())
        self._arguments = (self._listener.address, str(Path.cwd()), dict(threads), tuple(hosts))
        self._actors = ray.remote(RayWorker).options(
            num_cpus=needs.cpus,
            num_gpus=0,
            max_restarts=0,  # a task is tried again by us, who count how often
            max_task_retries=0,
            scheduling_strategy="SPREAD",
        )
        self._news: SimpleQueue[tuple[ActorWorker, Any]] = SimpleQueue()
        self._heard, self._bell = Pipe(duplex=False)
        self._false_starts = 0

    def ensure(self, count: int) -> None:
        """Ask Ray for at least so many workers; they come when there is room."""
        while len(self._workers) < count:
            worker = ActorWorker(self._actors.remote(*self._arguments))
            self._workers.append(worker)
            self._await(worker, worker.actor.hello.remote())

    def give(self, task: Task, parcel: bytes, timeout: float | None) -> bool:
        for worker in self._idle():
            worker.begin(task, timeout)
            self._await(worker, worker.actor.do.remote(parcel, task.files))
            return True
        return False

    def wait(
        self, wake: Connection | None, patience: float | None = None
    ) -> list[Done[Task] | Lost[Task]]:
        left = [*self._patience(), *([] if patience is None else [patience])]
        bells = [self._heard, *([] if wake is None else [wake])]
        for pipe in wait(bells, min(left) if left else None):
            assert isinstance(pipe, Connection)
            drain(pipe)
        return [*self._hear_all(), *self._enforce_limits()]

    def close(self) -> None:
        """End all workers, whatever they do."""
        for worker in self._workers:
            self._ray.kill(worker.actor)
        self._workers.clear()
        self._listener.close()
        self._bell.close()
        self._heard.close()

    def _await(self, worker: ActorWorker, answer: Any) -> None:
        def heard(future: Any) -> None:
            # In a thread of Ray's: note it, ring, and leave.
            self._news.put((worker, future))
            with suppress(OSError):  # the run is over, and nobody listens any more
                self._bell.send_bytes(b"!")

        answer.future().add_done_callback(heard)

    def _hear_all(self) -> Iterator[Done[Task] | Lost[Task]]:
        while True:
            try:
                worker, future = self._news.get_nowait()
            except Empty:
                return
            if worker in self._workers:  # not one that was ended meanwhile
                yield from self._hear(worker, future)

    def _hear(self, worker: ActorWorker, future: Any) -> Iterator[Done[Task] | Lost[Task]]:
        trouble = future.exception()
        if trouble is not None:
            yield from self._remove(worker, message=_in_short(trouble))
            return
        message = json.loads(future.result())
        task, worker.task = worker.task, None
        if task is None:
            _refuse_other_version(message)
            worker.ready, self._false_starts = True, 0
        elif message["kind"] == "absent":
            yield Done(task, self._without_file(task, message))
        else:
            yield Done(task, message)

    def _without_file(self, task: Task, message: Mapping[str, str]) -> dict[str, Any]:
        """A film that nobody sees any more is one film's trouble; one that only we see is all's."""
        if not all(stamp.current for stamp in task.files):
            # Whatever is said of it is not kept, since the file has changed.
            return {"kind": "done", "outcomes": [], "requests": [], "elapsed": 0.0}
        error = RunError(
            f"{message['host']} does not see {message['path']} as this machine does",
            advice="Nodes find videos by their path: put them on storage that every node has "
            "in the same place, and start the same command again.",
        )
        return {"kind": "stop", "error": error_message(error)}

    def _remove(
        self, worker: ActorWorker, limit: str = "", message: str = ""
    ) -> Iterator[Lost[Task]]:
        self._workers.remove(worker)
        # Where only the connection to it was cut, it must not go on beside its successor.
        self._ray.kill(worker.actor)
        if worker.task is not None:
            yield Lost(worker.task, None, worker.elapsed, limit, message)
        elif not worker.ready:
            self._false_starts += 1
            if self._false_starts >= _FALSE_STARTS:
                raise ScreentestError(
                    f"workers on the Ray cluster end before they begin: {message}",
                    advice="Every node needs the same Python and the same screentest: "
                    "pip install 'screentest[ray]'",
                )


def _refuse_other_version(message: Mapping[str, str]) -> None:
    if message["version"] != VERSION:
        raise RunError(
            f"{message['host']} has screentest {message['version']}, this machine {VERSION}",
            advice="Install the same version on every node: results must not depend on the node.",
        )


def _in_short(trouble: BaseException) -> str:
    lines = [line.strip() for line in str(trouble).splitlines() if line.strip()]
    first = f": {lines[0]}" if lines else ""
    return f"the worker or its node was lost ({type(trouble).__name__}{first})"
