"""Drafts that people look over: out as a manifest, back as corrections.

The manifest is what ``screentest annotate serve --task prompts`` shows: the real video and its
draft. People approve or correct it; their corrections become the draft, and what depends on it
is made anew at the next start.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from screentest.corpus import write_manifest
from screentest.suites.locot2v.building.documents import Documents
from screentest.suites.locot2v.building.stages import Source

DRAFTS_FILE = "drafts.jsonl"


@dataclass(frozen=True, slots=True)
class Corrections:
    """What became of them."""

    changed: tuple[str, ...] = ()
    approved: tuple[str, ...] = ()
    disputed: tuple[str, ...] = ()
    """People wrote different texts: none is taken, somebody must decide."""
    unknown: tuple[str, ...] = field(default=())
    """Not a video of this suite."""


def write_drafts(sources: Sequence[Source], drafts: Mapping[str, str], out: Path) -> Path | None:
    """The videos with their drafts as a manifest; None where there is no draft yet."""
    items = [
        replace(source.item, id=source.id, prompt=drafts[source.id])
        for source in sources
        if source.id in drafts
    ]
    if not items:
        return None
    path = out / DRAFTS_FILE
    absolute = [replace(item, video=item.video.absolute()) for item in items]
    write_manifest(path, absolute)
    return path


def correct_drafts(out: Path, said: Mapping[str, Sequence[str | None]]) -> Corrections:
    """Take over what people wrote; None stands for an approval.

    One text, however many people wrote it, replaces the draft, approved by others or not.
    """
    documents = Documents(out)
    changed, approved, disputed, unknown = [], [], [], []
    for name, texts in said.items():
        written = {text.strip() for text in texts if text is not None}
        if not documents.path(name, "draft").exists():
            unknown.append(name)
        elif len(written) > 1:
            disputed.append(name)
        elif written and documents.correct(name, "draft", {"text": written.pop()}):
            changed.append(name)
        else:
            approved.append(name)
    return Corrections(tuple(changed), tuple(approved), tuple(disputed), tuple(unknown))
