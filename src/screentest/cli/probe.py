"""``screentest probe``: what video files hold."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from screentest.core import Fault, Outcome, VideoInfo

    Found = Sequence[tuple[Path, Outcome[VideoInfo]]]


def probe(
    videos: Annotated[list[Path], typer.Argument(metavar="VIDEO", help="Video files.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show what video files hold.

    Container, codec, size, exact duration, frame rate and whether it is
    constant, frames and faults. Every packet is read and one picture decoded.
    Ends with 1 where a file is no video that can be read.

    \b
    Examples:
      screentest probe film.mp4
      screentest probe renders/*.mp4
      screentest probe film.mp4 --json | jq '.[].duration_seconds'
    """
    from screentest.cli._videos import each, failure_object, info_object
    from screentest.cli.console import print_json
    from screentest.cli.progress import watched
    from screentest.video import probe

    found = list(each(probe, videos, watched()))
    if as_json:
        print_json(
            [
                {"path": str(path), "ok": outcome.ok}
                | (
                    failure_object(outcome.failure)
                    if outcome.failure is not None
                    else info_object(outcome.unwrap())
                )
                for path, outcome in found
            ]
        )
    elif len(found) == 1:
        _print_one(videos[0], found[0][1].unwrap())
    else:
        _print_many(found)
    if not all(outcome.ok for _, outcome in found):
        raise typer.Exit(1)


def _print_one(path: Path, info: VideoInfo) -> None:
    from screentest.cli.console import out, shown
    from screentest.cli.tables import print_facts, print_indented
    from screentest.core import timecode

    size = f"{info.width}×{info.height}"
    if info.rotation:
        size += f", turned by {info.rotation}°"
    if info.sample_aspect != 1:
        size += f", pixels {info.sample_aspect.numerator}:{info.sample_aspect.denominator}"
    start = f", starts at {timecode(info.start)}" if info.start else ""
    kind = "constant" if info.constant_rate else "variable (mean)"
    exact = "" if info.rate.denominator == 1 else f" ({info.rate})"
    facts = [
        ("Container", info.container),
        ("Codec", f"{info.codec}, {info.pixel_format}, {info.bit_depth} bit"),
        ("Size", size),
        ("Duration", f"{timecode(info.duration)} ({info.duration} s){start}"),
        ("Rate", f"{float(info.rate):.6g}{exact} frames/s, {kind}"),
        ("Frames", f"{info.frames:,}, {info.keyframes:,} of them keyframes"),
        ("Faults", f"{len(info.faults)}" if info.faults else "none"),
    ]
    out().print(shown(str(path)), style="bold")
    print_facts(facts)
    for fault in info.faults:
        print_indented(_fault_text(fault), indent=4)


def _fault_text(fault: Fault) -> str:
    from screentest.core import timecode

    return fault.detail if fault.time is None else f"{fault.detail} at {timecode(fault.time)}"


def _print_many(found: Found) -> None:
    from screentest.cli._videos import rate_text, short_names
    from screentest.cli.console import out, shown
    from screentest.cli.tables import print_heading, print_indented, table
    from screentest.core import timecode

    folder, names = short_names([path for path, _ in found])
    rows, faults, failures = [], [], []
    for name, (path, outcome) in zip(names, found, strict=True):
        if outcome.failure is not None:
            detail = outcome.failure.detail.removeprefix(f"{str(path)!r} ")
            failures.append((f"{name}: {detail}", outcome.failure.advice))
            continue
        info = outcome.unwrap()
        size, length = f"{info.width}×{info.height}", timecode(info.duration)
        rows.append([name, info.codec, size, length, rate_text(info), f"{info.frames:,}"])
        faults += [f"{name}: {_fault_text(fault)}" for fault in info.faults]
    if folder is not None:
        out().print(f"In {shown(str(folder))}")
    if rows:
        out().print(table(["Video", "Codec", ">Size", ">Duration", ">Frames/s", ">Frames"], rows))
    if any(row[4].startswith("~") for row in rows):
        print_indented("~ the mean of a variable rate", indent=0, style="dim")
    if faults:
        print_heading(f"Faults ({len(faults):,})")
    for text in faults:
        print_indented(text)
    if failures:
        print_heading(f"Cannot be read ({len(failures):,} of {len(found):,})")
    for text, advice in failures:
        print_indented(text)
        if advice:
            print_indented(advice, indent=4, style="dim")


COMMANDS = {"probe": probe}
