"""The rows of a manifest file as plain fields, with the line each begins on.

Everything that can be wrong with the file as text is found here: encodings, line ends,
quoting, JSON syntax. What the fields mean is in ``fields``.
"""

from __future__ import annotations

import csv
import difflib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from io import BufferedReader
from typing import Any

from screentest._util.text import plain_cell, plural
from screentest.inputs.fields import (
    FIELDS,
    GROUP_PREFIX,
    LIST_FIELDS,
    Complaint,
    did_you_mean,
    load_json,
    one_line,
)

LONGEST_LINE = 64 * 2**20
"""Bytes. Far above any prompt, far below what a video read by mistake would take."""

_BLANKS = re.compile(r"[ \t\r\n]*")
_UTF8 = "Save the manifest as UTF-8."


@dataclass(frozen=True, slots=True)
class ManifestRecord:
    """One row: its fields where it could be read, what is wrong with it where not."""

    line: int
    fields: dict[str, Any] | None = None
    complaints: tuple[Complaint, ...] = ()
    row: int | None = None
    """Its number, in an array: several of its rows may be on one line."""


class NotAManifest(Complaint):
    """The file is something else, or cannot be read on from this line."""

    def __init__(self, message: str, advice: str = "", line: int | None = None) -> None:
        super().__init__(message, advice)
        self.line = line


class NoColumns(NotAManifest):
    """A first line that does not name the columns of all rows."""

    def __init__(self, names: Sequence[str], missing: Sequence[str], line: int) -> None:
        super().__init__(f"no column {' and no column '.join(map(repr, missing))}", line=line)
        text = ",".join(names)
        separators = [
            spoken
            for separator, spoken in ((";", "semicolons"), ("\t", "tabs"), ("|", "bars"))
            if {"id", "video"} <= {cell.strip() for cell in text.split(separator)}
        ]
        near = {name: difflib.get_close_matches(name, names, n=1) for name in missing}
        self.advice = "Begin the file with a line that names the columns, such as: id,video,prompt"
        if text.startswith("{"):
            self.advice = "This looks like JSON lines: name the file .jsonl"
        elif separators:
            self.advice = f"The columns are separated by {separators[0]}: save with commas."
        elif any(near.values()):
            name, (meant,) = next((name, found) for name, found in near.items() if found)
            self.advice = f"For {name!r} there is {meant!r}."


def records(file: BufferedReader, suffix: str) -> Iterator[ManifestRecord]:
    """Yield the rows of an open manifest, by its ``suffix``; unknown ones are looked into."""
    head = file.peek(4096)[:4096]
    _must_be_text(head)
    if head.startswith(b"\xef\xbb\xbf"):
        head = head[len(file.read(3)) :]
    if head.lstrip()[:1] == b"[" and suffix.lower() != ".csv":
        yield from _array_records(file)
    elif _is_json(suffix.lower(), head):
        yield from _json_records(file)
    else:
        yield from _csv_records(file)


def _must_be_text(head: bytes) -> None:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise NotAManifest("the file is UTF-16, not UTF-8", _UTF8)
    # A NUL in one row is that row's fault; a head full of them is not text at all.
    if head.count(0) > 8:
        raise NotAManifest(
            "this is not a text file", "Give the manifest, a .jsonl or .csv file, not a video."
        )


def _is_json(suffix: str, head: bytes) -> bool:
    if suffix in {".jsonl", ".ndjson", ".json"}:
        return True
    return suffix != ".csv" and head.lstrip()[:1] in {b"{", b"["}


def _lines(file: BufferedReader) -> Iterator[str]:
    """Bytes that are not UTF-8 come as lone surrogates, for their row to report."""
    number = 0
    while raw := file.readline(LONGEST_LINE + 1):
        number += 1
        if len(raw) > LONGEST_LINE:
            raise NotAManifest(
                f"longer than {LONGEST_LINE // 2**20} MiB; the rest was not read",
                "A manifest has one row per line.",
                number,
            )
        yield raw.decode("utf-8", "surrogateescape")


def _badly_encoded(text: str, what: str = "") -> Complaint | None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        wrong = Complaint(f"not UTF-8 at character {error.start + 1}", _UTF8)
        return wrong.about(what) if what else wrong
    return None


# ---- JSON lines


def _json_records(file: BufferedReader) -> Iterator[ManifestRecord]:
    first = True
    for number, line in enumerate(_lines(file), start=1):
        text = line.strip(" \t\r\n")
        if not text:
            continue
        if first and text == "{":
            raise NotAManifest(
                "the JSON object goes over several lines; a manifest has one object per line",
                "Convert it: jq -c '.' old.json > manifest.jsonl",
                number,
            )
        first = False
        yield _json_record(number, text)


