"""Export and import: votes as CSV or JSON, to read elsewhere and to bring back.

One row per worker and unit. In CSV, a text that a spreadsheet would take for a formula gets an
apostrophe in front; reading takes it away again. JSON holds every text as it is.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from screentest.annotate.records import Record
from screentest.annotate.tasks import Task
from screentest.core import UserError

SCHEMA: Final = 1
COLUMNS: Final = tuple(field.name for field in fields(Record))
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "'")


def as_csv(records: Iterable[Record]) -> str:
    """All records as a table."""
    page = io.StringIO(newline="")
    writer = csv.DictWriter(page, COLUMNS, lineterminator="\r\n")
    writer.writeheader()
    for record in records:
        row = row_of(record)
        writer.writerow({name: _cell(value) for name, value in row.items()})
    return page.getvalue()


def as_json(records: Iterable[Record]) -> str:
    """All records as one document; nothing is lost or changed."""
    rows = [row_of(record) for record in records]
    document = {"schema": SCHEMA, "votes": rows}
    return json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def row_of(record: Record) -> dict[str, Any]:
    """A record with plain values: moments as ISO 8601, UTC."""
    row = {name: getattr(record, name) for name in COLUMNS}
    row["task"] = record.task.value
    row["at"] = datetime.fromtimestamp(record.at, UTC).isoformat(timespec="microseconds")
    return row


def read_export(path: Path) -> list[Record]:
    """The records of a file that was exported; raises UserError with the first bad row."""
    try:
        text = path.read_bytes().decode("utf-8-sig")  # line ends as they are
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path} cannot be read: {error}") from None
    rows = _json_rows(text, path) if path.suffix == ".json" else _csv_rows(text, path)
    records = []
    for number, row in enumerate(rows, start=1):
        try:
            records.append(_record(row))
        except (KeyError, ValueError, TypeError) as error:
            raise UserError(f"{path}, vote {number}: {error}") from None
    return records


def safe_cell(text: str) -> str:
    """A text that no spreadsheet takes for a formula.

    >>> safe_cell("=1+1"), safe_cell("fine"), plain_cell(safe_cell("=1+1"))
    ("'=1+1", 'fine', '=1+1')
    """
    return f"'{text}" if text.startswith(_FORMULA) else text


def plain_cell(text: str) -> str:
    """The text that a safe cell stands for."""
    return text[1:] if text.startswith("'") and text[1:].startswith(_FORMULA) else text


def _cell(value: object) -> object:
    if isinstance(value, str):
        return safe_cell(value)
    if isinstance(value, Mapping):
        return json.dumps(value, ensure_ascii=False) if value else ""
    return value


def _json_rows(text: str, path: Path) -> list[Any]:
    try:
        document = json.loads(text)
    except ValueError as error:
        raise UserError(f"{path} is not JSON: {error}") from None
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise UserError(
            f"{path} is no export of votes that this version reads",
            advice="Give a file that `screentest annotate export` wrote.",
        )
    rows = document.get("votes")
    return rows if isinstance(rows, list) else []


def _csv_rows(text: str, path: Path) -> list[Any]:
    csv.field_size_limit(1 << 24)
    reader = csv.DictReader(io.StringIO(text, newline=""))
    missing = set(COLUMNS) - set(reader.fieldnames or ())
    if missing:
        raise UserError(
            f"{path} lacks the column {sorted(missing)[0]}",
            advice="Give a file that `screentest annotate export` wrote.",
        )
    return [_uncelled(row) for row in reader]


def _uncelled(row: Mapping[str, str]) -> dict[str, Any]:
    plain: dict[str, Any] = {name: plain_cell(row[name] or "") for name in COLUMNS}
    for name in ("severity", "score", "duration", "seconds"):
        plain[name] = float(plain[name]) if plain[name] else None
    plain["clips"] = int(plain["clips"]) if plain["clips"] else None
    for name in ("gold", "excluded", "finished"):
        plain[name] = {"True": True, "False": False}[plain[name]]
    for name in ("choice", "rating", "verdict", "text"):
        plain[name] = plain[name] or None
    plain["answers"] = json.loads(plain["answers"]) if plain["answers"] else None
    plain["watched"] = json.loads(plain["watched"]) if plain["watched"] else {}
    return plain


def _record(row: Any) -> Record:
    if not isinstance(row, Mapping):
        raise ValueError("not an object")
    values = {name: row[name] for name in COLUMNS}
    values["task"] = Task(values["task"])
    values["at"] = datetime.fromisoformat(values["at"]).timestamp()
    for name in ("unit", "worker", "vote", "comment"):
        if not isinstance(values[name], str):
            raise ValueError(f"{name} is text")
    return Record(**values)
