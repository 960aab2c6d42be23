"""The files of a Vript download by what they are, and what each kind says."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from screentest.core import BadOption, Span
from screentest.core.item import seconds
from screentest.inputs.fields import Complaint, Problem, ProblemKind, one_line, quoted
from screentest.inputs.files import VIDEO_SUFFIXES

CLIP = re.compile(r"(?P<video>.+)-Scene-(?P<number>\d{3,9})", re.DOTALL)
CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
CUTS, _META, _SPEECH = "_cut_meta.json", "_meta.json", "_asr.jsonl"


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

    def look_below(self, folder: Path) -> None:
        for place, folders, names in os.walk(folder):
            if "testbed.json" in names and Path(place) != folder:
                folders.clear()
                continue
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                if not name.startswith("."):
                    self._take(Path(place) / name)

    def _take(self, path: Path) -> None:
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
    title: str
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
    count, title, category = (meta.get(key) for key in ("num_clips", "video_title", "category"))
    return DescribedVideo(
        name,
        title if isinstance(title, str) else "",
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
