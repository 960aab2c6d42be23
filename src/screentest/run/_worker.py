"""The life of a worker process: take a task, do it, say what came of it, until told to end."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import pickle
import shutil
import signal
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection

from screentest.core import LedgerClient
from screentest.core.errors import STOPPING
from screentest.run._perform import failed_to_load, perform
from screentest.run._threads import take
from screentest.run._wire import error_message, send
from screentest.run.channel import RemoteLedger


def live(
    tasks: Connection,
    ledger_pipe: Connection,
    parents_files: str,
    threads: Mapping[str, str],
    strangers: Sequence[str] = (),
) -> None:
    """Work until the pipe closes. Runs in the worker.

    ``parents_files`` is a temporary folder of the parent, to be removed should it be killed.
    ``strangers`` are modules of the user's that registered metrics or judges there.
    """
    take(threads)
    _stand_apart(parents_files)
    _keep_from_children(tasks, ledger_pipe)
    for name in strangers:
        with suppress(Exception):  # whoever needs what it registers will say that it is not there
            importlib.import_module(name)
    ledger = RemoteLedger(ledger_pipe)
    with suppress(EOFError, OSError):  # the run has ended
        send(tasks, kind="ready")
        while True:
            send(tasks, **do(tasks.recv_bytes(), ledger))
    for child in multiprocessing.active_children():
        child.kill()  # or the end of this process would wait for theirs


def do(parcel: bytes, ledger: LedgerClient) -> dict[str, object]:
    """Unpack and carry out a task; what came of it as plain data."""
    # The keys come first and are ours: they can be read even where the rest cannot.
    keys, work = pickle.loads(parcel)  # noqa: S301 - from the process that started this one
    try:
        try:
            function, payload = pickle.loads(work)  # noqa: S301 - likewise
        except Exception as error:  # noqa: BLE001 - unpickling imports strangers' modules
            done = failed_to_load(keys, error)
        else:
            done = perform(function, keys, payload, ledger)
    except STOPPING as error:
        return {"kind": "stop", "error": error_message(error)}
    return {
        "kind": "done",
        "outcomes": [[outcome.text, list(outcome.reasons)] for outcome in done.outcomes],
        "requests": done.requests,
        "elapsed": done.elapsed,
    }


def _stand_apart(parents_files: str) -> None:
    """What happens to the terminal or the parent's group must not cut a task short."""
    # Prints of strangers' code must not end up in what a command prints for other programs.
    sys.stdout.flush()
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if sys.platform != "win32":
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        os.setsid()  # Ctrl-C reaches a whole group; also, a worker's own children end with it
    threading.Thread(target=_end_with_parent, args=(parents_files,), daemon=True).start()


def _keep_from_children(*pipes: Connection) -> None:
    """A pipe must end with this process: children that live on would keep it open."""
    if sys.platform != "win32":
        for pipe in pipes:
            os.register_at_fork(after_in_child=pipe.close)


def _end_with_parent(parents_files: str) -> None:
    """A parent that is killed cannot say goodbye; nobody would hear of what we still did."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        shutil.rmtree(parents_files, ignore_errors=True)
        if sys.platform != "win32":
            os.killpg(os.getpid(), signal.SIGKILL)
        os._exit(1)
