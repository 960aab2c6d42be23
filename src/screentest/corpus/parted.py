"""A source whose film lies in several files, one per clip: Vript, or short videos joined."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from screentest.core import BadOption, Clip, Item, Script

if TYPE_CHECKING:
    from screentest.video.limits import Limits


@dataclass(frozen=True, slots=True)
class SourcePart:
    """One file and what it shows; an empty caption says nothing of it."""

    file: Path
    caption: str = ""


@dataclass(frozen=True, slots=True)
class PartedSource:
    """Files that are one film when played one after another."""

    id: str
    parts: tuple[SourcePart, ...]
    title: str = ""
    groups: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.id or not self.parts:
            raise ValueError("a source needs an id and at least one part")


def joined(source: PartedSource, out: Path, *, limits: Limits | None = None) -> Item:
    """Write the parts to ``out`` as one film, and give the item with its timed script.

    The films of a testbed are normalised from that file, so it is only an intermediate: it is
    encoded at a quality above theirs, the same for what is harmed and what is not.
    """
    from screentest.video.limits import DEFAULT_LIMITS
    from screentest.video.splicing.join import join

    files = [part.file for part in source.parts]
    film = join(files, out, limits=limits or DEFAULT_LIMITS)
    clips = zip(source.parts, film.spans, strict=True)
    script = Script(tuple(Clip(part.caption, span) for part, span in clips))
    return Item(source.id, out, script=script, groups=dict(source.groups))


def in_groups_of(items: Sequence[Item], count: int) -> Iterator[PartedSource]:
    """One source of every ``count`` short videos, each of which is a clip with its prompt.

    What is left over at the end makes no source: all sources have as many clips.
    """
    if count < 2:
        raise BadOption(f"{count} videos cannot be joined", advice="Give --join 2 or more.")
    for first in range(0, len(items) - count + 1, count):
        some = items[first : first + count]
        parts = tuple(SourcePart(item.video, item.text) for item in some)
        shared = set.intersection(*(set(item.groups.items()) for item in some))
        yield PartedSource(f"{some[0].id}+{count - 1}", parts, groups=dict(sorted(shared)))
