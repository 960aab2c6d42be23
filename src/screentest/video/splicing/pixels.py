"""Pixels: how a frame function sees pictures, and the way there and back."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, cast

from av.video.frame import VideoFrame
from av.video.reformatter import ColorRange, Interpolation, VideoReformatter

from screentest.video.splicing.encode import PIXEL_FORMAT, StreamFormat
from screentest.video.splicing.pictures import EXACT, swscale_matrix

if TYPE_CHECKING:
    from screentest.core.frames import Image


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
        """The shape of one picture."""
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
        """A picture in the layout, in an array that may be written to."""
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
        """An array in the layout as a picture."""
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
