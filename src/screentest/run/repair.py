"""Repair: copy every intact row that SQLite still reaches into a new database.

Rows carry checksums, so a damaged row is not taken for an intact one. Rows on a damaged page are
lost, and so are rows on pages that only a damaged page leads to. The damaged files are kept beside
the new one. A repair that is killed can be started again.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from screentest.core import RunError, StorageError
from screentest.run.database import (
    FILE,
    UNREADABLE,
    checked_columns,
    connect,
    explained,
    open_for_writing,
)
from screentest.run.lease import Lease
from screentest.run.records import SqlRow, checksum, insert_as_is, now

_ROWS_PER_PAGE: Final = 100  # a row has more than 40 bytes


@dataclass(frozen=True, slots=True)
class Repair:
    """The rows that a repair kept and lost."""

    folder: Path
    kept: Mapping[str, int]
    """Rows that were saved, by table."""
    lost: Mapping[str, tuple[int, ...]]
    """The numbers of rows that are gone, by table, as far as the rest shows them."""
    backup: Path
    """The folder with the damaged files."""


def repair(folder: Path) -> Repair:
    """Rebuild the database of a run from its intact rows."""
    folder = folder.absolute()
    if not (folder / FILE).exists():
        raise RunError(f"{folder} is not a run: it holds no {FILE}")
    scratch, backup = folder / "repairing", folder / f"damaged-{now().replace(':', '')}"
    lease = Lease.take(folder)
    try:
        _copy_damaged(folder, scratch)
        rows, last = _intact_rows(scratch)
        if not any(rows.values()):
            shutil.rmtree(scratch)
            raise RunError(
                f"no intact row of a run is in {folder / FILE}; nothing was changed",
                advice="Restore it from a backup, or score again in another folder.",
            )
        gaps = {table: _gaps(ids, last[table]) for table, ids in rows.items()}
        _write(scratch / "new", rows)
        # The old log must be gone before the new database gets its name, or it would be replayed
        # into it; everything in both is in the copies.
        for suffix in ("-wal", "-shm"):
            (folder / f"{FILE}{suffix}").unlink(missing_ok=True)
        (scratch / "new" / FILE).replace(folder / FILE)
        scratch.rename(backup)
        shutil.rmtree(backup / "new")
    except OSError as error:
        raise StorageError(
            f"cannot repair {folder}: {error}", advice="It needs room for a second copy of run.db."
        ) from error
    finally:
        lease.release()
    kept = {table: len(ids) for table, ids in rows.items()}
    return Repair(folder, kept, {table: lost for table, lost in gaps.items() if lost}, backup)


def _copy_damaged(folder: Path, scratch: Path) -> None:
    """Copy the damaged files; copies of a repair that was killed are the better ones."""
    if (scratch / "new").exists() and not (scratch / "new" / FILE).exists():
        scratch.rename(folder / f"damaged-{now().replace(':', '')}")  # killed when all was done
    if not (scratch / FILE).exists():
        scratch.mkdir(exist_ok=True)
        if (folder / f"{FILE}-wal").exists():
            shutil.copy2(folder / f"{FILE}-wal", scratch)
        shutil.copy2(folder / FILE, scratch / "copy")
        (scratch / "copy").rename(scratch / FILE)


def _intact_rows(damaged: Path) -> tuple[dict[str, dict[int, SqlRow]], dict[str, int]]:
    """Read the intact rows of each table by id, and the last id that its index has.

    Hashes of inputs are left to be made anew.
    """
    tables: dict[str, dict[int, SqlRow]] = {
        table: {} for table in checked_columns() if table != "inputs"
    }
    last = dict.fromkeys(tables, 0)
    # Then once more under the schema of a new run: its tables are made in one order, so that
    # their first pages have the same numbers in every run.
    for pages in ({}, _schema_pages(damaged / "new")):
        place = damaged / "read"  # SQLite folds the log into a database that it closes
        place.mkdir(exist_ok=True)
        for path in damaged.glob(f"{FILE}*"):
            shutil.copy2(path, place)
        with (place / FILE).open("r+b") as file:
            for number, page in pages.items():
                file.seek((number - 1) * len(page))
                file.write(page)
        with closing(connect(place / FILE)) as connection:
            for pragma in ("writable_schema = ON", "cell_size_check = ON", "synchronous = OFF"):
                _first(connection, f"PRAGMA {pragma}")  # read a schema with faults all the same
            for table, rows in tables.items():
                rows |= _rows_of(connection, table)
                index = f"INDEXED BY sqlite_autoindex_{table}_1"
                ids = f"SELECT max(id) FROM {table} {index} HAVING count(id) = max(id)"
                last[table] = max(last[table], _first(connection, ids))
        shutil.rmtree(place)
    return tables, last


def _rows_of(connection: sqlite3.Connection, table: str) -> dict[int, SqlRow]:
    """Read the intact rows of a table, around whatever is damaged."""
    columns, rows = checked_columns()[table], dict[int, SqlRow]()
    for *cells, kept in _cells_of(connection, table):
        if len(cells) == len(columns) and checksum(table, cells) == kept:
            rows[cells[0]] = dict(zip(columns, cells, strict=True))
    return rows


def _cells_of(connection: sqlite3.Connection, table: str) -> Iterator[list[Any]]:
    last, end = 0, _ROWS_PER_PAGE * _first(connection, "PRAGMA page_count")
    for way in ("NOT INDEXED", f"INDEXED BY sqlite_autoindex_{table}_1"):
        end = min(end, _first(connection, f"SELECT max(rowid) FROM {table} {way}") or end)
    while last < end:
        try:
            query = f"SELECT rowid, * FROM {table} NOT INDEXED WHERE rowid > ? ORDER BY rowid"
            for rowid, *cells in connection.execute(query, [last]):
                last = max(last, rowid)
                yield cells
            return
        except UnicodeDecodeError:
            return  # names of columns are damaged: the schema of a new run has them right
        except sqlite3.DatabaseError as error:
            if "no such table" in str(error):
                return
            last += 1  # behind the row that cannot be read, or one step nearer to the next page


def _schema_pages(place: Path) -> dict[int, bytes]:
    """Return the pages of a new run's database that hold its header and schema, by their
    numbers."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    with closing(open_for_writing(place)) as new:
        roots = {root for (root,) in new.execute("SELECT rootpage FROM sqlite_master")}
        (size,) = new.execute("PRAGMA page_size").fetchone()
    data = bytearray((place / FILE).read_bytes())
    # The header counts the pages of the new file. It is not believed where the number of the
    # latest change (from byte 24) is not the one that it was counted at (from byte 92).
    data[27] ^= 1
    numbers = range(1, len(data) // size + 1)
    return {n: bytes(data[(n - 1) * size : n * size]) for n in numbers if n not in roots}


def _first(connection: sqlite3.Connection, query: str) -> Any:
    """Return the first cell of an answer; 0 where it cannot be read."""
    with suppress(*UNREADABLE):
        row = connection.execute(query).fetchone()
        return row[0] if row is not None and isinstance(row[0], int) else 0
    return 0


def _write(place: Path, tables: Mapping[str, Mapping[int, SqlRow]]) -> None:
    """Write the rows to a new database."""
    with explained(place / FILE), closing(open_for_writing(place)) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")  # what a row points to may be lost
        connection.execute("BEGIN")
        for table, rows in tables.items():
            for number, old in enumerate(sorted(rows), start=1):
                # Rows name the start they belong to; all others close ranks.
                kept = old if table == "starts" else number
                insert_as_is(connection, table, {**rows[old], "id": kept})
        connection.execute("COMMIT")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _gaps(ids: Iterable[int], last: int) -> tuple[int, ...]:
    """Find the lost rows: they are numbered from 1 to ``last`` without a gap."""
    there = set(ids)
    return tuple(number for number in range(1, max(last, *there, 0) + 1) if number not in there)
