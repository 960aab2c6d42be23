"""Files that others have released: JSON, JSON lines, and tables with commas, semicolons or tabs.

They are read whole, so they may not be larger than a limit; what is not a plain file is not read.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from screentest._util.text import lines, plural
from screentest.core import ManifestError, UserError
from screentest.inputs.fields import Complaint, Problem, ProblemKind, load_json, one_line

LARGEST = 256 * 2**20
"""Bytes of one file: some millions of rows."""
_SEPARATORS = (",", ";", "\t")
_Read = TypeVar("_Read")


def read_text(path: Path, *, limited: bool = True, encoding: str = "utf-8-sig") -> str:
    """Return the text of a plain file, without a byte order mark; else raises ManifestError.

    Line ends are left as they are.
    """
    try:
        if not path.exists():
            raise ManifestError(f"{path} is not there", advice="Give the folder or file itself.")
        if not path.is_file():
            raise ManifestError(f"{path} is not a plain file")
        if limited and path.stat().st_size > LARGEST:
            raise ManifestError(
                f"{path} is larger than {LARGEST // 2**20} MiB", advice="Split it by aspects."
            )
        return path.read_bytes().decode(encoding)
    except OSError as error:
        raise ManifestError(f"{path} does not open: {error.strerror}") from None
    except MemoryError:
        raise ManifestError(f"{path} does not fit in memory") from None
    except UnicodeDecodeError:
        raise ManifestError(f"{path} is not UTF-8", advice="Save it as UTF-8.") from None
    except ValueError as error:  # a name with a NUL in it
        raise ManifestError(f"{str(path)!r} does not open: {error}") from None


def read_json(path: Path, *, constants: bool = False) -> Any:
    """Read a JSON file; where its lines are objects of their own, their list.

    With ``constants`` NaN and Infinity, which are not JSON but are often written, are null.
    """
    text = read_text(path)
    try:
        try:
            return load_json(text, constants=constants)
        except Complaint:
            written = [line for line in lines(text) if line.strip()]
            if len(written) < 2:
                raise
            return [load_json(line, constants=constants) for line in written]
    except Complaint as complaint:
        raise ManifestError(f"{path}: {complaint.message}") from None


def json_lines(
    path: Path, read: Callable[[int, dict[str, Any]], _Read], *, advice: str = ""
) -> list[_Read]:
    """Return what ``read`` makes of the number and the object of each line; an error names both."""
    result = []
    for number, line in enumerate(lines(read_text(path, limited=False)), start=1):
        if line.strip():
            try:
                row = load_json(line)
                if not isinstance(row, dict):
                    raise Complaint("not a JSON object", "Write one object per line.")
                result.append(read(number, row))
            except (Complaint, UserError) as error:
                message = f"{path}, line {number}: {error.message}"
                raise ManifestError(message, advice=error.advice or advice) from None
    return result


Columns = Mapping[str, Sequence[str]]
"""What each column may be called, by what it is called here."""


def table_rows(
    path: Path, needed: Columns, optional: Columns
) -> Iterator[tuple[int, dict[str, str]] | Problem]:
    """Yield the rows of a CSV file by line: these columns, and the others by their names.

    A row that has too few or too many cells is a problem; broken quotes end the table.
    """
    # A sheet made on another system may end its lines with a carriage return alone.
    text = io.StringIO(read_text(path), newline=None)
    head = text.readline()
    text.seek(0)
    separator = max(_SEPARATORS, key=head.count)
    reader = csv.reader(text, delimiter=separator, strict=True)
    try:
        names = [name.strip() for name in next(reader, [])]
        header = [name.lower() for name in names]
        places = _places(path, header, needed, optional)
        others = set(range(len(names))) - set(places.values())
        places |= {names[place]: place for place in sorted(others) if names[place] not in places}
        for row in reader:
            if not any(cell.strip() for cell in row):
                continue
            if len(row) != len(header):
                message = f"{plural(len(row), 'cell')} where the first line has {len(header)}"
                yield Problem(ProblemKind.BAD_ROW, message, path=path, line=reader.line_num)
                continue
            yield reader.line_num, {name: row[place].strip() for name, place in places.items()}
    except csv.Error as error:
        message = f"wrong CSV: {error}; nothing after this line is read"
        yield Problem(ProblemKind.BAD_FILE, message, path=path, line=reader.line_num)


def _places(
    path: Path, header: Sequence[str], needed: Columns, optional: Columns
) -> dict[str, int]:
    places: dict[str, int] = {}
    for name, spellings in (*needed.items(), *optional.items()):
        result = [spelling for spelling in spellings if spelling in header]
        if any(header.count(spelling) > 1 for spelling in result):
            raise ManifestError(f"{path} has two columns {result[0]}")
        if result:
            places[name] = header.index(result[0])
    missing = [name for name in needed if name not in places]
    if missing:
        has = ", ".join(one_line(name, 30) for name in header[:8]) or "no columns"
        raise ManifestError(
            f"{path} has no column {', '.join(missing)}; it has {has}",
            advice=f"Columns: {', '.join(needed)}; {', '.join(optional)} where there are any.",
        )
    return places
