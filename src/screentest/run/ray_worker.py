"""What runs on the nodes of a Ray cluster: hosts of models, workers, their way to the ledger.

Nothing here imports Ray before it is used: the driver makes actors of the classes. What a worker
says is JSON.
"""

from __future__ import annotations

import importlib
import json
import os
import random
import secrets
import socket
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import count
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path
from typing import Any, Final

from screentest._util import VERSION
from screentest.core.calls import LedgerClient
from screentest.core.errors import NoValue, ScreentestError, StorageError
from screentest.core.outcome import Reason
from screentest.models.remote import ModelHost, use_remote
from screentest.run.channel import LedgerServer, RemoteLedger, as_error, error_message
from screentest.run.inputs import Stamp
from screentest.run.worker import do, take

_CALLS_AT_ONCE: Final = 64  # more only wait, and the pictures of all that wait are held
_TRIES: Final = 3
# Seconds between two questions about the same: Ray takes a while to miss a node, and to start a
# lost host elsewhere.
_PAUSES: Final = (1, 2, 5, 10, 20, 30, 60)


class RayHost:
    """A host of models as an actor: our own errors travel as data.

    A host that is lost with its node is started again by Ray where there is room; what it was asked
    is asked again, since asking twice changes nothing.
    """

    def __init__(self) -> None:
        self._host = ModelHost()

    def ask(self, *question: Any) -> tuple[str, Any]:
        """Return the answer, or the error of ours that stands in its place."""
        try:
            return "answer", self._host.ask(*question)
        except ScreentestError as error:
            return "error", error_message(error)


class RayModels:
    """Asks one host after the other, so that all have about the same to do. A RemoteModels."""

    def __init__(self, hosts: Sequence[Any]) -> None:
        self._hosts = tuple(hosts)
        # Workers start at different hosts; any start will do.
        self._turns = count(random.randrange(len(self._hosts)))

    def ask(self, role: str, backend: str, options: Mapping[str, Any], *call: Any) -> Any:
        """Call a backend with these options, on whichever host it is."""
        ray: Any = importlib.import_module("ray")
        for pause in (*_PAUSES, None):
            host = self._hosts[next(self._turns) % len(self._hosts)]
            try:
                kind, value = ray.get(host.ask.remote(role, backend, dict(options), *call))
                break
            except ray.exceptions.RayActorError as error:
                if pause is not None:
                    time.sleep(pause)
                    continue
                first = (str(error).strip().splitlines() or [type(error).__name__])[0]
                raise NoValue(
                    Reason.CRASHED,
                    f"hosts of the model were lost {1 + len(_PAUSES)} times: {first}",
                    advice="See `ray status` and the GPU's memory; start the same command again.",
                ) from error
        if kind == "error":
            raise as_error(value)
        return value


def start_hosts(ray: Any, replicas: int, gpus: float) -> list[Any]:
    """As many hosts as there are to be, each with its part of a GPU."""
    actor = ray.remote(RayHost).options(
        num_cpus=0,  # they wait for the GPU, and workers for them
        num_gpus=gpus,
        max_restarts=-1,
        max_task_retries=_TRIES,
        max_concurrency=_CALLS_AT_ONCE,
        scheduling_strategy="SPREAD",
    )
    return [actor.remote() for _ in range(replicas)]


def replicas_of(nodes: Sequence[Mapping[str, Any]], gpus: float) -> int:
    """Count the hosts with so many GPUs each that the living nodes have room for.

    >>> replicas_of([{"Alive": True, "Resources": {"GPU": 3.0}}], 2.0)
    1
    """
    living = (node["Resources"] for node in nodes if node["Alive"])
    return sum(int(resources.get("GPU", 0) / gpus) for resources in living)


@dataclass(frozen=True, slots=True)
class LedgerAddress:
    """Where the driver answers for its ledger."""

    host: str
    port: int
    key: bytes
    """Whoever does not know it is not answered."""


def connect(address: LedgerAddress) -> Connection:
    """Return a connection to the driver's ledger."""
    try:
        return Client((address.host, address.port), authkey=address.key)
    except OSError as error:
        raise StorageError(
            f"{socket.gethostname()} cannot reach the process that writes the run, at "
            f"{address.host}:{address.port}: {error}",
            advice="Paid calls are written down there before they are made: let the nodes "
            "of the cluster connect to it.",
        ) from error


class RayWorker:
    """Does one task after another; models and shots that were loaded stay loaded."""

    def __init__(
        self,
        address: LedgerAddress,
        folder: str,
        threads: Mapping[str, str],
        hosts: Sequence[Any] = (),
    ) -> None:
        take(threads)
        os.environ["CUDA_VISIBLE_DEVICES"] = ""  # its models are with the hosts
        if hosts:
            use_remote(RayModels(hosts))
        with suppress(OSError):  # where all paths are absolute, another folder does as well
            os.chdir(folder)
        self._ledger = RemoteLedger(partial(connect, address))

    def hello(self) -> str:
        """Say which version this is, and where."""
        return json.dumps({"version": VERSION, "host": socket.gethostname()})

    def do(self, parcel: bytes, files: tuple[Stamp, ...]) -> str:
        """Do a task; or name the files of it that this node does not have."""
        absent = [stamp.path for stamp in files if not _is_there(stamp)]
        if absent:
            return json.dumps({"kind": "absent", "host": socket.gethostname(), "path": absent[0]})
        return json.dumps(do(parcel, self._ledger), allow_nan=False)


def _is_there(stamp: Stamp) -> bool:
    # Another machine may number and date the same file of a shared disk in its own way.
    try:
        return Path(stamp.path).stat().st_size == stamp.size
    except OSError:
        return False


# Where the driver answers the ledgers of workers on other machines.

_WAITING: Final = 1024  # workers may all connect at the same moment


class LedgerListener:
    """Accepts connections of those who know the key."""

    def __init__(self, ledger: LedgerClient, host: str) -> None:
        self._server = LedgerServer(ledger)
        key = secrets.token_bytes(32)
        self._listener = Listener((host, 0), backlog=_WAITING, authkey=key)
        port: int = self._listener.address[1]
        self.address = LedgerAddress(host, port, key)
        self._open = True
        self._thread = threading.Thread(target=self._accept, name="screentest-ledger", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Answer what was asked, then no more."""
        self._open = False
        with suppress(OSError), socket.create_connection((self.address.host, self.address.port)):
            pass  # closing alone does not wake who waits for a connection
        self._thread.join()
        self._listener.close()
        self._server.close()

    def _accept(self) -> None:
        while self._open:
            # A worker may be killed while it connects, and others do not know the key.
            with suppress(AuthenticationError, EOFError, OSError):
                self._server.serve(self._listener.accept())
