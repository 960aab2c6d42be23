"""Stage results as files: whole or not there, made once, and a person's corrections are kept.

``stages/<id>/<stage>.json`` has ``result``, which may be edited, and two hashes: of what it was
made from and of what was made. A result that no longer has its hash was corrected by a person.

People may also correct the draft and the final prompt in the annotation app.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from screentest._util.atomic import storage_error, write_whole
from screentest.core import BadOption, UserError
from screentest.core.codec import parse_json
from screentest.inputs.manifest import write_manifest
from screentest.suites.locot2v.construction.stages import SourceVideo

REVIEWED = ("draft", "merge")
"""Stages whose result is a text, which people look over in the annotation app."""


class Kept(NamedTuple):
    """A result of an earlier start that stands."""

    result: Mapping[str, Any]
    edited: bool
    """By a person: it is kept, even if it conflicts."""
    conflicts: bool
    """Whether what it was made from has changed since."""


def digest(content: object) -> str:
    """Sixteen hex digits of plain JSON."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


class Documents:
    """The stage files of one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "stages"

    def path(self, source: str, stage: str) -> Path:
        return self._folder / source / f"{stage}.json"

    def read(self, source: str, stage: str, inputs: str) -> Kept | None:
        """Return what a stage made; None where it made nothing of these inputs."""
        path = self.path(source, stage)
        if not path.exists():
            return None
        content = self._content(path)
        edited, moved = digest(content["result"]) != content["made"], content["inputs"] != inputs
        return None if moved and not edited else Kept(content["result"], edited, moved)

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
"""The folder of the final prompts' manifest."""


@dataclass(frozen=True, slots=True)
class Corrections:
    """What became of the corrections of one stage: ids of videos."""

    changed: tuple[str, ...] = ()
    approved: tuple[str, ...] = ()
    disputed: tuple[str, ...] = ()
    """People wrote different texts: none is taken, a person must decide."""
    unknown: tuple[str, ...] = ()
    """Not a video of this suite, or one without this stage."""


def write_reviews(
    sources: Sequence[SourceVideo], known: Mapping[str, Mapping[str, Mapping[str, Any]]], out: Path
) -> Path | None:
    """Write a manifest of the videos for each stage whose result is a text to look over.

    ``known`` has the results by id and stage. Drafts are in ``drafts.jsonl``, final prompts in
    ``review/merge.jsonl``. Returns the path of the drafts; None where there is no draft yet.

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
                prompt=str(known[source.id][stage]["text"]),
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
    for name, texts in said.items():
        if not documents.path(name, stage).exists():
            unknown.append(name)
            continue
        written = {text.strip() for text in texts if text is not None and text.strip()}
        if len(written) > 1:
            disputed.append(name)
        elif written and documents.correct(name, stage, {"text": written.pop()}):
            changed.append(name)
        else:
            approved.append(name)
    return Corrections(tuple(changed), tuple(approved), tuple(disputed), tuple(unknown))
