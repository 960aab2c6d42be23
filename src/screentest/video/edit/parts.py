"""Parts: what a changed copy is made of. The list of parts is the recipe.

ClipWriter encodes pictures clip by clip; Originals are the pictures that a clip was encoded from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from screentest._util.text import shown_path
from screentest.core import BadOption, Frame, Image, Span, Time, timecode
from screentest.video.edit.encode import ClipEncoder, EncoderSettings, StreamFormat
from screentest.video.edit.pictures import Fitter, Pixels, checksum, timed_frames
from screentest.video.limits import Limits
from screentest.video.source import VideoSource

if TYPE_CHECKING:
    from av.packet import Packet
    from av.stream import Stream

    from screentest.video.edit.encode import Mp4Writer
    from screentest.video.edit.normalize import NormalizedVideo


FrameFunction: TypeAlias = "Callable[[Iterator[Frame]], Iterable[Image]]"
"""Takes the frames of a part in order and gives as many pictures back, of the same kind.

It may keep frames back, look ahead and change the order. What it does not ask for is not
decoded."""


@dataclass(frozen=True, slots=True)
class ClipOrigin:
    """A range of another file, whose pictures stand in for those of the source."""

    path: Path
    span: Span | None = None
    """On that file's own clock; None: all of it."""


@dataclass(frozen=True, slots=True)
class Keep:
    """A range that stays as it is."""

    span: Span
    stands_for: Span | None = None
    """The range in whose place it is shown, or before which it is shown again."""


@dataclass(frozen=True, slots=True)
class Reencode:
    """A range whose pictures go through a function."""

    span: Span
    change: FrameFunction
    pixels: Pixels = Pixels.RGB
    durations: tuple[Time, ...] | None = None
    """How long each picture that comes back is shown, where that is not as it was. Then there
    may be more or fewer of them."""
    origin: ClipOrigin | None = None
    """Where the pictures come from, if not from the source. As many as the range has frames."""


VideoPart: TypeAlias = Keep | Reencode


def frame_by_frame(change: Callable[[Image], Image]) -> FrameFunction:
    """Return a frame function from one that changes a single picture."""
    return lambda frames: (change(frame.image) for frame in frames)


# ClipWriter: pictures in, encoded clip by clip, each with an encoder of its own.


class ClipWriter:
    """Encodes pictures into an Mp4Writer."""

    def __init__(self, writer: Mp4Writer, settings: EncoderSettings, form: StreamFormat) -> None:
        self._writer = writer
        self._settings = settings
        self._form = form
        self._encoder: ClipEncoder | None = None
        self.note = ""
        """What the encoder says of itself, once a clip is finished."""
        self.parameter_sets: tuple[bytes, ...] = ()

    def add(self, picture: Image, tick: int, duration: int, *, begins_clip: bool) -> None:
        """Take the next picture; with ``begins_clip`` nothing after it leans on what was before."""
        if begins_clip or self._encoder is None:
            self.finish()
            self._encoder = ClipEncoder(self._settings, self._form, tick)
            self.parameter_sets = self._encoder.parameter_sets
        self._writer.announce(tick, duration)
        self._write(self._encoder.encode(picture, tick))

    def finish(self) -> None:
        """Write what the encoder still holds; the next picture begins a clip."""
        if self._encoder is not None:
            self._write(self._encoder.finish())
            self.note = self._encoder.note
            self._encoder = None

    def _write(self, packets: list[Packet[Stream]]) -> None:
        for packet in packets:
            assert packet.pts is not None
            self._writer.write_encoded(packet, packet.pts)


def original_pictures(
    video: NormalizedVideo, first: int, ticks: Sequence[int], limits: Limits
) -> Iterator[Image]:
    """Yield the pictures number ``first`` and on of ``video``, shown at ``ticks``, from its source.

    Seeking into an untrusted file can give wrong pictures without an error. Every picture is
    compared with the checksum taken when the file was normalised; after the first that differs, the
    source is decoded from its beginning instead.
    """
    served = 0
    entry = video.cut_before(ticks[0] * video.format.time_base).entry
    for enter_at in (entry, None) if entry is not None else (None,):
        for picture in _decoded(video, enter_at, ticks[served:], limits):
            if checksum(picture) != video.checksum(first + served):
                break
            yield picture
            served += 1
        if served == len(ticks):
            return
    raise BadOption(
        f"{shown_path(video.source)} no longer gives the pictures that "
        f"{shown_path(video.path)} was made from, "
        f"at {timecode(ticks[served] * video.format.time_base)}",
        advice="The source, or the decoder, has changed: normalise it again.",
    )


def _decoded(
    video: NormalizedVideo, enter_at: int | None, ticks: Sequence[int], limits: Limits
) -> Iterator[Image]:
    """Pictures as long as they come at the ticks where they should."""
    form = video.format
    fit = Fitter(form.width, form.height, form.matrix)
    with VideoSource(video.source, limits) as source:
        if enter_at is not None:
            source.seek(enter_at)
        coming = timed_frames(source.frames(), video.clock, ticks[0], ticks[-1] + 1)
        for frame, tick in zip(coming, ticks, strict=False):
            if frame.tick != tick:
                return
            yield fit(frame.frame)


def other_pictures(origin: ClipOrigin, form: StreamFormat, limits: Limits) -> Iterator[Image]:
    """Yield the pictures of another file, upright and in the size of the normalised one."""
    fit = Fitter(form.width, form.height, form.matrix)
    with VideoSource(origin.path, limits) as source:
        # From the beginning: of this file nothing is known that would make seeking safe.
        for moment, frame in source.frames():
            if origin.span is not None and moment >= origin.span.end:
                return
            if origin.span is None or moment >= origin.span.start:
                yield fit(frame)
