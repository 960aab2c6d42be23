"""Inputs as people name them: manifests, videos, folders of videos."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from screentest.core import BadOption, Item
from screentest.corpus.manifest import read_manifest

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
