"""Normalise: make of any video the one file that all its changed copies are spliced from.

Upright pictures with even sides, one encoder setting, times from 0, and every clip encoded
for itself: a fresh encoder begins at each boundary. Audio, subtitles and metadata are dropped.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from screentest._util.atomic import atomic_output
from screentest._util.text import shown_path
from screentest.core.errors import BadOption
from screentest.core.frames import NATIVE, Borders, Fault, Image, Size
from screentest.core.item import Span, Time
from screentest.video.borders import BorderFinder
from screentest.video.edit.encode import EncoderSettings, Mp4Writer, StreamFormat
from screentest.video.edit.pictures import (
    ClipWriter,
    Fitter,
    SourceClock,
    TimedFrame,
    checksum,
    format_of,
    timed_frames,
)
from screentest.video.probe import examine
from screentest.video.source import VideoSource, no_picture
from screentest.video.survey import Survey, survey

if TYPE_CHECKING:
    from av.video.frame import VideoFrame


DEFAULT_SETTINGS = EncoderSettings()
_FINEST = 2**31 - 1
_COARSEST = 10_000
_DIGITS = 8


@dataclass(frozen=True, slots=True)
class Cut:
    """Where a clip begins: always with a keyframe that nothing before it leans on."""

    time: Time
    frame: int
    """How many frames lie before it."""
    entry: int | None
    """Where to enter the source to decode this clip from it, in the source's ticks; None: at
    its beginning."""


@dataclass(frozen=True, slots=True)
class ClipBoundary:
    """A boundary that was asked for, and the frame it fell on."""

    asked: Time
    """On the source's clock."""
    time: Time
    """In the normalised file: the first frame at or after it; the end where there is none."""


@dataclass(frozen=True, slots=True)
class NormalizedVideo:
    """A normalised file and all that is needed to splice it. JSON by ``core.to_json``."""

    path: Path
    source: Path
    clock: SourceClock
    format: StreamFormat
    settings: EncoderSettings
    encoder: str
    """What the encoder says of itself and its options."""
    frames: int
    duration: Time
    cuts: tuple[Cut, ...]
    boundaries: tuple[ClipBoundary, ...]
    checksums: str
    """One per picture, as it was before encoding: eight hex digits each."""
    faults: tuple[Fault, ...] = ()
    """What was wrong with the source."""
    borders: Borders | None = None
    """What stands around the picture in all of it."""

    @property
    def clips(self) -> tuple[Span, ...]:
        """The clips, which together are the whole file."""
        starts = [cut.time for cut in self.cuts]
        return tuple(Span(start, two) for start, two in pairwise([*starts, self.duration]))

    def frame_times(self) -> Sequence[Time]:
        """Return the time of every frame, read from the file."""
        return survey(self.path).times

    def at(self, asked: Time) -> Time:
        """Return where a boundary that was asked for is in the file."""
        for boundary in self.boundaries:
            if boundary.asked == asked:
                return boundary.time
        raise BadOption(
            f"no boundary was asked for at {asked} s",
            advice="Normalise the source again with keyframes there.",
        )

    def cut_before(self, time: Time) -> Cut:
        """Return the start of the clip that ``time`` is in."""
        return self.cuts[max(0, bisect_right(self.cuts, time, key=lambda cut: cut.time) - 1)]

    def checksum(self, frame: int) -> int:
        """Return the checksum of a picture as it was before encoding."""
        return int(self.checksums[frame * _DIGITS : (frame + 1) * _DIGITS], 16)


