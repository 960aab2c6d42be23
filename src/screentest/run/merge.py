"""Merge runs of several machines into one: nothing doubled, and no value lost or guessed.

Two records of one key are one where they say the same. A value wins over a failure, and the later
of two failures stays. Two values that differ are a conflict: merging is refused, or one of them is
taken by the rule that the user named. All of it is one change: a merge happens whole or not at all.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any, Final

from screentest._util.text import plural
from screentest.core import BadOption, Item, RunBusy, RunError, ScreentestError, VideoInfo
from screentest.run.database import FILE
from screentest.run.lease import FILE as LOCK
from screentest.run.lease import Lease
from screentest.run.notes import EvaluatorNote
from screentest.run.reader import RunReader, Start
from screentest.run.records import KEY, RecordKey, SqlRow, find, insert, select, update
from screentest.run.store import RunStore

NOTE: Final = "merged"
"""The note of a run that tells of what it was merged from."""

_SHOWN: Final = 5


class Prefer(StrEnum):
    """Which of two values that differ is taken."""

    NONE = ""
    """Neither: merging is refused."""
    FIRST = "first"
    """That of the run named first; a run that is merged into comes before all others."""
    NEWEST = "newest"
    """That which was written last, by the clocks of the machines."""


@dataclass(slots=True)
class Share:
    """What one run brought to a merge."""

    run: str
    command: str
    hosts: tuple[str, ...]
    records: int = 0
    """Records it holds."""
    added: int = 0
    same: int = 0
    """Records that were there with the same outcome."""
    replaced: int = 0
    """Records that took the place of another: a value that of a failure, or as preferred."""
    left: int = 0
    """Records that were not taken, since another was better or preferred."""
    conflicts: int = 0
    """Among both, values that differed and that the rule decided."""
    calls: int = 0
    """Paid calls that were not known yet."""


def merge(
    sources: Sequence[Path], into: Path, *, prefer: Prefer | str = Prefer.NONE
) -> tuple[Share, ...]:
    """Bring the records, paid calls, items and evaluators of runs into one run.

    Documents about a whole run, such as certificates, are not merged: made from a part, they say
    nothing of the whole. The command that makes them makes them anew and measures nothing again.
    """
    rule = Prefer(prefer)
    _refuse_same(sources, into)
    with ExitStack() as stack:
        runs = [stack.enter_context(RunReader(folder)) for folder in sources]
        starts = [run.starts() for run in runs]
        command = _one_command(sources, starts)
        arguments = {**starts[0][-1].arguments, "merged": [str(path) for path in sources]}
        undo = stack.enter_context(ExitStack())
        if not (into / FILE).exists():
            undo.push(partial(_remove_refused, into, into.exists()))
        store = stack.enter_context(RunStore(into, command=command, arguments=arguments))
        if len(store.starts()) > 1:  # another process has made it meanwhile
            undo.pop_all()
        shares = tuple(_share(run, begun) for run, begun in zip(runs, starts, strict=True))
        plan = _MergePlan(rule)
        plan.add(into, store.plan(), "")
        for run, begun in zip(runs, starts, strict=True):
            plan.add(run.folder, run.plan(), begun[-1].started)
        plan.refuse_conflicts()
        items, probes = _items([store, *runs])
        notes = _evaluators([store, *runs])
        store._writer.do(lambda db: _bring(db, runs, shares, rule, store._start))
        store.add_to_plan(plan.keys())
        store.keep_items(items, probes)
        store.keep_evaluators(notes)
        earlier = store.note(NOTE) or []
        store.keep_note(NOTE, [*earlier, *(_summary(share, rule) for share in shares)])
    return shares


def _remove_refused(into: Path, was_there: bool, error: object, *_: object) -> None:
    """Leave nothing of a new run that came to nothing, unless another process made it."""
    if error is None or error is RunBusy:
        return
    with suppress(OSError, ScreentestError):
        lease = Lease.take(into)
        for name in (FILE, f"{FILE}-wal", f"{FILE}-shm", LOCK):
            (into / name).unlink(missing_ok=True)
        lease.release()
        if not was_there:
            into.rmdir()


def _refuse_same(sources: Sequence[Path], into: Path) -> None:
    places = [os.path.realpath(path) for path in sources]
    if not places:
        raise BadOption("no run to merge")
    if len(set(places)) < len(places) or os.path.realpath(into) in places:
        raise BadOption(
            "a run cannot be merged with itself", advice="Name each run once, and another `into`."
        )


def _one_command(sources: Sequence[Path], starts: Sequence[Sequence[Start]]) -> str:
    commands = {}
    for path, begun in zip(sources, starts, strict=True):
        if not begun:
            raise RunError(f"{path} was never started, and holds nothing")
        commands[begun[0].command] = path
    if len(commands) > 1:
        named = ", ".join(f"{path} is one of `{command}`" for command, path in commands.items())
        raise RunError(f"runs of different commands cannot be merged: {named}")
    return next(iter(commands))


def _share(run: RunReader, starts: Sequence[Start]) -> Share:
    hosts = tuple(dict.fromkeys(start.host for start in starts))
    return Share(str(run.folder), starts[0].command, hosts)


def _summary(share: Share, rule: Prefer) -> dict[str, Any]:
    plain: dict[str, Any] = json.loads(json.dumps(asdict(share)))
    return plain | {"prefer": rule.value}


class _MergePlan:
    """What all runs together are to have. One question is asked of one input."""

    def __init__(self, rule: Prefer) -> None:
        self._rule = rule
        self._asked: dict[RecordKey, tuple[RecordKey, str, Path]] = {}
        self._conflicts: list[str] = []

    def add(self, folder: Path, keys: Iterator[RecordKey], started: str) -> None:
        for key in keys:
            question = replace(key, inputs="")
            there = self._asked.get(question)
            if there is None or there[0].inputs == key.inputs:
                self._asked.setdefault(question, (key, started, folder))
                continue
            if self._rule is Prefer.NONE:
                self._conflicts.append(f"{key.item}: {there[2]} and {folder}")
            elif self._rule is Prefer.NEWEST and started > there[1]:
                self._asked[question] = key, started, folder

    def refuse_conflicts(self) -> None:
        if self._conflicts:
            shown = "; ".join(dict.fromkeys(self._conflicts[:_SHOWN]))
            raise RunError(
                f"the same item is another video or prompt in another run: {shown}",
                advice="Give different videos different ids; or say which one counts: "
                "`prefer=first` or newest.",
            )

    def keys(self) -> list[RecordKey]:
        return [key for key, _, _ in self._asked.values()]


def _items(runs: Sequence[RunReader]) -> tuple[list[Item], dict[str, VideoInfo]]:
    """Items as the first run has them: where a video is differs by machine."""
    items: dict[str, Item] = {}
    probes: dict[str, VideoInfo] = {}
    for run in runs:
        items |= {name: item for name, item in run.items().items() if name not in items}
        probes |= {name: probe for name, probe in run.probes().items() if name not in probes}
    return list(items.values()), probes


def _evaluators(runs: Sequence[RunReader]) -> list[EvaluatorNote]:
    notes: dict[tuple[str, str, str], EvaluatorNote] = {}
    for run in runs:
        for note in run.evaluators():
            notes.setdefault((note.kind, note.name, note.signature), note)
    return list(notes.values())


def _bring(
    db: sqlite3.Connection,
    runs: Sequence[RunReader],
    shares: Sequence[Share],
    rule: Prefer,
    start: int,
) -> None:
    conflicts: list[str] = []
    for run, share in zip(runs, shares, strict=True):
        for row in select(run._reading, "records", run.folder):
            share.records += 1
            _bring_record(db, {**row, "start": start}, share, rule, conflicts)
        _bring_calls(db, run, share, start)
    if conflicts:
        shown = "; ".join(conflicts[:_SHOWN])
        more = f"; and {len(conflicts) - _SHOWN:,} more" if len(conflicts) > _SHOWN else ""
        raise RunError(
            f"two values of {plural(len(conflicts), 'record')}: {shown}{more}",
            advice="Nothing was merged. Find out which run to trust, and say so: "
            "`prefer=first` or newest.",
        )


def _bring_record(
    db: sqlite3.Connection, row: SqlRow, share: Share, rule: Prefer, conflicts: list[str]
) -> None:
    present = find(db, "records", row, KEY, "id, outcomes, reasons, written")
    if present is None:
        insert(db, "records", row)
        share.added += 1
        return
    number, outcomes, reasons, written = present
    if outcomes == row["outcomes"]:
        share.same += 1
        return
    later = str(row["written"]) > written
    if _values_differ(outcomes, str(row["outcomes"])):
        if rule is Prefer.NONE:
            conflicts.append(f"{row['item']}, {row['evaluator']}")
            return
        share.conflicts += 1
        better = rule is Prefer.NEWEST and later
    else:
        mine, theirs = len(str(row["reasons"]).split()), len(reasons.split())
        better = mine < theirs or (mine == theirs and later)
    if better:
        update(db, "records", number, row)
        share.replaced += 1
    else:
        share.left += 1


def _values_differ(one: str, other: str) -> bool:
    """Return True if a name has a value in both, and not the same."""
    ours, theirs = json.loads(one), json.loads(other)
    return any(
        ours[name] != theirs[name]
        for name in ours.keys() & theirs.keys()
        if "failure" not in ours[name] and "failure" not in theirs[name]
    )


def _bring_calls(db: sqlite3.Connection, run: RunReader, share: Share, start: int) -> None:
    """Merge calls by their names: what was paid once is counted once."""
    for table in ("calls", "receipts", "answers"):
        for row in select(run._reading, table, run.folder, "ORDER BY id"):
            if find(db, table, row, ["call"]) is None:
                insert(db, table, {**row, "start": start} if table == "calls" else row)
                share.calls += table == "calls"
