"""Weights in the user's cache: where they are, whether they are whole.

A file counts as there when its size is right, and is handed out only when its sha256 is:
a partial or changed file is never loaded. ``pulling`` puts them there.
"""

from __future__ import annotations

import difflib
import hashlib
import os
import sys
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from screentest.core import NoValue, Reason, UnknownName
from screentest.models.catalogue import CATALOGUE, LIGHT, SMALL, Weights, WeightsFile

__all__ = [
    "CATALOGUE",
    "LIGHT",
    "SMALL",
    "available",
    "cache_folder",
    "digest",
    "entry",
    "expand",
    "folder",
    "path",
    "sha256_of",
    "whole",
]


def cache_folder() -> Path:
    """Where screentest keeps what can be had again: SCREENTEST_CACHE, or the user's cache."""
    if given := os.environ.get("SCREENTEST_CACHE"):
        return Path(given).expanduser()
    home = Path.home()
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "screentest"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local")) / "screentest"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "screentest"


def folder(name: str) -> Path:
    """Where the files of one entry are, or would be."""
    return cache_folder() / "weights" / entry(name).name


def entry(name: str) -> Weights:
    """The catalogue's entry of that name."""
    found = CATALOGUE.get(name)
    if found is None:
        near = difflib.get_close_matches(name, CATALOGUE, n=3, cutoff=0.4)
        known = f"Did you mean {' or '.join(near)}?" if near else f"Known: {', '.join(CATALOGUE)}."
        raise UnknownName(f"unknown weights {name!r}", advice=known)
    return found


def expand(names: Iterable[str]) -> list[Weights]:
    """The entries that ``names`` mean, each once; a name may be that of a set.

    >>> [weights.name for weights in expand(["u2netp", "migan", "u2netp"])]
    ['u2netp', 'migan']
    """
    found: dict[str, Weights] = {}
    for name in names:
        members = [one for one in CATALOGUE.values() if name in one.sets] or [entry(name)]
        found |= {one.name: one for one in members}
    return list(found.values())


def available(name: str) -> bool:
    """Whether all files of an entry are there in the right size. Quick: reads nothing."""
    home = folder(name)
    return all(_size(home / file.name) == file.bytes for file in entry(name).files)


def path(name: str, file: str = "") -> Path:
    """The weights of that name (or another ``file`` of the entry), checked by their sha256.

    Raises NoValue with the command that gets them where they are missing or damaged.
    """
    weights = entry(name)
    wanted = next((one for one in weights.files if one.name == file), None)
    if file and wanted is None:
        raise ValueError(f"the weights {name!r} have no file {file!r}")
    found = folder(name) / (wanted or weights.file).name
    # All files of an entry are used together: one that is missing spoils the others.
    for one in weights.files:
        _check(weights, one, folder(name) / one.name)
    return found


def whole(name: str) -> bool:
    """Whether all files of an entry are there, byte for byte."""
    try:
        path(name)
    except NoValue:
        return False
    return True


def digest(name: str) -> str:
    """The first twelve hex digits of the sha256 of an entry's weights, for signatures."""
    return entry(name).sha256[:12]


def _check(weights: Weights, file: WeightsFile, place: Path) -> None:
    advice = f"Get them: screentest models pull {weights.name}"
    size = _size(place)
    if size is None:
        raise NoValue(
            Reason.MISSING_MODEL, f"the weights {weights.name!r} are not here", advice=advice
        )
    if size != file.bytes or sha256_of(place) != file.sha256:
        raise NoValue(
            Reason.MISSING_MODEL,
            f"{file.name} of the weights {weights.name!r} is not the file it should be",
            advice=advice,
        )


def _size(place: Path) -> int | None:
    try:
        return place.stat().st_size if place.is_file() else None
    except OSError:
        return None


def sha256_of(place: Path) -> str:
    """The sha256 of a file; read once per process as long as the file does not change."""
    state = place.stat()
    return _hashed(place, state.st_size, state.st_mtime_ns, state.st_ino)


@lru_cache(maxsize=256)
def _hashed(place: Path, size: int, changed: int, inode: int) -> str:
    with place.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
