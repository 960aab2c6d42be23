"""PlainFile: a regular file on this machine, and nothing that only looks like one.

Pipes, devices, sockets and folders are recognised before they are opened, since opening one
can hang or have effects of its own.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from screentest.base.printable import shown_path
from screentest.core.errors import VideoError
from screentest.core.outcome import Reason

_READ_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)  # a pipe put in the file's place meanwhile must not hang us
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)
_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
_OURS = (errno.EMFILE, errno.ENFILE, errno.ENOMEM)
"""Errors that say something of this process and nothing of the file."""


class PlainFile:
    """A regular, non-empty file as a demuxer reads it: bytes without a name."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor = -1
        self._descriptor = _open_regular(path)

    def read(self, count: int) -> bytes:
        """The next ``count`` bytes, or fewer at the end; raises VideoError on a failing disk."""
        try:
            return os.read(self._descriptor, count)
        except OSError as error:
            raise _unreadable(self._path, error) from None

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to a place in the file."""
        return os.lseek(self._descriptor, offset, whence)

    def tell(self) -> int:
        """Where the next byte is read."""
        return os.lseek(self._descriptor, 0, os.SEEK_CUR)

    def close(self) -> None:
        """Give the descriptor back."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def __del__(self) -> None:
        # PyAV keeps what it reads from until the container goes, and then just drops it.
        self.close()


def _open_regular(path: Path) -> int:
    try:
        _check_kind(path, path.stat())
        descriptor = os.open(path, _READ_FLAGS)
    except OSError as error:
        if error.errno in _OURS:
            raise
        raise _unreadable(path, error) from None
    except ValueError:  # NUL or a lone surrogate: no file can have that name
        raise VideoError(
            Reason.MISSING_FILE,
            f"{shown_path(path)} cannot be the name of a file",
            advice="Check the path in the manifest.",
        ) from None
    try:
        _check_kind(path, os.fstat(descriptor))  # it may have been replaced in between
    except VideoError:
        os.close(descriptor)
        raise
    return descriptor


def _check_kind(path: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        kind = next((name for test, name in _KINDS if test(status.st_mode)), "no plain file")
        raise VideoError(
            Reason.UNSAFE,
            f"{shown_path(path)} is {kind}, not a video file",
            advice="Give the path of a video file on this machine.",
        )
    if status.st_size == 0:
        raise VideoError(
            Reason.MISSING_FILE,
            f"{shown_path(path)} is empty",
            advice="Copy, download or generate it again.",
        )


def _unreadable(path: Path, error: OSError) -> VideoError:
    if error.errno == errno.ENOENT:
        if path.is_symlink():
            detail, advice = "is a link to nothing", "Mend the link or give the file it meant."
        else:
            detail, advice = "is not there", "Check the path, or the folder it is relative to."
    elif error.errno == errno.ELOOP:
        detail, advice = "is a link that leads to itself", "Mend the link."
    elif error.errno in (errno.EACCES, errno.EPERM):
        detail, advice = "may not be read", "Give yourself permission to read it (chmod u+r)."
    else:
        detail = f"cannot be read: {error.strerror}"
        advice = "Check the path and the disk it is on."
    return VideoError(Reason.MISSING_FILE, f"{shown_path(path)} {detail}", advice=advice)
