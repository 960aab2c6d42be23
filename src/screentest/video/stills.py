"""Stills: frames of a video as picture files, and one contact sheet of them.

Names are made of a number and a time, never of the video's own name. Everything is written
beside its place and moved there when all of it is done.
"""

from __future__ import annotations

import math
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from screentest.core.calls import Progress, Silent
from screentest.core.errors import BadOption
from screentest.core.frames import NATIVE, Frame, Image, Size
from screentest.core.item import Span, Time, timecode
from screentest.core.outcome import Outcome
from screentest.video.samples import centres, evenly, every, sample_frames
from screentest.video.sandbox import supervised
from screentest.video.shots import find_shots
from screentest.video.survey import survey

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

    from screentest.video.survey import Survey


CONTACT_SHEET = "contact_sheet.jpg"
FORMATS = ("png", "jpg")
_MOST_MOMENTS = 2_000_000
_OURS = re.compile(r"[0-9]{4,}_-?[0-9]{6,}\.[0-9]{3}s\.(png|jpg)|contact_sheet\.jpg")


@dataclass(frozen=True, slots=True)
class PerShot:
    """The frame in the middle of each shot."""

    detector: str = "default"


@dataclass(frozen=True, slots=True)
class PerSecond:
    """So many frames a second, from the start on."""

    rate: Fraction


@dataclass(frozen=True, slots=True)
class Evenly:
    """So many frames in all, spread over the video."""

    count: int


FrameChoice: TypeAlias = PerShot | PerSecond | Evenly


@dataclass(frozen=True, slots=True)
class Still:
    """A frame that was saved: the name of its file and its exact time."""

    name: str
    time: Time
    index: int


def still_name(number: int, time: Time, suffix: str) -> str:
    """Return the name of a still: its number in the set and its time, rounded to the millisecond.

    >>> still_name(7, Fraction(12345, 1000), "png")
    '0007_000012.345s.png'
    """
    sign, thousandths = ("-" if time < 0 else ""), round(abs(time) * 1000)
    return f"{number:04}_{sign}{thousandths // 1000:06}.{thousandths % 1000:03}s.{suffix}"


def save_stills(
    video: Path,
    choice: FrameChoice,
    folder: Path,
    *,
    suffix: str = "png",
    size: Size = NATIVE,
    replace: bool = False,
    progress: Progress | None = None,
) -> Outcome[tuple[Still, ...]]:
    """Save the chosen frames and a contact sheet of them in ``folder``.

    The video is decoded in a supervised process. Where that fails nothing is left behind.
    ``replace`` removes the stills of an earlier call first; other files are not touched.
    """
    if suffix not in FORMATS:
        raise BadOption(f"{suffix!r} is not a format for stills", advice="Choose png or jpg.")
    earlier = _stills_in(folder)
    if earlier and not replace:
        raise BadOption(
            f"{folder} holds stills already",
            advice="Give another folder, or --overwrite to replace them.",
        )
    new_folder = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(prefix=".stills-", dir=folder) as staging:
            outcome = supervised(
                _write, video, choice, Path(staging), suffix, size, progress or Silent()
            )
            if outcome.ok:
                for old in earlier:
                    old.unlink()
                for new in Path(staging).iterdir():
                    new.replace(folder / new.name)
    finally:
        if new_folder and not any(folder.iterdir()):
            folder.rmdir()
    return outcome


