"""One process writes a run: the lease says which, and ends with the process.

The operating system holds the lock and drops it when its owner dies, however it dies, so a
killed run never has to be unlocked by hand.
"""

from __future__ import annotations

import errno
import json
import os
import socket
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from screentest.core import RunBusy, StorageError
from screentest.run.records import now

FILE: Final = "run.lock"

# `screentest runs` holds the lock for an instant to see whether it is free.
PATIENCE: Final = 0.5
_NO_LINKS: Final = getattr(os, "O_NOFOLLOW", 0)
"""A run folder from elsewhere could hold a link to a file of ours."""


@dataclass(frozen=True, slots=True)
class Holder:
    """Who writes a run: process, host and since when."""

    pid: int
    host: str
    since: str


class Lease:
    """The right to write to a run; held until ``release`` or the end of the process."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @classmethod
    def take(cls, folder: Path, patience: float = PATIENCE) -> Lease:
        """Take it, or raise RunBusy with the name of who still has it after so many seconds."""
        path = folder / FILE
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | _NO_LINKS, 0o644)
        except OSError as error:
            raise _cannot_write(folder, error) from None
        try:
            deadline = time.monotonic() + patience
            while not _lock(descriptor, path):
                if time.monotonic() > deadline:
                    who = _read(path)
                    known = f"process {who.pid} on {who.host}, since {who.since}" if who else ""
                    raise RunBusy(
                        f"{folder} is being written by {known or 'another process'}",
                        advice="Wait until that has ended, or stop it (Ctrl-C once finishes what "
                        "is in flight). Reading the run works meanwhile.",
                    )
                time.sleep(0.02)
            _write(descriptor, Holder(os.getpid(), socket.gethostname(), now()))
        except OSError as error:
            os.close(descriptor)
            raise _cannot_write(folder, error) from None
        except BaseException:
            os.close(descriptor)
            raise
        return cls(descriptor)

    def release(self) -> None:
        """Give it back. The file stays: removing it would let two processes hold two files."""
        if self._descriptor >= 0:
            os.ftruncate(self._descriptor, 0)
            if sys.platform != "win32":
                # Or a process that was forked meanwhile would keep it, as loaders of data are.
                fcntl.flock(self._descriptor, fcntl.LOCK_UN)
            os.close(self._descriptor)
            self._descriptor = -1


def holder(folder: Path) -> Holder | None:
    """Return the process that writes to the run at this moment, if any."""
    path = folder / FILE
    try:
        descriptor = os.open(path, os.O_RDWR | _NO_LINKS)
    except OSError:  # never written here, or on a disk where nobody can write
        return None
    try:
        if _lock(descriptor, path):
            return None
        return _read(path) or Holder(0, "another machine", "an unknown time")
    finally:
        os.close(descriptor)


def _cannot_write(folder: Path, error: OSError) -> StorageError:
    return StorageError(
        f"cannot write to {folder}: {error.strerror}",
        advice="Free some space there, or choose a folder that you may write to.",
    )


def _write(descriptor: int, who: Holder) -> None:
    os.ftruncate(descriptor, 0)
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.write(descriptor, json.dumps(asdict(who)).encode())


def _read(path: Path) -> Holder | None:
    try:
        return Holder(**json.loads(path.read_text("utf-8")))
    except (OSError, ValueError, TypeError):  # half written: whoever it is has just begun
        return None


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int, path: Path) -> bool:
        # The locked byte is beyond the text, which others must be able to read.
        os.lseek(descriptor, 1 << 20, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _lock(descriptor: int, path: Path) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
                return False
            raise StorageError(
                f"{path} cannot be locked: {error.strerror}", advice="Put the run on a local disk."
            ) from None
        return True
