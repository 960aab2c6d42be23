"""Pictures: what of a source goes into the encoder, upright, in its size, on its clock.

A picture is an I420 array (rows of luma, then both chroma planes, as OpenCV has it), so that
its checksum can be kept and work on the planes needs no detour over RGB.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast

import numpy as np
from av.video.frame import VideoFrame
from av.video.reformatter import ColorRange, Colorspace, Interpolation, VideoReformatter

from screentest._util.text import shown_path
from screentest.core import BadOption, Frame, Image, Size, Span, Time, VideoInfo, timecode
from screentest.video.edit.encode import PIXEL_FORMAT, ClipEncoder, EncoderSettings, StreamFormat
from screentest.video.probe import rotation_of
from screentest.video.source import VideoSource

if TYPE_CHECKING:
    from av.packet import Packet
    from av.stream import Stream
    from av.video.plane import VideoPlane

    from screentest.video.edit.encode import Mp4Writer
    from screentest.video.edit.normalize import NormalizedVideo


EXACT = Interpolation.ACCURATE_RND | Interpolation.BITEXACT
"""The same pixels on every processor, at the price of some speed."""
UNSAID = 2
"""H.264's number for a colour property that is not given."""
_RGB_MATRIX = 6
"""What RGB sources become: SMPTE 170M, which is also what readers without tags assume."""


def even_size(size: Size, width: int, height: int) -> tuple[int, int]:
    """Return the size in whole pairs of pixels, which 4:2:0 needs.

    >>> even_size(Size(), 213, 161)
    (212, 160)
    """
    wanted_width, wanted_height = size.of(width, height)
    return max(2, wanted_width & ~1), max(2, wanted_height & ~1)


def matrix_of(frame: VideoFrame) -> int:
    """Return the colour matrix that the picture will have."""
    is_rgb = frame.format.is_rgb or frame.format.has_palette
    return _RGB_MATRIX if is_rgb else int(frame.colorspace) or UNSAID


def format_of(
    source: VideoSource,
    frame: VideoFrame | None,
    info: VideoInfo,
    size: Size,
    *,
    timescale: int,
    rate: Fraction,
    constant_rate: bool,
) -> StreamFormat:
    """Return the format of what is made of an open source; ``frame`` is its first."""
    context = source.stream.codec_context
    width, height = even_size(size, info.width, info.height)
    return StreamFormat(
        width=width,
        height=height,
        timescale=timescale,
        rate=rate,
        constant_rate=constant_rate,
        sample_aspect=1 / info.sample_aspect if info.rotation % 180 else info.sample_aspect,
        matrix=matrix_of(frame) if frame is not None else UNSAID,
        primaries=int(context.color_primaries) or UNSAID,
        transfer=int(context.color_trc) or UNSAID,
    )


def checksum(picture: Image) -> int:
    """Return a number by which a picture is known again."""
    return zlib.crc32(np.ascontiguousarray(picture).data)


class Fitter:
    """Makes pictures of decoded frames: upright, ``width`` × ``height``, limited range."""

    def __init__(self, width: int, height: int, matrix: int) -> None:
        self._width, self._height = width, height
        self._colorspace = swscale_matrix(matrix)
        self._reformatter = VideoReformatter()

    def __call__(self, frame: VideoFrame) -> Image:
        """Return the picture, in an array of its own."""
        turns = rotation_of(frame) // 90
        width, height = self._width, self._height
        if turns % 2:
            width, height = height, width
        # An odd last row or column is cut off; squeezing it in would blur all the others.
        if (frame.width & ~1, frame.height & ~1) == (width, height):
            width, height = frame.width, frame.height
        frame = self._converted(frame, width, height)
        planes = [np.rot90(_plane(plane), -turns) for plane in frame.planes]
        return _stacked(planes, self._width, self._height)

    def _converted(self, frame: VideoFrame, width: int, height: int) -> VideoFrame:
        as_it_is = (
            frame.format.name == PIXEL_FORMAT
            and frame.color_range != ColorRange.JPEG
            and (frame.width, frame.height) == (width, height)
        )
        if as_it_is:
            return frame
        return self._reformatter.reformat(
            frame,
            width=width,
            height=height,
            format=PIXEL_FORMAT,
            dst_colorspace=self._colorspace,
            dst_color_range=ColorRange.MPEG,
            interpolation=Interpolation.BICUBIC | EXACT,
            threads=1,
        )


