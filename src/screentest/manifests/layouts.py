"""What the files of other tools hold: rows of tables, lists of prompts, videos of a folder.

Nothing here knows a layout by name; ``layout_importers`` has those.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from screentest.core import Item, ManifestError
from screentest.manifests.fields import Complaint, Problem, ProblemKind, load_json, quoted
from screentest.manifests.files import VIDEO_SUFFIXES, identity, unlisted

LONGEST = 256 * 2**20
"""Bytes of a table that are read."""
TABLES = (".csv", ".tsv", ".json", ".jsonl", ".parquet")
VIDEO_COLUMNS = ("video", "file_name", "video_path", "path", "filename", "file")
PROMPT_COLUMNS = ("prompt", "caption", "text", "cap", "prompt_en", "description")
GROUP_COLUMNS = ("model", "seed", "category")
"""Columns that become groups under their own name; ``group.NAME`` does, too."""


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row of a table of others, as plain values, and where it is."""

    line: int
    fields: Mapping[str, Any]


def table_rows(path: Path) -> list[TableRow]:
    """The rows of a .csv, .tsv, .json, .jsonl or .parquet file; ManifestError says why not."""
    try:
        if path.stat().st_size > LONGEST:
            raise Complaint(f"is larger than {LONGEST // 2**20} MiB")
        match path.suffix.lower():
            case ".parquet":
                return list(_parquet_rows(path))
            case ".json":
                return list(_json_rows(load_json(_text(path))))
            case ".jsonl" | ".ndjson":
                return list(_line_rows(_text(path)))
            case ".tsv":
                return list(_csv_rows(_text(path), "\t"))
            case _:
                return list(_csv_rows(_text(path), ","))
    except Complaint as complaint:
        raise ManifestError(f"{path}: {complaint.message}", advice=complaint.advice) from None
    except OSError as error:
        raise ManifestError(f"{path} does not open: {error.strerror or error}") from None


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Complaint(f"not UTF-8 at byte {error.start + 1}", "Save it as UTF-8.") from None


def _csv_rows(text: str, separator: str) -> Iterator[TableRow]:
    # Not StringIO's lines: a line break in quotes belongs to its cell.
    reader = csv.reader(text.splitlines(keepends=True), delimiter=separator, strict=True)
    names: list[str] = []
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise Complaint(f"line {line}: wrong CSV: {error}") from None
        if not names:
            names = [cell.strip() for cell in cells]
        elif len(cells) == len(names):
            yield TableRow(line, dict(zip(names, cells, strict=True)))
        elif any(cells):
            raise Complaint(
                f"line {line}: {len(cells)} cells where the first line has {len(names)}",
                "Put a cell that has commas in quotes.",
            )


def _line_rows(text: str) -> Iterator[TableRow]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                value = load_json(line)
            except Complaint as complaint:
                raise complaint.about(f"line {number}") from None
            yield _row(number, value)


def _json_rows(content: Any) -> Iterator[TableRow]:
    """An array of objects or of texts, such an array under ``data``, or texts by name."""
    if isinstance(content, dict) and isinstance(content.get("data"), list):
        content = content["data"]
    if isinstance(content, dict) and all(isinstance(one, str) for one in content.values()):
        content = [{"video": name, "prompt": text} for name, text in content.items()]
    if not isinstance(content, list):
        raise Complaint("is not an array of rows", 'Write [{"video": "…", "prompt": "…"}, …].')
    for number, value in enumerate(content, start=1):
        yield _row(number, {"prompt": value} if isinstance(value, str) else value)


def _row(number: int, value: Any) -> TableRow:
    if not isinstance(value, dict):
        raise Complaint(f"row {number} is not an object", 'A row looks like {"video": "…"}.')
    return TableRow(number, value)


def _parquet_rows(path: Path) -> Iterator[TableRow]:
    import pyarrow
    from pyarrow import parquet

    try:
        file = parquet.ParquetFile(path)
        # The videos themselves may be in a column; only their names and texts are read.
        plain = [one.name for one in file.schema_arrow if not pyarrow.types.is_nested(one.type)]
        named = [name for name in plain if not pyarrow.types.is_binary(_type(file, name))]
        rows = file.read(columns=named).to_pylist()
    except pyarrow.ArrowException as error:
        raise Complaint(f"is not a Parquet file that can be read: {error}") from None
    for number, row in enumerate(rows, start=1):
        yield TableRow(number, row)


def _type(file: Any, column: str) -> Any:
    return file.schema_arrow.field(column).type


def columns_of(path: Path) -> frozenset[str]:
    """The columns of a table, of .csv and .jsonl by their first row; none where it has none."""
    suffix = path.suffix.lower()
    try:
        if suffix in (".csv", ".tsv", ".jsonl"):
            with path.open("rb") as file:
                head = file.readline(2**20).decode("utf-8-sig")
            if suffix == ".jsonl":
                return frozenset(next(_line_rows(head)).fields)
            separator = "\t" if suffix == ".tsv" else ","
            return frozenset(map(str.strip, next(csv.reader([head], delimiter=separator))))
        return frozenset(name for row in table_rows(path)[:100] for name in row.fields)
    except (OSError, UnicodeDecodeError, ManifestError, Complaint, StopIteration, csv.Error):
        return frozenset()


