"""``screentest demo``: the engine at work on the packaged sample."""

from __future__ import annotations

import time
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from screentest.core import Shot, Time, VideoInfo
    from screentest.sample import SampleVideo

NEAR = Fraction(1, 4)
"""Seconds between a change that was found and one that is known for them to be the same."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What one pass over one film gave."""

    info: VideoInfo
    decoded: int
    shots: tuple[Shot, ...]
    seconds: float
    """For the pass alone, on the clock on the wall."""


def command(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(demo)


def demo(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Try screentest on the sample it brings.

    Probes four short films, decodes each once, finds its shots in the same
    pass, and holds them against the changes that are known.

    \b
    Examples:
      screentest demo
      screentest demo --json | jq '.[].shots'
    """
    from screentest.cli._console import print_json
    from screentest.cli._progress import watched
    from screentest.sample import sample_videos
    from screentest.video.sandbox import supervised

    films = sample_videos()
    found: list[tuple[SampleVideo, Seen]] = []
    with watched() as progress:
        progress.begin("watching", len(films), "films")
        # One after another: the speed of each is to be its own.
        for film in films:
            found.append((film, supervised(watch, film.item.video).unwrap()))
            progress.advance(note=film.item.id)
    if as_json:
        print_json([_as_object(film, seen) for film, seen in found])
    else:
        _print(found)


def watch(path: Path) -> Seen:
    """Probe a film, decode it once, and find its shots in that pass."""
    from screentest.core import build
    from screentest.video import probe, scan
    from screentest.video.shots import scanned, shot_list

    info = probe(path)
    detector = build("detector", "default").thing
    begun = time.perf_counter()
    report = scan(path, [detector], info=info)
    seconds = time.perf_counter() - begun
    shots = shot_list(detector.boundaries, scanned(report))
    return Seen(info, report.decoded, tuple(shots), seconds)


def agreement(found: Sequence[Time], known: Sequence[Time]) -> tuple[int, int]:
    """How many known changes were found, and how many were found that are not known.

    >>> agreement([Fraction(1), Fraction(5)], [Fraction(9, 8), Fraction(3)])
    (1, 1)
    """
    hits = sum(any(abs(one - other) <= NEAR for one in found) for other in known)
    extra = sum(all(abs(one - other) > NEAR for other in known) for one in found)
    return hits, extra


def _as_object(film: SampleVideo, seen: Seen) -> dict[str, Any]:
    hits, extra = agreement([shot.start for shot in seen.shots[1:]], film.changes)
    return {
        "id": film.item.id,
        "video": str(film.item.video),
        "width": seen.info.width,
        "height": seen.info.height,
        "duration": str(seen.info.duration),
        "frames": seen.decoded,
        "shots": [str(shot.start) for shot in seen.shots],
        "known_changes": len(film.changes),
        "found": hits,
        "extra": extra,
        "frames_per_second": round(seen.decoded / seen.seconds, 1),
    }


def _print(found: Sequence[tuple[SampleVideo, Seen]]) -> None:
    from screentest.cli._console import out
    from screentest.cli._tables import print_indented, table

    rows, known, hits_of_all, frames, seconds = [], 0, 0, 0, 0.0
    for film, seen in found:
        hits, extra = agreement([shot.start for shot in seen.shots[1:]], film.changes)
        rows.append(
            [
                film.item.id,
                f"{seen.info.width}×{seen.info.height}",
                f"{float(seen.info.duration):.1f} s",
                f"{seen.decoded:,}",
                f"{len(seen.shots)}",
                f"{hits} of {len(film.changes)}" if film.changes else "–",
                f"{extra or '–'}",
                f"{seen.decoded / seen.seconds:,.0f}",
            ]
        )
        known, hits_of_all = known + len(film.changes), hits_of_all + hits
        frames, seconds = frames + seen.decoded, seconds + seen.seconds
    columns = ["Film", ">Size", ">Length", ">Frames", ">Shots", ">Found", ">Extra", ">Frames/s"]
    out().print(table(columns, rows))
    out().print()
    print_indented(
        f"{hits_of_all} of {known} known changes of picture found. Every film was decoded once, at "
        f"{frames / seconds:,.0f} frames a second in all; shots were found in the same pass.",
        indent=0,
    )
    out().print()
    for line in (
        "On films of your own:",
        "  screentest shots film.mp4",
        "  screentest frames film.mp4 --per-shot --out stills/",
    ):
        out().print(line, style="dim")
