"""SQLite as a run uses it: durable, checked, and with errors that say what to do."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from screentest.core import RunDamaged, RunError, ScreentestError, StorageError
from screentest.run.migrations import check_version, migrate, newest

FILE: Final = "run.db"

_READ_ONLY, _IO, _CORRUPT, _FULL, _CANNOT_OPEN, _NOT_A_DATABASE = 8, 10, 11, 13, 14, 26
_PERMISSION, _BUSY, _LOCKED = 3, 5, 6
_CACHE_KB: Final = 65_536  # the inner pages of the indexes of ten million records
_FAILING = {_READ_ONLY, _IO, _FULL, _CANNOT_OPEN, _PERMISSION}


def open_for_writing(folder: Path) -> sqlite3.Connection:
    """The database of a run, made where there is none, at the newest shape and checked."""
    path = folder / FILE
    with opening(path):
        connection = _connect(path.absolute().as_uri(), "rwc")
        try:
            connection.execute("PRAGMA busy_timeout = 10000")
            connection.execute("PRAGMA cell_size_check = ON")
            check_version(connection, folder)
            mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
            if mode != "wal":
                raise StorageError(
                    f"{path}: this file system cannot keep a write-ahead log",
                    advice="Put the run on a local disk.",
                )
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA temp_store = MEMORY")
            connection.execute(f"PRAGMA cache_size = -{_CACHE_KB}")
            migrate(connection, folder)
            _check(connection, folder)
        except BaseException:
            connection.close()
            raise
    return connection


def open_for_reading(folder: Path) -> sqlite3.Connection:
    """The database of a run that may be written to at this moment; never changes it."""
    path = folder / FILE
    if not path.is_file():
        raise RunError(
            f"{folder} is not a run: it holds no {FILE}",
            advice="`screentest runs FOLDER` lists the runs under a folder.",
        )
    with opening(path):
        connection = _connect_read_only(path)
        try:
            _check(connection, folder)
            if check_version(connection, folder) < newest():
                connection = _newer_copy(connection, folder)
        except BaseException:
            connection.close()
            raise
    return connection


def _connect_read_only(path: Path) -> sqlite3.Connection:
    """A connection that changes nothing, by the first way that the folder's rights allow."""
    address = path.absolute().as_uri()
    # Rights to write let the last one who closes a database take away its log; without them
    # the log's index must be there already, and without a log none is needed.
    ways = ["rw", "ro"] if path.with_name(f"{FILE}-wal").exists() else ["rw", "ro&immutable=1"]
    for way in ways:
        connection = _connect(address, way)
        try:
            connection.execute("PRAGMA busy_timeout = 10000")
            connection.execute("PRAGMA query_only = ON")
            connection.execute("SELECT count(*) FROM sqlite_master")
            return connection
        except sqlite3.DatabaseError as error:
            connection.close()
            if way == ways[-1] or not isinstance(error, sqlite3.OperationalError):
                raise
    raise AssertionError("there is a last way")


def _connect(address: str, mode: str) -> sqlite3.Connection:
    # SQLite itself keeps threads apart; a run may be opened in one and used in another.
    connection = sqlite3.connect(
        f"{address}?mode={mode}", uri=True, isolation_level=None, check_same_thread=False
    )
    # Text that is damaged must reach the checksum, not fail on the way there.
    connection.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
    return connection


def _newer_copy(connection: sqlite3.Connection, folder: Path) -> sqlite3.Connection:
    """A run of an older version is read from a copy in memory, brought to today's shape."""
    copy = _connect("file::memory:", "memory")
    with closing(connection):
        connection.backup(copy)
    migrate(copy, folder)
    return copy


def _check(connection: sqlite3.Connection, folder: Path) -> None:
    """An index that leads astray would hide rows, and rows cannot tell that they are hidden."""
    verdict = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
    if verdict != "ok":
        raise damaged(folder, verdict)


def damaged(folder: Path, what: str) -> RunDamaged:
    """The error for a database that fails a check."""
    return RunDamaged(
        f"{folder} is damaged: {what}",
        advice=f"`screentest runs --repair {folder}` keeps every record that is intact.",
    )


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn SQLite's errors about files and disks into ours."""
    try:
        yield
    except sqlite3.Error as error:
        known = explain(error, path)
        if known is None:
            raise
        raise known from error


@contextmanager
def opening(path: Path) -> Iterator[None]:
    """The same while a database is opened, when whatever SQLite cannot make out is damage."""
    try:
        with explained(path):
            yield
    except sqlite3.DatabaseError as error:
        raise damaged(path.parent, str(error)) from error


def explain(error: sqlite3.Error, path: Path) -> ScreentestError | None:
    """What an error of SQLite means to a user; None where it is a fault of ours."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in _FAILING:
        return StorageError(
            f"cannot write to {path}: {error}",
            advice="Free some space, or see whether the disk is full, over quota, read-only or "
            "failing. What was written stays; start the same command again to go on.",
        )
    if code in (_CORRUPT, _NOT_A_DATABASE):
        return damaged(path.parent, str(error))
    if code in (_BUSY, _LOCKED):
        return RunError(
            f"{path} is locked by another program: {error}",
            advice="Close whatever has the database open, then start again.",
        )
    return None
