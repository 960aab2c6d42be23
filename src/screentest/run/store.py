"""The store of a run: the one process that holds it writes, anybody may read.

run.db        everything: starts, plan, records, ledger, answers, hashes of inputs, items,
              evaluators, notes
run.lock      who writes at this moment
run.reserve   room for the last words on a full disk; only while a process writes
"""

from __future__ import annotations

import json
import os
import socket
import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

from screentest._util import VERSION
from screentest.core import Item, RunError, StorageError, VideoInfo
from screentest.core.outcome import Json
from screentest.run.database import FILE, open_for_writing
from screentest.run.inputs import InputHashes
from screentest.run.lease import PATIENCE, Lease
from screentest.run.ledger import Ledger, refuse_impossible_cap
from screentest.run.notes import IDENTITY, EvaluatorNote, document_text, evaluator_rows, item_rows
from screentest.run.reader import RunReader
from screentest.run.records import KEY, RecordKey, SqlRow, find, insert, now, put, select, update
from screentest.run.tasks import Finished
from screentest.run.writer import Reserve, Writer, cleared


class RunStore(RunReader):
    """A run that this process writes. Use it as a context manager.

    Opening a folder that holds a run goes on with it; any other folder becomes a new one.
    """

    def __init__(
        self,
        folder: Path,
        *,
        command: str,
        arguments: Mapping[str, Any] | None = None,
        max_cost: Decimal | None = None,
        retry: str = "transient",
        wait: float = PATIENCE,
    ) -> None:
        """Open for writing. ``arguments`` are kept for people to read, ``max_cost`` is the cap,
        ``retry`` says which failures of earlier starts are tried again (``Retry``). Another
        process may go on writing for ``wait`` seconds."""
        refuse_impossible_cap(max_cost)
        folder = folder.absolute()
        _make_folder(folder)
        with ExitStack() as undo:
            self._lease = Lease.take(folder, wait)
            undo.callback(self._lease.release)
            self._reserve = Reserve(folder)
            undo.callback(self._reserve.release)
            self._reserve.take()
            self._writer = Writer(open_for_writing(folder), folder / FILE, self._reserve)
            undo.callback(self._writer.close)
            super().__init__(folder, checked=True)
            undo.callback(super().close)
            self._ending = "finished"
            self.retry = retry
            self._start_row = _start_row(command, arguments or {})
            self._start = self._writer.do(self._begin)
            self.inputs = InputHashes(self._writer, folder)
            undo.callback(self.inputs.close)
            self.ledger = Ledger(self._writer, folder, self._start, max_cost)
            _sync_folder(folder)
            undo.pop_all()  # nothing went wrong

    def __exit__(self, kind: object = None, *rest: object) -> None:
        if kind is not None:
            self._ending = "failed"
        super().__exit__(kind, *rest)

    def close(self) -> None:
        """Note how this start ended, write what waits, then let others write."""
        self.inputs.close()
        row = {**self._start_row, "ended": now(), "ending": self._ending}
        with suppress(StorageError):  # the full disk was reported; a start without an end
            # looks like one that was killed
            self._writer.do(lambda db: update(db, "starts", self._start, row), vital=True)
        super().close()
        self._writer.close()
        self._reserve.release()
        self._lease.release()

    def interrupted(self) -> None:
        """Note that this start was asked to stop before all was made."""
        self._ending = "interrupted"

    def add_to_plan(self, keys: Iterable[RecordKey]) -> None:
        """Say which records the run is to have: coverage counts against these.

        The plan is what the latest start asks for, in one step or in several.
        """
        rows: list[SqlRow] = [{**key.row, "start": self._start} for key in keys]
        self._writer.do(lambda db: self._add_to_plan(db, rows))

    def keep_earlier(self, items: Collection[str], evaluators: Collection[str]) -> None:
        """Keep what the start before was to have besides what this one asks for.

        Without it a run has what its latest start asks for. Records of these items by these
        evaluators are left out: this start asks for them itself. Say so before anything else.
        """

        def change(connection: sqlite3.Connection) -> None:
            for table in ("items", "evaluators", "plan"):
                latest = f"WHERE start = (SELECT max(start) FROM {table} WHERE start < ?)"
                for row in list(select(connection, table, self.folder, latest, [self._start])):
                    asked = row.get("item") in items and row.get("evaluator") in evaluators
                    if table != "plan" or not asked:
                        number = int(row["id"] or 0)
                        update(connection, table, number, {**row, "start": self._start})

        self._writer.do(change)

    def keep_items(
        self, items: Iterable[Item], probes: Mapping[str, VideoInfo] | None = None
    ) -> None:
        """Keep what is evaluated, and by item what is known of its video.

        An item that was kept before is replaced.
        """
        self._keep("items", item_rows(items, probes or {}))

    def keep_evaluators(self, notes: Iterable[EvaluatorNote]) -> None:
        """Keep what evaluates it; one of the same kind, name and signature is replaced."""
        self._keep("evaluators", evaluator_rows(notes))

    def keep_note(self, name: str, document: Json) -> None:
        """Keep a small document of plain JSON about the whole run, such as a certificate."""
        self._keep("notes", [{"name": name, "body": document_text(document)}])

    def write(self, *finished: Finished) -> None:
        """Write the records of tasks; on the disk when this returns, all of them or none."""

        def change(connection: sqlite3.Connection) -> None:
            for task in finished:
                self._write(connection, task)

        self._writer.do(change, vital=True)

    def _keep(self, table: str, rows: Sequence[SqlRow]) -> None:
        """Write rows, each in the place of the one about the same before."""
        moment = now()

        def change(connection: sqlite3.Connection) -> None:
            for row in rows:
                whole = {**row, "start": self._start, "written": moment}
                put(connection, table, whole, IDENTITY[table])

        self._writer.do(change)

    def _begin(self, connection: sqlite3.Connection) -> int:
        mine = self._start_row["command"]
        for first in select(connection, "starts", self.folder, "ORDER BY id LIMIT 1"):
            if first["command"] != mine:
                raise RunError(
                    f"{self.folder} is a run of `{first['command']}`, not of `{mine}`",
                    advice="Choose another folder for this run.",
                )
        return insert(connection, "starts", self._start_row)

    def _add_to_plan(self, connection: sqlite3.Connection, rows: Sequence[SqlRow]) -> None:
        connection.execute("DELETE FROM plan WHERE start != ?", [self._start])
        for row in rows:
            # An earlier step may have asked the same, maybe of another input.
            put(connection, "plan", row, KEY[:-1])

    def _write(self, connection: sqlite3.Connection, finished: Finished) -> None:
        keys = finished.task.keys
        requests = finished.requests or ((),) * len(keys)
        for key, outcomes, rests_on in zip(keys, finished.outcomes, requests, strict=True):
            row: SqlRow = {
                **key.row,
                "outcomes": outcomes.text,
                "reasons": " ".join(outcomes.reasons),
                "requests": " ".join(rests_on),
                "elapsed_us": round(finished.elapsed * 1e6),
                "attempts": finished.attempts,
                "start": self._start,
                "written": now(),
            }
            present = find(connection, "records", row, KEY, "attempts")
            if present is not None:
                row["attempts"] = present[0] + finished.attempts
            put(connection, "records", row, KEY)


def _start_row(command: str, arguments: Mapping[str, Any]) -> SqlRow:
    text = json.dumps(dict(arguments), sort_keys=True, default=str)
    return {
        "command": command,
        "arguments": cleared(text),
        "package": VERSION,
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "started": now(),
        "ended": "",
        "ending": "",
    }


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:  # ValueError: no file can have that name
        raise StorageError(
            f"cannot make the folder {str(folder)!r}: {getattr(error, 'strerror', error)}",
            advice="Choose a folder that you may write to.",
        ) from None


def _sync_folder(folder: Path) -> None:
    """Write a folder to the disk: only then is a new file in it safe."""
    if os.name == "nt":  # where folders cannot be opened
        return
    for place in (folder, folder.parent):
        with suppress(PermissionError):  # a parent that we may pass but not list
            descriptor = os.open(place, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
