"""Join: several videos as one, each picture once and each part a clip of its own.

The film has the size of its first part; a part of another shape gets black bars. Times go on
from part to part, in ticks that all parts can be counted in, or nearly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from screentest._util.atomic import atomic_output
from screentest.core.errors import BadOption
from screentest.core.frames import NATIVE, Fault, Image, Size, VideoInfo
from screentest.core.item import Span
from screentest.video.edit.encode import EncoderSettings, Mp4Writer, StreamFormat
from screentest.video.edit.normalize import refuse_to_replace
from screentest.video.edit.pictures import ClipWriter, Fitter, format_of
from screentest.video.limits import DEFAULT_LIMITS
from screentest.video.probe import examine
from screentest.video.source import VideoSource, no_picture
from screentest.video.survey import Survey

if TYPE_CHECKING:
    from av.video.frame import VideoFrame


LOSSLESS = EncoderSettings(crf=0, preset="ultrafast")
"""All that is made of the film is encoded from it once more."""
_COARSEST = 10_000
_FINEST = 10_000_000
_BLACK, _NO_COLOUR = 16, 128


@dataclass(frozen=True, slots=True)
class JoinedVideo:
    """A film and where in it each part is."""

    path: Path
    spans: tuple[Span | None, ...]
    """None of a part that is too short for the rate to show a frame of it."""
    faults: tuple[Fault, ...] = ()


def join(
    parts: Sequence[Path], out: Path, *, size: Size = NATIVE, rate: Fraction | None = None
) -> JoinedVideo:
    """Write ``parts`` one after another to ``out`` (MP4). Sound is dropped.

    ``size`` is what becomes of the first part's; all others are fitted into it. With ``rate`` only
    those frames are written that a normalised file of this rate shows, and it shows the same ones.

    Raises VideoError where a part has no picture: leave that part out and join again.
    """
    if not parts:
        raise BadOption("there is nothing to join", advice="Give at least one video.")
    refuse_to_replace(out, *parts)
    tables = [examine(part) for part in parts]
    DEFAULT_LIMITS.check_duration(
        sum((table.end - table.start for _, table in tables), Fraction(0))
    )
    form = _format(parts[0], tables[0][0], [table for _, table in tables], size, rate)
    step = 1 if rate is None else int(form.timescale / rate)
    spans: list[Span | None] = []
    faults: list[Fault] = []
    at = 0
    with atomic_output(out) as file, Mp4Writer(file, LOSSLESS, form) as writer:
        clips = ClipWriter(writer, LOSSLESS, form)
        for part, (info, table) in zip(parts, tables, strict=True):
            begins = at
            fit = _Boxed(info, form)
            with VideoSource(part) as source:
                for frame, tick, duration in _timed(source, table, form.timescale):
                    first = _on_grid(begins + tick, step)
                    at = begins + tick + duration
                    if first < (end := _on_grid(at, step)):
                        new = first == _on_grid(begins, step)
                        clips.add(fit(frame), first, end - first, begins_clip=new)
                faults += source.faults
            if at == begins:
                raise no_picture(part, "Leave it out, or download it again.")
            span = [_on_grid(tick, step) * form.time_base for tick in (begins, at)]
            spans.append(Span(*span) if span[0] < span[1] else None)
        clips.finish()
    return JoinedVideo(out, tuple(spans), tuple(dict.fromkeys(faults)))


def _on_grid(tick: int, step: int) -> int:
    """Return the nearest multiple of ``step``, the later of two: as a constant rate rounds."""
    return (2 * tick + step) // (2 * step) * step


def _format(
    path: Path, info: VideoInfo, tables: Sequence[Survey], size: Size, rate: Fraction | None
) -> StreamFormat:
    """Return the format of the film: that of its first part, on a clock for all of them."""
    same_rate = rate is None and len({table.nominal_rate for table in tables}) == 1
    with VideoSource(path) as source:
        return format_of(
            source,
            next((frame for _, frame in source.frames()), None),
            info,
            size,
            timescale=_timescale(tables, 1 if rate is None else rate.numerator),
            rate=info.rate.limit_denominator(1001),
            constant_rate=same_rate and info.constant_rate,
        )


def _timescale(tables: Sequence[Survey], per: int) -> int:
    """Ticks per second, a multiple of ``per``: whole for every part where that is not too fine."""
    scale = lcm(per, *(table.time_base.denominator for table in tables))
    if scale > _FINEST:
        return lcm(90_000, per) if lcm(90_000, per) <= _FINEST else per
    while scale < _COARSEST:
        scale *= 2
    return scale


def _timed(
    source: VideoSource, table: Survey, timescale: int
) -> Iterator[tuple[VideoFrame, int, int]]:
    """Frames with the tick they appear at, from 0, and how long they are shown."""
    zero: Fraction | None = None
    waiting: tuple[VideoFrame, int] | None = None
    for moment, frame in source.frames():
        zero = moment if zero is None else zero
        tick = round((moment - zero) * timescale)
        if waiting is not None:
            tick = max(tick, waiting[1] + 1)  # rounding may not make two frames one
            yield (*waiting, tick - waiting[1])
        waiting = frame, tick
    if waiting is not None and zero is not None:
        yield (*waiting, max(1, round((table.end - zero) * timescale) - waiting[1]))


class _Boxed:
    """Pictures of one part in the film's size, with black bars where its shape is another."""

    def __init__(self, info: VideoInfo, form: StreamFormat) -> None:
        self._width, self._height = form.width, form.height
        scale = min(Fraction(form.width, info.width), Fraction(form.height, info.height))
        wide, high = round(info.width * scale), round(info.height * scale)
        self._inner = max(2, wide & ~1), max(2, high & ~1)
        self._fit = Fitter(*self._inner, form.matrix)

    def __call__(self, frame: VideoFrame) -> Image:
        picture = self._fit(frame)
        if self._inner == (self._width, self._height):
            return picture
        shapes = (1, 2, 2)  # luma, then both chroma planes at half the size
        taken, planes = 0, []
        flat = np.ascontiguousarray(picture).reshape(-1)
        for fill, part in zip((_BLACK, _NO_COLOUR, _NO_COLOUR), shapes, strict=True):
            width, height = self._inner[0] // part, self._inner[1] // part
            plane = np.full((self._height // part, self._width // part), fill, np.uint8)
            top, left = (plane.shape[0] - height) // 2, (plane.shape[1] - width) // 2
            inside = flat[taken : taken + width * height].reshape(height, width)
            plane[top : top + height, left : left + width] = inside
            taken += width * height
            planes.append(plane.reshape(-1))
        return np.concatenate(planes).reshape(self._height * 3 // 2, self._width)
