"""Stage results that people look over: out as manifests, back as corrections.

A manifest is what ``screentest annotate serve --task prompts`` shows: the real video and the
text of one stage. People approve or correct it; their corrections become the stage's result,
and what depends on it is made anew at the next start.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from screentest.core import BadOption
from screentest.corpus import write_manifest
from screentest.suites.locot2v.building.documents import Documents
from screentest.suites.locot2v.building.stages import Source
from screentest.suites.locot2v.building.wording import REVIEWED, Unreadable, read_back, worded

DRAFTS_FILE = "drafts.jsonl"
REVIEWS = "review"
"""The folder of the other stages' manifests."""


@dataclass(frozen=True, slots=True)
class Corrections:
    """What became of them."""

    changed: tuple[str, ...] = ()
    approved: tuple[str, ...] = ()
    disputed: tuple[str, ...] = ()
    """People wrote different texts: none is taken, somebody must decide."""
    unknown: tuple[str, ...] = ()
    """Not a video of this suite, or one without this stage."""
    unread: Mapping[str, str] = field(default_factory=dict)
    """Corrections that do not fit the stage, and why."""


def write_reviews(
    sources: Sequence[Source], known: Mapping[str, Mapping[str, Mapping[str, Any]]], out: Path
) -> Path | None:
    """A manifest of the videos for each stage, with the stage's result as the text to look over.

    ``known`` has the results by id and stage. Drafts lie in ``drafts.jsonl``, the others in
    ``review/<stage>.jsonl``. The path of the drafts; None where there is no draft yet.
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
        if any(one != written[0] for one in written):
            disputed.append(name)
        elif written and documents.correct(name, stage, written[0]):
            changed.append(name)
        else:
            approved.append(name)
    return Corrections(tuple(changed), tuple(approved), tuple(disputed), tuple(unknown), unread)
