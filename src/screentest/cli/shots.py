"""``screentest shots``: the cut list of a video."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from screentest.core import Progress, Shot, VideoInfo


class CutListFormat(StrEnum):
    """How a cut list is written."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    EDL = "edl"


@dataclass(frozen=True, slots=True)
class Found:
    """The shots of a video, and the detector with all its options."""

    info: VideoInfo
    shots: list[Shot]
    detector: str


def shots(
    video: Annotated[Path, typer.Argument(metavar="VIDEO", help="A video file.")],
    detector: Annotated[
        str,
        typer.Option(metavar="NAME", help="Which detector, with options: scdet:threshold=30."),
    ] = "default",
    cut_list: Annotated[
        CutListFormat | None,
        typer.Option(
            "--format",
            help="How to write the list; a table, or what FILE is named for.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write to this file.")] = None,
) -> None:
    """Find the shots of a video.

    Prints where each shot begins and ends, how it comes in (cut, fade or
    dissolve) and which detector found it. `screentest doctor` lists the
    detectors.

    \b
    Examples:
      screentest shots film.mp4
      screentest shots film.mp4 --out film.edl
      screentest shots film.mp4 --detector content:threshold=30 --format csv
    """
    from screentest.cli.progress import relayed, watched
    from screentest.video.sandbox import supervised

    chosen = cut_list or _named_for(out)
    with relayed(watched()) as progress:
        found = supervised(find, video, detector, progress).unwrap()
    if out is not None:
        out.write_text(_text(chosen, video, found), encoding="utf-8")
    elif chosen is CutListFormat.TABLE:
        _print_table(video, found)
    else:
        typer.echo(_text(chosen, video, found), nl=False)


def find(video: Path, detector: str, progress: Progress) -> Found:
    """In the worker: the shots, and what the video says of itself."""
    from screentest.core import build
    from screentest.video import probe
    from screentest.video.shots import find_shots

    spec = build("detector", detector).spec
    info = probe(video)
    return Found(info, find_shots(video, detector, progress=progress, info=info), str(spec))


def _named_for(out: Path | None) -> CutListFormat:
    """The format that a file's suffix names; a table where there is none."""
    suffix = out.suffix.lower().lstrip(".") if out is not None else ""
    return CutListFormat(suffix) if suffix in ("json", "csv", "edl") else CutListFormat.TABLE


def _text(chosen: CutListFormat, video: Path, found: Found) -> str:
    from screentest.cli.tables import as_text
    from screentest.video.shots import csv_text, edl_text, json_text

    match chosen:
        case CutListFormat.JSON:
            about = {
                "video": str(video),
                "detector": found.detector,
                "duration": str(found.info.duration),
            }
            return json_text(found.shots, about) + "\n"
        case CutListFormat.CSV:
            return csv_text(found.shots)
        case CutListFormat.EDL:
            return edl_text(found.shots, found.info.rate, title=video.name)
        case CutListFormat.TABLE:
            return as_text(_table(found.shots))


def _table(shots: Sequence[Shot]) -> Table:
    from screentest.cli.tables import table
    from screentest.core import timecode

    return table(
        [">Shot", ">Start", ">End", ">Length", "Comes in by", "Found by"],
        [
            [
                f"{number}",
                timecode(shot.start),
                timecode(shot.end),
                f"{float(shot.span.duration):.3f} s",
                shot.transition.value,
                " + ".join(shot.found_by),
            ]
            for number, shot in enumerate(shots, start=1)
        ],
    )


def _print_table(video: Path, found: Found) -> None:
    from screentest.cli.console import out, plural
    from screentest.cli.tables import print_indented
    from screentest.core import timecode

    out().print(_table(found.shots))
    out().print()
    told = f"{plural(len(found.shots), 'shot')} in {timecode(found.info.duration)}"
    print_indented(f"{video.name}: {told}", indent=0)


COMMANDS = {"shots": shots}
