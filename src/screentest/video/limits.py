"""Limits: how much of this machine one video may take. PlainFile: what is opened at all.

>>> DEFAULT_LIMITS.check_size(1920, 1080)
>>> DEFAULT_LIMITS.check_size(30000, 30000)
Traceback (most recent call last):
...
screentest.core.errors.VideoError: 30000×30000 is 900.0 million pixels, above the limit of 36.0
Make a smaller copy of the video, or raise Limits.pixels if you trust it.
"""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass, fields
from pathlib import Path

from screentest._util.text import shown_path
from screentest.core import Reason, Time, VideoError

MIB = 1 << 20
_MOST = 1 << 60
"""The kernel and FFmpeg take no larger number."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a file may ask for. Pictures are checked by what is decoded, not by what it promises."""

    file_bytes: int = 100_000_000_000
    """Size of the file, by what the file system says: a sparse one can claim any size."""
    pixels: int = 36_000_000
    """Width times height of one picture; 8K (7680×4320) is 33 million."""
    frames: int = 2_000_000
    """Pictures in one video: nine hours at 60 a second."""
    seconds: int = 12 * 3600
    """Duration on the presentation clock."""
    streams: int = 64
    """Tracks of any kind in one container."""
    memory: int = 4096 * MIB
    """Bytes that one task may take, beyond what its process held before."""
    wall_seconds: float = 3600.0
    """Time that one task on one video may take, by the clock on the wall."""

    def __post_init__(self) -> None:
        for limit in fields(self):
            if not 0 < getattr(self, limit.name) <= _MOST:  # NaN is neither
                raise ValueError(f"invalid limit {limit.name}: must be in (0, {_MOST}]")

    def check_file(self, size: int) -> None:
        """Raise VideoError where a file has more bytes than allowed."""
        if size > self.file_bytes:
            raise VideoError(
                Reason.TOO_LARGE,
                f"the file has {size / 1e9:,.1f} GB, "
                f"above the limit of {self.file_bytes / 1e9:,.1f}",
                advice="Make a smaller copy of the video, or raise --max-file-size "
                "(Limits.file_bytes) if you trust it.",
            )

    def check_size(self, width: int, height: int) -> None:
        """Raise VideoError where a picture of this size is too large."""
        if width * height > self.pixels:
            raise VideoError(
                Reason.TOO_LARGE,
                f"{width}×{height} is {width * height / 1e6:.1f} million pixels, "
                f"above the limit of {self.pixels / 1e6:.1f}",
                advice="Make a smaller copy of the video, or raise Limits.pixels if you trust it.",
            )

    def check_frames(self, count: int) -> None:
        """Raise VideoError where a video has more pictures than allowed."""
        if count > self.frames:
            raise VideoError(
                Reason.TOO_LARGE,
                f"more than {self.frames:,} frames",
                advice="Cut the video into parts, or raise Limits.frames if you trust it.",
            )

    def check_duration(self, duration: Time | float) -> None:
        """Raise VideoError where a video lasts longer than allowed."""
        if duration > self.seconds:
            raise VideoError(
                Reason.TOO_LARGE,
                f"lasts {float(duration):,.0f} s, above the limit of {self.seconds:,} s",
                advice="Cut the video into parts, or raise Limits.seconds if you trust it.",
            )

    def check_streams(self, count: int) -> None:
        """Raise VideoError where a container holds more tracks than allowed."""
        if count > self.streams:
            raise VideoError(
                Reason.TOO_LARGE,
                f"more than {self.streams} tracks",
                advice="Keep only the video track: ffmpeg -i IN -map 0:v:0 -c copy OUT",
            )


DEFAULT_LIMITS = Limits()


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
    """A regular, non-empty file as a demuxer reads it: bytes without a name.

    Pipes, devices, sockets and folders are recognised before they are opened, since opening one can
    hang or have effects of its own.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor = -1
        self._descriptor = _open_regular(path)

    def read(self, count: int) -> bytes:
        """Return the next ``count`` bytes, or fewer at the end; raises VideoError on a failing
        disk."""
        try:
            return os.read(self._descriptor, count)
        except OSError as error:
            raise _unreadable(self._path, error) from None

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to a place in the file."""
        return os.lseek(self._descriptor, offset, whence)

    @property
    def size(self) -> int:
        """The bytes that the file system says it has."""
        return os.fstat(self._descriptor).st_size

    def tell(self) -> int:
        """Return where the next byte is read."""
        return os.lseek(self._descriptor, 0, os.SEEK_CUR)

    def close(self) -> None:
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
            f"{shown_path(path)} is not a valid file name",
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
            Reason.EMPTY_FILE,
            f"{shown_path(path)} is empty",
            advice="Copy, download or generate it again.",
        )


def _unreadable(path: Path, error: OSError) -> VideoError:
    if error.errno == errno.ENOENT:
        if path.is_symlink():
            detail, advice = "is a link to nothing", "Fix the link or give the file it meant."
        else:
            detail, advice = "is not there", "Check the path, or the folder it is relative to."
    elif error.errno == errno.ELOOP:
        detail, advice = "is a link that leads to itself", "Fix the link."
    elif error.errno in (errno.EACCES, errno.EPERM):
        detail, advice = "may not be read", "Give yourself permission to read it (chmod u+r)."
    else:
        detail = f"cannot be read: {error.strerror}"
        advice = "Check the path and the disk it is on."
    return VideoError(Reason.MISSING_FILE, f"{shown_path(path)} {detail}", advice=advice)
