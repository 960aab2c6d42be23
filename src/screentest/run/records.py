"""Record: what one evaluator said of one item, under a key that makes it findable for ever.

>>> key = RecordKey("film-7", "flicker", signature="flicker|v:1", inputs="9f86d081")
>>> text = encode({"flicker": Outcome.of(Score(0.5))}).text
>>> text
'{"flicker":{"score":{"value":0.5}}}'
>>> decode(text)["flicker"].unwrap().value
0.5
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar

from screentest.core import Failure, Outcome, Reason, Score, Verdict, from_json, to_json
from screentest.core.codec import DecodeError, from_object
from screentest.run.database import checked_columns, damaged
from screentest.run.writer import cleared

SqlValue: TypeAlias = str | int | None
SqlRow: TypeAlias = dict[str, SqlValue]
T = TypeVar("T")


def checksum(table: str, values: Sequence[SqlValue]) -> str:
    """Return the hash of a row's values and of the table they belong to.

    Every row carries the hash of its own values, so that a flipped byte is noticed when the row is
    read, and so that `repair` can trust a row it finds on a page that nothing points to any more.

    >>> checksum("records", ["film", 1, None])
    'a13b6c2cc0e8b662e18376137b15c801'
    """
    # A damaged cell may come back as bytes: that is a mismatch too, not an error.
    text = json.dumps([table, *values], separators=(",", ":"), default=repr)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def insert(connection: sqlite3.Connection, table: str, values: Mapping[str, SqlValue]) -> int:
    """Add a row under the next id, with its checksum; returns the id."""
    number: int = connection.execute(f"SELECT coalesce(max(id), 0) + 1 FROM {table}").fetchone()[0]
    insert_as_is(connection, table, {**values, "id": number})
    return number


def insert_as_is(connection: sqlite3.Connection, table: str, row: Mapping[str, SqlValue]) -> None:
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
    connection: sqlite3.Connection, table: str, number: int, values: Mapping[str, SqlValue]
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
    arguments: Sequence[SqlValue] = (),
) -> Iterator[SqlRow]:
    """Rows, each checked. ``rest`` is SQL after ``FROM table``."""
    columns = checked_columns()[table]
    names = ", ".join(f'{table}."{name}"' for name in columns)
    query = f"SELECT {names}, {table}.checksum FROM {table} {rest}"
    for *cells, kept in connection.execute(query, arguments):
        if checksum(table, cells) != kept:
            raise damaged(folder, f"row {cells[0]} of {table} is not what was written")
        yield dict(zip(columns, cells, strict=True))


def find(
    connection: sqlite3.Connection,
    table: str,
    values: Mapping[str, SqlValue],
    same: Sequence[str],
    columns: str = "id",
) -> Any:
    """Return ``columns`` of the row that has the ``same`` of these values; None for none."""
    names, marks = ", ".join(f'"{name}"' for name in same), ", ".join("?" * len(same))
    query = f"SELECT {columns} FROM {table} WHERE ({names}) = ({marks})"
    return connection.execute(query, [values[name] for name in same]).fetchone()


def put(
    connection: sqlite3.Connection, table: str, values: Mapping[str, SqlValue], same: Sequence[str]
) -> None:
    """Write a row in the place of the one that has the ``same`` of its values, or as a new one."""
    present = find(connection, table, values, same)
    if present is None:
        insert(connection, table, values)
    else:
        update(connection, table, present[0], values)


def from_row(kind: type[T], row: SqlRow, **others: object) -> T:
    """Return the object whose fields are columns of a row, apart from ``others``."""
    names = {part.name for part in fields(kind)}  # type: ignore[arg-type]
    return from_object(kind, {name: row[name] for name in names & row.keys()} | others)


RecordValue: TypeAlias = Score | Verdict | dict[str, Any]
"""What a record may hold: a score, a verdict, or an object of plain JSON."""

RecordOutcomes: TypeAlias = Mapping[str, Outcome[Any]]
"""By name of the sub-dimension; an evaluator with one value uses its own name."""


@dataclass(frozen=True, slots=True, order=True)
class RecordKey:
    """Which measurement of what. Two records are the same exactly if all of this is."""

    item: str
    evaluator: str
    """The metric or judge."""
    aspect: str = ""
    order: str = ""
    """In which order two videos were shown, where that matters."""
    repeat: int = 0
    signature: str = ""
    inputs: str = ""
    """The hash of everything that was looked at; see ``hash_item``."""

    def __post_init__(self) -> None:
        if not self.item or not self.evaluator:
            raise ValueError("a record needs an item and an evaluator")
        for name in KEY:
            value = getattr(self, name)
            if isinstance(value, str):
                value.encode()  # refuses a lone surrogate now, not when the result is written
                # An Aspect is text too: a key is made of plain text, whoever made it.
                object.__setattr__(self, name, str(value))

    @property
    def row(self) -> SqlRow:
        """Its parts by column."""
        return {name: getattr(self, name) for name in KEY}


KEY: Final = tuple(part.name for part in fields(RecordKey))
"""The columns of a record's key; those of a question are all but the last, the inputs."""


