"""Thumbnails of the worst seconds, taken in supervised processes: a bad file costs a picture."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from screentest.core import Filter, Progress, Silent, Size, Time

_LONG_SIDE = 192
_QUALITY = 72


@dataclass(frozen=True, slots=True)
class Wanted:
    """Moments of one video."""

    video: Path
    moments: tuple[Time, ...]


def thumbnails(
    wanted: Mapping[str, Wanted], progress: Progress | None = None
) -> dict[tuple[str, Time], str]:
    """JPEGs as data addresses, by item and moment; those that cannot be had are not there."""
    from screentest.video import Supervisor

    if not wanted:
        return {}
    found: dict[tuple[str, Time], str] = {}
    shown = progress or Silent()
    with Supervisor(workers=2) as workers, shown:
        shown.begin("thumbnails", len(wanted), "videos")
        for (item, one), outcome in zip(
            wanted.items(), workers.map(_taken, list(wanted.values())), strict=True
        ):
            shown.advance(note=item)
            for moment, data in zip(one.moments, outcome.value or [], strict=False):
                found[item, moment] = "data:image/jpeg;base64," + base64.b64encode(data).decode()
    return found


def _taken(wanted: Wanted) -> list[bytes]:
    """One JPEG per moment. Runs in a worker."""
    import cv2

    from screentest.core import Layout
    from screentest.video import sample_frames

    pictures: list[bytes] = []
    for moment in wanted.moments:
        # One by one: two moments may show the same frame, and each wants its picture.
        frames = sample_frames(
            wanted.video,
            [moment],
            size=Size(long_side=_LONG_SIDE),
            layout=Layout.BGR,
            filter=Filter.AREA,
        )
        for frame in frames:
            done, data = cv2.imencode(".jpg", frame.image, [cv2.IMWRITE_JPEG_QUALITY, _QUALITY])
            if done:
                pictures.append(data.tobytes())
    return pictures


def worst(points: Sequence[tuple[Time, float]], count: int) -> list[Time]:
    """The moments of the lowest values, in order of time."""
    return sorted(moment for moment, _ in sorted(points, key=lambda one: one[1])[:count])
