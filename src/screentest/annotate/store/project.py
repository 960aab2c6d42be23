"""What a database is about: the units of a testbed or manifest, kept in step with it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, insert, select, update

from screentest.annotate.answers import Unit
from screentest.annotate.flashes import measure_all
from screentest.annotate.media import Prepared
from screentest.annotate.store.database import Database
from screentest.annotate.store.schema import files, texts, units
from screentest.core import Progress, UserError
from screentest.judges.votes import VoteTask


def measure_flashes(
    database: Database, prepared: Mapping[Path, Prepared], *, progress: Progress | None = None
) -> None:
    """Measure each video that is not measured yet, and keep it: it takes as long as decoding.

    Each is kept as soon as it is known: who stops here does not begin again.
    """
    stamps = {path: _stamp(path) for path in prepared}
    with database.read() as connection:
        available = {
            row.path: row.stamp
            for row in connection.execute(select(files.c.path, files.c.stamp)).all()
        }
    new = [path for path, stamp in stamps.items() if available.get(str(path)) != stamp]
    if not new:
        return
    for path, flashes in measure_all(new, progress=progress):
        row = {"flashes": flashes, "stamp": stamps[path]}
        with database.write() as connection:
            connection.execute(update(files).where(files.c.path == str(path)).values(row))


def _stamp(path: Path) -> str:
    status = path.stat()
    return f"{status.st_size}-{status.st_mtime_ns}"


def keep_units(
    database: Database, task: VoteTask, given: Sequence[Unit], prepared: Mapping[Path, Prepared]
) -> None:
    """Put the units of a task into the database.

    Started again with a testbed that has grown, the new ones are added; what is no longer
    there is closed, and its votes are kept.
    """
    with database.write() as connection:
        available = {
            row.key: row
            for row in connection.execute(
                select(units.c.id, units.c.key, units.c.votes).where(units.c.task == task.value)
            )
        }
        numbers = _keep_files(connection, given, prepared)
        for unit in given:
            row = _row(unit, _keep_text(connection, unit), numbers)
            if unit.key not in available:
                row |= {"place": _place(unit.key), "closed": False, "votes": 0}
                connection.execute(insert(units).values(row))
            else:
                where = units.c.id == available[unit.key].id
                connection.execute(update(units).where(where).values(row | {"closed": False}))
        gone = available.keys() - {unit.key for unit in given}
        for key in gone:
            connection.execute(
                update(units).where(units.c.id == available[key].id).values(closed=True)
            )


def only_task(database: Database, task: VoteTask | None) -> VoteTask:
    """Return the task that is meant where a store has one only."""
    with database.read() as connection:
        result = [
            VoteTask(name) for (name,) in connection.execute(select(units.c.task).distinct()).all()
        ]
    if task is not None:
        if task not in result:
            raise UserError(f"the store has no task {task.value}")
        return task
    if len(result) != 1:
        names = ", ".join(sorted(item.value for item in result)) or "none"
        raise UserError(f"the store has the tasks {names}", advice="Say which with --task.")
    return result[0]


def _row(unit: Unit, text: str, numbers: Mapping[Path, int]) -> dict[str, Any]:
    paths = [video.path for video in unit.videos]
    return {
        "task": unit.task.value,
        "key": unit.key,
        "source": unit.source,
        "video": unit.video,
        "name": unit.name,
        "aspect": unit.aspect,
        "severity": unit.severity,
        "clip_count": unit.clip_count,
        "groups": dict(unit.groups),
        "models": list(unit.models) or None,
        "text_id": text,
        "first_file": numbers[paths[0]],
        "second_file": numbers[paths[1]] if len(paths) > 1 else None,
        "marks": [asdict(mark) for mark in unit.marks],
        "questions": [asdict(question) for question in unit.questions],
        "is_gold": unit.gold is not None,
        "gold": dict(unit.gold) if unit.gold is not None else None,
        "seconds": unit.seconds,
    }


def _place(key: str) -> float:
    """Shuffled, so that what is finished at any time is a fair part of the whole."""
    return int.from_bytes(hashlib.sha256(key.encode("utf-8", "replace")).digest()[:6]) / 2**48


def _keep_text(connection: Connection, unit: Unit) -> str:
    clips = [
        [clip.caption]
        if clip.span is None
        else [clip.caption, float(clip.span.start), float(clip.span.end)]
        for clip in unit.clips
    ]
    content = json.dumps([unit.prompt, clips]).encode()
    name = hashlib.sha256(content).hexdigest()
    if connection.execute(select(texts.c.id).where(texts.c.id == name)).first() is None:
        connection.execute(insert(texts).values(id=name, prompt=unit.prompt, clips=clips))
    return name


def _keep_files(
    connection: Connection, given: Sequence[Unit], prepared: Mapping[Path, Prepared]
) -> dict[Path, int]:
    numbers = {}
    wanted = {video.path: video for unit in given for video in unit.videos}
    for path, video in wanted.items():
        ready = prepared[path]
        row = {
            "served": str(ready.path),
            "bytes": ready.bytes,
            "seconds": float(video.duration),
            "kind": ready.kind,
        }
        result = connection.execute(select(files.c.id).where(files.c.path == str(path))).first()
        if result is not None:
            connection.execute(update(files).where(files.c.id == result.id).values(row))
            numbers[path] = result.id
        else:
            added = connection.execute(insert(files).values(path=str(path), **row))
            numbers[path] = added.inserted_primary_key[0]  # type: ignore[index]
    return numbers
