"""The same tasks on a Ray cluster: workers on every node, one writer here.

An extra: pip install 'screentest[ray]'
"""

from __future__ import annotations

import importlib
import math
import os
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Self

from screentest.core import BadOption, LedgerClient, RunError, ServiceError
from screentest.models.remote import use_remote
from screentest.run.ray_pool import Needs, RayPool
from screentest.run.ray_worker import RayModels, replicas_of, start_hosts
from screentest.run.schedule import Patience, work_through
from screentest.run.tasks import Ends, Stop, Task
from screentest.run.worker import shares

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
    cpus: float = 1.0
    """Processors that Ray keeps free for each worker."""
    gpus: float = 1.0
    """GPUs, or the part of one, for each host of models; 0 for no hosts."""
    _hosts: list[Any] = field(default_factory=list, init=False, repr=False)
    _open: bool = field(default=False, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.workers is not None and self.workers < 1:
            raise BadOption(f"invalid number of workers {self.workers}: must be 1 or more")
        if self.max_deaths < 1:
            raise BadOption(f"invalid max_deaths {self.max_deaths}: must be 1 or more")
        if self.cpus <= 0:
            raise BadOption(f"invalid cpus {self.cpus:g}: must be above 0")
        if self.gpus < 0:
            raise BadOption(f"invalid gpus {self.gpus:g}: must be 0 or more")
        if self.address is not None and self.address.startswith("ray://"):
            raise BadOption(
                "a run cannot be driven from outside of the cluster (ray://)",
                advice="Start it on a node of the cluster, with --address HOST:PORT or auto.",
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
        """How many hosts of models there are; without any, models run on processors."""
        return len(self._hosts)

    def run(self, tasks: Sequence[Task], ledger: LedgerClient, stop: Stop) -> Ends:
        """The ends of tasks, as they come."""
        if not self._open:
            raise RuntimeError("open it first: with RayEngine(…) as engine")
        ray = _connected(self.address)
        needs = Needs(self.cpus)
        room = _Room(ray, needs, self.workers)
        patience = Patience(self.timeout, self.max_deaths)
        threads = shares(1, cores=max(1, math.floor(self.cpus)))
        with RayPool(ray, ledger, needs, threads, self._hosts) as pool:
            yield from work_through(tasks, pool, room.now, patience, stop)


class _Room:
    """How many workers the cluster has room for, looked up now and then: nodes come and go."""

    def __init__(self, ray: Any, needs: Needs, most: int | None) -> None:
        self._ray = ray
        self._needs = needs
        self._most = math.inf if most is None else most
        self._looked = time.monotonic()
        self._found = self._look()
        if self._found == 0:
            raise RunError(
                f"no node of the Ray cluster has what a worker needs: {needs.cpus:g} processors",
                advice="`ray status` shows what the nodes have.",
            )

    def now(self) -> int:
        """How many workers there may be; one at least, since new nodes may come."""
        if time.monotonic() - self._looked > _LOOK:
            self._looked, self._found = time.monotonic(), self._look()
        return max(1, int(min(self._found, self._most)))

    def _look(self) -> int:
        nodes = [node for node in self._ray.nodes() if node["Alive"]]
        return sum(self._needs.fit_into(node["Resources"]) for node in nodes)


def _connected(address: str | None) -> Any:
    """Ray, connected to a cluster; it stays so until this process ends."""
    try:
        ray: Any = importlib.import_module("ray")
    except ImportError as error:
        raise BadOption(
            f"Ray cannot be imported: {error}", advice="Install it: pip install 'screentest[ray]'"
        ) from error
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
