"""Rows out of a damaged database, without asking it for anything but bytes.

Every row ends with a checksum of itself, so a row can be recognised wherever it lies: on a
page that nothing points to, or between two that are scrambled. Only the row's own bytes have
to be whole. The layout is that of https://www.sqlite.org/fileformat2.html.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeAlias

from screentest.run.database import checked_columns
from screentest.run.records import Cell, Row, checksum

Pages: TypeAlias = Mapping[int, bytes]

# A row begins with the length of its header and the type of its id, a whole number above 0.
_BEGINNING: Final = re.compile(rb"(?=[\x04-\x7f][\x01-\x06\x09])")
_CHECKSUM_TYPE: Final = 13 + 2 * 32  # text of 32 letters
_DATABASE_HEADER, _LOG_HEADER, _FRAME_HEADER = 100, 32, 24
_INTEGER_BYTES: Final = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}


def carve(database: Path, log: Path) -> Iterator[tuple[str, Row]]:
    """Every intact row in a database file and its write-ahead log, with its table.

    Older versions of a row may come along with the latest.
    """
    for size in _page_sizes(database, log):
        pages = _database_pages(database, size)
        later = _log_pages(log, size)
        newest = pages | dict(later)
        tables = _tables_by_width()
        for image in [*pages.values(), *(image for _, image in later)]:
            for found in _BEGINNING.finditer(image):
                for view in (newest, pages):
                    row = _row_at(image, found.start(), view, size, tables)
                    if row is not None:
                        yield row
                        break


def _page_sizes(database: Path, log: Path) -> set[int]:
    """What the files say of the size of their pages, in case it is true, and the usual one."""
    claims = {4096}
    for path, start, end in ((database, 16, 18), (log, 8, 12)):
        if path.exists():
            with path.open("rb") as file:
                claimed = int.from_bytes(file.read(_DATABASE_HEADER)[start:end], "big")
            claims.add(65536 if claimed == 1 else claimed)
    return {size for size in claims if _is_page_size(size)}


def _is_page_size(size: int) -> bool:
    return 512 <= size <= 65536 and size & (size - 1) == 0


def _database_pages(path: Path, size: int) -> dict[int, bytes]:
    data = path.read_bytes()
    return {n + 1: data[n * size : (n + 1) * size] for n in range((len(data) + size - 1) // size)}


def _log_pages(path: Path, size: int) -> list[tuple[int, bytes]]:
    """Pages in the log, the earliest first; what is whole is decided row by row."""
    if not path.exists():
        return []
    data, step = path.read_bytes(), _FRAME_HEADER + size
    return [
        (int.from_bytes(data[at : at + 4], "big"), data[at + _FRAME_HEADER : at + step])
        for at in range(_LOG_HEADER, len(data), step)
    ]


def _tables_by_width() -> dict[int, list[str]]:
    widths: dict[int, list[str]] = {}
    for table, columns in checked_columns().items():
        widths.setdefault(len(columns) + 1, []).append(table)
    return widths


def _row_at(
    image: bytes, at: int, pages: Pages, usable: int, tables: Mapping[int, Sequence[str]]
) -> tuple[str, Row] | None:
    types = _types(image, at)
    if types is None or len(types) not in tables:
        return None
    length = image[at] + sum(_width(kind) for kind in types)
    payload = _payload(image, at, length, pages, usable)
    if payload is None:
        return None
    *cells, kept = _cells(payload, image[at], types)
    for table in tables[len(types)]:
        if checksum(table, cells) == kept:
            return table, dict(zip(checked_columns()[table], cells, strict=True))
    return None


def _types(image: bytes, at: int) -> list[int] | None:
    """The types that a row's header names; None where no header can begin."""
    end, position, types = at + image[at], at + 1, []
    if end > len(image) or image[end - 1] != _CHECKSUM_TYPE:
        return None
    while position < end:
        kind, position = _varint(image, position)
        types.append(kind)
    return types if position == end else None


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for position in range(at, min(at + 8, len(data))):
        value = value << 7 | data[position] & 0x7F
        if data[position] < 0x80:
            return value, position + 1
    return value, at + 9


def _width(kind: int) -> int:
    if kind >= 12:
        return (kind - 12) // 2
    return _INTEGER_BYTES.get(kind, 8 if kind == 7 else 0)


def _payload(image: bytes, at: int, length: int, pages: Pages, usable: int) -> bytes | None:
    """A row's bytes, gathered from the further pages that a long one goes on to."""
    most = usable - 35
    if length <= most:
        whole = image[at : at + length]
        return whole if len(whole) == length else None
    least = (usable - 12) * 32 // 255 - 23
    local = least + (length - least) % (usable - 4)
    if local > most:
        local = least
    parts, left = [image[at : at + local]], length - local
    following = int.from_bytes(image[at + local : at + local + 4], "big")
    while left > 0:
        page = pages.get(following)
        if page is None:
            return None
        parts.append(page[4 : 4 + min(left, usable - 4)])
        following = int.from_bytes(page[:4], "big")
        left -= usable - 4
    whole = b"".join(parts)
    return whole if len(whole) == length else None


def _cells(payload: bytes, header: int, types: Sequence[int]) -> list[Cell]:
    cells: list[Cell] = []
    at = header
    for kind in types:
        raw = payload[at : at + _width(kind)]
        at += len(raw)
        if kind >= 13 and kind % 2:
            cells.append(raw.decode("utf-8", "surrogateescape"))
        elif kind in _INTEGER_BYTES:
            cells.append(int.from_bytes(raw, "big", signed=True))
        else:
            cells.append({8: 0, 9: 1}.get(kind))
    return cells
