"""What the files of other tools hold: rows of tables, lists of prompts, videos of a folder.

Nothing here knows a layout by name.
"""

from __future__ import annotations

import csv
import difflib
import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from screentest._util.optional import optional
from screentest._util.text import lines, plural
from screentest.core import Item, ManifestError
from screentest.inputs.fields import Complaint, Problem, ProblemKind, load_json, quoted
from screentest.inputs.files import VIDEO_SUFFIXES, identity, unlisted
from screentest.video.limits import DEFAULT_LIMITS

LONGEST = 256 * 2**20
"""Bytes of a table that are read."""
TABLES = (".csv", ".tsv", ".json", ".jsonl", ".parquet")
VIDEO_COLUMNS = ("video", "file_name", "video_path", "path", "filename", "file")
PROMPT_LISTS = (
    *("prompts.txt", "prompt.txt", "prompts.csv", "prompts.parquet"),
    *("prompts.json", "prompts.jsonl", "VBench_full_info.json", "prompts_sample.json"),
)
"""Where the prompts of a folder are looked for."""
PROMPT_COLUMNS = ("prompt", "caption", "text", "cap", "prompt_en", "description")
FEW = 8
"""Tables of a folder that are looked into; annotations are in thousands."""
GROUP_COLUMNS = ("model", "seed", "category")
"""Columns that become groups under their own name; ``group.NAME`` does, too."""


