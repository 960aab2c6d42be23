"""The same tasks on a Ray cluster: workers on every node, one writer here.

Each worker is an actor with one task at most, so that it is known when a task began and a task that
takes too long can be ended; a result is fetched to the driver only for a task in flight.

An extra: pip install 'screentest[ray]'
"""

from __future__ import annotations

import json
import math
import os
import signal
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Final, Self

from screentest._util import VERSION
from screentest._util.optional import optional
from screentest._util.workers import Done, Errand, Lost, Worker, WorkerPool, drain
from screentest.core import BadOption, LedgerClient, RunError, ScreentestError, ServiceError
from screentest.models.remote import use_remote
from screentest.run.channel import error_message
from screentest.run.engine import work_through
from screentest.run.ray_worker import LedgerListener, RayModels, RayWorker, replicas_of, start_hosts
from screentest.run.tasks import Ends, Stop, Task
from screentest.run.worker import shares

_FALSE_STARTS: Final = 3


@dataclass(slots=True, eq=False)
class ActorWorker(Worker[Task]):
    """An actor as the driver sees it."""

    actor: Any


class RayPool(WorkerPool[ActorWorker, Task]):
    """A number of workers, each replaced when it or its node is lost. Use it as a context."""

    def __init__(self, ray: Any, ledger: LedgerClient, hosts: Sequence[Any] = ()) -> None:
        """``hosts`` have the models that need a GPU."""
        super().__init__()
        self._ray = ray
        self._listener = LedgerListener(ledger, ray.util.get_node_ip_address())
        threads = shares(1, cores=1)
        self._arguments = (self._listener.address, str(Path.cwd()), threads, tuple(hosts))
        self._actors = ray.remote(RayWorker).options(
            num_cpus=1,
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

    def give(self, task: Task, parcel: bytes, timeout: float | None, kind: str = "") -> bool:
        for worker in self._idle(kind):
            worker.errands[0] = Errand(task, timeout)
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
            lines = [line.strip() for line in str(trouble).splitlines() if line.strip()]
            what = ": ".join([type(trouble).__name__, *lines[:1]])
            lost = f"the worker or its node was lost ({what})"
            yield from self._remove(worker, message=lost)
            return
        message = json.loads(future.result())
        errand = worker.errands.pop(0, None)
        if errand is None:
            _refuse_other_version(message)
            worker.ready, self._false_starts = True, 0
        elif message["kind"] == "absent":
            yield Done(errand.task, self._without_file(errand.task, message))
        else:
            yield Done(errand.task, message)

    def _without_file(self, task: Task, message: Mapping[str, str]) -> dict[str, Any]:
        """Return a film that nobody sees any more is one film's trouble; one that only we see is
        all's."""
        if not all(stamp.untouched for stamp in task.files):
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
        yield from worker.lost(None, limit, message)
        if not worker.errands and not worker.ready:
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


_LOOK: Final = 5.0  # seconds between two looks at how large the cluster is


@dataclass(slots=True)
class RayEngine:
    """Maps tasks over workers on all nodes of a Ray cluster. Use it as a context manager.

    Files are found by path: they are on storage that every node has in the same place. Models
    that can use a GPU are loaded by hosts, one for each GPU, and used by the workers, which
    decode; what several workers ask at the same moment is one batch. While the engine is open
    this process uses them too, so that signatures name the models that are used.
    """

    address: str | None = None
    """``host:port`` of a cluster; None for the one of this machine, started where there is none."""
    workers: int | None = None
    """How many at most; None for as many as the cluster has room for, also when it grows."""
    timeout: float | None = None
    """Seconds for a task that names none of its own."""
    max_deaths: int = 3
    """How often a task may lose its worker, or the node of it, before it is given up."""
    gpus: float = 1.0
    """GPUs, or the part of one, for each host of models; 0 for no hosts."""
    _hosts: list[Any] = field(default_factory=list, init=False, repr=False)
    _open: bool = field(default=False, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.workers is not None and self.workers < 1:
            raise BadOption.of("workers", self.workers, "1 or more")
        if self.max_deaths < 1:
            raise BadOption.of("max_deaths", self.max_deaths, "1 or more")
        if self.gpus < 0:
            raise BadOption.of("gpus", self.gpus, "0 or more")
        if self.address is not None and self.address.startswith("ray://"):
            raise BadOption(
                "a run cannot be driven from outside of the cluster (ray://)",
                advice="Start it on a node of the cluster, with `address=HOST:PORT` or auto.",
            )

    def __enter__(self) -> Self:
        ray = _connected(self.address)
        replicas = replicas_of(ray.nodes(), self.gpus) if self.gpus else 0
        self._hosts = start_hosts(ray, replicas, self.gpus)
        if self._hosts:
            use_remote(RayModels(self._hosts))
        self._open = True
        return self

    def __exit__(self, *_: object) -> None:
        self._open = False
        if self._hosts:
            use_remote(None)
        ray = _connected(self.address)
        for host in self._hosts:
            ray.kill(host)
        self._hosts.clear()

    @property
    def hosts(self) -> int:
        """The number of hosts of models; without any, models run on processors."""
        return len(self._hosts)

    def run(self, tasks: Sequence[Task], ledger: LedgerClient, stop: Stop) -> Ends:
        """Yield the ends of tasks, as they come."""
        if not self._open:
            raise RuntimeError("open it first: with RayEngine(…) as engine")
        ray = _connected(self.address)
        room = _Room(ray, self.workers)
        with RayPool(ray, ledger, self._hosts) as pool:
            yield from work_through(
                tasks, pool, room.now, stop, timeout=self.timeout, max_deaths=self.max_deaths
            )


class _Room:
    """How many workers the cluster has room for, looked up now and then: nodes come and go."""

    def __init__(self, ray: Any, most: int | None) -> None:
        self._ray = ray
        self._most = math.inf if most is None else most
        self._looked = time.monotonic()
        self._found = self._look()
        if self._found == 0:
            raise RunError(
                "no node of the Ray cluster has what a worker needs: 1 processor",
                advice="`ray status` shows what the nodes have.",
            )

    def now(self) -> int:
        """Return the number of workers there may be; one at least, since new nodes may come."""
        if time.monotonic() - self._looked > _LOOK:
            self._looked, self._found = time.monotonic(), self._look()
        return max(1, int(min(self._found, self._most)))

    def _look(self) -> int:
        nodes = [node for node in self._ray.nodes() if node["Alive"]]
        return sum(int(node["Resources"].get("CPU", 0)) for node in nodes)


def _connected(address: str | None) -> Any:
    """Ray, connected to a cluster; it stays so until this process ends."""
    ray = optional("ray")
    if not ray.is_initialized():
        # Nothing leaves this machine that the user did not send.
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        with _same_signals():
            try:
                ray.init(
                    address=address,
                    log_to_driver=False,
                    logging_level="ERROR",
                    include_dashboard=False,
                )
            except (ConnectionError, RuntimeError, ValueError) as error:
                raise ServiceError(
                    f"cannot connect to the Ray cluster at {address or 'this machine'}: {error}",
                    advice="See `ray status`; the address is the one that `ray start --head` "
                    "printed. Both sides need the same versions of Ray and Python.",
                ) from error
    return ray


@contextmanager
def _same_signals() -> Iterator[None]:
    """Ray takes SIGTERM for itself when it connects; a run has its own answer to it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
