"""RunReader: what a run is about, its records, plan, coverage and cost, also while it is written.

``find_runs`` lists the runs under a folder.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

from screentest.core import Item, Reason, RunError, ScreentestError, VideoInfo
from screentest.core.codec import DecodeError, from_json
from screentest.run.database import FILE, explained, open_for_reading
from screentest.run.lease import Holder, holder
from screentest.run.ledger import Call, Spending, read_calls, read_spending
from screentest.run.notes import EvaluatorNote, parse_document
from screentest.run.records import KEY, Record, RecordKey, SqlRow, decode, from_row, select

_KEY: Final = ", ".join(f'"{name}"' for name in KEY)
_CURRENT: Final = f"JOIN plan USING ({_KEY})"


@dataclass(frozen=True, slots=True)
class Start:
    """One start of the command that a run belongs to."""

    id: int
    command: str
    arguments: Mapping[str, Any]
    package: str
    """The version of screentest."""
    host: str
    pid: int
    started: str
    ended: str = ""
    ending: str = ""
    """``finished``, ``interrupted`` or ``failed``; empty while it runs and after a kill."""


# As outcomes are written: {"NAME":{"score":{…}},…}. Quotation marks inside a text have a backslash
# before them.
_VALUES = " OR ".join(
    f"instr(outcomes, ':{{\"{kind}\":{{')" for kind in ("score", "verdict", "data")
)
_HAS_VALUES = f"CASE WHEN reasons = '{Reason.NOT_APPLICABLE.value}' THEN {_VALUES} ELSE 1 END"


@dataclass(frozen=True, slots=True)
class Coverage:
    """How far a run is: every planned record is scored, failed, inapplicable or pending."""

    total: int = 0
    scored: int = 0
    """Records in which no value is missing that makes sense for the item."""
    failed: int = 0
    inapplicable: int = 0
    """Records in which no value at all makes sense for the item: a question that is not asked."""
    reasons: Mapping[Reason, int] = field(default_factory=dict)
    """How many records lack a value for each reason."""

    @property
    def pending(self) -> int:
        """Planned, not tried yet."""
        return self.total - self.scored - self.failed - self.inapplicable

    @property
    def share(self) -> float | None:
        """Of the records that could be scored, those that are."""
        sensible = self.total - self.inapplicable
        return self.scored / sensible if sensible else None


class RunReader:
    """A run, to be read. Use it as a context manager."""

    def __init__(self, folder: Path, *, checked: bool = False) -> None:
        self.folder = folder
        self._reading = open_for_reading(folder, checked=checked)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._reading.close()

    def starts(self) -> list[Start]:
        """Return every start of the run, the first one first."""
        with self._explained():
            return [_start(row) for row in select(self._reading, "starts", self.folder)]

    def plan(self, evaluator: str = "") -> Iterator[RecordKey]:
        """Yield every record that the latest start is to make, by key; or those of one
        evaluator."""
        where, arguments = _of(evaluator)
        with self._explained():
            query = f"SELECT {_KEY} FROM plan {where} ORDER BY {_KEY}"
            for row in self._reading.execute(query, arguments):
                yield RecordKey(*row)

    def records(self, evaluator: str = "", *, current: bool = True) -> Iterator[Record]:
        """Read records by key, each checked; with ``current`` those of the plan only.

        Those that are not current were made of inputs, items or settings that have changed. With
        ``evaluator`` only its records are read.
        """
        where, arguments = _of(evaluator)
        rest = f"{_CURRENT if current else ''} {where} ORDER BY {_KEY}"
        with self._explained():
            for row in select(self._reading, "records", self.folder, rest, arguments):
                yield _record(row)

    def reasons(self) -> dict[RecordKey, tuple[Reason, ...]]:
        """For each current record, why values are missing: empty where none is."""
        with self._explained():
            return {
                _key(row): _reasons(row["reasons"])
                for row in select(self._reading, "records", self.folder, _CURRENT)
            }

    def unfinished(self) -> dict[RecordKey, tuple[Reason, ...]]:
        """Return the planned keys without a record, and those whose records lack values, with why.

        No record is read for that: a million that are there cost no memory.
        """
        missing = f"LEFT JOIN records USING ({_KEY}) WHERE records.id IS NULL OR reasons != ''"
        with self._explained():
            rows = self._reading.execute(f"SELECT {_KEY}, reasons FROM plan {missing}")
            return {RecordKey(*key): _reasons(names or "") for *key, names in rows}

    def coverage(self) -> Coverage:
        """Return the progress of the run."""
        with self._explained():
            (total,) = self._reading.execute("SELECT count(*) FROM plan").fetchone()
            query = f"SELECT reasons, {_HAS_VALUES}, count(*) FROM records {_CURRENT} GROUP BY 1, 2"
            counts, reasons = Counter[str](), dict[Reason, int]()
            for names, valued, count in self._reading.execute(query):
                # What makes no sense for an item was not missed.
                named = _reasons(names)
                missed = set(named) - {Reason.NOT_APPLICABLE}
                counts["failed" if missed else "scored" if valued else "inapplicable"] += count
                for reason in named:
                    reasons[reason] = reasons.get(reason, 0) + count
        return Coverage(total, **counts, reasons=dict(sorted(reasons.items())))

    def calls(self) -> Iterator[Call]:
        """Return every paid call, in the order they were intended."""
        return read_calls(self._reading, self.folder)

    def spending(self) -> Spending:
        """Return the sum of all calls."""
        return read_spending(self._reading, self.folder)

    def items(self) -> dict[str, Item]:
        """Return the items that the latest start kept, by id."""
        rows = self._kept("items")
        return {str(row["item"]): from_json(Item, str(row["body"])) for row in rows}

    def probes(self) -> dict[str, VideoInfo]:
        """Return the probes of the items' videos, by the item's id."""
        rows = [row for row in self._kept("items") if row["probe"] is not None]
        return {str(row["item"]): from_json(VideoInfo, str(row["probe"])) for row in rows}

    def contents(self) -> dict[str, str]:
        """Return the sha256 of the files that were read, by path; those just written are not
        known."""
        with self._explained():
            rows = select(self._reading, "inputs", self.folder)
            return {str(row["path"]): str(row["sha256"]) for row in rows}

    def evaluators(self) -> list[EvaluatorNote]:
        """Return the metrics and judges that the latest start kept."""
        notes = []
        for row in self._kept("evaluators"):
            about = parse_document(row["about"], f"the run's note on {row['evaluator']}")
            notes.append(from_row(EvaluatorNote, row, name=row["evaluator"], about=about))
        return notes

    def notes(self) -> dict[str, Any]:
        """Return the documents about the whole run, by name."""
        return {
            str(row["name"]): parse_document(row["body"], f"the run's {row['name']}")
            for row in self._kept("notes", every=True)
        }

    def note(self, name: str) -> Any:
        """One of them; None where there is none of that name."""
        return self.notes().get(name)

    def _kept(self, table: str, *, every: bool = False) -> list[SqlRow]:
        """Rows in the order they came in, of the latest start that kept any, or of ``every``."""
        latest = "" if every else f"WHERE start = (SELECT max(start) FROM {table})"
        with self._explained():
            return list(select(self._reading, table, self.folder, f"{latest} ORDER BY id"))

    def _explained(self) -> Any:
        return explained(self.folder / FILE)


def _start(row: SqlRow) -> Start:
    options = parse_document(row["arguments"], f"the options of start {row['id']}")
    return from_row(Start, row, arguments=options)


def _reasons(names: object) -> tuple[Reason, ...]:
    try:
        return tuple(Reason(name) for name in str(names).split())
    except ValueError as error:
        raise DecodeError(
            f"the run cannot be read: {error}", advice="A later version may have made it."
        ) from None


def _key(row: SqlRow) -> RecordKey:
    return RecordKey(**{name: row[name] for name in KEY})  # type: ignore[arg-type]


def _of(evaluator: str) -> tuple[str, tuple[str, ...]]:
    """Return the condition for one evaluator, and its arguments; nothing for all."""
    return ("WHERE evaluator = ?", (evaluator,)) if evaluator else ("", ())


def _record(row: SqlRow) -> Record:
    return Record(
        key=_key(row),
        outcomes=decode(str(row["outcomes"])),
        elapsed=int(row["elapsed_us"] or 0) / 1e6,
        attempts=int(row["attempts"] or 0),
        requests=tuple(str(row["requests"]).split()),
        written=str(row["written"]),
    )


# Finding runs: what was started under a folder, how far each got, what it cost.


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One run at a glance."""

    folder: Path
    starts: tuple[Start, ...] = ()
    coverage: Coverage = field(default_factory=Coverage)
    spending: Spending = field(default_factory=Spending)
    held_by: Holder | None = None
    problem: str = ""
    """Why it cannot be read, where it cannot."""

    @property
    def state(self) -> str:
        """``running``, how the last start ended, ``killed`` where it could not say, ``damaged``."""
        if self.problem:
            return "damaged"
        if self.held_by is not None:
            return "running"
        return (self.starts[-1].ending or "killed") if self.starts else "empty"


def read_summary(folder: Path) -> RunSummary:
    """One run at a glance; a run that cannot be read says why."""
    try:
        with RunReader(folder) as run:
            return RunSummary(
                folder, tuple(run.starts()), run.coverage(), run.spending(), holder(folder)
            )
    except ScreentestError as error:
        return RunSummary(folder, problem=error.message)


def find_runs(folder: Path) -> Iterator[RunSummary]:
    """Yield every run in or under a folder, by path. Links are not followed."""
    if not folder.is_dir():
        raise RunError(
            f"{folder} is not a folder", advice="Name a run or a folder that holds runs."
        )
    for place, folders, files in os.walk(folder):
        folders.sort()
        if FILE in files:
            folders.clear()  # what is inside a run belongs to it
            yield read_summary(Path(place))
