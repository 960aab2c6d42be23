"""What the fields of a row mean: from plain values to an Item, with every problem named."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from screentest.core import BadOption, Clip, Item, Script, Span, Time, seconds


class Complaint(Exception):
    """What is wrong with a row or its ``field``, and what to do about it."""

    def __init__(self, message: str, advice: str = "", field: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.advice = advice
        self.field = field

    def about(self, name: str) -> Complaint:
        return Complaint(f"{name}: {self.message}", self.advice, name)


def quoted(text: str) -> str:
    """Untrusted text in quotes, on one line, without anything a terminal would act on."""
    return repr(text) if text.isprintable() else ascii(text)


def one_line(text: str, longest: int = 60) -> str:
    """Return the same, cut short: enough to recognise it."""
    shown = quoted(text)
    return shown if len(shown) <= longest else f"{shown[: longest - 2]}…{shown[-1]}"


def load_json(text: str, *, constants: bool = False) -> Any:
    """Read strict JSON: no NaN, no key twice. With ``constants`` NaN and Infinity are null."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        for key, value in pairs:
            if key in fields:
                raise Complaint(f"{one_line(key)} is given twice")
            fields[key] = value
        return fields

    def no_constant(name: str) -> Any:
        if constants:
            return None
        raise Complaint(f"{name} is not JSON")

    try:
        return json.loads(text, object_pairs_hook=unique, parse_constant=no_constant)
    except json.JSONDecodeError as error:
        where = f"at character {error.pos + 1}"
        if error.lineno > 1:
            where = f"at line {error.lineno}, character {error.colno}"
        raise Complaint(f"wrong JSON {where}: {error.msg}") from None
    except RecursionError:
        raise Complaint("wrong JSON: nested too deep") from None
    except ValueError as error:  # a number of thousands of digits
        raise Complaint(f"wrong JSON: {error}") from None


FIELDS = ("id", "video", "prompt", "groups", "script", "references", "source", "instruction")
"""The fields of a row, in the order they are written."""
LIST_FIELDS = ("script", "references")
"""Fields that hold lists; a CSV cell holds them as JSON."""
GROUP_PREFIX = "group."
CLIP_FIELDS = ("caption", "start", "end")

LONGEST_SCRIPT_FILE = 64 * 2**20

_TEXT_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_NAME_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
# A name that is not UTF-8 is written in JSON as the surrogates Python reads it as.
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
_NO_FILE_NAME = re.compile(r"[\x00\ud800-\udc7f\udd00-\udfff]")

T = TypeVar("T")


def did_you_mean(wrong: str, known: Iterable[str]) -> str:
    """Return a near name, or all of them.

    >>> did_you_mean("vidoe", FIELDS)
    "Did you mean 'video'?"
    """
    names = list(known)
    near = difflib.get_close_matches(wrong.lower(), names, n=1, cutoff=0.6)
    return f"Did you mean {near[0]!r}?" if near else f"Known: {', '.join(names)}."


def item_of(fields: Mapping[str, Any], folder: Path) -> tuple[Item | None, list[Complaint]]:
    """Return the item that ``fields`` describe, or all that is wrong with them."""
    complaints: list[Complaint] = []

    def take(name: str, read: Callable[[Any], T], default: T) -> T:
        value = fields.get(name)
        if value is None or value == "":
            return default
        try:
            return read(value)
        except Complaint as complaint:
            complaints.append(complaint.about(name))
            return default

    for name in ("id", "video"):
        if fields.get(name) in (None, ""):
            complaints.append(Complaint(f"no {name}", field=name))
    name = take("id", _name, "")
    video = take("video", lambda value: folder / _path(value), Path())
    prompt = take("prompt", _text, "")
    groups = take("groups", _groups, dict[str, str]())
    script = take("script", lambda value: _script(value, folder), None)
    references = take("references", lambda value: _paths(value, folder), tuple[Path, ...]())
    source = take("source", lambda value: folder / _path(value), None)
    instruction = take("instruction", _text, "")
    if complaints:
        return None, complaints
    return Item(name, video, prompt, script, references, source, instruction, groups), []


