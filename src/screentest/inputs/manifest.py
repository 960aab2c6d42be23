"""The manifest: one row per item, as JSON lines or CSV.

A row has ``id``, ``video``, and as needed ``prompt``, ``groups``, ``script``, ``references``,
``source`` and ``instruction``. Paths are relative to the manifest's folder; absolute ones and
``..`` are allowed, since a manifest is the user's own. File names carry no meaning.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from io import BufferedReader, BytesIO
from pathlib import Path
from typing import Any

from screentest._util.atomic import write_whole
from screentest._util.text import plural, safe_cell
from screentest.core import Item, ManifestError, Script, Time
from screentest.inputs.fields import (
    FIELDS,
    GROUP_PREFIX,
    LIST_FIELDS,
    Problem,
    ProblemKind,
    files_of,
    id_of,
    item_of,
    listed,
    place_of,
)
from screentest.inputs.files import fault_of
from screentest.inputs.records import NotAManifest, records


def fields_of(item: Item, folder: Path) -> dict[str, Any]:
    """Return the fields of a row of a manifest in ``folder``; what is empty is left out."""
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
    """Relative to the manifest's folder where it is inside, absolute where not."""
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
    """Return a number where that is exact, else a ratio: nothing is rounded."""
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
    """Yield a line of column names, then one row each; groups are columns named ``group.NAME``."""
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
    csv.writer(line, lineterminator="\n").writerow([safe_cell(cell) for cell in cells])
    return line.getvalue().encode("utf-8")


@dataclass(frozen=True, slots=True)
class ManifestRow:
    """An item and the line its row begins on; None where a layout has no rows."""

    line: int | None
    item: Item
    number: int | None = None
    """Which row of an array it is."""

    @property
    def place(self) -> str:
        return place_of(self.line, self.number)


@dataclass(frozen=True, slots=True)
class ManifestReading:
    """A manifest as read: the good rows, and everything wrong with the others."""

    path: Path
    rows: tuple[ManifestRow, ...]
    problems: tuple[Problem, ...]
    named: frozenset[Path] = frozenset()
    """Videos that any row names, bad rows included."""
    layout: str = "manifest"
    """The importer that read it."""
    seen: str = ""
    """What was recognised, and what was not, in a few words."""

    @property
    def items(self) -> list[Item]:
        """The items of the good rows, in order."""
        return [row.item for row in self.rows]


def read_manifest(path: str | os.PathLike[str]) -> list[Item]:
    """Return the items of a manifest; raises ManifestError with every bad row in it.

    Only the manifest is read, not the videos: ``check_manifest`` looks at those too.
    """
    reading = examine_manifest(path)
    if reading.problems:
        raise BadRows(path, reading.problems)
    return reading.items


MOST = 100
"""Problems that a message lists."""


class BadRows(ManifestError):
    """A file with ``problems``; the message lists all, or the first of very many."""

    def __init__(self, path: str | os.PathLike[str], problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        count = plural(len(problems), "problem")
        more = "" if len(problems) <= MOST else f"; the first {MOST}"
        super().__init__(f"{os.fspath(path)} has {count}{more}:\n{listed(problems[:MOST])}")


def examine_manifest(path: str | os.PathLike[str]) -> ManifestReading:
    """Read a manifest and list what is wrong instead of raising.

    Raises ManifestError only where there is no file to read.
    """
    path = Path(path)
    # A device or pipe could block for ever, so the kind of file is looked at first.
    if not path.is_file():
        raise ManifestError(
            f"{path} {fault_of(path)[1]}",
            advice="Give a folder of videos, or a manifest: .jsonl, .csv or .json.",
        )
    try:
        with path.open("rb") as file:
            return _examine(file, path)
    except OSError as error:
        raise ManifestError(f"{path} does not open: {error.strerror}") from None


def write_manifest(path: str | os.PathLike[str], items: Iterable[Item]) -> None:
    """Write items as JSON lines or CSV, as the suffix says, whole or not at all.

    What is written is read back first: an item that would not come back the same (two equal
    ids, a control character in a prompt) raises ManifestError and nothing is written.
    """
    path = Path(path)
    folder = path.parent
    items = list(items)
    rows = [fields_of(item, folder) for item in items]
    content = _encoded(path, rows)
    reading = _examine(BufferedReader(BytesIO(content)), path)
    if items and reading.problems:
        raise ManifestError(f"cannot write {path}:\n{listed(reading.problems)}")
    for item, again in zip(items, reading.items, strict=True):
        if fields_of(again, folder) != fields_of(item, folder):
            raise ManifestError(f"item {item.id!r} would not come back from {path} the same")
    write_whole(path, content)


def _encoded(path: Path, rows: list[dict[str, Any]]) -> bytes:
    match path.suffix.lower():
        case ".jsonl" | ".ndjson":
            return b"".join(json_lines(rows))
        case ".csv":
            try:
                return b"".join(csv_lines(rows))
            except UnicodeEncodeError:
                raise ManifestError(
                    f"{path}: a text or file name is not UTF-8",
                    advice="JSON lines can hold such file names: write .jsonl",
                ) from None
    raise ManifestError(f"{path} is not a name for a manifest", advice="Name it .jsonl or .csv")


def _examine(file: BufferedReader, path: Path) -> ManifestReading:
    rows: list[ManifestRow] = []
    problems: list[Problem] = []
    named: set[Path] = set()
    places: dict[str, str] = {}  # of the ids met so far
    try:
        for record in records(file, path.suffix):
            name, item, complaints = "", None, list(record.complaints)
            if record.fields is not None:
                name = id_of(record.fields)
                item, wrong = item_of(record.fields, path.parent)
                complaints += wrong
                named.update(files_of(record.fields, path.parent))
            kind, place = ProblemKind.BAD_ROW, place_of(record.line, record.row)
            problem = partial(Problem, line=record.line, id=name, row=record.row)
            problems += [
                problem(kind, each.message, each.advice, field=each.field) for each in complaints
            ]
            earlier = places.setdefault(name, place) if name else place
            if earlier != place:
                kind, words = ProblemKind.DUPLICATE_ID, f"the same id as {earlier}"
                advice = "Every row needs an id of its own."
                problems.append(problem(kind, words, advice, field="id"))
            elif item is not None and not complaints:
                rows.append(ManifestRow(record.line, item, record.row))
    except NotAManifest as error:
        problems.append(Problem(ProblemKind.BAD_FILE, error.message, error.advice, error.line))
    if not rows and not problems:
        problems.append(Problem(ProblemKind.BAD_FILE, "the manifest has no rows"))
    return ManifestReading(path, tuple(rows), tuple(problems), frozenset(named))