def column_of(rows: Sequence[TableRow], names: Sequence[str]) -> str:
    """The first of these names that the rows have; empty for none."""
    present = {name for row in rows[:100] for name in row.fields}
    return next((name for name in names if name in present), "")


@dataclass(frozen=True, slots=True)
class ListedPrompt:
    """A prompt of a list, and the id that the list has for it."""

    text: str
    id: str = ""


def read_prompts(path: Path) -> list[ListedPrompt]:
    """Prompts in their order: the lines of a .txt file, or a column of a table."""
    if path.suffix.lower() not in TABLES:
        try:
            lines = path.read_bytes().decode("utf-8-sig").splitlines()
        except UnicodeDecodeError:
            raise ManifestError(f"{path} is not UTF-8", advice="Save it as UTF-8.") from None
        except OSError as error:
            raise ManifestError(f"{path} does not open: {error.strerror or error}") from None
        while lines and not lines[-1].strip():
            lines.pop()
        found = [ListedPrompt(line.strip()) for line in lines]
    else:
        rows = table_rows(path)
        column = column_of(rows, PROMPT_COLUMNS)
        if rows and not column:
            raise ManifestError(
                f"{path} has no column of prompts",
                advice=f"Columns are looked for under: {', '.join(PROMPT_COLUMNS)}.",
            )
        named = column_of(rows, ("id", "index", "prompt_id", "video_id"))
        found = [
            ListedPrompt(caption(row.fields.get(column)), text_of(row.fields.get(named)))
            for row in rows
        ]
    if not found:
        raise ManifestError(f"{path} has no prompts")
    for line, one in enumerate(found, start=1):
        if not one.text:  # whoever counts lines would be one off from here on
            raise ManifestError(f"{path}: prompt {line} is empty", advice="Write a prompt a line.")
    return found


def caption(value: Any) -> str:
    """The text of a cell; of a list of captions, the first."""
    if isinstance(value, list):
        value = value[0] if value else ""
    return text_of(value)


def text_of(value: Any) -> str:
    """A cell as text on one line's worth: numbers as their digits, what is missing as nothing."""
    if value is None or isinstance(value, dict | list):
        return ""
    return str(value).strip()


@dataclass(frozen=True)
class Listing:
    """The plain content of a folder: its videos, tables and folders, by name."""

    folder: Path

    @cached_property
    def _entries(self) -> tuple[Path, ...]:
        try:
            return tuple(
                sorted(one for one in self.folder.iterdir() if not one.name.startswith("."))
            )
        except OSError:
            return ()

    @cached_property
    def videos(self) -> tuple[Path, ...]:
        """The videos in it, not those below."""
        return tuple(
            one
            for one in self._entries
            if one.suffix.lower() in (*VIDEO_SUFFIXES, ".gif") and not one.is_dir()
        )

    @cached_property
    def folders(self) -> tuple[Path, ...]:
        return tuple(one for one in self._entries if one.is_dir())

    def first(self, names: Iterable[str]) -> Path | None:
        """The first of these files that is there."""
        return next((self.folder / one for one in names if (self.folder / one).is_file()), None)

    def ending(self, *suffixes: str) -> tuple[Path, ...]:
        return tuple(one for one in self._entries if one.is_file() and one.name.endswith(suffixes))

    def told(self) -> str:
        """What is there, in words, for a message.

        >>> Listing(Path("/nowhere")).told()
        'nothing'
        """
        counts = Counter(one.suffix.lower() or one.name for one in self._entries if one.is_file())
        parts = [f"{count} {suffix}" for suffix, count in counts.most_common(5)]
        if self.folders:
            names = ", ".join(quoted(one.name) for one in self.folders[:3])
            more = ", …" if len(self.folders) > 3 else ""
            parts.append(f"{len(self.folders)} folders ({names}{more})")
        return ", ".join(parts) or "nothing"


def surplus(folder: Path, items: Iterable[Item]) -> Iterator[Problem]:
    """The videos below a folder that none of the items is."""
    for path in unlisted(folder, [item.video for item in items]):
        yield Problem(
            ProblemKind.UNLISTED,
            f"{quoted(str(path.relative_to(folder)))} belongs to no prompt",
            "Videos without a prompt are left out.",
            path=path,
        )


def without_doubles(items: Iterable[Item]) -> tuple[tuple[Item, ...], tuple[Problem, ...]]:
    """Items whose videos are files of their own, and what is wrong with the others."""
    first: dict[object, Item] = {}
    problems = []
    for item in items:
        earlier = first.setdefault(identity(item.video) or item.video, item)
        if earlier is not item:
            problems.append(
                Problem(
                    ProblemKind.DUPLICATE_VIDEO,
                    f"the same video as {earlier.id}",
                    "The first is taken.",
                    id=item.id,
                    path=item.video,
                )
            )
    return tuple(first.values()), tuple(problems)


_NOT_IN_NAMES = re.compile(r"[\\/:*?\"<>|_\s]+")


def name_key(prompt: str) -> str:
    """What is left of a prompt in the name of a file; ``_`` counts as a space.

    >>> name_key("A cat / a dog?") == name_key("a_cat_a_dog")
    True
    """
    return _NOT_IN_NAMES.sub(" ", prompt).strip(" .").casefold()
