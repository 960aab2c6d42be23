"""The files beside a manifest: missing, double, not listed, damaged."""

from __future__ import annotations

import difflib
import os
import stat
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath

from screentest._util.machine import processors
from screentest.core import Fault, Outcome, Reason, Time, VideoError, timecode

VIDEO_SUFFIXES = frozenset(
    (
        *(".3g2", ".3gp", ".asf", ".avi", ".flv", ".ivf", ".m2ts", ".m4v", ".mkv", ".mov"),
        *(".mp4", ".mpeg", ".mpg", ".mxf", ".nut", ".ogv", ".webm", ".wmv", ".y4m"),
    )
)
"""What counts as a video when looking for ones that no row names. Not ``.ts``: TypeScript."""

Identity = tuple[int, int]
"""Device and inode: two names of one file have the same."""


def identity(path: Path) -> Identity | None:
    """Return the identity of the file that a path leads to; None where it leads to none."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino


def fault_of(path: Path) -> tuple[bool, str]:
    """Look whether something is there, and what is wrong with it as a file; empty: nothing."""
    try:
        status = path.stat()
    except FileNotFoundError:
        if path.is_symlink():
            return False, "is a dead link"
        return False, "is not there"
    except (OSError, ValueError) as error:
        return False, f"cannot be reached: {getattr(error, 'strerror', None) or error}"
    if stat.S_ISDIR(status.st_mode):
        return True, "is a folder"
    if not stat.S_ISREG(status.st_mode):
        return True, "is a special file"
    if status.st_size == 0:
        return True, "is empty"
    if not os.access(path, os.R_OK):
        return True, "is not readable"
    return True, ""


def files_under(folder: Path, *, follow: bool = False) -> Iterator[Path]:
    """Yield every file below ``folder``, by name.

    Hidden ones are left out, and so are testbeds below it: `build` made their videos, and nobody
    wants a row for them. With ``follow``, links to folders are followed, each folder once, so it
    comes to an end.
    """
    seen: set[tuple[int, int]] = set()
    for place, folders, files in os.walk(folder, followlinks=follow):
        status = Path(place).stat()
        if (status.st_dev, status.st_ino) in seen:
            folders.clear()
            continue
        seen.add((status.st_dev, status.st_ino))
        if "testbed.json" in files and Path(place) != folder:
            folders.clear()
            continue
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(place) / name for name in sorted(files) if not name.startswith("."))


class Neighbours:
    """Names near one that is missing: another case, another Unicode form, a typing error."""

    MOST = 20
    """Near names are searched for this often only: thousands of rows would take minutes."""

    def __init__(self) -> None:
        self._names: dict[Path, list[str]] = {}
        self._searched = 0

    def near(self, missing: Path) -> str:
        """Return the name that was meant; empty where nothing is near."""
        slashed = PureWindowsPath(missing.name).as_posix()
        if "\\" in missing.name and missing.parent.joinpath(slashed).exists():
            return slashed
        names = self._listing(missing.parent)
        same = [name for name in names if _folded(name) == _folded(missing.name)]
        if not same and self._searched < self.MOST:
            self._searched += 1
            stems: dict[str, str] = {}
            for name in names:
                if _without_digits(name) != _without_digits(missing.name):  # 0008.mp4 is not 0009's
                    stems.setdefault(Path(name).stem, name)
            near = difflib.get_close_matches(missing.stem, stems, n=1, cutoff=0.75)
            same = [stems[key] for key in near]
        return same[0] if same else ""

    def _listing(self, folder: Path) -> list[str]:
        if folder not in self._names:
            try:
                self._names[folder] = sorted(os.listdir(folder))  # noqa: PTH208 - names suffice
            except (OSError, ValueError):
                self._names[folder] = []
        return self._names[folder]


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold().strip()


def _without_digits(name: str) -> str:
    return "".join(letter for letter in name if not letter.isdigit())


def unlisted(folder: Path, named: Iterable[Path]) -> list[Path]:
    """Videos below ``folder`` that are none of ``named``, under whatever name."""
    identities = {identity(path) for path in named}
    videos = (path for path in files_under(folder) if path.suffix.lower() in VIDEO_SUFFIXES)
    return [path for path in videos if identity(path) not in identities]


_DAMAGE = {"cut_short", "unreadable", "undecodable_packet", "corrupt_frame", "gap"}


@dataclass(frozen=True, slots=True)
class FileState:
    """How long a file is, and what is damaged in it."""

    end: Time | None = None
    """Where a video ends on its own clock; None for a picture."""
    damage: str = ""


Inspection = tuple[Callable[[Path], FileState], Path]
"""How to look at a file, and the file."""


def inspect_files(inspections: Sequence[Inspection]) -> Iterator[Outcome[FileState]]:
    """Look at files in supervised processes, as many as there are cores; in the order asked."""
    if not inspections:
        return
    from screentest.video.sandbox import Supervisor  # loads the engine: only where it is needed

    with Supervisor(min(len(inspections), processors())) as workers:
        yield from workers.map(_inspect, inspections)


def _inspect(inspection: Inspection) -> FileState:
    look, path = inspection
    return look(path)


def header_state(path: Path) -> FileState:
    """Probe a video: header, packets, first picture."""
    from screentest.video.probe import probe

    info = probe(path)
    return FileState(info.span.end, _damage(info.faults))


def decoded_state(path: Path) -> FileState:
    """Decode all of a video."""
    from screentest.video.scan import scan

    report = scan(path, [])
    damage = _damage(report.faults)
    if not damage and report.decoded < report.info.frames:
        damage = f"{report.decoded:,} of {report.info.frames:,} frames decode"
    return FileState(report.end, damage)


def picture_state(path: Path) -> FileState:
    """Check the header and checksums of a reference image."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(path) as picture:
            picture.verify()
    except (UnidentifiedImageError, OSError, SyntaxError, Image.DecompressionBombError) as error:
        raise VideoError(
            Reason.UNDECODABLE,
            f"is not a picture that can be read: {type(error).__name__}",
            advice="Give a PNG or JPEG file.",
        ) from None
    return FileState()


def _damage(faults: Iterable[Fault]) -> str:
    damage = [fault for fault in dict.fromkeys(faults) if fault.kind in _DAMAGE]
    if not damage:
        return ""
    more = f" (and {len(damage) - 1} more)" if len(damage) > 1 else ""
    when = f" at {timecode(damage[0].time)}" if damage[0].time is not None else ""
    return f"{damage[0].detail}{when}{more}"
