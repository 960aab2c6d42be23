"""The database of a run: its schema and migrations; SQLite durable, checked, with clear errors.

The schema is numbered steps in ``schema``, which are only ever appended. ``PRAGMA user_version``
says how many steps a database has taken. A step, once released, is never edited, nor are its spaces
(SQLite keeps the text of a table): databases that took it exist. Each table starts with an id and
ends with a checksum that covers all its columns, so a table keeps its columns for ever; what is new
goes into a new table.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from typing import Final

from screentest.core import RunDamaged, RunError, RunTooNew, ScreentestError, StorageError

APPLICATION_ID: Final = 0x53435254  # "SCRT", in the header of every run database

MIGRATIONS: Final = tuple(
    step.read_text(encoding="utf-8") for step in sorted(Path(__file__).parent.glob("schema/*.sql"))
)


def newest() -> int:
    """Count the steps that this version knows."""
    return len(MIGRATIONS)


def migrate(connection: sqlite3.Connection, folder: Path) -> None:
    """Bring a database to the newest shape; an empty one becomes a run's."""
    version = check_version(connection, folder)
    for number, step in enumerate(MIGRATIONS[version:], start=version + 1):
        # The step and its number are one transaction: a kill leaves the shape before or after.
        connection.executescript(
            f"BEGIN IMMEDIATE; {step} PRAGMA application_id = {APPLICATION_ID}; "
            f"PRAGMA user_version = {number}; COMMIT;"
        )


def check_version(connection: sqlite3.Connection, folder: Path) -> int:
    """Count the steps the database has taken; refuse what is not a run or comes from later."""
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    application: int = connection.execute("PRAGMA application_id").fetchone()[0]
    if application != APPLICATION_ID:
        empty = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
        if not empty or version:
            raise RunError(
                f"{folder}: run.db is a database, but not one of screentest",
                advice="Choose another folder. Should this have been a run: "
                f"`screentest runs --repair {folder}` looks for its records.",
            )
    if version > newest():
        raise RunTooNew(
            f"{folder} was written by a later version of screentest "
            f"(its store is at {version}, this version reads up to {newest()})",
            advice="Upgrade: pip install --upgrade screentest",
        )
    return version


def checked_columns() -> dict[str, tuple[str, ...]]:
    """For each table, the columns that its checksum covers, in order; the first is the id."""
    return {table: names[:-1] for table, names in _columns_after(newest()).items()}


@cache
def _columns_after(steps: int) -> dict[str, tuple[str, ...]]:
    with closing(sqlite3.connect(":memory:")) as connection:
        for step in MIGRATIONS[:steps]:
            connection.executescript(step)
        return _columns(connection)


def _columns(connection: sqlite3.Connection) -> dict[str, tuple[str, ...]]:
    query = """
        SELECT tables.name, columns.name
        FROM sqlite_master AS tables, pragma_table_info(tables.name) AS columns
        WHERE tables.type = 'table' ORDER BY tables.rowid, columns.cid
    """
    tables: dict[str, tuple[str, ...]] = {}
    for table, column in connection.execute(query):
        tables[table] = (*tables.get(table, ()), column)
    return tables


FILE: Final = "run.db"

_READ_ONLY, _IO, _CORRUPT, _FULL, _CANNOT_OPEN, _NOT_A_DATABASE = 8, 10, 11, 13, 14, 26
_PERMISSION, _BUSY, _LOCKED = 3, 5, 6
_CACHE_KB: Final = 65_536  # the inner pages of the indexes of ten million records
UNREADABLE: Final = (sqlite3.DatabaseError, UnicodeDecodeError)
"""What reading a damaged database raises. Names of columns and the words of SQLite's own messages
are taken from it and decoded by Python, which has errors of its own."""
_FAILING = {_READ_ONLY, _IO, _FULL, _CANNOT_OPEN, _PERMISSION}


def open_for_writing(folder: Path) -> sqlite3.Connection:
    """Return the database of a run, made where there is none, at the newest shape and checked."""
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


def open_for_reading(folder: Path, *, checked: bool = False) -> sqlite3.Connection:
    """Return the database of a run that may be written to at this moment; never changes it.

    ``checked``: this process has just opened it for writing, which takes a look at every page.
    """
    path = folder / FILE
    if not path.is_file():
        raise RunError(
            f"{folder} is not a run: it holds no {FILE}",
            advice="`screentest runs FOLDER` lists the runs under a folder.",
        )
    with opening(path):
        connection = _connect_read_only(path)
        try:
            if not checked:
                _check(connection, folder)
            if check_version(connection, folder) < newest():
                connection = _newer_copy(connection, folder)
        except BaseException:
            connection.close()
            raise
    return connection


def _connect_read_only(path: Path) -> sqlite3.Connection:
    """Return a connection that changes nothing, by the first way that the folder's rights allow."""
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
        except UNREADABLE as error:
            connection.close()
            if way == ways[-1] or not isinstance(error, sqlite3.OperationalError):
                raise
    raise AssertionError("there is a last way")


def connect(path: Path) -> sqlite3.Connection:
    """Return a database as it is, unchecked."""
    return _connect(path.absolute().as_uri(), "rw")


def _connect(address: str, mode: str) -> sqlite3.Connection:
    # SQLite itself keeps threads apart; a run may be opened in one and used in another.
    connection = sqlite3.connect(
        f"{address}?mode={mode}", uri=True, isolation_level=None, check_same_thread=False
    )
    # Text that is damaged must reach the checksum, not fail on the way there.
    connection.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
    return connection


def _newer_copy(connection: sqlite3.Connection, folder: Path) -> sqlite3.Connection:
    """Return a run of an older version is read from a copy in memory, brought to today's shape."""
    copy = _connect("file::memory:", "memory")
    with closing(connection):
        connection.backup(copy)
    migrate(copy, folder)
    return copy


def _check(connection: sqlite3.Connection, folder: Path) -> None:
    """Check the indexes: one that leads astray would hide rows."""
    verdict = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
    if verdict != "ok":
        raise damaged(folder, verdict)
    version = check_version(connection, folder)
    # SQLite takes any names of tables and columns as sound.
    if version and _columns(connection) != _columns_after(version):
        raise damaged(folder, "its tables are not those of a run")


def damaged(folder: Path, what: str) -> RunDamaged:
    """Return the error for a database that fails a check."""
    return RunDamaged(
        f"{folder} is damaged: {what}",
        advice=f"`screentest runs --repair {folder}` keeps every record that is intact.",
    )


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn SQLite's errors about files and disks into ours."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise damaged(path.parent, f"what it says is not text ({error})") from error
    except sqlite3.Error as error:
        explanation = explain(error, path)
        if explanation is None:
            raise
        raise explanation from error


@contextmanager
def opening(path: Path) -> Iterator[None]:
    """Return the same while a database is opened, when whatever SQLite cannot make out is
    damage."""
    try:
        with explained(path):
            yield
    except sqlite3.DatabaseError as error:
        raise damaged(path.parent, str(error)) from error


def explain(error: sqlite3.Error, path: Path) -> ScreentestError | None:
    """Translate an error of SQLite for a user; None where it is a fault of ours."""
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
