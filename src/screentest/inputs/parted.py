"""A film in several files: Vript's clips, or short videos joined."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path

from screentest.core import NATIVE, BadOption, Clip, Item, NoValue, Script, Size, Span, Time
from screentest.inputs.fields import Problem

MOST = 1000
"""Videos that are joined into one."""


@dataclass(frozen=True, slots=True)
class SourcePart:
    """One file and what it shows; an empty caption says nothing of it."""

    file: Path
    caption: str = ""
    script: Script | None = None
    """Where it has several clips of its own: them, timed on its own clock."""

    def clips(self, place: Span, start: Time) -> Iterator[Clip]:
        """Its clips in a film where it is at ``place``; its own clock begins with ``start``."""
        if self.script is None or not self.script.timed:
            yield Clip(self.caption, place)
            return
        for clip in self.script.clips:
            assert clip.span is not None
            edges = (place.start + moment - start for moment in (clip.span.start, clip.span.end))
            first, last = (min(max(edge, place.start), place.end) for edge in edges)
            if first < last:  # what is beyond its end would be in the next part
                yield Clip(clip.caption, Span(first, last))


@dataclass(frozen=True, slots=True)
class PartedSource:
    """Files that are one film when played one after another."""

    id: str
    parts: tuple[SourcePart, ...]
    groups: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.id or not self.parts:
            raise ValueError("a source needs an id and at least one part")


@dataclass(frozen=True, slots=True)
class Corpus:
    """Films in one file each, or in several; and what is missing or wrong."""

    format: str
    """The importer that read it."""
    items: tuple[Item, ...] = ()
    parted: tuple[PartedSource, ...] = ()
    problems: tuple[Problem, ...] = ()
    seen: str = ""
    """What was recognised, in a few words."""


def chosen(corpus: Corpus, names: Sequence[str], limit: int | None, min_length: float) -> Corpus:
    """Leave only films of these ids or paths, if any are given, and the first of those so long.

    A film that cannot be read is long enough: whoever reads it says what is wrong.
    """
    if limit is not None and limit < 1:
        raise BadOption.of("limit", limit, "1 or more")
    missing, wanted = dict.fromkeys(names), set(names)
    kept: set[str] = set()
    films: tuple[Item | PartedSource, ...] = (*corpus.items, *corpus.parted)
    for film in films:
        files = [film.video] if isinstance(film, Item) else [part.file for part in film.parts]
        called = {film.id, *(name for file in files for name in (str(file), file.name))} & wanted
        for name in called:
            missing.pop(name, None)
        if len(kept) != limit and (called or not names) and _is_long(files, min_length):
            kept.add(film.id)
    if missing:
        raise BadOption(
            f"not in the corpus: {next(iter(missing))!r} ({len(missing):,} of {len(names):,})",
            advice=f"Give ids or file names, one a line; the first id is {films[0].id!r}.",
        )
    if films and not kept:
        raise BadOption(f"no film lasts {min_length:g} seconds", advice="Lower `min_length`.")
    return replace(
        corpus,
        items=tuple(film for film in corpus.items if film.id in kept),
        parted=tuple(film for film in corpus.parted if film.id in kept),
        problems=tuple(one for one in corpus.problems if not one.id or one.id in kept),
    )


def _is_long(files: Sequence[Path], least: float) -> bool:
    from screentest.video.probe import probe

    try:
        return not least or sum(probe(file).duration for file in files) >= least
    except NoValue:
        return True


def joined(
    source: PartedSource, out: Path, *, size: Size = NATIVE, rate: Fraction | None = None
) -> Item:
    """Write the parts to ``out`` as one film without loss, and give the item with its timed script.

    The films of a testbed are normalised from that file, so it is only an intermediate.
    """
    from screentest.video.edit.join import join
    from screentest.video.probe import probe

    files = [part.file for part in source.parts]
    film = join(files, out, size=size, rate=rate)
    clips = [
        clip
        for part, span in zip(source.parts, film.spans, strict=True)
        if span is not None
        for clip in part.clips(span, probe(part.file).start if part.script else Time(0))
    ]
    return Item(source.id, out, script=Script(tuple(clips)), groups=dict(source.groups))


def in_groups_of(items: Sequence[Item], count: int) -> Iterator[PartedSource]:
    """One source of every ``count`` videos: each a clip with its prompt, or the clips it has.

    What is left over at the end makes no source: all sources have as many parts.
    """
    if not 2 <= count <= MOST:
        raise BadOption.of("join", count, f"2 to {MOST:,}")
    for first in range(0, len(items) - count + 1, count):
        part = items[first : first + count]
        parts = tuple(SourcePart(item.video, item.text, _timed(item)) for item in part)
        shared = set.intersection(*(set(item.groups.items()) for item in part))
        yield PartedSource(f"{part[0].id}+{count - 1}", parts, groups=dict(sorted(shared)))


def _timed(item: Item) -> Script | None:
    return item.script if item.script is not None and item.script.timed else None
