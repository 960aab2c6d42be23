"""A corpus, whatever its form: a manifest, or a Vript download; told apart by content."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from screentest.core import BadOption, Item, ManifestError
from screentest.manifests.fields import Complaint, Kind, Problem, load_json
from screentest.manifests.manifest import examine_manifest, read_manifest
from screentest.manifests.vript import LONGEST_FILE, PartedSource, read_vript


class Format(StrEnum):
    """What a corpus can be."""

    MANIFEST = "manifest"
    VRIPT = "vript"


@dataclass(frozen=True, slots=True)
class Corpus:
    """Films in one file each, or in several; and what is missing or wrong."""

    format: Format
    items: tuple[Item, ...] = ()
    parted: tuple[PartedSource, ...] = ()
    problems: tuple[Problem, ...] = ()


def read_corpus(path: Path, form: str | None = None) -> Corpus:
    """Read a manifest or a Vript download; ``form`` forces one of the two.

    A bad row is one of the problems, and the others are taken. Raises ManifestError where there
    is no corpus, or not one source in it.
    """
    try:
        chosen = Format(form) if form is not None else detect(path)
    except ValueError:
        known = ", ".join(Format)
        raise BadOption(f"there is no format {form!r}", advice=f"Known: {known}.") from None
    if chosen is Format.MANIFEST:
        rows = examine_manifest(path)
        cut_short = any(problem.kind is Kind.BAD_FILE for problem in rows.problems)
        if cut_short or not rows.items:
            return Corpus(chosen, tuple(read_manifest(path)))  # which raises, with every problem
        return Corpus(chosen, tuple(rows.items), problems=rows.problems)
    reading = read_vript(path)
    if not reading.sources:
        told = "\n".join(f"- {problem.message}" for problem in reading.problems[:10])
        raise ManifestError(
            f"no video in {path} can be used:\n{told}",
            advice="Put the clips (VIDEO-Scene-001.mp4 …) below the same folder.",
        )
    return Corpus(chosen, parted=reading.sources, problems=reading.problems)


def detect(path: Path) -> Format:
    """What a corpus looks like: folders and captions files are Vript's, all else a manifest."""
    if path.is_dir():
        return Format.VRIPT
    # A manifest may be far larger than what a captions file can be, and need not be JSON.
    if not path.is_file() or path.suffix.lower() in (".csv", ".tsv"):
        return Format.MANIFEST
    try:
        if path.stat().st_size > LONGEST_FILE:
            return Format.MANIFEST
        content = load_json(path.read_bytes().decode("utf-8-sig"))
    except (OSError, UnicodeDecodeError, Complaint):
        return Format.MANIFEST  # which will say what is wrong
    first = content[0] if isinstance(content, list) and content else content
    described = isinstance(first, dict) and "meta" in first and "data" in first
    return Format.VRIPT if described else Format.MANIFEST


# Inputs as people name them: manifests, videos, folders of videos.

VIDEOS = frozenset(
    {
        *(".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi", ".mpg", ".mpeg"),
        *(".ogv", ".gif", ".ts", ".flv", ".wmv"),
    }
)
"""How the names of videos end, where a folder is given."""


def read_inputs(inputs: Sequence[Path], prompt: str = "") -> list[Item]:
    """Items from manifests, videos and folders of videos; ``prompt`` is for those without one."""
    items: list[Item] = []
    for path in inputs:
        if path.suffix.lower() in (".jsonl", ".csv"):
            items += read_manifest(path)
            continue
        if not _is_there(path):
            raise BadOption(
                f"{path} is not there", advice="Check the path, or the folder it is relative to."
            )
        videos = (
            sorted(one for one in path.iterdir() if _is_video(one)) if path.is_dir() else [path]
        )
        if not videos:
            raise BadOption(f"{path} holds no videos", advice="Give a manifest, or other folders.")
        items += [Item(_id(video), video, prompt=prompt) for video in videos]
    return _distinct(items)


def _is_there(path: Path) -> bool:
    """What was typed wrongly is told at once; addresses and dead links are for who opens them."""
    address = any(part.endswith(":") for part in path.parts)
    return address or path.exists() or path.is_symlink()


def _is_video(path: Path) -> bool:
    # A link to nothing counts: what was to be there is reported as missing, not left out.
    return path.suffix.lower() in VIDEOS and not path.is_dir()


def _id(video: Path) -> str:
    """The file's name; bytes in it that are not UTF-8 are written as escapes."""
    return video.name.encode("utf-8", "backslashreplace").decode()


def _distinct(items: list[Item]) -> list[Item]:
    """Two files of one name in two folders are told apart by the folder."""
    seen = Counter(item.id for item in items)
    return [
        replace(item, id=f"{item.video.parent.name}/{item.id}") if seen[item.id] > 1 else item
        for item in items
    ]
