"""Looking into the files of a manifest, in worker processes: what a file does, it does there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from screentest.base.processors import processors
from screentest.core import Fault, Outcome, Reason, Time, VideoError, timecode

_DAMAGE = {"cut_short", "unreadable", "undecodable_packet", "corrupt_frame", "gap"}


@dataclass(frozen=True, slots=True)
class Look:
    """What was seen of one file: how long it is, and what is damaged in it."""

    end: Time | None = None
    """Where a video ends on its own clock; None for a picture."""
    damage: str = ""


class How(StrEnum):
    """How closely to look."""

    HEADER = "header"
    """Probe: header, packets, first picture."""
    EVERY_FRAME = "every frame"
    """Decode all of it."""
    PICTURE = "picture"
    """A reference image: header and checksums."""


Glance = tuple[How, Path]


def looks(glances: Sequence[Glance]) -> Iterator[Outcome[Look]]:
    """Look from supervised processes, as many as there are cores; in the order asked."""
    if not glances:
        return
    from screentest.video.sandbox import Supervisor  # loads the engine: only where it is needed

    with Supervisor(min(len(glances), processors())) as workers:
        yield from workers.map(_look, glances)


def _look(glance: Glance) -> Look:
    how, path = glance
    match how:
        case How.HEADER:
            return _look_at_header(path)
        case How.EVERY_FRAME:
            return _look_at_every_frame(path)
        case How.PICTURE:
            return _look_at_picture(path)


def _look_at_header(path: Path) -> Look:
    from screentest.video import probe

    info = probe(path)
    return Look(info.span.end, _told(info.faults))


def _look_at_every_frame(path: Path) -> Look:
    from screentest.video import scan

    # One thread each: as many files as there are cores are decoded at the same time.
    report = scan(path, [], threads=1)
    damage = _told(report.faults)
    if not damage and report.decoded < report.info.frames:
        damage = f"{report.decoded:,} of {report.info.frames:,} frames decode"
    return Look(report.end, damage)


def _look_at_picture(path: Path) -> Look:
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(path) as picture:
            picture.verify()
    except (UnidentifiedImageError, OSError, SyntaxError, Image.DecompressionBombError) as error:
        raise VideoError(
            Reason.UNDECODABLE,
            f"is no picture that can be read: {type(error).__name__}",
            advice="Give a PNG or JPEG file.",
        ) from None
    return Look()


def _told(faults: Iterable[Fault]) -> str:
    damage = [fault for fault in dict.fromkeys(faults) if fault.kind in _DAMAGE]
    if not damage:
        return ""
    more = f" (and {len(damage) - 1} more)" if len(damage) > 1 else ""
    when = f" at {timecode(damage[0].time)}" if damage[0].time is not None else ""
    return f"{damage[0].detail}{when}{more}"
