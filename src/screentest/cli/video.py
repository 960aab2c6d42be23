"""Commands that look into video files: ``probe``, ``frames`` and ``shots``."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

import typer

from screentest._util.atomic import write_whole
from screentest._util.machine import processors
from screentest._util.progress import relayed, watched
from screentest._util.text import plural
from screentest.cli.console import out, shown
from screentest.cli.options import JsonOption
from screentest.cli.tables import (
    as_text,
    columns,
    print_heading,
    print_indented,
    print_record,
    show,
)
from screentest.core.calls import Progress
from screentest.core.errors import BadOption
from screentest.core.frames import NATIVE, Fault, Size, VideoInfo
from screentest.core.item import Shot, seconds, timecode
from screentest.core.outcome import Outcome
from screentest.core.registry import build
from screentest.core.table import Table
from screentest.video.probe import probe
from screentest.video.sandbox import Supervisor, supervised
from screentest.video.shots import csv_text, edl_text, find_shots, json_text
from screentest.video.stills import (
    CONTACT_SHEET,
    Evenly,
    FrameChoice,
    PerSecond,
    PerShot,
    save_stills,
)

T = TypeVar("T")


CutListFormat: TypeAlias = Literal["table", "json", "csv", "edl"]
"""How a cut list is written."""
_SUFFIXES: Mapping[str, CutListFormat] = {".json": "json", ".csv": "csv", ".edl": "edl"}


# ---- probe


def probe_videos(videos: list[Path], as_json: JsonOption = False) -> None:
    """Show what video files hold."""
    probes = list(_each(probe, videos, watched()))
    folder, names = short_names(videos)
    table = _videos_table(probes, dict(zip(map(str, videos), names, strict=True)))
    if as_json:
        show(table, as_json=True)
    elif len(probes) == 1:
        info = probes[0][1].unwrap()
        print_record(table)
        for fault in info.faults:
            print_indented(_fault_text(fault), indent=4)
    else:
        if folder is not None:
            out().print(f"In {shown(str(folder))}")
        show(table)
        _print_faults(probes, names)
    if not all(outcome.ok for _, outcome in probes):
        raise typer.Exit(1)


def _each(
    function: Callable[[Path], T], videos: Sequence[Path], progress: Progress
) -> Iterator[tuple[Path, Outcome[T]]]:
    """Call ``function`` on each video, in their order."""
    workers = min(len(videos), processors())
    with Supervisor(workers) as supervisor, progress:
        progress.begin("probing", len(videos), "videos")
        for path, outcome in zip(videos, supervisor.map(function, videos), strict=True):
            progress.advance(note=path.name)
            yield path, outcome


def short_names(paths: Sequence[Path]) -> tuple[Path | None, list[str]]:
    """Return the folder that all paths share, where that makes them shorter, and the rest of each.

    >>> short_names([Path("a/b/c.mp4"), Path("a/b/d.mp4")])
    (PosixPath('a/b'), ['c.mp4', 'd.mp4'])
    """
    try:
        shared = Path(os.path.commonpath([path.parent for path in paths]))
    except ValueError:  # absolute ones among relative ones
        return None, [str(path) for path in paths]
    if len(paths) == 1 or shared == Path():
        return None, [str(path) for path in paths]
    return shared, [str(path.relative_to(shared)) for path in paths]


def _videos_table(
    probes: Sequence[tuple[Path, Outcome[VideoInfo]]], names: dict[str, str]
) -> Table:
    # One video has room for exact ratios.
    clock, rate = (_exact_clock, _exact_rate) if len(probes) == 1 else (_clock, _rate)
    shown = columns(
        "videos",
        path=names.__getitem__,
        rotation="{}°".format,
        start=_clock,
        duration=clock,
        rate=rate,
        faults=lambda faults: str(len(faults) or "none"),
    )
    variable = [
        names[str(path)]
        for path, outcome in probes
        if outcome.ok and not outcome.unwrap().constant_rate
    ]
    note = f"The rate varies; Frames/s is its mean: {', '.join(variable)}." if variable else ""
    return Table.of("videos", "Videos", shown, map(_record, probes), note)


def _record(probed: tuple[Path, Outcome[VideoInfo]]) -> dict[str, Any]:
    path, outcome = probed
    record: dict[str, Any] = {"path": path, "ok": outcome.ok}
    if outcome.failure is not None:
        return record | asdict(outcome.failure)
    info = outcome.unwrap()
    size = f"{info.width}×{info.height}"
    return record | asdict(info) | {"size": size, "duration_seconds": float(info.duration)}


def _clock(moment: str) -> str:
    return timecode(Fraction(moment))


def _exact_clock(moment: str) -> str:
    return f"{_clock(moment)} ({moment} s)"


def _rate(rate: str) -> str:
    return f"{float(Fraction(rate)):.6g}"


def _exact_rate(rate: str) -> str:
    return f"{_rate(rate)} ({rate})" if "/" in rate else rate


def _fault_text(fault: Fault) -> str:
    return fault.detail if fault.time is None else f"{fault.detail} at {timecode(fault.time)}"


def _print_faults(probes: Sequence[tuple[Path, Outcome[VideoInfo]]], names: Sequence[str]) -> None:
    faults, failures = [], []
    for name, (path, outcome) in zip(names, probes, strict=True):
        if outcome.failure is not None:
            detail = outcome.failure.detail.removeprefix(f"{str(path)!r} ")
            failures.append((f"{name}: {detail}", outcome.failure.advice))
        else:
            faults += [f"{name}: {_fault_text(fault)}" for fault in outcome.unwrap().faults]
    if faults:
        print_heading(f"Faults ({len(faults):,})")
    for text in faults:
        print_indented(text)
    if failures:
        print_heading(f"Cannot be read ({len(failures):,} of {len(probes):,})")
    for text, advice in failures:
        print_indented(text)
        if advice:
            print_indented(advice, indent=4, style="dim")


# ---- frames


def frames(
    video: Path,
    folder: Path,
    per_shot: bool = False,
    fps: str | None = None,
    count: int | None = None,
    picture_format: Literal["png", "jpg"] = "png",
    size: str | None = None,
    detector: str = "default",
    overwrite: bool = False,
    as_json: JsonOption = False,
) -> None:
    """Save frames as pictures, and a contact sheet of them."""
    choice = _choice(per_shot, fps, count, detector)
    limit = _size(size)
    with relayed(watched()) as progress:
        outcome = save_stills(
            video,
            choice,
            folder,
            suffix=picture_format,
            size=limit,
            replace=overwrite,
            progress=progress,
        )
    stills = outcome.unwrap()
    if as_json:
        rows = [(str(folder / still.name), str(still.time), still.index) for still in stills]
        show(Table("frames", "Frames", ("path", "time", "index"), rows), as_json=True)
    else:
        saved = f"{plural(len(stills), 'frame')} and {CONTACT_SHEET}"
        out().print(f"{saved} in {shown(str(folder))}", soft_wrap=True)


def _choice(per_shot: bool, fps: str | None, count: int | None, detector: str) -> FrameChoice:
    if sum([per_shot, fps is not None, count is not None]) != 1:
        raise BadOption(
            "which frames to save is not clear",
            advice="Give one of --per-shot, --fps K and --count N.",
        )
    if fps is not None:
        try:
            rate = seconds(fps)
        except BadOption:
            rate = Fraction(0)
        if rate <= 0:
            advice = "Examples: 2, 0.5, 24000/1001."
            raise BadOption.of("fps", fps, "a number above 0", advice=advice)
        return PerSecond(rate)
    return PerShot(detector) if count is None else Evenly(count)


def _size(text: str | None) -> Size:
    if text is None:
        return NATIVE
    sides = text.lower().replace("×", "x").split("x")
    if len(sides) > 2 or not all(side.isdecimal() and 0 < int(side) <= 16384 for side in sides):
        raise BadOption(
            f"invalid --size {text}",
            advice="Give the longer side (512) or width and height (640x360), 16384 at most.",
        )
    if len(sides) == 1:
        return Size(long_side=int(sides[0]))
    return Size(exact=(int(sides[0]), int(sides[1])))


# ---- shots


CutList: TypeAlias = tuple[VideoInfo, list[Shot], str]
"""The probe of a video, its shots, and the detector with all its options."""


def shots(
    video: Path,
    detector: str = "default",
    cut_list: CutListFormat | None = None,
    file: Path | None = None,
) -> None:
    """Find the shots of a video."""
    chosen = cut_list or _format_of(file)
    with relayed(watched()) as progress:
        cuts = supervised(find_cut_list, video, detector, progress).unwrap()
    if file is not None:
        write_whole(file, _text(chosen, video, cuts))
    elif chosen == "table":
        info, found, _ = cuts
        show(_shots_table(found))
        out().print()
        count = plural(len(found), "shot")
        print_indented(f"{video.name}: {count} in {timecode(info.duration)}", indent=0)
    else:
        typer.echo(_text(chosen, video, cuts), nl=False)


def find_cut_list(video: Path, detector: str, progress: Progress) -> CutList:
    """In the worker: the shots, and what the video says of itself."""
    spec = build("detector", detector).spec
    info = probe(video)
    return info, find_shots(video, detector, progress=progress, info=info), str(spec)


def _format_of(file: Path | None) -> CutListFormat:
    """Return the format that a file's suffix names; a table where there is none."""
    return "table" if file is None else _SUFFIXES.get(file.suffix.lower(), "table")


def _text(chosen: CutListFormat, video: Path, cuts: CutList) -> str:
    info, found, detector = cuts
    match chosen:
        case "json":
            about = {"video": str(video), "detector": detector, "duration": str(info.duration)}
            return json_text(found, about) + "\n"
        case "csv":
            return csv_text(found)
        case "edl":
            return edl_text(found, info.rate, title=video.name)
        case "table":
            return as_text(_shots_table(found))


def _shots_table(shots: Sequence[Shot]) -> Table:
    rows = [
        (
            *(number, timecode(shot.start), timecode(shot.end), float(shot.span.duration)),
            *(shot.transition.value, " + ".join(shot.found_by)),
        )
        for number, shot in enumerate(shots, start=1)
    ]
    return Table("shots", "Shots", columns("shots", length="{:.3f} s".format), rows)
