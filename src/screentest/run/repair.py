"""Repair: a new database of every row that is intact and that SQLite still reaches.

Rows on a page that is damaged are lost, and where that page leads to others, the rows on those.
The damaged files are kept beside the new one. A repair that is killed can be started again: it
reads all damaged copies there are.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
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
    has_its_schema,
    open_for_writing,
)
from screentest.run.lease import Lease
from screentest.run.notes import IDENTITY as ABOUT
from screentest.run.records import SqlRow, checksum, insert_as_is, now

_BACKUP: Final = "damaged-"
_LOG: Final = f"{FILE}-wal"
_SCRATCH: Final = "repairing"
_ROWS_PER_PAGE: Final = 100  # a row has more than 40 bytes

# What makes a row the same row, and what tells its latest version from earlier ones.
_IDENTITY: Final[Mapping[str, tuple[str, ...]]] = {
    "starts": ("id",),
    "plan": ("item", "evaluator", "aspect", "order", "repeat", "signature"),
    "records": ("item", "evaluator", "aspect", "order", "repeat", "signature", "inputs"),
    "calls": ("call",),
    "receipts": ("call",),
    "answers": ("call",),
    **ABOUT,
}
_LATEST: Final[Mapping[str, tuple[str, ...]]] = {
    "starts": ("ended",),
    "plan": ("start",),
    "records": ("attempts",),
    # Starts are numbered; the clock, by which things are written, may have been put back.
    **dict.fromkeys(ABOUT, ("start", "written")),
}


@dataclass(frozen=True, slots=True)
class Repair:
    """What a repair found."""

    folder: Path
    kept: Mapping[str, int]
    """Rows that were saved, by table."""
    lost: Mapping[str, tuple[int, ...]]
    """The numbers of rows that are gone, by table, as far as the rest shows them."""
    backup: Path
    """Where the damaged files are."""


def repair(folder: Path) -> Repair:
    """Rebuild the database of a run from its intact rows."""
    folder = folder.absolute()
    if not (folder / FILE).exists():
        raise RunError(f"{folder} is not a run: it holds no {FILE}")
    lease = Lease.take(folder)
    try:
        backup = _back_up(folder)
        rows, counts = _gather(folder)
        if not any(rows.values()):
            shutil.rmtree(backup)
            raise RunError(
                f"no intact row of a run is in {folder / FILE}; nothing was changed",
                advice="Restore it from a backup, or start the run anew in another folder.",
            )
        _rebuild(folder, rows)
    except OSError as error:
        raise StorageError(
            f"cannot repair {folder}: {error}", advice="It needs room for a second copy of run.db."
        ) from error
    finally:
        lease.release()
    kept = {table: len(found) for table, found in rows.items()}
    lost = {table: gaps for table, found in rows.items() if (gaps := _gaps(found, counts[table]))}
    return Repair(folder, kept, lost, backup)


def _back_up(folder: Path) -> Path:
    backup = folder / f"{_BACKUP}{now().replace(':', '')}"
    backup.mkdir()
    for name in (FILE, _LOG):
        if (folder / name).exists():
            shutil.copy2(folder / name, backup / name)
    return backup


def _gather(folder: Path) -> tuple[dict[str, list[SqlRow]], dict[str, int]]:
    """The latest intact version of every row, and how many rows each table had as far as is known.

    Hashes of inputs are left to be made anew.
    """
    best: dict[str, dict[tuple[object, ...], SqlRow]] = {table: {} for table in _IDENTITY}
    counts = dict.fromkeys(_IDENTITY, 0)
    for backup in sorted(folder.glob(f"{_BACKUP}*")):
        for connection in _opened(backup, folder / _SCRATCH):
            for table, found in best.items():
                counts[table] = max(counts[table], _count(connection, table))
                _keep_latest(table, _reached_rows(connection, table), found)
                if _gaps(found.values(), counts[table]):
                    _keep_latest(table, _stray_rows(connection, table), found)
    rows = {
        table: sorted(found.values(), key=lambda row: _order(row["id"]))
        for table, found in best.items()
    }
    latest = max((_order(row["start"]) for row in rows["plan"]), default=(0, ""))
    rows["plan"] = [row for row in rows["plan"] if _order(row["start"]) == latest]
    return rows, counts


def _keep_latest(
    table: str, rows: Iterable[SqlRow], found: dict[tuple[object, ...], SqlRow]
) -> None:
    ages = _LATEST.get(table, ())
    for row in rows:
        identity = tuple(row[name] for name in _IDENTITY[table])
        known = found.get(identity)
        if known is None or (
            ages and [_order(row[age]) for age in ages] >= [_order(known[age]) for age in ages]
        ):
            found[identity] = row


def _opened(backup: Path, scratch: Path) -> Iterator[sqlite3.Connection]:
    """The damaged database, and once more with the schema of a new one where that may help.

    Opened as copies: SQLite folds the log into a database that it closes.
    """
    if not (backup / FILE).exists():
        return
    with _copy(backup, scratch) as copied:
        yield copied
        if _is_sound(copied):
            return
    # A run's tables are made in one order, so that their first pages have the same numbers in
    # every run. Rows of anything else fail their checksum.
    with _copy(backup, scratch, _schema_pages(scratch)) as copied:
        yield copied


@contextmanager
def _copy(
    backup: Path, scratch: Path, pages: Mapping[int, bytes] | None = None
) -> Iterator[sqlite3.Connection]:
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    for name in (FILE, _LOG):
        if (backup / name).exists():
            shutil.copy2(backup / name, scratch / name)
    with (scratch / FILE).open("r+b") as file:
        for number, page in (pages or {}).items():
            file.seek((number - 1) * len(page))
            file.write(page)
    with closing(connect(scratch / FILE)) as connection:
        # Read what can be read: a schema with faults, a file that is shorter than it says.
        for pragma in ("writable_schema = ON", "cell_size_check = ON", "synchronous = OFF"):
            with suppress(*UNREADABLE):
                connection.execute(f"PRAGMA {pragma}")
        yield connection
    shutil.rmtree(scratch)


def _schema_pages(scratch: Path) -> dict[int, bytes]:
    """The pages of a new run's database that hold its header and schema, by their numbers."""
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    with closing(open_for_writing(scratch)) as new:
        roots = {root for (root,) in new.execute("SELECT rootpage FROM sqlite_master")}
        (size,) = new.execute("PRAGMA page_size").fetchone()
    data = bytearray((scratch / FILE).read_bytes())
    # The header counts the pages of the new file. It is not believed where the number of the
    # latest change (from byte 24) is not the one that it was counted at (from byte 92).
    data[27] ^= 1
    numbers = range(1, len(data) // size + 1)
    return {n: bytes(data[(n - 1) * size : n * size]) for n in numbers if n not in roots}


def _is_sound(connection: sqlite3.Connection) -> bool:
    with suppress(*UNREADABLE):
        sound = connection.execute("PRAGMA integrity_check(1)").fetchone() == ("ok",)
        return bool(sound and has_its_schema(connection))
    return False


def _reached_rows(connection: sqlite3.Connection, table: str) -> Iterator[SqlRow]:
    """The intact rows of a table, around whatever is damaged."""
    last, end = 0, _last_rowid(connection, table)
    query = f"SELECT rowid, * FROM {table} NOT INDEXED WHERE rowid > ? ORDER BY rowid"
    while last < end:
        try:
            for rowid, *row in connection.execute(query, [last]):
                last = max(last, rowid)
                yield from _if_intact(table, row)
            return
        except UnicodeDecodeError:
            return  # names of columns: they are damaged for all rows, and right in the second copy
        except sqlite3.DatabaseError:
            last += 1  # behind the row that cannot be read, or one step nearer to the next page


def _stray_rows(connection: sqlite3.Connection, table: str) -> Iterator[SqlRow]:
    """Intact rows on pages that no other page leads to: each page in turn is made the table."""
    (pages,) = _first(connection, "PRAGMA page_count") or (0,)
    for number in range(2, pages + 1):
        with suppress(*UNREADABLE):
            connection.execute(
                "UPDATE sqlite_master SET rootpage = ? WHERE type = 'table' AND name = ?",
                [number, table],
            )
            connection.execute("PRAGMA writable_schema = RESET")  # reads it again
            connection.execute("PRAGMA writable_schema = ON")
            for row in connection.execute(f"SELECT * FROM {table} NOT INDEXED"):
                yield from _if_intact(table, row)


def _if_intact(table: str, row: Sequence[Any]) -> Iterator[SqlRow]:
    columns, (*cells, kept) = checked_columns()[table], row
    if len(cells) == len(columns) and checksum(table, cells) == kept:
        yield dict(zip(columns, cells, strict=True))


def _last_rowid(connection: sqlite3.Connection, table: str) -> int:
    """A number that no row is beyond."""
    if not _first(connection, f"SELECT count(*) FROM (SELECT * FROM {table} LIMIT 0)"):
        return 0  # there is no such table, by what can be read of the schema
    (pages,) = _first(connection, "PRAGMA page_count") or (0,)
    most: int = pages * _ROWS_PER_PAGE
    ways = ("NOT INDEXED", f"INDEXED BY sqlite_autoindex_{table}_1")
    found = [_first(connection, f"SELECT max(rowid) FROM {table} {way}") for way in ways]
    known = [one[0] for one in found if one is not None and isinstance(one[0], int)]
    return min(most, max(known, default=most))


def _count(connection: sqlite3.Connection, table: str) -> int:
    """How many rows a table had by the index of their numbers; 0 where that is damaged too."""
    query = f"SELECT count(id), max(id) FROM {table} INDEXED BY sqlite_autoindex_{table}_1"
    found = _first(connection, query)
    return found[0] if found is not None and found[0] == found[1] else 0


def _first(connection: sqlite3.Connection, query: str) -> tuple[Any, ...] | None:
    try:
        found: tuple[Any, ...] | None = connection.execute(query).fetchone()
    except UNREADABLE:
        return None
    return found


def _order(cell: object) -> tuple[int, str]:
    return (cell, "") if isinstance(cell, int) else (0, str(cell))


def _rebuild(folder: Path, rows: Mapping[str, list[SqlRow]]) -> None:
    scratch = folder / _SCRATCH
    scratch.mkdir()
    with explained(folder / FILE), closing(open_for_writing(scratch)) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")  # what a row points to may be lost
        connection.execute("BEGIN")
        for table, found in rows.items():
            for number, row in enumerate(found, start=1):
                # Rows name the start they belong to; all others close ranks.
                kept = row["id"] if table == "starts" else number
                insert_as_is(connection, table, {**row, "id": kept})
        connection.execute("COMMIT")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    # The old log must be gone before the new database gets its name, or it would be replayed
    # into it; everything in both is in the copies.
    for suffix in ("-wal", "-shm"):
        (folder / f"{FILE}{suffix}").unlink(missing_ok=True)
    (scratch / FILE).replace(folder / FILE)
    shutil.rmtree(scratch)


def _gaps(rows: Iterable[SqlRow], count: int) -> tuple[int, ...]:
    """Rows are numbered from 1 without a gap; where there is one, a row is lost."""
    there = {int(row["id"] or 0) for row in rows}
    last = max(count, *there, 0)
    return tuple(number for number in range(1, last + 1) if number not in there)
