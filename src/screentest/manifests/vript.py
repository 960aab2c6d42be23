"""Vript: a captions file per video, and its clips beside each other as files.

A captions file has ``meta`` (video_id, video_title, num_clips, integrity) and ``data``, by clip id
``<video_id>-Scene-NNN``. Clips are files of that name. The film is its clips in order. Clips and
captions may be missing: what is there is used, and what is not is reported.

A film in several files, Vript's or other videos joined, is a ``PartedSource``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from screentest.core import BadOption, Clip, Item, ManifestError, Script, Size, Span, Time
from screentest.manifests.fields import Complaint, Problem, ProblemKind, load_json, one_line, quoted
from screentest.manifests.files import VIDEO_SUFFIXES, fault_of

if TYPE_CHECKING:
    from screentest.video import EncoderSettings
    from screentest.video.limits import Limits


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
    title: str = ""
    groups: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.id or not self.parts:
            raise ValueError("a source needs an id and at least one part")


def joined(
    source: PartedSource,
    out: Path,
    *,
    size: Size | None = None,
    settings: EncoderSettings | None = None,
    limits: Limits | None = None,
) -> Item:
    """Write the parts to ``out`` as one film, and give the item with its timed script.

    The films of a testbed are normalised from that file, so it is only an intermediate: it is
    encoded at a quality above theirs, the same for what is harmed and what is not.
    """
    from screentest.core import NATIVE
    from screentest.video import probe
    from screentest.video.edit.join import FINE, join
    from screentest.video.limits import DEFAULT_LIMITS

    files = [part.file for part in source.parts]
    film = join(
        files,
        out,
        size=size or NATIVE,
        settings=settings or FINE,
        limits=limits or DEFAULT_LIMITS,
    )
    clips = [
        clip
        for part, span in zip(source.parts, film.spans, strict=True)
        for clip in part.clips(span, probe(part.file).start if part.script else Time(0))
    ]
    return Item(source.id, out, script=Script(tuple(clips)), groups=dict(source.groups))


def in_groups_of(items: Sequence[Item], count: int) -> Iterator[PartedSource]:
    """One source of every ``count`` videos: each a clip with its prompt, or the clips it has.

    What is left over at the end makes no source: all sources have as many parts.
    """
    if not 2 <= count <= MOST:
        raise BadOption(f"invalid join {count}: must be from 2 to {MOST:,}")
    for first in range(0, len(items) - count + 1, count):
        some = items[first : first + count]
        parts = tuple(SourcePart(item.video, item.text, _timed(item)) for item in some)
        shared = set.intersection(*(set(item.groups.items()) for item in some))
        yield PartedSource(f"{some[0].id}+{count - 1}", parts, groups=dict(sorted(shared)))


def _timed(item: Item) -> Script | None:
    return item.script if item.script is not None and item.script.timed else None


LONGEST_FILE = 64 * 2**20
_CLIP = re.compile(r"(?P<video>.+)-Scene-(?P<number>\d{3,9})", re.DOTALL)
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_NAMED = 5
"""How many missing clips a report names."""

Clips = dict[str, dict[int, Path]]
"""Clip files by video id and number."""


@dataclass(frozen=True, slots=True)
class VriptReading:
    """The sources that can be used, and what is missing or wrong."""

    sources: tuple[PartedSource, ...]
    problems: tuple[Problem, ...]


def read_vript(
    captions: str | os.PathLike[str], clips: str | os.PathLike[str] = ""
) -> VriptReading:
    """Read a folder of captions files (or one file) with the clips below it or in ``clips``.

    Raises ManifestError where there is nothing of the kind; all else is in the problems.
    """
    place = Path(captions)
    if not place.exists():
        raise ManifestError(f"{place} is not there", advice="Give the folder of a Vript download.")
    files = [place] if place.is_file() else sorted(place.rglob("*.json"))
    folder = Path(clips) if clips else (place.parent if place.is_file() else place)
    if not folder.is_dir():
        raise ManifestError(f"{folder} is not a folder", advice="Give the folder of the clips.")
    found, problems = _clips_below(folder)
    sources: dict[str, PartedSource] = {}
    known: dict[str, Path] = {}
    for file in files:
        for video in _videos(file, problems, alone=place.is_file()):
            name = video.id
            if name in known:
                message = f"is also described in {quoted(str(known[name]))}"
                problems.append(Problem(ProblemKind.DUPLICATE_ID, message, id=name, path=file))
                continue
            known[name] = file
            source = _source(video, found.get(name, {}), file, problems)
            if source is not None:
                sources[name] = source
    if not known and not problems:
        raise ManifestError(
            f"no Vript captions in {place}",
            advice="Films with captions are a manifest; docs/caption.md says how to write one for a"
            ' folder of videos. Vript has JSON files with "meta" and "data".',
        )
    for name in sorted(found.keys() - known.keys()):
        message = f"{len(found[name])} clips have no captions file"
        problems.append(Problem(ProblemKind.UNLISTED, message, id=name))
    return VriptReading(tuple(sources.values()), tuple(problems))


@dataclass(frozen=True, slots=True)
class _Video:
    id: str
    title: str
    count: int
    captions: Mapping[int, str]
    groups: Mapping[str, str]


def _clips_below(folder: Path) -> tuple[Clips, list[Problem]]:
    found: Clips = {}
    problems = []
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(place) / name
            match = _CLIP.fullmatch(path.stem)
            if match is None or path.suffix.lower() not in VIDEO_SUFFIXES:
                continue
            numbers = found.setdefault(match["video"], {})
            first = numbers.setdefault(int(match["number"]), path)
            if first != path:
                message = f"{quoted(str(path))} is the same clip as {quoted(str(first))}"
                advice = "Remove one of them; the first is used."
                problems.append(
                    Problem(
                        ProblemKind.DUPLICATE_VIDEO, message, advice, id=match["video"], path=path
                    )
                )
    return found, problems


def _videos(file: Path, problems: list[Problem], *, alone: bool) -> Iterator[_Video]:
    """The videos that a file describes; files that describe something else have none."""
    try:
        if file.stat().st_size > LONGEST_FILE:
            raise Complaint(f"is larger than {LONGEST_FILE // 2**20} MiB")
        content = load_json(file.read_bytes().decode("utf-8-sig"))
        for entry in content if isinstance(content, list) else [content]:
            if isinstance(entry, dict) and "meta" in entry and "data" in entry:
                yield _video(entry)
            elif alone:
                raise Complaint("has no meta and data", "Give a captions file of Vript.")
    except UnicodeDecodeError:
        problems.append(
            Problem(ProblemKind.BAD_FILE, f"{quoted(str(file))} is not UTF-8", path=file)
        )
    except OSError as error:
        message = f"{quoted(str(file))} does not open: {error.strerror}"
        problems.append(Problem(ProblemKind.BAD_FILE, message, path=file))
    except RecursionError:
        message = f"{quoted(str(file))} is nested too deeply"
        problems.append(Problem(ProblemKind.BAD_FILE, message, path=file))
    except Complaint as complaint:
        message = f"{quoted(str(file))}: {complaint.message}"
        problems.append(Problem(ProblemKind.BAD_FILE, message, complaint.advice, path=file))


def _video(entry: Mapping[str, Any]) -> _Video:
    meta, data = entry["meta"], entry["data"]
    if not isinstance(meta, dict) or not isinstance(data, dict):
        raise Complaint("meta and data are not objects")
    name = meta.get("video_id")
    if not isinstance(name, str) or not name.strip() or _CONTROLS.search(name):
        raise Complaint("meta has no video_id that could be a name")
    captions: dict[int, str] = {}
    for clip_id, clip in data.items():
        match = _CLIP.fullmatch(clip_id)
        if match is None or match["video"] != name:
            raise Complaint(f"{one_line(clip_id)} is not a clip of {one_line(name)}")
        captions[int(match["number"])] = _caption(clip)
    count, category = meta.get("num_clips"), meta.get("category")
    groups = {"category": category} if isinstance(category, str) and category.strip() else {}
    title = meta.get("video_title")
    return _Video(
        name,
        title if isinstance(title, str) else "",
        count if isinstance(count, int) and 0 <= count < 10**6 else 0,
        captions,
        groups,
    )


def _caption(clip: Any) -> str:
    """What a clip shows. Shot type and camera movement are not part of it."""
    caption = clip.get("caption") if isinstance(clip, dict) else None
    content = caption.get("content") if isinstance(caption, dict) else caption
    if not isinstance(content, str):
        return ""
    return " ".join(_CONTROLS.sub(" ", content).split())


def _source(
    video: _Video, files: Mapping[int, Path], origin: Path, problems: list[Problem]
) -> PartedSource | None:
    def report(kind: ProblemKind, numbers: list[int], what: str, advice: str) -> None:
        if numbers:
            message = f"{len(numbers)} of {total} clips {what}: {_listed(numbers)}"
            problems.append(Problem(kind, message, advice, id=video.id, path=origin))

    numbers = sorted(video.captions.keys() | files.keys() | set(range(1, video.count + 1)))
    total = len(numbers)
    usable = [number for number in numbers if number in files and not fault_of(files[number])[1]]
    unusable = [number for number in numbers if number in files and number not in usable]
    absent = [number for number in numbers if number not in files]
    silent = [number for number in usable if not video.captions.get(number)]
    report(ProblemKind.MISSING, absent, "are not there", "They are left out of the film.")
    report(ProblemKind.UNREADABLE, unusable, "cannot be read", "They are left out of the film.")
    report(
        ProblemKind.MISMATCH,
        silent,
        "have no caption",
        "They stay in the film and are never harmed.",
    )
    if not usable:
        message = "not one of its clips is there"
        problems.append(Problem(ProblemKind.MISSING, message, id=video.id, path=origin))
        return None
    parts = tuple(SourcePart(files[number], video.captions.get(number, "")) for number in usable)
    return PartedSource(video.id, parts, video.title, video.groups)


def _listed(numbers: list[int]) -> str:
    """The first few numbers, as clips have them.

    >>> _listed([3, 14, 15])
    '003, 014, 015'
    """
    named = ", ".join(f"{number:03}" for number in numbers[:_NAMED])
    return f"{named} and {len(numbers) - _NAMED} more" if len(numbers) > _NAMED else named
