"""What must hold in testbed.json itself, before any file is opened."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path, PurePosixPath

from screentest.core import Script, Span, Time
from screentest.degrade.pair_names import pair_name
from screentest.degrade.testbed import Kind, Pair, SourceFilm, Testbed, VideoFile

UNFINISHED = "unfinished"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as it should be."""

    check: str
    """manifest, unfinished, files, video, packets or rebuild."""
    where: str
    """A pair, a source or a path."""
    what: str


def check_manifest(testbed: Testbed) -> Iterator[Finding]:
    """Everything in testbed.json that contradicts itself or points outside its folder."""
    sources = {source.id: source for source in testbed.sources}
    yield from _twins("sources have the id", (source.id for source in testbed.sources))
    yield from _twins("entries have the path", (file.path for file in all_videos(testbed)))
    yield from _twins("pairs are", map(_identity, testbed.pairs))
    for path in all_paths(testbed):
        if not is_inside(path):
            yield Finding("manifest", path, "the path leads out of the testbed")
    for source in testbed.sources:
        yield from _of_source(source)
    for pair in testbed.pairs:
        named = sources.get(pair.source)
        if named is None:
            yield _wrong(pair, f"there is no source {pair.source!r}")
        else:
            yield from _of_pair(pair, named)
    if testbed.pending:
        yield Finding(
            UNFINISHED, "testbed.json", f"{testbed.pending} pairs are still to be made: build on"
        )


def all_videos(testbed: Testbed) -> Iterator[VideoFile]:
    """Every video that is listed."""
    for source in testbed.sources:
        yield from source.intact
    for pair in testbed.pairs:
        yield pair.changed


def all_paths(testbed: Testbed) -> Iterator[str]:
    """Every path that is listed, those of the sources themselves apart."""
    yield from (file.path for file in all_videos(testbed))
    for source in testbed.sources:
        yield source.prompt
        yield source.folder
    yield from (pair.intact for pair in testbed.pairs)


def is_inside(path: str) -> bool:
    """Whether a path stays in the folder it is relative to.

    >>> is_inside("videos/a/intact.mp4"), is_inside("../a.mp4"), is_inside("/etc/passwd")
    (True, False, False)
    """
    parts = PurePosixPath(path).parts
    odd = "\\" in path or "\0" in path or ":" in parts[0] if parts else True
    return not odd and not PurePosixPath(path).is_absolute() and ".." not in parts


def file_in(folder: Path, path: str) -> Path:
    """A plain file of the testbed; raises ValueError where it is anything or anywhere else."""
    if not is_inside(path):
        raise ValueError("the path leads out of the testbed")
    place = folder / path
    if not place.resolve().is_relative_to(folder.resolve()):
        raise ValueError("it is a link that leads out of the testbed")
    if not place.is_file():
        raise ValueError("no plain file" if place.exists() else "it is not there")
    return place


def _identity(pair: Pair) -> Hashable:
    return pair.source, pair.kind.value, pair.name, pair.severity, pair.clips


def _twins(words: str, things: Iterable[Hashable]) -> Iterator[Finding]:
    for thing, count in Counter(things).items():
        if count > 1:
            text = " ".join(map(str, thing)) if isinstance(thing, tuple) else str(thing)
            yield Finding("manifest", "testbed.json", f"{count} {words} {text}")


def _of_source(source: SourceFilm) -> Iterator[Finding]:
    def wrong(what: str) -> Finding:
        return Finding("manifest", source.id, what)

    try:
        timed = Script(source.clips).timed
    except ValueError as error:
        yield wrong(str(error))
    else:
        if not timed:
            yield wrong("its clips have no times")
    if not source.intact:
        yield wrong("it has no intact video")
    for number in source.lost:
        if not 0 <= number < len(source.clips):
            yield wrong(
                f"clip {number + 1} is listed as lost, and the script has {len(source.clips)}"
            )


def _wrong(pair: Pair, what: str) -> Finding:
    return Finding("manifest", pair_name(pair), what)


def _of_pair(pair: Pair, source: SourceFilm) -> Iterator[Finding]:
    intact = next((file for file in source.intact if file.path == pair.intact), None)
    if intact is None:
        yield _wrong(pair, f"{pair.intact} is not an intact video of its source")
        return
    if pair.kind is Kind.PLACEBO:
        if pair.touched:
            yield _wrong(pair, "a placebo has touched clips")
        return
    if (pair.changed.width, pair.changed.height) != (intact.width, intact.height):
        yield _wrong(pair, "its two videos differ in size")
    if pair.aspect is None or pair.severity is None or pair.clips is None:
        yield _wrong(pair, "aspect, severity or number of clips is missing")
    yield from _of_touched(pair, source, intact)


def _of_touched(pair: Pair, source: SourceFilm, intact: VideoFile) -> Iterator[Finding]:
    numbers = [one.clip for one in pair.touched]
    if not numbers:
        yield _wrong(pair, "no clip was touched")
    if pair.clips is not None and len(numbers) > pair.clips:
        yield _wrong(pair, f"{len(numbers)} clips were touched, {pair.clips} were chosen")
    if any(two <= one for one, two in pairwise(numbers)):
        yield _wrong(pair, "touched clips are not in the order of the script")
    for one in pair.touched:
        if not 0 <= one.clip < len(source.clips):
            yield _wrong(
                pair, f"clip {one.clip + 1} is touched; the script has {len(source.clips)}"
            )
        elif one.clip in source.lost:
            yield _wrong(pair, f"clip {one.clip + 1} is touched; the film has no frame of it")
        yield from _within(pair, one.clip, one.intact, intact.duration, "intact")
        if one.degraded is not None:
            yield from _within(pair, one.clip, one.degraded, pair.changed.duration, "changed")
    lost = sum((one.intact.duration for one in pair.touched), Time(0))
    found = sum((one.degraded.duration for one in pair.touched if one.degraded), Time(0))
    expected = intact.duration - lost + found
    if pair.changed.duration != expected:
        yield _wrong(
            pair,
            f"it lasts {float(pair.changed.duration):.3f} s; "
            f"by its touched clips it should last {float(expected):.3f} s",
        )


def _within(pair: Pair, clip: int, span: Span, end: Time, which: str) -> Iterator[Finding]:
    if span.start < 0 or span.end > end or not span.duration:
        yield _wrong(
            pair,
            f"clip {clip + 1} at {span} lies outside the {which} video, {float(end):.3f} s long",
        )