LARGEST_ARCHIVE = ContextVar("LARGEST_ARCHIVE", default=DEFAULT_LIMITS.file_bytes)
"""Bytes that an archive may have."""


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row of a table of others, as plain values, and where it is: its line, or its number."""

    fields: Mapping[str, Any]
    line: int | None = None
    row: int | None = None


def table_rows(path: Path) -> list[TableRow]:
    """Return the rows of a .csv, .tsv, .json, .jsonl or .parquet file, or raise ManifestError."""
    try:
        if path.stat().st_size > LONGEST:
            raise Complaint(f"is larger than {LONGEST // 2**20} MiB")
        match path.suffix.lower():
            case ".parquet":
                return list(_parquet_rows(path))
            case ".json":
                return list(_json_or_lines(_text(path)))
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
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
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
            yield TableRow(dict(zip(names, cells, strict=True)), line=line)
        elif any(cells):
            raise Complaint(
                f"line {line}: {plural(len(cells), 'cell')} where the first line has {len(names)}",
                "Put a cell that has commas in quotes.",
            )


def _line_rows(text: str) -> Iterator[TableRow]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                value = load_json(line)
            except Complaint as complaint:
                raise complaint.about(f"line {number}") from None
            yield TableRow(_object(value, f"line {number}"), line=number)


def _json_or_lines(text: str) -> Iterator[TableRow]:
    """Yield rows of JSON, or of JSON lines that are called .json."""
    first, _, rest = text.lstrip().partition("\n")
    lined = first.startswith("{") and rest.lstrip().startswith("{")
    yield from _line_rows(text) if lined else _json_rows(load_json(text))


def _json_rows(content: Any) -> Iterator[TableRow]:
    """Yield an array of objects or of texts, such an array under ``data``, or texts by name."""
    if isinstance(content, dict) and isinstance(content.get("data"), list):
        content = content["data"]
    if isinstance(content, dict) and all(isinstance(text, str) for text in content.values()):
        content = [{"video": name, "prompt": text} for name, text in content.items()]
    if not isinstance(content, list):
        raise Complaint("is not an array of rows", 'Write [{"video": "…", "prompt": "…"}, …].')
    for number, value in enumerate(content, start=1):
        plain = {"prompt": value} if isinstance(value, str) else value
        yield TableRow(_object(plain, f"row {number}"), row=number)


def _object(value: Any, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Complaint(f"{place} is not an object", 'A row looks like {"video": "…"}.')
    return value


def _parquet_rows(path: Path) -> Iterator[TableRow]:
    pyarrow, parquet = optional("pyarrow"), optional("pyarrow.parquet")
    kinds = pyarrow.types
    try:
        file = parquet.ParquetFile(path)
        # The videos themselves may be in a column; only their names and texts are read.
        names = [
            column.name
            for column in file.schema_arrow
            if not (kinds.is_nested(column.type) or kinds.is_binary(column.type))
        ]
        rows = file.read(columns=names).to_pylist()
    except pyarrow.ArrowException as error:
        raise Complaint(f"is not a Parquet file that can be read: {error}") from None
    for number, row in enumerate(rows, start=1):
        yield TableRow(row, row=number)


def columns_of(path: Path) -> frozenset[str]:
    """Return the columns of a table, if any; of .csv and .jsonl by their first row."""
    suffix = path.suffix.lower()
    try:
        if suffix in (".csv", ".tsv", ".jsonl"):
            with path.open("rb") as file:
                head = file.readline(2**20).decode("utf-8-sig")
            if suffix == ".jsonl":
                return frozenset(next(_line_rows(head)).fields)
            separator = "\t" if suffix == ".tsv" else ","
            reader = csv.reader(io.StringIO(head, newline=""), delimiter=separator)
            return frozenset(map(str.strip, next(reader)))
        rows = table_rows(path)[:100] if suffix in TABLES else ()
        return frozenset(name for row in rows for name in row.fields)
    except (OSError, UnicodeDecodeError, ManifestError, Complaint, StopIteration, csv.Error):
        return frozenset()


def names_of(rows: Sequence[TableRow]) -> list[str]:
    """Return the columns that the first rows have."""
    return list(dict.fromkeys(name for row in rows[:100] for name in row.fields))


def column_of(rows: Sequence[TableRow], names: Sequence[str]) -> str:
    """Return the first of these names that the rows have; empty for none."""
    present = names_of(rows)
    return next((name for name in names if name in present), "")


MISSPELT = "There is {}: did you mean {}?"
"""Advice on a misspelt name and the one that was meant."""


def misspelt(present: Iterable[str], names: Sequence[str]) -> tuple[str, str] | None:
    """Return a misspelt one of these names and the name itself, in quotes.

    >>> misspelt(["vidoe", "fps"], ["video", "path"])
    ("'vidoe'", "'video'")
    """
    for name in present:
        if near := difflib.get_close_matches(name.strip().lower(), names, n=1, cutoff=0.75):
            return quoted(name), quoted(near[0])
    return None


class NoColumn(ManifestError):
    """A table without any of the columns that hold something."""

    def __init__(
        self, table: Path, what: str, rows: Sequence[TableRow], names: Sequence[str]
    ) -> None:
        present = names_of(rows)
        near = misspelt(present, names) if len(names) > 1 else None  # one is named by the user
        has = ", ".join(map(quoted, present[:12])) + (", …" if len(present) > 12 else "")
        advice = f"Looked for {', '.join(names)}; the table has {has}."
        if near:
            advice = f"{MISSPELT.format(*near)} {advice}"
        super().__init__(f"{table} has no column of {what}", advice=advice)


@dataclass(frozen=True, slots=True)
class ListedPrompt:
    """A prompt of a list, and the id that the list has for it."""

    text: str
    id: str = ""


def read_prompts(path: Path) -> list[ListedPrompt]:
    """Prompts in their order: the lines of a .txt file, or a column of a table."""
    if path.suffix.lower() not in TABLES:
        try:
            if path.stat().st_size > LONGEST:
                raise ManifestError(f"{path} is larger than {LONGEST // 2**20} MiB")
            written = lines(path.read_bytes().decode("utf-8-sig"))
        except UnicodeDecodeError:
            raise ManifestError(f"{path} is not UTF-8", advice="Save it as UTF-8.") from None
        except OSError as error:
            raise ManifestError(f"{path} does not open: {error.strerror or error}") from None
        while written and not written[-1].strip():
            written.pop()
        prompts = [ListedPrompt(line.strip()) for line in written]
    else:
        rows = table_rows(path)
        column = column_of(rows, PROMPT_COLUMNS)
        if rows and not column:
            raise NoColumn(path, "prompts", rows, PROMPT_COLUMNS)
        named = column_of(rows, ("id", "index", "prompt_id", "video_id"))
        prompts = [
            ListedPrompt(caption(row.fields.get(column)), text_of(row.fields.get(named)))
            for row in rows
        ]
    if not prompts:
        raise ManifestError(f"{path} has no prompts")
    for line, prompt in enumerate(prompts, start=1):
        if not prompt.text:  # whoever counts lines would be one off from here on
            raise ManifestError(f"{path}: prompt {line} is empty", advice="Write a prompt a line.")
    return prompts


def shown_name(name: str) -> str:
    """Return the name of a file; bytes in it that are not UTF-8 are written as escapes."""
    return name.encode("utf-8", "backslashreplace").decode()


def caption(value: Any) -> str:
    """Return the text of a cell; of a list of captions, the first."""
    if isinstance(value, list):
        value = value[0] if value else ""
    return text_of(value)


def text_of(value: Any) -> str:
    """Return a cell as text: numbers as their digits, what is missing as nothing."""
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
                sorted(path for path in self.folder.iterdir() if not path.name.startswith("."))
            )
        except OSError:
            return ()

    @cached_property
    def videos(self) -> tuple[Path, ...]:
        """The videos in it, not those below."""
        return tuple(
            entry
            for entry in self._entries
            if entry.suffix.lower() in (*VIDEO_SUFFIXES, ".gif") and not entry.is_dir()
        )

    @cached_property
    def folders(self) -> tuple[Path, ...]:
        return tuple(entry for entry in self._entries if entry.is_dir())

    def first(self, names: Iterable[str]) -> Path | None:
        """Return the first of these files that is there."""
        return next((self.folder / name for name in names if (self.folder / name).is_file()), None)

    def ending(self, *suffixes: str) -> tuple[Path, ...]:
        return tuple(
            entry for entry in self._entries if entry.is_file() and entry.name.endswith(suffixes)
        )

    def told(self) -> str:
        """Describe the folder for a message.

        >>> Listing(Path("/nowhere")).told()
        'nothing'
        """
        counts = Counter(
            entry.suffix.lower() or entry.name for entry in self._entries if entry.is_file()
        )
        parts = [f"{count} {suffix}" for suffix, count in counts.most_common(5)]
        if self.folders:
            names = ", ".join(quoted(folder.name) for folder in self.folders[:3])
            more = ", …" if len(self.folders) > 3 else ""
            parts.append(f"{plural(len(self.folders), 'folder')} ({names}{more})")
        return ", ".join(parts) or "nothing"


def missing(message: str) -> Problem:
    """Return a video that a list or the other prompts let expect, and that is not there."""
    return Problem(ProblemKind.MISSING, message)


def left_out(video: Path, why: str) -> Problem:
    """Return a video that cannot be scored with the others."""
    advice = "Videos without a prompt are left out."
    return Problem(ProblemKind.UNLISTED, f"{quoted(video.name)} {why}", advice, path=video)


def no_prompt(message: str, near: tuple[str, str] | None = None) -> Problem:
    """Prompts that lie there and were not read; ``near`` is what was probably meant."""
    words = f"{message}. {MISSPELT.format(*near)}" if near else message
    return Problem(ProblemKind.NO_PROMPT, words)


def sorted_seeds(found: Iterable[str]) -> list[str]:
    """Return each once, by number.

    >>> sorted_seeds(["10", "2", "2"])
    ['2', '10']
    """
    return sorted(set(found), key=lambda seed: (len(seed), seed))


def too_few(seeds: Mapping[str, Sequence[str]], words: Callable[[str], str]) -> Iterator[Problem]:
    """Prompts with fewer videos than half of all have; ``words`` says which prompt.

    Which numbers their seeds have does not matter: a prompt may have 7 and 9 where others have 0
    and 1.
    """
    counts = sorted(map(len, seeds.values()))
    enough = counts[len(counts) // 2] if counts else 0
    of = Counter(seed for numbers in seeds.values() for seed in numbers)
    usual = [number for number in sorted_seeds(of) if 2 * of[number] >= len(seeds)]
    for prompt, present in seeds.items():
        if len(present) >= enough:
            continue
        lost = [seed for seed in usual if seed not in present]
        if len(usual) == enough == len(present) + len(lost):
            noun = "video" if len(lost) == 1 else "videos"
            yield missing(f"no {noun} {', '.join(lost)} of {words(prompt)}")
        else:
            have = f"{len(present)} video{'s' * (len(present) > 1)} ({', '.join(present)})"
            yield missing(f"only {have} of {words(prompt)}: others have {enough}")


def surplus(folder: Path, items: Iterable[Item]) -> Iterator[Problem]:
    """Yield the videos below a folder that none of the items is."""
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
            same = f"the same video as {earlier.id}"
            words = "is named twice" if earlier.id == item.id else same
            kind, advice = ProblemKind.DUPLICATE_VIDEO, "The first is taken."
            problems.append(Problem(kind, words, advice, id=item.id, path=item.video))
    return tuple(first.values()), tuple(problems)


def most_match(pattern: re.Pattern[str], videos: Sequence[Path]) -> bool:
    """Return True if two names of three are of a form: a stray file does not hide the others."""
    matching = sum(pattern.fullmatch(video.stem) is not None for video in videos)
    return 0 < 2 * len(videos) <= 3 * matching


BY_PROMPT = re.compile(r"(?P<prompt>.*\S)[-_](?P<seed>\d{1,6})", re.DOTALL)
"""The name of a video that is its prompt and the number of its seed."""
_NOT_IN_NAMES = re.compile(r"[\\/:*?\"<>|_\s]+")


def name_key(prompt: str) -> str:
    """Return the rest of a prompt in the name of a file; ``_`` counts as a space.

    >>> name_key("A cat / a dog?") == name_key("a_cat_a_dog")
    True
    """
    return _NOT_IN_NAMES.sub(" ", prompt).strip(" .").casefold()
