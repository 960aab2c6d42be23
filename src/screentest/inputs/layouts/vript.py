"""Vript as it is downloaded: captions, categories, and films as clips or in one file.

``vript_captions`` has a JSON file per video with ``meta`` and ``data`` (by clip id,
``<video_id>-Scene-NNN``), or the same as rows of a .jsonl file; ``vript_*_videos_clips`` the clips,
with ``<video_id>_cut_meta.json`` that says where they were cut; ``vript_*_videos`` the untrimmed
videos; ``vript_meta`` the categories. All of it is looked for anywhere below a folder.

A film is its clips in order where they are all there, else the untrimmed video with the times of
the cuts, else those clips that there are. What is missing or wrong costs one clip and is reported.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from screentest._util.text import plural
from screentest.core import BadOption, Clip, Item, ManifestError, Script, Span, Time
from screentest.core.item import seconds
from screentest.inputs.fields import Complaint, Problem, ProblemKind, load_json, one_line, quoted
from screentest.inputs.files import VIDEO_SUFFIXES, fault_of, files_under
from screentest.inputs.parted import Corpus, PartedSource, SourcePart

CLIP = re.compile(r"(?P<video>.+)-Scene-(?P<number>\d{3,9})", re.DOTALL)
CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
CUTS, _META, _SPEECH = "_cut_meta.json", "_meta.json", "_asr.jsonl"
LONGEST_FILE = 64 * 2**20
_NAMED = 5
"""How many clips a report names."""
_SILENT = "They stay in the film and are never harmed."
_ROUNDING = Time(1, 5)
"""By how much a clip may begin before the one before it ends: times of cuts are rounded."""


def read_vript(place: Path) -> Corpus:
    """Read a folder of captions files with the videos below it, or one file with those beside it.

    Raises ManifestError where there is nothing of the kind; all else is in the problems.
    """
    if not place.exists():
        raise ManifestError(f"{place} is not there", advice="Give the folder of a Vript download.")
    download = Download()
    for file in files_under(place.parent if place.is_file() else place, follow=True):
        download.take(file)
    if place.is_file():
        rows = place.suffix.lower() == ".jsonl"
        download.captions, download.rows = ([], [place]) if rows else ([place], [])
    return _Reader(download, alone=place.is_file()).read(place)


class _Reader:
    def __init__(self, download: Download, *, alone: bool) -> None:
        self.download = download
        self.problems = download.problems
        self.alone = alone
        self.categories: dict[str, str] = {}

    def read(self, place: Path) -> Corpus:
        here = self.download
        for file in here.metas:
            self._content(file, self._read_categories)
        sources: list[PartedSource] = []
        items: list[Item] = []
        places: dict[str, Path] = {}
        absent = 0
        for video, file in self._described():
            name = video.id
            if name in places:
                # A whole download has every caption twice: packed files and one file of rows.
                if file not in here.rows or places[name] in here.rows:
                    message = f"is also described in {quoted(str(places[name]))}"
                    self._tell(ProblemKind.DUPLICATE_ID, message, name, file)
                continue
            places[name] = file
            if file in here.rows and name not in here.clips and name not in here.films:
                absent += 1  # rows are for all videos, a folder may have some of them
                continue
            film = self._film(video, file)
            if isinstance(film, Item):
                items.append(film)
            elif film is not None:
                sources.append(film)
        if absent:
            self._tell(ProblemKind.MISSING, f"no file for {plural(absent, 'described video')}")
        # Videos of one name in two folders are no fault where nothing describes either.
        if not places and all(one.kind is ProblemKind.DUPLICATE_VIDEO for one in self.problems):
            raise _no_captions(place, here.packed)
        for name in sorted(here.clips.keys() - places.keys()):
            message = f"no captions file for {plural(len(here.clips[name]), 'clip')}"
            self._tell(ProblemKind.UNLISTED, message, name)
        return Corpus("vript", tuple(items), tuple(sources), tuple(self.problems))

    def _tell(
        self, kind: ProblemKind, message: str, name: str = "", path: Path | None = None
    ) -> None:
        self.problems.append(Problem(kind, message, id=name, path=path))

    def _tell_clips(
        self, name: str, total: int, origin: Path, kind: ProblemKind, *about: Any
    ) -> None:
        """Say which clips of a video something is wrong with: numbers, what it is, advice."""
        numbers, what, advice = about
        if numbers:
            message = f"{len(numbers)} of {total} clips {what}: {_listed(numbers)}"
            self.problems.append(Problem(kind, message, advice, id=name, path=origin))

    # What files say.

    def _content(self, file: Path, read: Callable[[Any], None]) -> None:
        """Hand over what a JSON file holds; what is wrong with it is a problem."""
        try:
            if file.stat().st_size > LONGEST_FILE:
                raise Complaint(f"is larger than {LONGEST_FILE // 2**20} MiB")
            if not file.is_file():  # a pipe or device may have no end
                raise Complaint("is not a plain file")
            read(load_json(file.read_bytes().decode("utf-8-sig")))
        except UnicodeDecodeError:
            self._tell(ProblemKind.BAD_FILE, f"{quoted(str(file))} is not UTF-8", path=file)
        except OSError as error:
            message = f"{quoted(str(file))} does not open: {error.strerror}"
            self._tell(ProblemKind.BAD_FILE, message, path=file)
        except Complaint as complaint:
            message = f"{quoted(str(file))}: {complaint.message}"
            self.problems.append(
                Problem(ProblemKind.BAD_FILE, message, complaint.advice, path=file)
            )

    def _read_categories(self, content: Any) -> None:
        """By video id, what its site said of it: ``categories`` has one."""
        if not isinstance(content, dict):
            raise Complaint("is not an object by video id")
        for name, about in content.items():
            given = about.get("categories") if isinstance(about, dict) else None
            first = given[0] if isinstance(given, list) and given else given
            if isinstance(first, str) and first.strip():
                self.categories[name] = " ".join(CONTROLS.sub(" ", first).split())

    def _described(self) -> Iterator[tuple[DescribedVideo, Path]]:
        """Yield the videos that captions files describe; other files have none."""
        for file in self.download.captions:
            videos: list[DescribedVideo] = []

            def take(content: Any, videos: list[DescribedVideo] = videos) -> None:
                for entry in content if isinstance(content, list) else [content]:
                    if describes(entry):
                        videos.append(described_video(entry["meta"], entry["data"]))
                    elif self.alone:
                        raise Complaint("has no meta and data", "Give a captions file of Vript.")

            self._content(file, take)
            yield from ((video, file) for video in videos)
        for file in self.download.rows:
            yield from ((video, file) for video in self._rows(file))

    def _rows(self, file: Path) -> Iterator[DescribedVideo]:
        """Rows of one clip each, or of one video each."""
        clips: dict[str, dict[str, Any]] = {}
        wrong: list[int] = []
        try:
            if not file.is_file():
                raise OSError("it is not a plain file")
            with file.open(encoding="utf-8-sig") as lines:
                rows = iter(partial(lines.readline, LONGEST_FILE), "")
                for number, line in enumerate(rows, start=1):
                    try:
                        row = load_json(line)
                        if describes(row):
                            yield described_video(row["meta"], row["data"])
                        elif isinstance(row, dict) and {"clip_id", "caption"} <= row.keys():
                            match = CLIP.fullmatch(bare_id(str(row["clip_id"])))
                            name = row.get("video_id") or (match and match["video"])
                            # Twice the same clip: load_json refuses that inside of a file too.
                            clips.setdefault(str(name), {}).setdefault(str(row["clip_id"]), row)
                        elif self.alone:
                            wrong.append(number)
                    except Complaint:
                        wrong.append(number)
        except (OSError, UnicodeDecodeError) as error:
            message = f"{quoted(str(file))} does not open: {error}"
            self._tell(ProblemKind.BAD_FILE, message, path=file)
        if wrong:
            message = f"no caption in {plural(len(wrong), 'row')}, the first at line {wrong[0]}"
            self._tell(ProblemKind.BAD_ROW, message, path=file)
        for name, data in clips.items():
            try:
                video = described_video({"video_id": name}, data)
            except Complaint as complaint:
                self._tell(ProblemKind.BAD_ROW, complaint.message, path=file)
            else:
                yield video

    # From captions and files to a film.

    def _film(self, video: DescribedVideo, origin: Path) -> PartedSource | Item | None:
        name, files = video.id, self.download.clips.get(video.id, {})
        if video.strange:
            message = f"no clip for {plural(len(video.strange), 'key')}: {video.strange[0]}"
            self._tell(ProblemKind.BAD_ROW, message, name, origin)
        numbers = sorted(video.captions.keys() | files.keys() | set(range(1, video.count + 1)))
        usable = [
            number for number in numbers if number in files and not fault_of(files[number])[1]
        ]
        category = self.categories.get(name) or video.category
        groups = {"category": category} if category else {}
        film = self.download.films.get(name)
        if film is not None and len(usable) < len(numbers):
            item = self._untrimmed(video, film, groups, origin)
            if item is not None:
                return item
        report = partial(self._tell_clips, name, len(numbers), origin)
        gone = "They are left out of the film."
        report(ProblemKind.MISSING, [n for n in numbers if n not in files], "are not there", gone)
        bad = [number for number in numbers if number in files and number not in usable]
        report(ProblemKind.UNREADABLE, bad, "cannot be read", gone)
        silent = [number for number in usable if not video.captions.get(number)]
        report(ProblemKind.MISMATCH, silent, "have no caption", _SILENT)
        if not usable:
            message = "not one of its clips is there"
            self._tell(ProblemKind.MISSING, message, name, origin)
            return None
        parts = tuple(
            SourcePart(files[number], video.captions.get(number, "")) for number in usable
        )
        return PartedSource(name, parts, groups)

    def _untrimmed(
        self, video: DescribedVideo, film: Path, groups: dict[str, str], origin: Path
    ) -> Item | None:
        """Return the whole video with the times of its clips; None where it cannot be used."""
        name, fault = video.id, fault_of(film)[1]
        if fault:
            self._tell(ProblemKind.UNREADABLE, f"{quoted(str(film))} {fault}", name, film)
            return None
        file = self.download.cuts.get(name)
        if file is None:
            message = f"there is no {name}{CUTS} to say where the clips of {film.name} are"
            self._tell(ProblemKind.MISSING, message, name, origin)
            return None
        times: dict[int, Span] = {}
        untimed: list[str] = []
        self._content(file, lambda content: read_cuts(content, name, times, untimed))
        if untimed:
            message = f"no times for {plural(len(untimed), 'clip')}: {untimed[0]}"
            self._tell(ProblemKind.BAD_ROW, message, name, file)
        if not times:
            return None
        total = max(len(video.captions), len(times))
        report = partial(self._tell_clips, name, total, origin)
        lost = "They are left out: what they show stays in the film and is never harmed."
        unplaced = sorted(video.captions.keys() - times.keys())
        report(ProblemKind.MISSING, unplaced, f"are not in {file.name}", lost)
        clips: list[Clip] = []
        disordered: list[int] = []
        end = Time(0)
        for number in sorted(times):
            span = times[number]
            start = max(span.start, end) if end - span.start <= _ROUNDING else span.start
            if start < end or span.end <= start:
                disordered.append(number)
                continue
            end = span.end
            clips.append(Clip(video.captions.get(number, ""), Span(start, end)))
        report(ProblemKind.BAD_ROW, disordered, "overlap the one before", lost)
        silent = [number for number in sorted(times) if not video.captions.get(number)]
        report(ProblemKind.MISMATCH, silent, "have no caption", _SILENT)
        return Item(name, film, script=Script(tuple(clips)), groups=groups)


class NoCaptions(ManifestError):
    """A folder without captions of Vript."""


def _no_captions(place: Path, packed: int) -> ManifestError:
    if packed:
        message = f"no Vript captions in {place}: {plural(packed, '.zip file')} still packed"
        return ManifestError(message, advice="Unpack them where they are.")
    return NoCaptions(
        f"no Vript captions in {place}",
        advice="Films with captions are a manifest; docs/captions.md says how to write one for a"
        ' folder of videos. Vript has JSON files with "meta" and "data".',
    )


def _listed(numbers: list[int]) -> str:
    """Return the first few numbers, as clips have them.

    >>> _listed([3, 14, 15])
    '003, 014, 015'
    """
    named = ", ".join(f"{number:03}" for number in numbers[:_NAMED])
    return f"{named} and {len(numbers) - _NAMED} more" if len(numbers) > _NAMED else named


@dataclass(slots=True)
class Download:
    """Files by what they are."""

    clips: dict[str, dict[int, Path]] = field(default_factory=dict)
    """By video id and number."""
    films: dict[str, Path] = field(default_factory=dict)
    cuts: dict[str, Path] = field(default_factory=dict)
    captions: list[Path] = field(default_factory=list)
    rows: list[Path] = field(default_factory=list)
    metas: list[Path] = field(default_factory=list)
    packed: int = 0
    problems: list[Problem] = field(default_factory=list)

    def take(self, path: Path) -> None:
        name = path.name
        if path.suffix.lower() in VIDEO_SUFFIXES:
            self._take_video(path)
        elif name.endswith(CUTS):
            self.cuts.setdefault(name.removesuffix(CUTS), path)
        elif name.endswith(_META):
            self.metas.append(path)
        elif name.endswith(".json") and path not in self.captions:
            self.captions.append(path)
        elif name.endswith(".jsonl") and not name.endswith(_SPEECH) and path not in self.rows:
            self.rows.append(path)
        elif name.endswith(".zip"):
            self.packed += 1

    def _take_video(self, path: Path) -> None:
        match = CLIP.fullmatch(path.stem)
        if match is None:
            name, first = path.stem, self.films.setdefault(path.stem, path)
        else:
            name = match["video"]
            first = self.clips.setdefault(name, {}).setdefault(int(match["number"]), path)
        if first != path:
            message = f"{quoted(str(path))} is the same video as {quoted(str(first))}"
            advice = "Remove one of them; the first is used."
            self.problems.append(
                Problem(ProblemKind.DUPLICATE_VIDEO, message, advice, id=name, path=path)
            )


@dataclass(frozen=True, slots=True)
class DescribedVideo:
    """What captions say of one video."""

    id: str
    count: int
    captions: Mapping[int, str]
    strange: tuple[str, ...] = ()
    """Keys that name no clip of it."""
    category: str = ""


def describes(entry: Any) -> bool:
    """Return True if it is the captions of a video."""
    return isinstance(entry, dict) and "meta" in entry and "data" in entry


def bare_id(clip_id: str) -> str:
    """Return a clip's id: some files have the name of its video file instead.

    >>> bare_id("a-Scene-001.mp4")
    'a-Scene-001'
    """
    stem, dot, suffix = clip_id.rpartition(".")
    return stem if dot and f".{suffix.lower()}" in VIDEO_SUFFIXES else clip_id


def number_of(clip_id: str, video: str) -> int | None:
    """Return the number of the clip that an id names; None where it is not one of the video."""
    match = CLIP.fullmatch(bare_id(clip_id))
    return int(match["number"]) if match is not None and match["video"] == video else None


def described_video(meta: Any, data: Any) -> DescribedVideo:
    """Captions by the number of their clip; keys that name none are kept apart."""
    if not isinstance(meta, dict) or not isinstance(data, dict):
        raise Complaint("meta and data are not objects")
    name = meta.get("video_id")
    if not isinstance(name, str) or not name.strip() or CONTROLS.search(name):
        raise Complaint("meta has no video_id that could be a name")
    captions: dict[int, str] = {}
    strange = []
    for clip_id, clip in data.items():
        number = number_of(clip_id, name)
        if number is None:
            strange.append(one_line(clip_id))
        else:
            captions[number] = captions.get(number) or caption_of(clip)
    count, category = meta.get("num_clips"), meta.get("category")
    return DescribedVideo(
        name,
        count if isinstance(count, int) and 0 <= count < 10**6 else 0,
        captions,
        tuple(strange),
        category.strip() if isinstance(category, str) else "",
    )


def caption_of(clip: Any) -> str:
    """Return the caption of a clip. Shot type and camera movement are not part of it."""
    caption = clip.get("caption") if isinstance(clip, dict) else None
    content = caption.get("content") if isinstance(caption, dict) else caption
    if not isinstance(content, str):
        return ""
    return " ".join(CONTROLS.sub(" ", content).split())


def read_cuts(content: Any, video: str, times: dict[int, Span], untimed: list[str]) -> None:
    """Start and end of each clip: a list ``clips`` with their ids, or an object by id."""
    listed = content.get("clips", content) if isinstance(content, dict) else content
    if isinstance(listed, dict):
        pairs = iter(listed.items())
    elif isinstance(listed, list):
        pairs = (
            (caption.get("clip_id"), caption) for caption in listed if isinstance(caption, dict)
        )
    else:
        raise Complaint("has no clips")
    for clip_id, entry in pairs:
        number = number_of(clip_id, video) if isinstance(clip_id, str) else None
        if number is None and not isinstance(entry, dict):
            continue  # what else is said of the video: its length, how it was cut
        span = _span(entry)
        if number is None or span is None:
            untimed.append(one_line(str(clip_id)))
        else:
            times.setdefault(number, span)


_BOUNDS = (("start", "end"), ("start_time", "end_time"), ("begin", "end"))


def _span(entry: Any) -> Span | None:
    """When a clip is: seconds or h:mm:ss, as two fields, or a start and a duration."""
    if not isinstance(entry, dict):
        return None
    for first, last in _BOUNDS:
        try:
            start, end = entry.get(first), entry.get(last)
            if start is None:
                continue
            begin = seconds(start)
            return Span(begin, begin + seconds(entry["duration"]) if end is None else seconds(end))
        except (BadOption, KeyError, TypeError, ValueError):
            return None
    return None
