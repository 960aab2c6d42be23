"""Items as rows: the fields to write, in JSON lines or CSV."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from screentest.core import Item, Script, Time
from screentest.corpus._fields import FIELDS, GROUP_PREFIX, LIST_FIELDS


def fields_of(item: Item, folder: Path) -> dict[str, Any]:
    """The fields of a row of a manifest in ``folder``; what is empty is left out."""
    fields = {
        "id": item.id,
        "video": written_path(item.video, folder),
        "prompt": item.prompt,
        "groups": dict(item.groups),
        "script": _script(item.script) if item.script is not None else None,
        "references": [written_path(path, folder) for path in item.references] or None,
        "source": written_path(item.source, folder) if item.source is not None else None,
        "instruction": item.instruction,
    }
    return {name: value for name, value in fields.items() if value or value == []}


def written_path(path: Path, folder: Path) -> str:
    """Relative to the manifest's folder where it lies inside, absolute where not."""
    for inside, outer in ((path, folder), (_absolute(path), _absolute(folder))):
        if inside.is_relative_to(outer):
            return inside.relative_to(outer).as_posix()
    return _absolute(path).as_posix()


def _absolute(path: Path) -> Path:
    return Path(os.path.abspath(path))  # noqa: PTH100 - Path.resolve would follow links


def _script(script: Script) -> list[dict[str, Any]]:
    clips = []
    for clip in script.clips:
        written: dict[str, Any] = {"caption": clip.caption}
        if clip.span is not None:
            written |= {"start": _time(clip.span.start), "end": _time(clip.span.end)}
        clips.append(written)
    return clips


def _time(moment: Time) -> int | float | str:
    """A number where that is exact, else a ratio: nothing is rounded."""
    if moment.denominator == 1:
        return moment.numerator
    decimal = float(moment)
    return decimal if Fraction(repr(decimal)) == moment else str(moment)


def json_lines(rows: Iterable[dict[str, Any]]) -> Iterator[bytes]:
    """One JSON object per line, in UTF-8."""
    for row in rows:
        text = json.dumps(row, ensure_ascii=False, allow_nan=False)
        try:
            yield text.encode("utf-8") + b"\n"
        except UnicodeEncodeError:  # a file name that is not UTF-8: escapes can write it
            yield json.dumps(row, allow_nan=False).encode("ascii") + b"\n"


def csv_lines(rows: Sequence[dict[str, Any]]) -> Iterator[bytes]:
    """A line of column names, then one row each; groups are columns named ``group.NAME``."""
    groups = sorted({name for row in rows for name in row.get("groups", {})})
    used = {name for row in rows for name in row} | {"id", "video", "prompt"}
    plain = [name for name in FIELDS if name != "groups" and name in used]
    yield _csv_line([*plain, *(GROUP_PREFIX + name for name in groups)])
    for row in rows:
        members = row.get("groups", {})
        yield _csv_line(
            [
                *(_cell(name, row.get(name)) for name in plain),
                *(members.get(name, "") for name in groups),
            ]
        )


def _cell(name: str, value: Any) -> str:
    if value is None:
        return ""
    if name not in LIST_FIELDS:
        return str(value)
    if name == "references" and len(value) == 1 and not value[0].lstrip().startswith("["):
        return str(value[0])
    return json.dumps(value, ensure_ascii=False)


def _csv_line(cells: list[str]) -> bytes:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(cells)
    return line.getvalue().encode("utf-8")
