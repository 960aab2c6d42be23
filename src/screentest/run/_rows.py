"""Rows that can tell whether they are what was written.

Every row of a table with a checksum carries the hash of its own values, so that a flipped
byte is noticed when the row is read, and so that `repair` can trust a row it finds on a page
nothing points to any more.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from screentest.run._database import damaged
from screentest.run.migrations import checked_columns

Cell: TypeAlias = str | int | None
Row: TypeAlias = dict[str, Cell]


def checksum(table: str, values: Sequence[Cell]) -> str:
    """The hash of a row's values and of the table they belong to.

    >>> checksum("records", ["film", 1, None])
    'a13b6c2cc0e8b662e18376137b15c801'
    """
    # A damaged cell may come back as bytes: that is a mismatch too, not an error.
    text = json.dumps([table, *values], separators=(",", ":"), default=repr)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def insert(connection: sqlite3.Connection, table: str, values: Mapping[str, Cell]) -> int:
    """Add a row under the next id, with its checksum; returns the id."""
    number: int = connection.execute(f"SELECT coalesce(max(id), 0) + 1 FROM {table}").fetchone()[0]
    insert_as_is(connection, table, {**values, "id": number})
    return number


def insert_as_is(connection: sqlite3.Connection, table: str, row: Mapping[str, Cell]) -> None:
    """Add a row that has an id."""
    columns = checked_columns()[table]
    cells = [row[name] for name in columns]
    names = ", ".join(f'"{name}"' for name in columns)
    marks = ", ".join("?" * (len(columns) + 1))
    connection.execute(
        f"INSERT INTO {table} ({names}, checksum) VALUES ({marks})",
        [*cells, checksum(table, cells)],
    )


def update(
    connection: sqlite3.Connection, table: str, number: int, values: Mapping[str, Cell]
) -> None:
    """Replace the row of that id, checksum included."""
    columns = checked_columns()[table]
    row = {**values, "id": number}
    cells = [row[name] for name in columns]
    changes = ", ".join(f'"{name}" = ?' for name in columns)
    connection.execute(
        f"UPDATE {table} SET {changes}, checksum = ? WHERE id = ?",
        [*cells, checksum(table, cells), number],
    )


def select(
    connection: sqlite3.Connection,
    table: str,
    folder: Path,
    rest: str = "",
    arguments: Sequence[Cell] = (),
) -> Iterator[Row]:
    """Rows, each checked. ``rest`` is SQL after ``FROM table``."""
    columns = checked_columns()[table]
    names = ", ".join(f'{table}."{name}"' for name in columns)
    query = f"SELECT {names}, {table}.checksum FROM {table} {rest}"
    for *cells, kept in connection.execute(query, arguments):
        if checksum(table, cells) != kept:
            raise damaged(folder, f"row {cells[0]} of {table} is not what was written")
        yield dict(zip(columns, cells, strict=True))
