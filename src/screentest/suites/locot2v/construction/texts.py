"""Stage results as texts that a person can correct in the annotation app, and back.

A draft and a final prompt are texts already. Of the other stages each value is a line that
begins with its name, ``events.1.subject: a dog``; a text may go on over several lines. Names
stay as they are: to add or remove an event, edit the stage's file.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from screentest.suites.locot2v.data import COMPLEXITIES, DIMENSIONS

Leaf: TypeAlias = str | bool | int | float
Path: TypeAlias = tuple[str | int, ...]
REVIEWED: Mapping[str, tuple[str, ...]] = {
    "draft": ("text",),
    "evaluate": tuple(DIMENSIONS),
    "merge": ("text",),
    "questions": tuple(DIMENSIONS),
    "events": ("events", "actions"),
    "complexity": COMPLEXITIES,
}
"""What of each stage people look at; the rest says how it came about."""
_LINE = re.compile(r"([\w.]+): ?(.*)")
_ANSWERS = {True: "yes", False: "no"}


class Unreadable(ValueError):
    """A corrected text that does not fit the stage; the message says where."""


def worded(stage: str, result: Mapping[str, Any]) -> str:
    """Return the result as a text.

    >>> print(worded("events", {"events": [{"event": "It rains."}], "actions": []}))
    events.1.event: It rains.
    """
    if REVIEWED[stage] == ("text",):
        return str(result["text"])
    return "\n".join(f"{_label(path)}: {_said(leaf)}" for path, leaf in _leaves(stage, result))


def read_back(stage: str, text: str, result: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a corrected text changes in the result.

    >>> read_back("complexity", "semantic: 7", {"semantic": 6, "words": 90})
    {'semantic': 7}
    """
    if REVIEWED[stage] == ("text",):
        if not text.strip():
            raise Unreadable("the text is empty")
        return {"text": text.strip()}
    available = {_label(path): (path, leaf) for path, leaf in _leaves(stage, result)}
    answer = dict(_split(text, available))
    missing = [label for label in available if label not in answer]
    if missing:
        raise Unreadable(f"{missing[0]} is missing")
    changed = {key: copy.deepcopy(result[key]) for key in REVIEWED[stage] if key in result}
    for label, (path, leaf) in available.items():
        _put(changed, path, _value(label, answer[label].strip(), leaf))
    return changed


def _split(text: str, known: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Labels with what was said of them; a line that begins with none goes on."""
    label, lines = "", list[str]()
    seen: set[str] = set()
    for line in text.splitlines():
        match = _LINE.fullmatch(line.strip())
        if match and match[1] in known:
            if label:
                yield label, "\n".join(lines)
            label, lines = match[1], [match[2]]
            if label in seen:
                raise Unreadable(f"{label} is there twice")
            seen.add(label)
        elif label:
            lines.append(line)
        elif line.strip():
            raise Unreadable(f"{line.strip()[:40]!r} has no name in front")
    if label:
        yield label, "\n".join(lines)


def _leaves(stage: str, result: Mapping[str, Any]) -> Iterator[tuple[Path, Leaf]]:
    def walk(value: Any, path: Path) -> Iterator[tuple[Path, Leaf]]:
        if isinstance(value, dict):
            for key, inner in value.items():
                yield from walk(inner, (*path, key))
        elif isinstance(value, list):
            for place, inner in enumerate(value):
                yield from walk(inner, (*path, place))
        elif isinstance(value, str | bool | int | float):
            yield path, value

    for key in REVIEWED[stage]:
        if key in result:
            yield from walk(result[key], (key,))


def _label(path: Path) -> str:
    """People count from one."""
    return ".".join(str(part + 1) if isinstance(part, int) else part for part in path)


def _said(leaf: Leaf) -> str:
    return _ANSWERS[leaf] if isinstance(leaf, bool) else str(leaf)


def _value(label: str, text: str, old: Leaf) -> Leaf:
    if isinstance(old, bool):
        if text.lower() not in _ANSWERS.values():
            raise Unreadable(f"{label} is yes or no, not {text[:40]!r}")
        return text.lower() == "yes"
    if isinstance(old, int | float):
        try:
            number = float(text)
        except ValueError:
            raise Unreadable(f"{label} is a number, not {text[:40]!r}") from None
        return int(number) if number.is_integer() else number
    return text


def _put(changed: Any, path: Path, value: Leaf) -> None:
    *way, last = path
    for part in way:
        changed = changed[part]
    changed[last] = value
