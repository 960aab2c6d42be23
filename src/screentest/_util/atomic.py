"""A file that is whole or not there: written out of sight, made durable, then put in place.

Where the system has nameless files (Linux), nothing is left behind even by a kill; elsewhere
an unfinished file has a name beginning ``.screentest-`` until it is finished or given up.
Folders that are in use are locked, so that those of killed processes can be told and removed.
"""

from __future__ import annotations

import io
import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from screentest._util.text import shown_path
from screentest.core import StorageError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

T = TypeVar("T")


class OutputFile(io.RawIOBase):
    """A file to write. Failures of the disk become StorageError, naming the target.

    A muxer may swallow what its file raises, so a failure is also remembered.
    """

    def __init__(self, descriptor: int, target: Path) -> None:
        self._descriptor = descriptor
        self._target = target
        self.failure: StorageError | None = None

    def check(self) -> None:
        """Raise if anything failed so far."""
        if self.failure is not None:
            raise self.failure

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def write(self, data: ReadableBuffer) -> int:
        whole = memoryview(data).cast("B")
        self._try(lambda: _write_all(self._descriptor, whole))
        return len(whole)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to a place in the file."""
        return self._try(lambda: os.lseek(self._descriptor, offset, whence))

    def tell(self) -> int:
        """Return where the next byte goes."""
        return self.seek(0, os.SEEK_CUR)

    def sync(self) -> None:
        """Wait until the disk has it."""
        self._try(lambda: os.fsync(self._descriptor))

    def _try(self, action: Callable[[], T]) -> T:
        self.check()
        try:
            return action()
        except OSError as error:
            self.failure = storage_error(self._target, error)
            raise self.failure from error


@contextmanager
def atomic_output(target: Path) -> Iterator[OutputFile]:
    """Return a file to write, which takes the place of ``target`` when the block ends well.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic_output(Path(folder) / "a.bin") as file:
    ...         _ = file.write(b"whole")
    ...     (Path(folder) / "a.bin").read_bytes()
    b'whole'
    """
    if target.is_symlink():
        target = Path(os.path.realpath(target))  # the link stays
    if target.exists() and not target.is_file():
        raise StorageError(
            f"{shown_path(target)} is there already and is not a file",
            advice="Choose another name.",
        )
    descriptor, name = _open_unseen(target)
    output = OutputFile(descriptor, target)
    try:
        yield output
        output.sync()
        try:
            _put_in_place(descriptor, name, target)
        except OSError as error:
            raise storage_error(target, error) from error
    except BaseException as error:
        if name is not None:
            name.unlink(missing_ok=True)
        if output.failure not in (None, error) and isinstance(error, Exception):
            output.check()  # whatever the muxer made of it
        raise
    finally:
        os.close(descriptor)


def write_whole(target: Path, content: str | bytes) -> None:
    """Put ``content`` at ``target``; text as UTF-8."""
    with atomic_output(target) as file:
        file.write(content.encode() if isinstance(content, str) else content)


def _write_all(descriptor: int, rest: memoryview) -> None:
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def storage_error(target: Path, error: OSError) -> StorageError:
    """Return the error for ``target`` that could not be written."""
    return StorageError(
        f"{shown_path(target)} cannot be written: {_said(error)}",
        advice="Free some space or check the folder and its permissions, then start again. "
        "Nothing half-written was left.",
    )


def _said(error: OSError) -> str:
    # The system's own words; a library's are its own, and it need not give a number.
    return (os.strerror(error.errno) if error.errno else str(error) or "no reason given").lower()


def _open_unseen(target: Path) -> tuple[int, Path | None]:
    """Return a descriptor for the new content, and its name where it needs one."""
    nameless = getattr(os, "O_TMPFILE", None)
    if nameless is not None and Path("/proc/self/fd").is_dir():
        # Older kernels and some file systems know no nameless files: then by name.
        with suppress(OSError):
            return os.open(target.parent, nameless | os.O_RDWR | os.O_CLOEXEC, 0o666), None
    name = _temporary_name(target)
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL
    flags |= getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    try:
        return os.open(name, flags, 0o666), name
    except OSError as error:
        raise storage_error(target, error) from error


def _put_in_place(descriptor: int, name: Path | None, target: Path) -> None:
    folder = os.open(target.parent, os.O_RDONLY)
    try:
        if name is None:
            name = _temporary_name(target)
            # A folder descriptor makes Python use linkat, which alone follows this link.
            link = f"/proc/self/fd/{descriptor}"
            os.link(link, name, src_dir_fd=folder, follow_symlinks=True)
        try:
            name.replace(target)
        except OSError:
            name.unlink(missing_ok=True)
            raise
        os.fsync(folder)
    finally:
        os.close(folder)


def _temporary_name(target: Path) -> Path:
    return target.parent / f".screentest-{secrets.token_hex(8)}.part"


@contextmanager
def own_folder(home: Path, prefix: str) -> Iterator[Path]:
    """Make a folder, and remove it in the end; those of processes that were killed go first.

    Each is locked meanwhile. The system ends a lock with its process, and clocks are not asked.
    Where there are no such locks (Windows), nothing is taken for left.
    """
    for left in home.glob(f"{prefix}*"):
        with suppress(OSError):
            abandoned = _lock(left)
            if abandoned is not None:
                shutil.rmtree(left, ignore_errors=True)
                os.close(abandoned)
    folder, lock = _locked_folder(home, prefix)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def _locked_folder(home: Path, prefix: str) -> tuple[Path, int | None]:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=home))
        with suppress(BlockingIOError, FileNotFoundError):
            lock = _lock(folder)
            if folder.is_dir():
                return folder, lock
            if lock is not None:
                os.close(lock)
        # Before it was locked, another process took it for one that was left.


def _lock(folder: Path) -> int | None:
    """Return the descriptor that locks a folder until it is closed; None where none can."""
    if sys.platform == "win32":
        return None
    import fcntl

    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        if isinstance(error, BlockingIOError):
            raise
        return None  # a file system without locks
    return descriptor
