"""A worker on some node of a Ray cluster, and its line to the ledger.

Nothing here imports Ray: the driver makes an actor of the class. What a worker says is JSON.
"""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from multiprocessing.connection import Client
from pathlib import Path
from typing import Any

import screentest
from screentest.core import CallIntent, CallReceipt, StorageError
from screentest.models.lending import lend_from
from screentest.run._ray_models import RayLender, keep_to_processors
from screentest.run._threads import take
from screentest.run._worker import do
from screentest.run.channel import RemoteLedger
from screentest.run.inputs import Stamp


@dataclass(frozen=True, slots=True)
class Door:
    """Where the driver answers for its ledger."""

    host: str
    port: int
    key: bytes
    """Whoever does not know it is not answered."""


class DistantLedger:
    """The driver's ledger; the line is opened by the first call that needs it. A LedgerClient."""

    def __init__(self, door: Door) -> None:
        self._door = door
        self._opening = threading.Lock()

    def recall(self, request: str) -> CallReceipt | None:
        """The latest answer to this very request, where one was paid for already."""
        return self._opened().recall(request)

    def intend(self, intent: CallIntent) -> str:
        """Write the intent down on the driver's disk and return its id."""
        return self._opened().intend(intent)

    def settle(self, call: str, receipt: CallReceipt) -> None:
        """Write down what came of a call."""
        self._opened().settle(call, receipt)

    def _opened(self) -> RemoteLedger:
        with self._opening:
            return self._line

    @cached_property
    def _line(self) -> RemoteLedger:
        door = self._door
        try:
            return RemoteLedger(Client((door.host, door.port), authkey=door.key))
        except OSError as error:
            raise StorageError(
                f"{socket.gethostname()} cannot reach the process that writes the run, at "
                f"{door.host}:{door.port}: {error}",
                advice="Paid calls are written down there before they are made: let the nodes "
                "of the cluster connect to it.",
            ) from error


class RayWorker:
    """Does one task after another; models and shots that were loaded stay loaded."""

    def __init__(
        self, door: Door, folder: str, threads: Mapping[str, str], hosts: Sequence[Any] = ()
    ) -> None:
        take(threads)
        keep_to_processors()
        if hosts:
            lend_from(RayLender(hosts))
        with suppress(OSError):  # where all paths are absolute, another folder does as well
            os.chdir(folder)
        self._ledger = DistantLedger(door)

    def hello(self) -> str:
        """Say which version this is, and where."""
        return json.dumps({"version": screentest.__version__, "host": socket.gethostname()})

    def do(self, parcel: bytes, files: tuple[Stamp, ...]) -> str:
        """What came of a task; or which of its files this node does not have."""
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