def _array_records(file: BufferedReader) -> Iterator[ManifestRecord]:
    """Yield the rows of a JSON array, each with its number and the line on which it begins."""
    raw = file.read(LONGEST_LINE + 1)
    if len(raw) > LONGEST_LINE:
        advice = "Write one row per line: jq -c '.[]' old.json > manifest.jsonl"
        raise NotAManifest(f"an array of more than {LONGEST_LINE // 2**20} MiB", advice)
    text = raw.decode("utf-8", "surrogateescape")
    decoder = json.JSONDecoder()
    place, line = text.index("[") + 1, 1
    begun, comma, count = 0, False, 0
    while True:
        place = _blanks(text, place)
        line, begun = line + text.count("\n", begun, place), place
        if text[place : place + 1] == "]" and not comma:
            break
        try:
            _, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError) as error:
            raise NotAManifest(f"wrong JSON: {getattr(error, 'msg', error)}", line=line) from None
        count += 1
        yield replace(_json_record(line, text[place:end]), row=count)
        place = _blanks(text, end)
        comma = text[place : place + 1] == ","
        if comma:
            place += 1
        elif text[place : place + 1] != "]":
            raise NotAManifest("wrong JSON: the array goes on without a comma, or ends", line=line)
    if text[place + 1 :].strip():
        raise NotAManifest("wrong JSON: something follows the array", line=line)


def _blanks(text: str, place: int) -> int:
    blanks = _BLANKS.match(text, place)
    return blanks.end() if blanks else place


def _json_record(number: int, text: str) -> ManifestRecord:
    if badly := _badly_encoded(text):
        return ManifestRecord(number, complaints=(badly,))
    try:
        value = load_json(text)
    except Complaint as complaint:
        return ManifestRecord(number, complaints=(complaint,))
    if not isinstance(value, dict):
        wrong = Complaint("not a JSON object", 'A row looks like {"id": "…", "video": "…"}.')
        return ManifestRecord(number, complaints=(wrong,))
    unknown = tuple(
        Complaint(f"unknown field {one_line(name)}", did_you_mean(name, FIELDS), name)
        for name in value
        if name not in FIELDS
    )
    return ManifestRecord(number, {name: value[name] for name in value if name in FIELDS}, unknown)


# ---- CSV


def _csv_records(file: BufferedReader) -> Iterator[ManifestRecord]:
    rows = _csv_rows(file)
    header = next(rows, None)
    if header is None:
        return
    number, cells = header
    if isinstance(cells, Complaint):
        raise NotAManifest(cells.message, cells.advice, number)
    names = _columns(number, cells)
    if unknown := _unknown_columns(names):
        yield ManifestRecord(number, complaints=unknown)
    for number, cells in rows:
        if isinstance(cells, Complaint):
            yield ManifestRecord(number, complaints=(cells,))
        elif any(cell.strip() for cell in cells):
            yield _csv_record(number, names, cells)


def _csv_rows(file: BufferedReader) -> Iterator[tuple[int, list[str] | Complaint]]:
    """Rows with the line each begins on: one in quotes may go over several."""
    reader = csv.reader(_lines(file), strict=True)
    while True:
        start = reader.line_num + 1
        # The limit belongs to the whole process: changed for one row, then set back.
        before = csv.field_size_limit(LONGEST_LINE)
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield start, _csv_complaint(str(error))
            continue
        finally:
            csv.field_size_limit(before)
        if row:
            yield start, [plain_cell(cell) for cell in row]


def _csv_complaint(error: str) -> Complaint:
    if "end of data" in error:
        return Complaint("a quote opened in this row is never closed; the rest was not read")
    if "new-line" in error:
        return Complaint("a line end inside a cell without quotes")
    return Complaint(f"wrong CSV: {error}", 'Write a quote inside quotes twice: "".')


def _columns(line: int, cells: list[str]) -> list[str]:
    names = [cell.strip() for cell in cells]
    if badly := _badly_encoded(",".join(cells)):
        raise NotAManifest(badly.message, badly.advice, line)
    if missing := [name for name in ("id", "video") if name not in names]:
        raise NoColumns(names, missing, line)
    for name in names:
        if names.count(name) > 1:
            raise NotAManifest(f"two columns are named {one_line(name)}", line=line)
    return names


def _unknown_columns(names: list[str]) -> tuple[Complaint, ...]:
    plain = [name for name in FIELDS if name != "groups"]
    return tuple(
        Complaint(
            f"unknown column {one_line(name)}",
            f"{did_you_mean(name, plain)} Columns to group by are named {GROUP_PREFIX}NAME.",
            name,
        )
        for name in names
        if name not in plain and not (name.startswith(GROUP_PREFIX) and name != GROUP_PREFIX)
    )


def _csv_record(number: int, names: list[str], cells: list[str]) -> ManifestRecord:
    if len(cells) != len(names):
        detail = f"{plural(len(cells), 'cell')} where the first line has {len(names)}"
        wrong = Complaint(detail, "Put a cell that has commas in quotes.")
        return ManifestRecord(number, complaints=(wrong,))
    fields: dict[str, Any] = {}
    groups: dict[str, str] = {}
    complaints: list[Complaint] = []
    for name, cell in zip(names, cells, strict=True):
        if badly := _badly_encoded(cell, name):
            complaints.append(badly)
        elif name.startswith(GROUP_PREFIX) and cell:
            groups[name.removeprefix(GROUP_PREFIX)] = cell
        elif name in LIST_FIELDS and cell.lstrip().startswith("["):
            try:
                fields[name] = load_json(cell)
            except Complaint as complaint:
                complaints.append(complaint.about(name))
        elif name in FIELDS and name != "groups":
            fields[name] = cell
    if groups:
        fields["groups"] = groups
    return ManifestRecord(number, fields, tuple(complaints))
