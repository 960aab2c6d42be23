"""Names of files and folders in a testbed: safe on any disk, whatever an id holds."""

from __future__ import annotations

import hashlib
import re

from screentest.degrade.options import Rung

_HASHED = re.compile(r"-[0-9a-f]{8}$")
_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")


def folder_name(source: str) -> str:
    """The folder of a source: its id, or something like it with a hash where that is unsafe.

    >>> folder_name("film-7"), folder_name("../film 7")
    ('film-7', 'film-7-b6827ff3')
    """
    # An id that itself looks hashed could be what another id is hashed to.
    if _SAFE.fullmatch(source) and not source.endswith(".") and not _HASHED.search(source):
        return source
    digest = hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{_UNSAFE.sub('-', source).strip('-')[:40] or 'source'}-{digest}"


def video_name(name: str, rung: Rung | None, rungs: int, suffix: str = ".mp4") -> str:
    """The file of a changed copy; where there is a ladder, the rung is in its name.

    >>> video_name("color", Rung(0.5, 5), 1), video_name("color", Rung(0.5, 5), 2)
    ('color.mp4', 'color_s0.5_n5.mp4')
    """
    step = f"_s{rung.severity:g}_n{rung.clips}" if rung is not None and rungs > 1 else ""
    return f"{name}{step}{suffix}"