def id_of(fields: Mapping[str, Any]) -> str:
    """Return the id of a row that may be wrong otherwise; empty where there is none to go by."""
    try:
        return _name(fields.get("id"))
    except Complaint:
        return ""


def files_of(fields: Mapping[str, Any], folder: Path) -> Iterator[Path]:
    """Yield the videos a row names, whatever else is wrong with it."""
    for name in ("video", "source"):
        with suppress(Complaint):
            yield folder / _path(fields.get(name))


def _name(value: Any) -> str:
    """Return an id or the name of a group: one line. A whole number is read as its digits."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    text = _string(value)
    if control := _NAME_CONTROLS.search(text):
        raise Complaint(f"has the control character U+{ord(control[0]):04X}")
    if text != text.strip():
        raise Complaint(f"{one_line(text)} has spaces around it", "Remove them.")
    return text


def _text(value: Any) -> str:
    text = _string(value)
    if control := _TEXT_CONTROLS.search(text):
        raise Complaint(
            f"has the control character U+{ord(control[0]):04X} at character {control.start() + 1}",
            "Remove it; tabs and line ends are fine.",
        )
    return text


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise Complaint(f"is {_spoken(value)}, not text")
    if any("\ud800" <= letter <= "\udfff" for letter in value):
        raise Complaint("has half of a surrogate pair, which is not a character")
    return value


def _path(value: Any) -> Path:
    if not isinstance(value, str):
        raise Complaint(f"is {_spoken(value)}, not a path")
    if not value:
        raise Complaint("is an empty path")
    if _NO_FILE_NAME.search(value):
        raise Complaint("has a character that no file name can have")
    if _ADDRESS.match(value):
        raise Complaint("is an address, not a file", "Download the video and give its path.")
    return Path(value)


def _paths(value: Any, folder: Path) -> tuple[Path, ...]:
    given = [value] if isinstance(value, str) else value
    if not isinstance(given, list):
        raise Complaint(f"is {_spoken(value)}, not a list of paths")
    return tuple(folder / _path(each) for each in given)


def _groups(value: Any) -> dict[str, str]:
    if not isinstance(value, dict):
        raise Complaint(f"is {_spoken(value)}, not an object", 'Write {"model": "name"}.')
    groups = {}
    for key, member in value.items():
        name = _name(key)
        if not name:
            raise Complaint("has a group without a name")
        if isinstance(member, bool | int | float):
            member = json.dumps(member)
        try:
            groups[name] = _name(member)
        except Complaint as complaint:
            raise complaint.about(one_line(name)) from None
        if not groups[name]:
            raise Complaint(f"{one_line(name)} is empty", "Leave out groups that have no value.")
    return groups


def _script(value: Any, folder: Path) -> Script:
    clips = _script_file(folder / _path(value)) if isinstance(value, str) else value
    if not isinstance(clips, list):
        raise Complaint(
            f"is {_spoken(clips)}, not a list of clips", 'Write [{"caption": …, "start": …}, …].'
        )
    if not clips:
        raise Complaint("has no clips", "Leave it out where there is none.")
    try:
        return Script(tuple(_clip(number, clip) for number, clip in enumerate(clips, start=1)))
    except ValueError as error:
        raise Complaint(str(error)) from None


def _script_file(path: Path) -> Any:
    shown = quoted(str(path))
    try:
        if not path.is_file():
            raise Complaint(f"no file {shown}")
        if path.stat().st_size == 0:  # also what the kernel's own files say, which may never end
            raise Complaint(f"{shown} is empty")
        if path.stat().st_size > LONGEST_SCRIPT_FILE:
            raise Complaint(f"{shown} is larger than {LONGEST_SCRIPT_FILE // 2**20} MiB")
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Complaint(f"{shown} is not UTF-8", "Save it as UTF-8.") from None
    except OSError as error:
        raise Complaint(f"{shown} does not open: {error.strerror}") from None
    try:
        return load_json(text)
    except Complaint as complaint:
        raise complaint.about(shown) from None


def _clip(number: int, clip: Any) -> Clip:
    if not isinstance(clip, dict):
        raise Complaint(f"clip {number} is {_spoken(clip)}, not an object")
    for key in clip:
        if key not in CLIP_FIELDS:
            raise Complaint(
                f"clip {number} has the unknown field {one_line(key)}",
                did_you_mean(key, CLIP_FIELDS),
            )
    try:
        caption = _text(clip.get("caption", ""))
        start, end = (_time(clip.get(key)) for key in ("start", "end"))
    except Complaint as complaint:
        raise complaint.about(f"clip {number}") from None
    if start is None and end is None:
        return Clip(caption)
    if start is None or end is None:
        raise Complaint(f"clip {number} has no {'start' if start is None else 'end'}")
    if end <= start:
        raise Complaint(f"clip {number} ends before it starts")
    return Clip(caption, Span(start, end))


def _time(value: Any) -> Time | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise Complaint(f"invalid time: is {_spoken(value)}, not a number or text")
    try:
        return seconds(value)
    except BadOption as error:
        raise Complaint(error.message, error.advice) from None


def _spoken(value: Any) -> str:
    """Name the type of a JSON value."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case str():
            return "text"
        case int() | float():
            return f"the number {value}"
        case list():
            return "a list"
        case _:
            return "an object"


