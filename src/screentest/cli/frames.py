"""``screentest frames``: frames of a video as picture files, with a contact sheet."""

from __future__ import annotations

from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from screentest.core import Size
    from screentest.video.stills import Choice


class PictureFormat(StrEnum):
    """What stills are saved as."""

    PNG = "png"
    JPG = "jpg"


def frames(
    video: Annotated[Path, typer.Argument(metavar="VIDEO", help="A video file.")],
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Where to put them; made if it is not there.")
    ],
    per_shot: Annotated[
        bool, typer.Option("--per-shot", help="The middle frame of each shot.")
    ] = False,
    fps: Annotated[
        str | None,
        typer.Option(metavar="K", help="K frames a second: 2, 0.5 or 24000/1001."),
    ] = None,
    count: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="N frames, evenly spread.")
    ] = None,
    picture_format: Annotated[
        PictureFormat, typer.Option("--format", help="The format of the pictures.")
    ] = PictureFormat.PNG,
    size: Annotated[
        str | None,
        typer.Option(metavar="W|WxH", help="The longer side at most W pixels, or exactly WxH."),
    ] = None,
    detector: Annotated[
        str, typer.Option(metavar="NAME", help="The shot detector, for --per-shot.")
    ] = "default",
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the frames that DIR holds already.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the names and exact times as JSON.")
    ] = False,
) -> None:
    """Save frames as pictures, and a contact sheet of them.

    File names hold a number and the time on the screen in seconds, such as
    0007_000012.345s.png. The contact sheet is contact_sheet.jpg.

    \b
    Examples:
      screentest frames film.mp4 --per-shot --out stills/
      screentest frames film.mp4 --fps 2 --size 512 --out stills/
      screentest frames film.mp4 --count 16 --format jpg --out stills/
    """
    from screentest.cli.console import out as stdout
    from screentest.cli.console import plural, print_json, shown
    from screentest.cli.progress import relayed, watched
    from screentest.video.stills import CONTACT_SHEET, save_stills

    choice = _choice(per_shot, fps, count, detector)
    limit = _size(size)
    with relayed(watched()) as progress:
        outcome = save_stills(
            video,
            choice,
            out,
            suffix=picture_format.value,
            size=limit,
            replace=overwrite,
            progress=progress,
        )
    stills = outcome.unwrap()
    if as_json:
        print_json(
            [
                {"path": str(out / still.name), "time": str(still.time), "index": still.index}
                for still in stills
            ]
        )
    else:
        saved = f"{plural(len(stills), 'frame')} and {CONTACT_SHEET}"
        stdout().print(f"{saved} in {shown(str(out))}", soft_wrap=True)


def _choice(per_shot: bool, fps: str | None, count: int | None, detector: str) -> Choice:
    from screentest.core import BadOption, seconds
    from screentest.video.stills import Evenly, PerSecond, PerShot

    if sum([per_shot, fps is not None, count is not None]) != 1:
        raise BadOption("which frames?", advice="Give one of --per-shot, --fps K and --count N.")
    if fps is not None:
        try:
            rate = seconds(fps)
        except BadOption:
            rate = Fraction(0)
        if rate <= 0:
            raise BadOption(f"--fps {fps} is no rate", advice="Give 2, 0.5 or 24000/1001.")
        return PerSecond(rate)
    return PerShot(detector) if count is None else Evenly(count)


def _size(text: str | None) -> Size:
    from screentest.core import NATIVE, BadOption, Size

    if text is None:
        return NATIVE
    sides = text.lower().replace("×", "x").split("x")
    if len(sides) > 2 or not all(side.isdecimal() and 0 < int(side) <= 16384 for side in sides):
        raise BadOption(
            f"--size {text} cannot be",
            advice="Give the longer side (512) or width and height (640x360), 16384 at most.",
        )
    if len(sides) == 1:
        return Size(long_side=int(sides[0]))
    return Size(exact=(int(sides[0]), int(sides[1])))


COMMANDS = {"frames": frames}
