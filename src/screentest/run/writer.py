"""One thread writes. Whatever others hand it is on the disk when their future resolves.

Changes that wait at the same moment share one commit, so that a slow disk is waited for once
and not once for each. Each change is a savepoint of its own: one that fails undoes only itself.
Reserve keeps room for the moment the disk is full; ``cleared`` keeps secrets out of the text.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Any, Final, TypeAlias, TypeVar

from screentest.core import StorageError
from screentest.run.database import explain

FILE: Final = "run.reserve"
SIZE: Final = 512 * 1024


class Reserve:
    """The file of a run that only takes up room.

    Answers that were paid for and results that took hours may be in memory when the disk fills up.
    Giving this file back makes room to write them down before the run stops.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE

    def take(self) -> None:
        """Take the room; a disk that has not even that is full already."""
        try:
            # Made anew: a link left here by somebody else would lead to a file of ours.
            self.release()
            with self._path.open("xb") as file:
                if hasattr(os, "posix_fallocate"):
                    os.posix_fallocate(file.fileno(), 0, SIZE)
                else:
                    file.write(bytes(SIZE))
        except OSError as error:
            self.release()
            raise StorageError(
                f"cannot write to {self._path.parent}: {error.strerror}",
                advice="A run needs at least a megabyte of free space and the right to write.",
            ) from None

    def release(self) -> None:
        """Give the room back."""
        with suppress(OSError):  # gone already, or a disk that lets nothing be removed either
            self._path.unlink()


T = TypeVar("T")
Change: TypeAlias = Callable[[sqlite3.Connection], T]

_MOST_TOGETHER: Final = 256


@dataclass(frozen=True, slots=True)
class _Change:
    work: Change[Any]
    vital: bool
    future: Future[Any] = field(default_factory=Future)


class Writer:
    """The only one who changes a run's database."""

    def __init__(self, connection: sqlite3.Connection, path: Path, reserve: Reserve) -> None:
        self._connection = connection
        self._path = path
        self._reserve = reserve
        self._trouble: StorageError | None = None
        self._queue: SimpleQueue[_Change | None] = SimpleQueue()
        self._open = True
        self._opening = Lock()
        self._thread = Thread(target=self._serve, name="screentest-writer", daemon=True)
        self._thread.start()

    def do(self, work: Change[T], *, vital: bool = False) -> T:
        """Make a change and wait until it is on the disk.

        ``vital`` is what cannot be had again without paying or waiting again: on a full disk
        it gets the room that was kept back.
        """
        return self.submit(work, vital=vital).result()

    def submit(self, work: Change[T], *, vital: bool = False) -> Future[T]:
        """Make a change some time soon."""
        change = _Change(work, vital)
        with self._opening:
            if not self._open:
                raise RuntimeError(f"{self._path} is closed")
            self._queue.put(change)
        return change.future

    def close(self) -> None:
        """Write what waits, then close the database."""
        with self._opening:
            self._open = False
            self._queue.put(None)
        self._thread.join()
        self._connection.close()

    def _serve(self) -> None:
        more = True
        while more:
            batch = [self._queue.get()]
            try:
                while len(batch) < _MOST_TOGETHER and batch[-1] is not None:
                    batch.append(self._queue.get_nowait())
            except Empty:
                pass
            more = batch[-1] is not None
            self._write([change for change in batch if change is not None])

    def _write(self, changes: list[_Change]) -> None:
        if self._trouble is not None:
            _refuse([change for change in changes if not change.vital], self._trouble)
            changes = [change for change in changes if change.vital]
        try:
            self._commit(changes)
        except sqlite3.Error as error:
            problem = explain(error, self._path) or error
            if not isinstance(problem, StorageError):
                _refuse(changes, problem)
                return
            self._trouble = problem
            self._reserve.release()
            _refuse([change for change in changes if not change.vital], problem)
            vital = [change for change in changes if change.vital]
            try:
                self._commit(vital)
            except sqlite3.Error:
                _refuse(vital, problem)

    def _commit(self, changes: list[_Change]) -> None:
        """One transaction; resolves the futures only after it is on the disk."""
        if not changes:
            return
        connection = self._connection
        done: list[tuple[_Change, Any, Exception | None]] = []
        try:
            connection.execute("BEGIN IMMEDIATE")
            for change in changes:
                connection.execute("SAVEPOINT change")
                try:
                    done.append((change, change.work(connection), None))
                except Exception as error:  # it is raised again where the change came from
                    if isinstance(error, sqlite3.Error) and explain(error, self._path) is not None:
                        raise
                    connection.execute("ROLLBACK TO change")
                    done.append((change, None, error))
                connection.execute("RELEASE change")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        for change, value, problem in done:
            if problem is None:
                change.future.set_result(value)
            else:
                change.future.set_exception(problem)


def _refuse(changes: list[_Change], error: Exception) -> None:
    for change in changes:
        change.future.set_exception(error)


# Text on its way to the disk: no key or password goes along, and all of it can be written.

_TELLING: Final = re.compile(
    r"(^|_)(API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)$", re.IGNORECASE
)
_SHORTEST: Final = 8  # shorter values are words, not secrets


def cleared(text: str) -> str:
    """``text`` without the value of any secret-sounding environment variable.

    Bytes that are not text, as in some file names, are written as escapes.

    >>> cleared("no such file: caf\\udce9.mp4")
    'no such file: caf\\\\udce9.mp4'
    """
    secrets = {
        value
        for name, value in os.environ.items()
        if len(value) >= _SHORTEST and _TELLING.search(name)
    }
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, "[secret]")
    return text.encode("utf-8", "backslashreplace").decode()
