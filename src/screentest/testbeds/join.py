"""Joined sources: one of several files, kept in the testbed's folder.

Vript has a file for every clip, and corpora of short videos have one clip each: SLVMEval joins
two for its proxy experiment on FETV. What is joined here is a source like any other: all that
is made of it is encoded from it, by one encoder, once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path

from screentest._util.atomic import write_whole
from screentest._util.machine import processors
from screentest.core.calls import Progress, Silent
from screentest.core.codec import from_json, to_json
from screentest.core.errors import NoValue, VideoError
from screentest.core.frames import Size
from screentest.core.item import Item, Script
from screentest.core.outcome import Failure, Reason
from screentest.inputs.parted import PartedSource, SourcePart, joined
from screentest.run.inputs import hash_file, hash_parts
from screentest.testbeds.intact import folder_name
from screentest.video.limits import DEFAULT_LIMITS, Limits
from screentest.video.sandbox import Supervisor
from screentest.video.source import VideoSource, no_picture

FOLDER = "joined"


@dataclass(frozen=True, slots=True)
class Joined:
    """Sources made of several files, and those that could not be made."""

    items: tuple[Item, ...]
    failed: Mapping[str, Failure] = field(default_factory=dict)
    faults: tuple[str, ...] = ()
    """Parts that had to be left out."""


@dataclass(frozen=True, slots=True)
class _Work:
    """What a worker is given."""

    source: PartedSource
    testbed: Path
    long_side: int | None
    gaps: bool
    rate: Fraction | None


def join_sources(
    sources: Sequence[PartedSource],
    testbed: Path,
    *,
    long_side: int | None = None,
    gaps: bool = False,
    rate: Fraction | None = None,
    workers: int | None = None,
    limits: Limits = DEFAULT_LIMITS,
    progress: Progress | None = None,
) -> Joined:
    """Join the files of every source; the films are kept in ``testbed`` and found again.

    The film has the shape of its first part; parts of another shape get black bars. With
    ``gaps``, a part that cannot be decoded is left out; without, the source fails. Frames that
    ``rate`` does not show are not kept.
    """
    (testbed / FOLDER).mkdir(parents=True, exist_ok=True)
    work = [_Work(source, testbed, long_side, gaps, rate) for source in sources]
    made, failed, faults = [], {}, []
    count = min(workers or processors(), max(1, len(work)))
    with Supervisor(count) as supervisor, progress or Silent() as shown:
        shown.begin("joining", len(work), "sources")
        for task, outcome in zip(work, supervisor.map(_join, work, limits=limits), strict=True):
            shown.advance(note=task.source.id)
            if outcome.failure is not None:
                failed[task.source.id] = outcome.failure
            else:
                item, missing = outcome.unwrap()
                made.append(item)
                faults += [f"{item.id}: {fault}" for fault in missing]
    return Joined(tuple(made), failed, tuple(faults))


def _join(work: _Work) -> tuple[Item, list[str]]:
    """In the worker: the film of one source, made or found."""
    kept, faults = [], []
    for part in work.source.parts:
        try:
            _require_picture(part.file)
            kept.append(part)
        except NoValue as error:
            if not work.gaps:
                raise
            faults.append(f"{part.file.name} is left out: {error.message}")
    if not kept:
        raise VideoError(
            Reason.UNDECODABLE, "not one of its clips can be decoded", advice="Download them again."
        )
    source = replace(work.source, parts=tuple(kept))
    settings = {"long_side": str(work.long_side)}
    settings |= {} if work.rate is None else {"rate": str(work.rate)}
    digest = hash_parts({**_content(source.parts), **settings})[:12]
    out = work.testbed / FOLDER / f"{folder_name(source.id)}-{digest}.mp4"
    record = out.with_suffix(".json")
    if out.exists() and record.exists():  # both are whole: they were put in place in one step
        script = from_json(Script, record.read_bytes())
        return Item(source.id, out, script=script, groups=dict(source.groups)), faults
    item = joined(source, out, size=Size(long_side=work.long_side), rate=work.rate)
    write_whole(record, to_json(item.script, Script))
    return item, faults


def _require_picture(path: Path) -> None:
    with VideoSource(path) as source:
        if next(iter(source.frames()), None) is None:
            raise no_picture(path)


def _content(parts: Sequence[SourcePart]) -> dict[str, str]:
    return {
        str(number): hash_parts(
            {
                "file": hash_file(part.file),
                "caption": part.caption,
                "script": to_json(part.script, Script | None),
            }
        )
        for number, part in enumerate(parts)
    }
