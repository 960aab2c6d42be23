"""What was looked at, as hashes of content: a changed video makes only its own records old.

A file is hashed once and then known by its path, size, times and inode; a copy with another
name or date but the same bytes is the same input. Large files are read ahead, beside the work on
others; what is larger than allowed is never read.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import stat
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from screentest.core import Item, Progress, to_json
from screentest.run.records import from_row, put, select
from screentest.run.writer import Writer
from screentest.video.limits import DEFAULT_LIMITS

ABSENT: Final = "absent"
"""In place of the hash where there is no plain file that may be read. When one appears,
that is a changed input, and what failed for lack of it is tried again."""

LARGE: Final = 1 << 30
"""Files from this size on are hashed beside the work on others."""
_AHEAD: Final = 2  # files at a time: disks are slower than processors
_BLOCK: Final = 1 << 20
_LOOK: Final = 0.2  # seconds between two looks at how far it is


@dataclass(frozen=True, slots=True)
class Stamp:
    """What the file system says of a file without reading it."""

    path: str
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int

    @classmethod
    def of(cls, path: Path) -> Stamp | None:
        """Return the stamp of a plain file; None for anything else."""
        path = path.absolute()
        try:
            file = path.stat()
        except (OSError, ValueError):  # ValueError: a name with a NUL in it
            return None
        if not stat.S_ISREG(file.st_mode):
            return None
        return cls(str(path), file.st_size, file.st_mtime_ns, file.st_ctime_ns, file.st_ino)

    @property
    def current(self) -> bool:
        """Return True if the file is still the one that was stamped."""
        return Stamp.of(Path(self.path)) == self

    @property
    def untouched(self) -> bool:
        """Return True if there is a file of this size and date, whatever else was done to it."""
        now = Stamp.of(Path(self.path))
        return now is not None and (now.size, now.mtime_ns) == (self.size, self.mtime_ns)

    @property
    def settled(self) -> bool:
        """Return True if a change from now on would show: it is older than its clock's step."""
        # A coarse file system counts in steps of up to two seconds, others in milliseconds.
        step = 2_000_000_000 if self.mtime_ns % 1_000_000_000 == 0 else 100_000_000
        return max(self.mtime_ns, self.ctime_ns) < time.time_ns() - step


def _nobody(count: int) -> None:
    pass


def hash_file(
    path: Path, largest: int = DEFAULT_LIMITS.file_bytes, tell: Callable[[int], None] = _nobody
) -> str:
    """Return the sha256 of a plain file, read piece by piece; ABSENT for anything else.

    A file with more than ``largest`` bytes is not read and goes by its size. ``tell`` hears of each
    piece.
    """
    try:
        # A pipe must not make us wait for somebody to write into it.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except (OSError, ValueError):
        return ABSENT
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return ABSENT
        if status.st_size > largest:
            return f"too_large {status.st_size}"
        digest = hashlib.sha256()
        while block := os.read(descriptor, _BLOCK):
            digest.update(block)
            tell(len(block))
        return digest.hexdigest()
    except OSError:
        return ABSENT
    finally:
        os.close(descriptor)


