"""Files of a testbed: inside its folder, plain, and the ones that testbed.json lists.

A testbed may be anybody's, and its testbed.json may name any path. Everything that opens a file
of one asks here first.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path, PurePosixPath

from screentest.core import NoValue, Reason
from screentest.testbeds.testbed import VideoFile
from screentest.video.limits import DEFAULT_LIMITS

_OUTSIDE = "Do not use this testbed, or build it again yourself."
_VERIFY = "See `screentest testbed verify`; build it again."


def is_inside(path: str) -> bool:
    """Return True if a path stays in the folder it is relative to.

    >>> is_inside("videos/a/intact.mp4"), is_inside("../a.mp4"), is_inside("/etc/passwd")
    (True, False, False)
    """
    parts = PurePosixPath(path).parts
    odd = "\\" in path or "\0" in path or ":" in parts[0] if parts else True
    return not odd and not PurePosixPath(path).is_absolute() and ".." not in parts


def file_in(folder: Path, path: str) -> Path:
    """Return a plain file of the testbed; raises NoValue where it is anything or anywhere else."""
    if not is_inside(path):
        raise NoValue(Reason.UNSAFE, "the path leads out of the testbed", advice=_OUTSIDE)
    place = folder / path
    try:
        if not place.resolve().is_relative_to(folder.resolve()):
            raise NoValue(
                Reason.UNSAFE, "it is a link that leads out of the testbed", advice=_OUTSIDE
            )
        if place.is_file():
            return place
        there = place.exists()
    except (OSError, ValueError, RuntimeError) as error:  # a name too long, a link to itself
        raise NoValue(Reason.MISSING_FILE, str(error), advice=_VERIFY) from None
    if there:
        raise NoValue(Reason.UNSAFE, "not a plain file", advice=_OUTSIDE)
    raise NoValue(Reason.MISSING_FILE, "it is not there", advice=_VERIFY)


def video_in(folder: Path, file: VideoFile, hash_path: Callable[[Path], str] | None = None) -> Path:
    """Return a video of the testbed; raises NoValue where it is not the one that is listed.

    Its size is looked at first: a file of another size is never read. Without ``hash_path`` the
    hash is left to whoever reads the file; ``Item.sha256`` has it.
    """
    place = file_in(folder, file.path)
    size = place.stat().st_size
    if size != file.bytes:
        message = f"not the file of the testbed: {size:,} bytes, listed with {file.bytes:,}"
        raise NoValue(Reason.WRONG_FILE, message, advice=_VERIFY)
    if hash_path is not None:
        DEFAULT_LIMITS.check_file(size)
    if hash_path is not None and hash_path(place) != file.sha256:
        raise NoValue(
            Reason.WRONG_FILE, "not the file of the testbed: the hash differs", advice=_VERIFY
        )
    return place