def _stills_in(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return [path for path in folder.iterdir() if _OURS.fullmatch(path.name)]


def _write(
    video: Path, choice: FrameChoice, folder: Path, suffix: str, size: Size, progress: Progress
) -> tuple[Still, ...]:
    """In the worker: pick the moments, fetch their frames, write them as they come."""

    table = survey(video)
    moments = _moments(video, choice, table, progress)
    on_sheet = set(chosen_for_sheet(len({table.shown_at(moment) for moment in moments})))
    progress.begin("saving frames", len(moments), "frames")
    stills: list[Still] = []
    tiles: list[Tile] = []
    for number, frame in enumerate(sample_frames(video, moments, size=size, table=table)):
        stills.append(_save(frame, number, folder, suffix))
        if number in on_sheet:
            tiles.append(Tile(frame.time, thumbnail(frame.image)))
        progress.advance()
    contact_sheet(tiles).save(folder / CONTACT_SHEET, quality=88)
    return tuple(stills)


def _moments(video: Path, choice: FrameChoice, table: Survey, progress: Progress) -> Sequence[Time]:
    span = Span(table.start, table.end)
    match choice:
        case PerShot(detector):
            return centres(shot.span for shot in find_shots(video, detector, progress=progress))
        case PerSecond(rate):
            _must_be_few(span.duration * rate)
            return every(span, rate)
        case Evenly(count):
            _must_be_few(count)
            return evenly(span, count)


def _must_be_few(count: Fraction | int) -> None:
    if count > _MOST_MOMENTS:
        raise BadOption(
            f"{int(count):,} frames are more than any video has",
            advice=f"Ask for {_MOST_MOMENTS:,} at most.",
        )


def _save(frame: Frame, number: int, folder: Path, suffix: str) -> Still:
    from PIL import Image as Pictures

    name = still_name(number, frame.time, suffix)
    # Each format heeds its own option: JPEG that of fidelity, PNG that of haste.
    Pictures.fromarray(frame.image).save(folder / name, quality=95, compress_level=4)
    return Still(name, frame.time, frame.index)


# A contact sheet: many frames on one picture, each with its time below it.

MOST_TILES = 400
TILE_WIDTH = 240
_GAP = 8
_LABEL = 20
_PAPER = (24, 24, 24)
_INK = (235, 235, 235)


@dataclass(frozen=True, slots=True)
class Tile:
    """A small picture and when it is on the screen."""

    time: Time
    image: Image


def chosen_for_sheet(count: int, most: int = MOST_TILES) -> list[int]:
    """Pick of ``count`` frames those for a sheet that takes ``most``: all, or evenly spread ones.

    >>> chosen_for_sheet(3)
    [0, 1, 2]
    >>> chosen_for_sheet(10, most=4)
    [0, 3, 6, 9]
    """
    if count <= most:
        return list(range(count))
    if most == 1:
        return [0]
    return [round(n * (count - 1) / (most - 1)) for n in range(most)]


def thumbnail(image: Image, width: int = TILE_WIDTH) -> Image:
    """Return a copy of a picture for a tile; tall ones are limited by their height instead."""
    import numpy as np
    from PIL import Image as Pictures

    picture = Pictures.fromarray(image)
    picture.thumbnail((width, width), Pictures.Resampling.BOX)
    return np.asarray(picture)


def contact_sheet(tiles: Sequence[Tile]) -> Picture:
    """Return the tiles in rows, as near to a screen's shape as they go, times below them."""
    from PIL import Image as Pictures
    from PIL import ImageDraw, ImageFont

    if not 0 < len(tiles) <= MOST_TILES:
        raise ValueError(f"a contact sheet takes 1 to {MOST_TILES} frames, not {len(tiles)}")
    width = max(tile.image.shape[1] for tile in tiles)
    height = max(tile.image.shape[0] for tile in tiles)
    cell_width, cell_height = width + _GAP, height + _LABEL + _GAP
    columns = _columns(len(tiles), cell_width, cell_height)
    rows = math.ceil(len(tiles) / columns)
    sheet = Pictures.new("RGB", (columns * cell_width + _GAP, rows * cell_height + _GAP), _PAPER)
    pen = ImageDraw.Draw(sheet)
    font = ImageFont.load_default(size=13)
    for number, tile in enumerate(tiles):
        row, column = divmod(number, columns)
        left, top = _GAP + column * cell_width, _GAP + row * cell_height
        picture = Pictures.fromarray(tile.image)
        sheet.paste(
            picture, (left + (width - picture.width) // 2, top + (height - picture.height) // 2)
        )
        pen.text(
            (left + width // 2, top + height + 2),
            timecode(tile.time),
            fill=_INK,
            font=font,
            anchor="ma",
        )
    return sheet


def _columns(count: int, width: int, height: int) -> int:
    """As many as make the sheet about half as wide again as it is high."""
    return max(1, min(count, round(math.sqrt(count * 1.5 * height / width))))
