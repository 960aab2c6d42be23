"""Repair: a new database of every row that is intact, and word of those that are not.

The damaged files are kept beside it. A repair that is killed can be started again: it reads
all damaged copies there are.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from screentest.core import RunError, StorageError
from screentest.run.about import IDENTITY as ABOUT
from screentest.run.carve import carve
from screentest.run.database import FILE, explained, open_for_writing
from screentest.run.lease import Lease
from screentest.run.records import Row, insert_as_is, now

_BACKUP: Final = "damaged-"
_LOG: Final = f"{FILE}-wal"

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
_LATEST: Final[Mapping[str, str]] = {
    "starts": "ended",
    "plan": "start",
    "records": "attempts",
    **dict.fromkeys(ABOUT, "written"),
}


@dataclass(frozen=True, slots=True)
class Repair:
    """What a repair found."""

    folder: Path
    kept: Mapping[str, int]
    """Intact rows by table."""
    lost: Mapping[str, tuple[int, ...]]
    """The numbers of rows that are gone, by table, as far as the gaps show them."""
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
        rows = _gather(folder)
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
    lost = {table: gaps for table, found in rows.items() if (gaps := _gaps(found))}
    return Repair(folder, kept, lost, backup)


def _back_up(folder: Path) -> Path:
    backup = folder / f"{_BACKUP}{now().replace(':', '')}"
    backup.mkdir()
    for name in (FILE, _LOG):
        if (folder / name).exists():
            shutil.copy2(folder / name, backup / name)
    return backup


def _gather(folder: Path) -> dict[str, list[Row]]:
    """The latest intact version of every row. Hashes of inputs are left to be made anew."""
    best: dict[str, dict[tuple[object, ...], Row]] = {table: {} for table in _IDENTITY}
    for backup in sorted(folder.glob(f"{_BACKUP}*")):
        if not (backup / FILE).exists():
            continue
        for table, row in carve(backup / FILE, backup / _LOG):
            if table not in best:
                continue
            identity = tuple(row[name] for name in _IDENTITY[table])
            known = best[table].get(identity)
            age = _LATEST.get(table)
            if known is None or (age is not None and _order(row[age]) >= _order(known[age])):
                best[table][identity] = row
    rows = {
        table: sorted(found.values(), key=lambda row: _order(row["id"]))
        for table, found in best.items()
    }
    latest = max((_order(row["start"]) for row in rows["plan"]), default=(0, ""))
    rows["plan"] = [row for row in rows["plan"] if _order(row["start"]) == latest]
    return rows


def _order(cell: object) -> tuple[int, str]:
    return (cell, "") if isinstance(cell, int) else (0, str(cell))


def _rebuild(folder: Path, rows: Mapping[str, list[Row]]) -> None:
    workshop = folder / "repairing"
    shutil.rmtree(workshop, ignore_errors=True)
    workshop.mkdir()
    with explained(folder / FILE), closing(open_for_writing(workshop)) as connection:
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
    (workshop / FILE).replace(folder / FILE)
    shutil.rmtree(workshop)


def _gaps(rows: Sequence[Row]) -> tuple[int, ...]:
    """Rows are numbered from 1 without a gap; where there is one, a row is lost."""
    there = {int(row["id"] or 0) for row in rows}
    return tuple(number for number in range(1, max(there, default=0)) if number not in there)