class ProblemKind(StrEnum):
    """What is wrong, for machines. The order is the one reports use."""

    BAD_FILE = "bad_file"
    """The manifest as a whole cannot be read as one."""
    BAD_ROW = "bad_row"
    """A row that describes no item."""
    DUPLICATE_ID = "duplicate_id"
    """An id that an earlier row has."""
    DUPLICATE_VIDEO = "duplicate_video"
    """The same file as in an earlier row."""
    NO_PROMPT = "no_prompt"
    """Prompts are there, and were not read."""
    MISSING = "missing"
    """A row names a file that is not there."""
    UNREADABLE = "unreadable"
    """A row names a file that is there and does not open."""
    DAMAGED = "damaged"
    """A video that opens and does not decode in full."""
    MISMATCH = "mismatch"
    """The row and its video contradict each other."""
    UNLISTED = "unlisted"
    """A video that no row names."""


def place_of(line: int | None, row: int | None) -> str:
    """Return where a row is, in words; empty where that is not known."""
    if row is not None:
        return f"row {row}"
    return "" if line is None else f"line {line}"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong.

    >>> print(Problem(ProblemKind.BAD_ROW, "no video", line=3, id="cat"))
    line 3 (cat): no video
    >>> print(Problem(ProblemKind.BAD_ROW, "no video", row=2))
    row 2: no video
    """

    kind: ProblemKind
    message: str
    advice: str = ""
    line: int | None = None
    """Where the row begins in the manifest, from 1."""
    id: str = ""
    path: Path | None = None
    """The file it is about, where there is one."""
    row: int | None = None
    """Which row, from 1, where rows are not lines: in a JSON array, in Parquet."""
    field: str = ""
    """The field or column of the row, where it is about one."""

    def __str__(self) -> str:
        place = place_of(self.line, self.row)
        if self.id:
            place = f"{place} ({self.id})" if place else self.id
        return f"{place}: {self.message}" if place else self.message


def listed(problems: Iterable[Problem]) -> str:
    """Return all problems as indented lines; advice that repeats is given once, at the end."""
    lines, advice = [], dict[str, None]()
    for problem in problems:
        lines.append(f"  {problem}")
        if problem.advice:
            advice[problem.advice] = None
    return "\n".join([*lines, *advice])
