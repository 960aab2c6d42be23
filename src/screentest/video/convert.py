"""Converter: decoded frame → array of the size and layout that was asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import av
import numpy as np
from av.video.frame import VideoFrame
from av.video.reformatter import Interpolation, VideoReformatter

from screentest.core import Filter, FrameRequest, Layout, Size

if TYPE_CHECKING:
    from screentest.core.frames import Image

ConversionKey = tuple[Size, Layout, Filter]

_INTERPOLATION = {
    Filter.FAST: Interpolation.FAST_BILINEAR,
    Filter.BILINEAR: Interpolation.BILINEAR,
    Filter.AREA: Interpolation.AREA,
    Filter.BICUBIC: Interpolation.BICUBIC,
    Filter.LANCZOS: Interpolation.LANCZOS,
}

_EIGHT_BIT_LUMA_FIRST = frozenset(
    f"yuv{full}{chroma}p" for full in ("", "j") for chroma in (410, 411, 420, 422, 440, 444)
) | {"gray", "nv12", "nv21"}


def conversion_key(request: FrameRequest) -> ConversionKey:
    """Requests with the same key share one conversion."""
    return request.size, request.layout, request.filter


class Converter:
    """Converts the frames of one video for one key. Upright: rotation is applied."""

    def __init__(self, key: ConversionKey) -> None:
        self._size, self._layout, filter_ = key
        self._interpolation = _INTERPOLATION[filter_]
        self._reformatter = VideoReformatter()

    def __call__(self, frame: VideoFrame) -> Image:
        """The pixels, in an array of their own."""
        quarter_turns = rotation_of(frame) // 90
        width, height = frame.width, frame.height
        if quarter_turns % 2:
            target_height, target_width = self._size.of(height, width)
        else:
            target_width, target_height = self._size.of(width, height)
        converted = self._reformatter.reformat(
            frame,
            width=target_width,
            height=target_height,
            format=_coded_like(frame) if self._layout is Layout.LUMA else self._layout.value,
            interpolation=self._interpolation,
            # Decoder threads keep the cores busy already.
            threads=1,
        )
        if self._layout is Layout.LUMA:
            image = _first_plane(converted)
        else:
            image = cast("Image", converted.to_ndarray())
        if quarter_turns:
            # rot90 turns counter-clockwise, the file's angle is clockwise.
            image = np.ascontiguousarray(np.rot90(image, -quarter_turns))
        image.flags.writeable = False
        return image


def _coded_like(frame: VideoFrame) -> str:
    """The 8-bit format whose first plane is the luma of ``frame``, in the range it has there."""
    # The same format costs nothing: the frame itself comes back.
    return frame.format.name if frame.format.name in _EIGHT_BIT_LUMA_FIRST else "yuv420p"


def _first_plane(frame: VideoFrame) -> Image:
    plane = frame.planes[0]
    rows = np.frombuffer(memoryview(plane), np.uint8).reshape(-1, plane.line_size)
    return rows[: frame.height, : frame.width].copy()


def rotation_of(frame: VideoFrame) -> int:
    """Degrees clockwise that turn the coded picture upright: 0, 90, 180 or 270."""
    # FFmpeg's angle is counter-clockwise and may be negative; only quarter turns are shown.
    return round(-frame.rotation / 90) % 4 * 90


def decoder_version() -> str:
    """PyAV and its FFmpeg, for signatures: other versions may decode to other pixels."""
    codec = av.library_versions["libavcodec"]
    return f"av{av.__version__}/lavc{'.'.join(map(str, codec))}"
