"""Stage results as files: whole or not there, made once, and a person's corrections are kept.

``stages/<id>/<stage>.json`` has ``result``, which may be edited, and two hashes: of what it was
made from and of what was made. A result that no longer has its hash was corrected by a person.

People may also correct results in the annotation app, as texts. A draft and a final prompt are
texts already. Of the other stages each value is a line that begins with its name,
``events.1.subject: a dog``; a text may go on over several lines. Names stay as they are: to add
or remove an event, edit the stage's file.
"""

from __future__ import annotations

import copy
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeAlias

from screentest._util.atomic import storage_error, write_whole
from screentest._util.text import lines
from screentest.core import BadOption, UserError
from screentest.core.codec import parse_json
from screentest.inputs.manifest import write_manifest
from screentest.suites.locot2v.construction.stages import SourceVideo
from screentest.suites.locot2v.data import COMPLEXITIES, DIMENSIONS

Leaf: TypeAlias = str | bool | int | float
LeafPath: TypeAlias = tuple[str | int, ...]
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
    label, spoken = "", list[str]()
    seen: set[str] = set()
    for line in lines(text):
        match = _LINE.fullmatch(line.strip())
        if match and match[1] in known:
            if label:
                yield label, "\n".join(spoken)
            label, spoken = match[1], [match[2]]
            if label in seen:
                raise Unreadable(f"{label} is there twice")
            seen.add(label)
        elif label:
            spoken.append(line)
        elif line.strip():
            raise Unreadable(f"{line.strip()[:40]!r} has no name in front")
    if label:
        yield label, "\n".join(spoken)


def _leaves(stage: str, result: Mapping[str, Any]) -> Iterator[tuple[LeafPath, Leaf]]:
    def walk(value: Any, path: LeafPath) -> Iterator[tuple[LeafPath, Leaf]]:
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


def _label(path: LeafPath) -> str:
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


def _put(changed: Any, path: LeafPath, value: Leaf) -> None:
    *way, last = path
    for part in way:
        changed = changed[part]
    changed[last] = value


class State(StrEnum):
    """How a stage of a video stands."""

    MISSING = "missing"
    MADE = "made"
    CORRECTED = "corrected"
    """Edited by a person; what it was made from is as it was."""
    OUTDATED = "outdated"
    """Made from something that has changed since."""
    CONFLICT = "conflict"
    """Edited by a person, and what it was made from has changed too: kept, and reported."""


def digest(content: object) -> str:
    """Sixteen hex digits of plain JSON."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


class Documents:
    """The stage files of one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "stages"

    def path(self, source: str, stage: str) -> Path:
        """Return where a stage's result lies."""
        return self._folder / source / f"{stage}.json"

    def read(self, source: str, stage: str, inputs: str) -> tuple[State, Mapping[str, Any]]:
        """Return a stage's result, and whether it still holds for these inputs."""
        path = self.path(source, stage)
        if not path.exists():
            return State.MISSING, {}
        content = self._content(path)
        result = content["result"]
        edited, moved = digest(result) != content["made"], content["inputs"] != inputs
        state = {
            (False, False): State.MADE,
            (True, False): State.CORRECTED,
            (False, True): State.OUTDATED,
            (True, True): State.CONFLICT,
        }[edited, moved]
        return state, result

    def result(self, source: str, stage: str) -> dict[str, Any]:
        """Return what a stage's file says now, whatever it was made from."""
        result: dict[str, Any] = self._content(self.path(source, stage))["result"]
        return result

    def correct(self, source: str, stage: str, changes: Mapping[str, Any]) -> bool:
        """Change a result as a person would; False where it says so already."""
        path = self.path(source, stage)
        content = self._content(path)
        if all(content["result"].get(key) == value for key, value in changes.items()):
            return False
        content["result"].update(changes)
        self._put(path, content)
        return True

    def write(self, source: str, stage: str, inputs: str, result: Mapping[str, Any]) -> None:
        """Keep what was made."""
        content = {"inputs": inputs, "made": digest(dict(result)), "result": dict(result)}
        self._put(self.path(source, stage), content)

    def _content(self, path: Path) -> dict[str, Any]:
        advice = "Fix it, or remove it to have it made again."
        try:
            content = parse_json(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise UserError(f"cannot read {path}: {error}", advice=advice) from None
        shape = {"inputs": str, "made": str, "result": dict}
        if not isinstance(content, dict) or not all(
            isinstance(content.get(key), kind) for key, kind in shape.items()
        ):
            raise UserError(f"{path} lacks inputs, made or result", advice=advice)
        return content

    def _put(self, path: Path, content: Mapping[str, Any]) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise storage_error(path, error) from None
        write_whole(path, json.dumps(content, indent=2, ensure_ascii=False))


DRAFTS_FILE = "drafts.jsonl"
REVIEWS = "review"
"""The folder of the other stages' manifests."""


@dataclass(frozen=True, slots=True)
class Corrections:
    """What became of the corrections of one stage: ids of videos."""

    changed: tuple[str, ...] = ()
    approved: tuple[str, ...] = ()
    disputed: tuple[str, ...] = ()
    """People wrote different texts: none is taken, a person must decide."""
    unknown: tuple[str, ...] = ()
    """Not a video of this suite, or one without this stage."""
    unread: Mapping[str, str] = field(default_factory=dict)
    """Corrections that do not fit the stage, and why."""


def write_reviews(
    sources: Sequence[SourceVideo], known: Mapping[str, Mapping[str, Mapping[str, Any]]], out: Path
) -> Path | None:
    """Return a manifest of the videos for each stage, with the stage's result as the text to look
    over.

    ``known`` has the results by id and stage. Drafts are in ``drafts.jsonl``, the others in
    ``review/<stage>.jsonl``. The path of the drafts; None where there is no draft yet.

    A manifest is what ``screentest annotate serve --task prompts`` shows: the real video and the
    text of one stage. People approve or correct it; their corrections become the stage's result,
    and what depends on it is made anew at the next start.
    """
    drafts = None
    for stage in REVIEWED:
        items = [
            replace(
                source.item,
                id=source.id,
                video=source.item.video.absolute(),
                prompt=worded(stage, known[source.id][stage]),
            )
            for source in sources
            if stage in known.get(source.id, {})
        ]
        if items:
            path = out / DRAFTS_FILE if stage == "draft" else out / REVIEWS / f"{stage}.jsonl"
            path.parent.mkdir(parents=True, exist_ok=True)
            write_manifest(path, items)
            drafts = path if stage == "draft" else drafts
    return drafts


def correct_stage(
    out: Path, said: Mapping[str, Sequence[str | None]], stage: str = "draft"
) -> Corrections:
    """Take over what people wrote of one stage; None stands for an approval.

    One text, however many people wrote it, replaces the result, approved by others or not.
    """
    if stage not in REVIEWED:
        raise BadOption(
            f"people do not look over {stage!r}", advice=f"Stages: {', '.join(REVIEWED)}."
        )
    documents = Documents(out)
    changed, approved, disputed, unknown = [], [], [], []
    unread: dict[str, str] = {}
    for name, texts in said.items():
        if not documents.path(name, stage).exists():
            unknown.append(name)
            continue
        result = documents.result(name, stage)
        try:
            written = [read_back(stage, text, result) for text in texts if text is not None]
        except Unreadable as error:
            unread[name] = str(error)
            continue
        if any(item != written[0] for item in written):
            disputed.append(name)
        elif written and documents.correct(name, stage, written[0]):
            changed.append(name)
        else:
            approved.append(name)
    return Corrections(tuple(changed), tuple(approved), tuple(disputed), tuple(unknown), unread)