def normalize(
    source: Path,
    out: Path,
    *,
    keyframes_at: Sequence[Time] = (),
    size: Size = NATIVE,
    rate: Fraction | None = None,
    settings: EncoderSettings = DEFAULT_SETTINGS,
) -> NormalizedVideo:
    """Write ``source`` to ``out`` (MP4) with a fresh start at each of ``keyframes_at``.

    Boundaries are times on the source's clock. Without ``rate`` every frame keeps its time,
    less that of the first; with it, frames are repeated or left out to make it constant.
    """
    source, out = Path(source), Path(out)
    refuse_to_replace(out, source)
    if rate is not None and rate <= 0:
        raise BadOption.of("rate", rate, "above 0")
    info, table = examine(source)
    with VideoSource(source) as opened:
        frames = opened.frames()
        first = next(frames, None)
        if first is None:
            raise no_picture(source)
        clock = SourceClock(first[0], _timescale(1 / rate if rate else table.time_base), rate)
        form = format_of(
            opened,
            first[1],
            info,
            size,
            timescale=clock.timescale,
            rate=rate or info.rate.limit_denominator(1001),
            constant_rate=rate is not None or info.constant_rate,
        )
        track, finder = _Track(keyframes_at, table), BorderFinder()
        with atomic_output(out) as file, Mp4Writer(file, settings, form) as writer:
            clips = ClipWriter(writer, settings, form)
            fit = Fitter(form.width, form.height, form.matrix)
            for frame, duration in _lasting(chain([first], frames), clock, table):
                picture = fit(frame.frame)
                finder.see(frame.moment, picture[: form.height])
                clips.add(
                    picture, frame.tick, duration, begins_clip=track.note(frame, picture, form)
                )
            clips.finish()
        return NormalizedVideo(
            path=out,
            source=source,
            clock=clock,
            format=form,
            settings=settings,
            encoder=clips.note,
            frames=track.frames,
            duration=writer.end * form.time_base,
            cuts=tuple(track.cuts),
            boundaries=track.boundaries(writer.end * form.time_base),
            checksums=track.checksums.hex(),
            faults=tuple(dict.fromkeys((*info.faults, *opened.faults))),
            borders=finder.borders,
        )


def refuse_to_replace(out: Path, *inputs: Path) -> None:
    """Refuse an input that is the output: it would be gone."""
    for path in inputs:
        if out.exists() and path.exists() and out.samefile(path):
            raise BadOption(f"{shown_path(out)} is the input", advice="Write to another file.")


def _timescale(step: Fraction) -> int:
    """Ticks per second in which every multiple of ``step`` is whole, and fine enough."""
    scale = step.denominator
    while scale < _COARSEST:
        scale *= 2
    if scale > _FINEST:
        raise BadOption(
            f"times in steps of {step} s are finer than MP4 can count",
            advice="Give a frame rate to normalise to.",
        )
    return scale


def _lasting(
    frames: Iterable[tuple[Time, VideoFrame]], clock: SourceClock, table: Survey
) -> Iterator[tuple[TimedFrame, int]]:
    """Frames with how long each is shown: until the next one, or the end."""
    end = clock.tick(table.end)
    until = sys.maxsize if clock.rate is None else max(end, clock.step)
    before: TimedFrame | None = None
    for frame in timed_frames(frames, clock, 0, until):
        if before is not None:
            yield before, frame.tick - before.tick
        before = frame
    if before is not None:
        yield before, max(1, end - before.tick)


class _Track:
    """What is known of the file while it is written: four bytes for each frame."""

    def __init__(self, asked: Sequence[Time], table: Survey) -> None:
        self._coming = deque(sorted(set(asked)))
        self._reached: list[ClipBoundary] = []
        self._table = table
        self.cuts: list[Cut] = []
        self.checksums = bytearray()

    @property
    def frames(self) -> int:
        return len(self.checksums) // 4

    def note(self, one: TimedFrame, picture: Image, form: StreamFormat) -> bool:
        """Take down a picture; says whether a clip begins with it."""
        time = one.tick * form.time_base
        begins = not self.cuts
        while self._coming and self._coming[0] <= one.moment:
            self._reached.append(ClipBoundary(self._coming.popleft(), time))
            begins = True
        if begins:
            self.cuts.append(Cut(time, self.frames, self._entry(one.moment)))
        self.checksums += checksum(picture).to_bytes(4, "big")
        return begins

    def boundaries(self, end: Time) -> tuple[ClipBoundary, ...]:
        """Return all that were asked for; those after the last frame lie at the end."""
        return (*self._reached, *(ClipBoundary(asked, end) for asked in self._coming))

    def _entry(self, moment: Time) -> int | None:
        entry = int(self._table.entry[self._table.shown_at(moment)])
        return entry if entry > self._table.pts[0] else None