def swscale_matrix(matrix: int) -> int:
    """FFmpeg's scaler has its own numbers for the colour matrices; 601 where none is said."""
    matrices = {
        1: Colorspace.ITU709,
        4: Colorspace.FCC,
        7: Colorspace.SMPTE240M,
        9: Colorspace.BT2020,
        10: Colorspace.BT2020,
    }
    return int(matrices.get(matrix, Colorspace.ITU601))


def _plane(plane: VideoPlane) -> Image:
    rows: Image = np.frombuffer(memoryview(plane), np.uint8).reshape(-1, plane.line_size)
    return rows[: plane.height, : plane.width]


def _stacked(planes: list[Image], width: int, height: int) -> Image:
    picture = np.empty((height * 3 // 2, width), np.uint8)
    picture[:height] = planes[0][:height, :width]
    chroma = picture[height:].reshape(2, height // 2, width // 2)
    for number, plane in enumerate(planes[1:]):
        chroma[number] = plane[: height // 2, : width // 2]
    return picture


@dataclass(frozen=True, slots=True)
class SourceClock:
    """How the times of a source become ticks of the normalised file."""

    zero: Time
    """The time of the source's first frame, which becomes 0."""
    timescale: int
    rate: Fraction | None = None
    """Frames per second where a constant rate is made; None keeps the source's own times."""

    def tick(self, moment: Time) -> int:
        """Return where a time of the source is: at a constant rate, on the nearest frame.

        >>> SourceClock(Fraction(0), 12_000, Fraction(24)).tick(Fraction(42, 1000))
        500
        """
        if self.rate is None:
            return round((moment - self.zero) * self.timescale)
        # Up at one half, so that it does not matter whether a frame's number is even.
        return int((moment - self.zero) * self.rate + Fraction(1, 2)) * self.step

    @property
    def step(self) -> int:
        """The ticks from one frame to the next at a constant rate."""
        assert self.rate is not None
        return int(self.timescale / self.rate)


class TimedFrame(NamedTuple):
    """A decoded frame, when the source shows it, and where it will stand."""

    tick: int
    moment: Time
    frame: VideoFrame


def timed_frames(
    frames: Iterable[tuple[Time, VideoFrame]], clock: SourceClock, begin: int, end: int
) -> Iterator[TimedFrame]:
    """Return the frames to show from tick ``begin`` until ``end``.

    A frame that does not come after the one before it is left out. At a constant rate a frame
    stands for every tick at which it is on the screen: it may come often, or not at all.
    """
    coming = (TimedFrame(clock.tick(moment), moment, frame) for moment, frame in frames)
    if clock.rate is None:
        return _as_they_are(coming, begin, end)
    return _at_constant_rate(coming, clock.step, begin, end)


def _as_they_are(coming: Iterator[TimedFrame], begin: int, end: int) -> Iterator[TimedFrame]:
    last = begin - 1
    for frame in coming:
        if frame.tick >= end:
            return
        if frame.tick > last:
            last = frame.tick
            yield frame


def _at_constant_rate(
    coming: Iterator[TimedFrame], step: int, begin: int, end: int
) -> Iterator[TimedFrame]:
    due, on_screen = begin, None
    for frame in coming:
        while on_screen is not None and due < min(frame.tick, end):
            yield on_screen._replace(tick=due)
            due += step
        if due >= end:
            return
        on_screen = frame
    while on_screen is not None and due < end:
        yield on_screen._replace(tick=due)
        due += step


# Pixels: how a frame function sees pictures, and the way there and back.


class Pixels(StrEnum):
    """The arrays that a frame function gets and gives, all uint8."""

    RGB = "rgb24"
    """height × width × 3"""
    BGR = "bgr24"
    """height × width × 3, as OpenCV likes it"""
    I420 = "yuv420p"
    """height · 3/2 × width: the luma rows, then both chroma planes. What is not changed here
    reaches the encoder exactly as it came, which RGB cannot promise."""

    def shape(self, form: StreamFormat) -> tuple[int, ...]:
        """Return the shape of one picture."""
        if self is Pixels.I420:
            return form.height * 3 // 2, form.width
        return form.height, form.width, 3


class PixelConverter:
    """From I420 to a layout and back, by the colour matrix of the file."""

    def __init__(self, pixels: Pixels, form: StreamFormat) -> None:
        self._pixels = pixels
        self._matrix = swscale_matrix(form.matrix)
        self._there, self._back = VideoReformatter(), VideoReformatter()

    def unpack(self, picture: Image) -> Image:
        """Return a picture in the layout, in an array that may be written to."""
        if self._pixels is Pixels.I420:
            return picture
        frame = VideoFrame.from_ndarray(picture, format=PIXEL_FORMAT)
        converted = self._there.reformat(
            frame,
            format=self._pixels.value,
            src_colorspace=self._matrix,
            src_color_range=ColorRange.MPEG,
            interpolation=Interpolation.BICUBIC | Interpolation.FULL_CHR_H_INT | EXACT,
            threads=1,
        )
        return cast("Image", converted.to_ndarray())

    def pack(self, image: Image) -> Image:
        """Return an array in the layout as a picture."""
        if self._pixels is Pixels.I420:
            return image
        frame = VideoFrame.from_ndarray(image, format=self._pixels.value)
        converted = self._back.reformat(
            frame,
            format=PIXEL_FORMAT,
            dst_colorspace=self._matrix,
            dst_color_range=ColorRange.MPEG,
            interpolation=Interpolation.BICUBIC | Interpolation.FULL_CHR_H_INP | EXACT,
            threads=1,
        )
        return cast("Image", converted.to_ndarray())


# Parts: what a changed copy is made of. The list of parts is the recipe.
# ClipWriter encodes pictures clip by clip; Originals are the pictures that a clip was encoded from.


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


def original_pictures(video: NormalizedVideo, first: int, ticks: Sequence[int]) -> Iterator[Image]:
    """Yield the pictures number ``first`` and on of ``video``, shown at ``ticks``, from its source.

    Seeking into an untrusted file can give wrong pictures without an error. Every picture is
    compared with the checksum taken when the file was normalised; after the first that differs, the
    source is decoded from its beginning instead.
    """
    served = 0
    entry = video.cut_before(ticks[0] * video.format.time_base).entry
    for enter_at in (entry, None) if entry is not None else (None,):
        for picture in _decoded(video, enter_at, ticks[served:]):
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


def _decoded(video: NormalizedVideo, enter_at: int | None, ticks: Sequence[int]) -> Iterator[Image]:
    """Pictures as long as they come at the ticks where they should."""
    form = video.format
    fit = Fitter(form.width, form.height, form.matrix)
    with VideoSource(video.source) as source:
        if enter_at is not None:
            source.seek(enter_at)
        coming = timed_frames(source.frames(), video.clock, ticks[0], ticks[-1] + 1)
        for frame, tick in zip(coming, ticks, strict=False):
            if frame.tick != tick:
                return
            yield fit(frame.frame)


def other_pictures(origin: ClipOrigin, form: StreamFormat) -> Iterator[Image]:
    """Yield the pictures of another file, upright and in the size of the normalised one."""
    fit = Fitter(form.width, form.height, form.matrix)
    with VideoSource(origin.path) as source:
        # From the beginning: of this file nothing is known that would make seeking safe.
        for moment, frame in source.frames():
            if origin.span is not None and moment >= origin.span.end:
                return
            if origin.span is None or moment >= origin.span.start:
                yield fit(frame)