def hash_parts(parts: Mapping[str, str]) -> str:
    """One hash of several inputs, each under a name.

    >>> hash_parts({"video": "9f86", "prompt": "a cat"})[:8]
    '8fce8b33'
    """
    text = json.dumps(dict(parts), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def hash_item(item: Item, hash_path: Callable[[Path], str] = hash_file) -> str:
    """One hash of all of an item that can change a result: not its id, groups or file names."""
    parts = {"video": hash_path(item.video), "prompt": item.prompt, "instruction": item.instruction}
    if item.script is not None:
        parts["script"] = to_json(item.script)
    if item.source is not None:
        parts["source"] = hash_path(item.source)
    for number, reference in enumerate(item.references):
        parts[f"reference {number}"] = hash_path(reference)
    return hash_parts(parts)


class InputHashes:
    """File hashes that a run remembers."""

    def __init__(self, writer: Writer, folder: Path) -> None:
        self._writer = writer
        self._folder = folder
        self.largest = DEFAULT_LIMITS.file_bytes
        self._ahead: dict[Path, Future[str]] = {}
        self._pool: ThreadPoolExecutor | None = None
        self._closing = threading.Event()
        self._read = 0
        """Bytes of what was begun, so far."""
        self._same: dict[Stamp, Stamp] = {}
        """Stamps of files that were touched since, with those that they have now."""

    def is_large(self, path: Path) -> bool:
        """Return True if hashing this file takes long."""
        stamp = Stamp.of(path)
        return stamp is not None and LARGE <= stamp.size <= self.largest

    def begin(self, paths: Iterable[Path]) -> None:
        """Hash these files from now on, in threads of their own."""
        for path in paths:
            if path not in self._ahead:
                self._pool = self._pool or ThreadPoolExecutor(_AHEAD, "hashing")
                self._ahead[path] = self._pool.submit(self._of_file, path, self._count)

    def wait(self, progress: Progress) -> None:
        """Wait until all that was begun is hashed, and show how far it is."""
        left = [future for future in self._ahead.values() if not future.done()]
        if not left:
            return
        stamps = filter(None, map(Stamp.of, self._ahead))
        shown = self._read >> 20
        with progress:
            total = sum(stamp.size for stamp in stamps) >> 20
            progress.begin("hashing large files", total=total, unit="MB", done=shown)
            while left:
                left = list(wait(left, _LOOK).not_done)
                now = self._read >> 20
                progress.advance(now - shown)
                shown = now

    def close(self) -> None:
        """Stop reading."""
        self._closing.set()
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def of_file(self, path: Path) -> str:
        """Return the hash of a file, from memory where the file has not changed."""
        begun = self._ahead.pop(path, None)
        return self._of_file(path, self._heed) if begun is None else begun.result()

    def is_same(self, stamp: Stamp) -> bool:
        """Return True if a file still is what was stamped.

        A link to it, other rights or a backup leave their mark on a file and nothing in it: where
        size and date are as they were, the bytes decide.
        """
        now = Stamp.of(Path(stamp.path))
        if now is None or not stamp.untouched or not _is_text(stamp.path):
            return now == stamp
        if now in (stamp, self._same.get(stamp)):
            return True
        kept = self._writer.do(lambda db: self._known(db, stamp.path))
        if kept is None or kept[0] != stamp:
            return False
        digest = hash_file(Path(stamp.path), self.largest, self._heed)
        if digest != kept[1] or not now.current:
            return False
        self._same[stamp] = now
        return True

    def _heed(self, count: int) -> None:
        if self._closing.is_set():
            raise CancelledError

    def _count(self, count: int) -> None:
        self._read += count  # a progress bar may miss a piece
        self._heed(count)

    def _of_file(self, path: Path, tell: Callable[[int], None]) -> str:
        before = Stamp.of(path)
        if before is None:
            return ABSENT
        if not _is_text(before.path):
            return hash_file(path, self.largest, tell)
        kept = self._writer.do(lambda db: self._known(db, before.path))
        if kept is not None and kept[0] == before:
            return kept[1]
        digest = hash_file(path, self.largest, tell)
        if digest != ABSENT and before.size <= self.largest and before.settled and before.current:
            self._writer.do(lambda db: self._remember(db, before, digest))
        return digest

    def of_item(self, item: Item) -> str:
        """Return the hash of an item; see ``hash_item``."""
        return hash_item(item, self.of_file)

    def _known(self, connection: sqlite3.Connection, path: str) -> tuple[Stamp, str] | None:
        for row in select(connection, "inputs", self._folder, "WHERE path = ?", [path]):
            return from_row(Stamp, row), str(row["sha256"])
        return None

    def _remember(self, connection: sqlite3.Connection, stamp: Stamp, sha256: str) -> None:
        # An inode may be larger than the integers of SQLite.
        row = {**asdict(stamp), "inode": str(stamp.inode), "sha256": sha256}
        put(connection, "inputs", row, ["path"])


def _is_text(path: str) -> bool:
    """Return True if the name can be written down; bytes that are not UTF-8 cannot."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
