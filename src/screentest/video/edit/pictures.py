"""Pictures: what of a source goes into the encoder, upright, in its size, on its clock.

A picture is an I420 array (rows of luma, then both chroma planes, as OpenCV has it), so that
its checksum can be kept and work on the planes needs no detour over RGB.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np
from av.video.frame import VideoFrame
from av.video.reformatter import ColorRange, Colorspace, Interpolation, VideoReformatter

from screentest.core import Image, Size, Time
from screentest.video.edit.encode import PIXEL_FORMAT, StreamFormat
from screentest.video.probe import rotation_of

if TYPE_CHECKING:
    from av.video.plane import VideoPlane


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