@dataclass(frozen=True, slots=True)
class Record:
    """What one evaluator said of one item."""

    key: RecordKey
    outcomes: Mapping[str, Outcome[RecordValue]]
    elapsed: float = 0.0
    """Seconds of the task that made it; records made together share them."""
    attempts: int = 1
    """How often it was tried, over all starts of the run."""
    requests: tuple[str, ...] = ()
    """The model calls it rests on, by the hash of the request."""
    written: str = ""

    @property
    def reasons(self) -> frozenset[Reason]:
        """The reasons why values are missing."""
        return frozenset(o.failure.reason for o in self.outcomes.values() if o.failure is not None)


@dataclass(frozen=True, slots=True)
class Encoded:
    """Outcomes as text, and the reasons among them so that nobody has to read it for those."""

    text: str
    reasons: tuple[Reason, ...] = ()


@dataclass(frozen=True, slots=True)
class _Stored:
    """One outcome as it is written; exactly one of the four is there."""

    score: Score | None = None
    verdict: Verdict | None = None
    data: dict[str, Any] | None = field(default=None)
    failure: Failure | None = None


def encode(outcomes: RecordOutcomes) -> Encoded:
    """Write outcomes as JSON that can be read again: the same text for the same outcomes."""
    if not outcomes:
        raise ValueError("a record needs at least one outcome")
    stored = {name: _stored(outcomes[name]) for name in sorted(outcomes)}
    reasons = {outcome.failure.reason for outcome in stored.values() if outcome.failure is not None}
    text = to_json(stored, dict[str, _Stored], strict=True)
    if "null" in text:
        decode(text)  # None is written in place of any type: this raises where it is none of them
    return Encoded(text, tuple(sorted(reasons)))


def decode(text: str) -> dict[str, Outcome[RecordValue]]:
    """Outcomes as they were before ``encode``."""
    outcomes: dict[str, Outcome[RecordValue]] = {}
    for name, stored in from_json(dict[str, _Stored], text).items():
        if stored.failure is not None:
            outcomes[name] = Outcome(failure=stored.failure)
        else:
            values = (stored.score, stored.verdict, stored.data)
            value = next((value for value in values if value is not None), None)
            if value is None:
                raise DecodeError(f"the outcome {name!r} of a record has neither value nor failure")
            outcomes[name] = Outcome(value=value)
    return outcomes


def _stored(outcome: Outcome[Any]) -> _Stored:
    if outcome.failure is not None:
        failure = outcome.failure
        return _Stored(
            failure=Failure(failure.reason, cleared(failure.detail), cleared(failure.advice))
        )
    value = outcome.unwrap()
    if isinstance(value, Score):
        return _Stored(score=replace(value, curve=tuple(value.curve)))
    if isinstance(value, Verdict):
        return _Stored(verdict=value)
    if isinstance(value, dict):
        # The codec would write null for a NaN and text for an object it does not know.
        return _Stored(data=json.loads(json.dumps(value, allow_nan=False)))
    raise TypeError(f"a record holds a Score, a Verdict or a dict, not {type(value).__name__}")


# The time of day as records keep it.


def now() -> str:
    """Return the moment in UTC, to the microsecond: sorts as text."""
    return datetime.now(UTC).isoformat(timespec="microseconds")
