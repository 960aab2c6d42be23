"""Looking into the videos that a command line names, in processes that one may lose."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from screentest._util.machine import processors
from screentest.core import Failure, Outcome, Progress, VideoInfo

T = TypeVar("T")


def each(
    function: Callable[[Path], T], videos: Sequence[Path], progress: Progress
) -> Iterator[tuple[Path, Outcome[T]]]:
    """What ``function`` says of each video, in their order."""
    from screentest.video.sandbox import Supervisor

    workers = min(len(videos), processors())
    with Supervisor(workers) as supervisor, progress:
        progress.begin("probing", len(videos), "videos")
        for path, outcome in zip(videos, supervisor.map(function, videos), strict=True):
            progress.advance(note=path.name)
            yield path, outcome


def info_object(info: VideoInfo) -> dict[str, Any]:
    """A probe as JSON: times exact, as ratios, and once more as plain seconds."""
    return {
        "container": info.container,
        "codec": info.codec,
        "width": info.width,
        "height": info.height,
        "pixel_format": info.pixel_format,
        "bit_depth": info.bit_depth,
        "rotation": info.rotation,
        "sample_aspect": str(info.sample_aspect),
        "start": str(info.start),
        "duration": str(info.duration),
        "duration_seconds": float(info.duration),
        "frames": info.frames,
        "rate": str(info.rate),
        "constant_rate": info.constant_rate,
        "keyframes": info.keyframes,
        "faults": [
            {
                "kind": fault.kind,
                "detail": fault.detail,
                "time": None if fault.time is None else str(fault.time),
            }
            for fault in info.faults
        ],
        "metadata": dict(info.metadata),
    }


def failure_object(failure: Failure) -> dict[str, Any]:
    """A failure as JSON."""
    return {"reason": failure.reason.value, "detail": failure.detail, "advice": failure.advice}


def rate_text(info: VideoInfo) -> str:
    """Frames per second, as people write them; a mean is marked as one."""
    return f"{'' if info.constant_rate else '~'}{float(info.rate):.5g}"


def short_names(paths: Sequence[Path]) -> tuple[Path | None, list[str]]:
    """The folder that all paths share, where that makes them shorter, and the rest of each.

    >>> short_names([Path("a/b/c.mp4"), Path("a/b/d.mp4")])
    (PosixPath('a/b'), ['c.mp4', 'd.mp4'])
    """
    try:
        shared = Path(os.path.commonpath([path.parent for path in paths]))
    except ValueError:  # absolute ones among relative ones
        return None, [str(path) for path in paths]
    if shared == Path():
        return None, [str(path) for path in paths]
    return shared, [str(path.relative_to(shared)) for path in paths]
