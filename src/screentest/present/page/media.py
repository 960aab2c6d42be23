"""Videos on the page: where they are found, and pictures of them, small enough for one file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any
from urllib.parse import quote

from screentest._util.webpage import data_address
from screentest.core import Filter, Layout, Progress, Silent, Size, Time

POSTER = 352
"""Pixels of a poster's long side; it is shown about as large."""
STILL = 160
"""Pixels of the long side of a worst moment."""
_QUALITY = 52
"""Of WebP: about 9 kB for a poster and 3 kB for a still."""
_PLACES = (Fraction(3, 10), Fraction(6, 10))
"""Where in a video its poster is looked for: films tend to begin black."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Moments of one video."""

    video: Path
    moments: tuple[Time, ...] = ()


@dataclass(frozen=True, slots=True)
class Pictures:
    """What was taken of one video, as addresses."""

    poster: str = ""
    stills: tuple[str, ...] = ()
    """One for each moment; empty where there is none."""
    fps: float = 25.0
    """Pictures a second; where nobody looked, a usual rate."""


def take_pictures(
    wanted: Mapping[str, Wanted], progress: Progress | None = None
) -> dict[str, Pictures]:
    """Return a poster of each video and a still of each moment; a file that cannot be read has
    none.

    They are taken in supervised processes: a bad file costs a picture, never the page.
    """
    if not wanted:
        return {}
    from screentest.video.sandbox import Supervisor

    result: dict[str, Pictures] = {}
    shown = progress or Silent()
    with Supervisor(workers=2) as workers, shown:
        shown.begin("pictures", len(wanted), "videos")
        for item, outcome in zip(wanted, workers.map(_taken, list(wanted.values())), strict=True):
            shown.advance(note=item)
            if outcome.value:
                fps, pictures = outcome.value
                poster, *stills = (data_address("image/webp", picture) for picture in pictures)
                result[item] = Pictures(poster, tuple(stills), fps)
    return result


def _taken(wanted: Wanted) -> tuple[float, list[bytes]]:
    """Pictures a second; the poster, then one picture per moment. Runs in a worker."""
    from screentest.video.samples import sample_frames
    from screentest.video.survey import survey

    table = survey(wanted.video)
    length = table.end - table.start
    candidates = [table.start + share * length for share in _PLACES]
    frames: dict[int, Any] = {
        frame.index: frame.image
        for frame in sample_frames(
            wanted.video,
            [*candidates, *wanted.moments],
            size=Size(long_side=POSTER),
            layout=Layout.BGR,
            filter=Filter.AREA,
            table=table,
        )
    }
    # The busier of them: a black or a white picture says nothing.
    poster = max(
        (frames[table.shown_at(candidate)] for candidate in candidates), key=lambda item: item.std()
    )
    stills = [frames[table.shown_at(moment)] for moment in wanted.moments]
    pictures = [_webp(poster, POSTER), *(_webp(still, STILL) for still in stills)]
    return float(table.rate()[0]), pictures


def _webp(image: Any, long_side: int) -> bytes:
    import cv2

    height, width = image.shape[:2]
    scale = min(1.0, long_side / max(height, width))
    if scale < 1:
        size = (max(1, round(width * scale)), max(1, round(height * scale)))
        image = cv2.resize(image, size, interpolation=cv2.INTER_AREA)
    done, data = cv2.imencode(".webp", image, [cv2.IMWRITE_WEBP_QUALITY, _QUALITY])
    if not done:
        raise ValueError("a picture could not be encoded")
    return bytes(data.tobytes())


_PLAYABLE: Mapping[str, str] = {
    ".mp4": "video/mp4",
    ".m4v": "video/mp4",
    ".webm": "video/webm",
    ".mov": "video/mp4",
}


def address(video: Path, folder: Path, *, embed: bool = False) -> str:
    """Return where the page finds a video: inside itself, or beside it; empty where it cannot
    play."""
    kind = _PLAYABLE.get(video.suffix.lower())
    if kind is None or not video.is_file():
        return ""
    if embed:
        return data_address(kind, video.read_bytes())
    try:
        relative = os.path.relpath(video, folder)
    except ValueError:  # another drive
        return ""
    # A name such as "javascript:x.mp4" stays a path.
    return quote(Path(".", relative).as_posix())
