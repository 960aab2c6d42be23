"""The shape of a run's database, as numbered steps that are only ever appended.

``PRAGMA user_version`` says how many steps a database has taken. A step, once released, is
never edited: databases that took it exist. Each table starts with an id and ends with a
checksum that covers all its columns, so a table keeps its columns for ever; what is new goes
into a new table.
"""

from __future__ import annotations

import sqlite3
from functools import cache
from pathlib import Path
from typing import Final

from screentest.core import RunError, RunTooNew

APPLICATION_ID: Final = 0x53435254  # "SCRT", in the header of every run database

_KEY = 'item, evaluator, aspect, "order", repeat, signature'
_KEY_COLUMNS = """
    item      TEXT NOT NULL,
    evaluator TEXT NOT NULL,
    aspect    TEXT NOT NULL,
    "order"   TEXT NOT NULL,
    repeat    INTEGER NOT NULL,
    signature TEXT NOT NULL,
    inputs    TEXT NOT NULL,"""

# Money is in trillionths, times in microseconds: whole numbers are exact and add up.
# An id is an INT, not an INTEGER, which SQLite would keep outside of the row: `repair` wants
# to find it there.
MIGRATIONS: tuple[str, ...] = (
    f"""
    CREATE TABLE starts (
        id        INT PRIMARY KEY,
        command   TEXT NOT NULL,
        arguments TEXT NOT NULL,
        package   TEXT NOT NULL,
        host      TEXT NOT NULL,
        pid       INTEGER NOT NULL,
        started   TEXT NOT NULL,
        ended     TEXT NOT NULL,
        ending    TEXT NOT NULL,
        checksum  TEXT NOT NULL
    );
    CREATE TABLE plan (
        id        INT PRIMARY KEY,{_KEY_COLUMNS}
        start     INTEGER NOT NULL REFERENCES starts (id),
        checksum  TEXT NOT NULL,
        UNIQUE ({_KEY})
    );
    CREATE TABLE records (
        id         INT PRIMARY KEY,{_KEY_COLUMNS}
        outcomes   TEXT NOT NULL,
        reasons    TEXT NOT NULL,
        requests   TEXT NOT NULL,
        elapsed_us INTEGER NOT NULL,
        attempts   INTEGER NOT NULL,
        start      INTEGER NOT NULL REFERENCES starts (id),
        written    TEXT NOT NULL,
        checksum   TEXT NOT NULL,
        UNIQUE ({_KEY}, inputs)
    );
    CREATE TABLE calls (
        id       INT PRIMARY KEY,
        call     TEXT NOT NULL UNIQUE,
        request  TEXT NOT NULL,
        model    TEXT NOT NULL,
        attempt  INTEGER NOT NULL,
        purpose  TEXT NOT NULL,
        images   INTEGER NOT NULL,
        max_cost INTEGER,
        start    INTEGER NOT NULL REFERENCES starts (id),
        intended TEXT NOT NULL,
        checksum TEXT NOT NULL
    );
    CREATE TABLE receipts (
        id          INT PRIMARY KEY,
        call        TEXT NOT NULL UNIQUE REFERENCES calls (call),
        status      TEXT NOT NULL,
        model       TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        tokens_in   INTEGER,
        tokens_out  INTEGER,
        cost        INTEGER,
        latency_us  INTEGER NOT NULL,
        detail      TEXT NOT NULL,
        received    TEXT NOT NULL,
        checksum    TEXT NOT NULL
    );
    CREATE TABLE answers (
        id       INT PRIMARY KEY,
        call     TEXT NOT NULL UNIQUE REFERENCES calls (call),
        request  TEXT NOT NULL,
        body     TEXT NOT NULL,
        checksum TEXT NOT NULL
    );
    CREATE INDEX answers_by_request ON answers (request);
    CREATE TABLE inputs (
        id       INT PRIMARY KEY,
        path     TEXT NOT NULL UNIQUE,
        size     INTEGER NOT NULL,
        mtime_ns INTEGER NOT NULL,
        ctime_ns INTEGER NOT NULL,
        inode    TEXT NOT NULL,
        sha256   TEXT NOT NULL,
        checksum TEXT NOT NULL
    );
    """,
    """
    CREATE TABLE items (
        id       INT PRIMARY KEY,
        item     TEXT NOT NULL UNIQUE,
        body     TEXT NOT NULL,
        probe    TEXT,
        start    INTEGER NOT NULL REFERENCES starts (id),
        written  TEXT NOT NULL,
        checksum TEXT NOT NULL
    );
    CREATE TABLE evaluators (
        id        INT PRIMARY KEY,
        evaluator TEXT NOT NULL,
        kind      TEXT NOT NULL,
        signature TEXT NOT NULL,
        about     TEXT NOT NULL,
        start     INTEGER NOT NULL REFERENCES starts (id),
        written   TEXT NOT NULL,
        checksum  TEXT NOT NULL,
        UNIQUE (kind, evaluator, signature)
    );
    CREATE TABLE notes (
        id       INT PRIMARY KEY,
        name     TEXT NOT NULL UNIQUE,
        body     TEXT NOT NULL,
        start    INTEGER NOT NULL REFERENCES starts (id),
        written  TEXT NOT NULL,
        checksum TEXT NOT NULL
    );
    """,
)


def newest() -> int:
    """How many steps this version knows."""
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
    """How many steps the database has taken; refuses what is not a run or comes from later."""
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


@cache
def checked_columns() -> dict[str, tuple[str, ...]]:
    """For each table, the columns that its checksum covers, in order; the first is the id."""
    connection = sqlite3.connect(":memory:")
    try:
        migrate(connection, Path())
        found = {}
        for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'"):
            names = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
            found[table] = tuple(names[:-1])
        return found
    finally:
        connection.close()
