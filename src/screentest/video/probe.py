"""Probe: what a file holds, from its header, its packets and its first picture.

Converter makes arrays of decoded frames, here and wherever frames are used.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import cast

import av
import numpy as np
from av.video.frame import VideoFrame
from av.video.reformatter import ColorRange, Interpolation, VideoReformatter

from screentest.core.frames import (
    Borders,
    Fault,
    Filter,
    FrameRequest,
    Image,
    Layout,
    Size,
    VideoInfo,
)
from screentest.video.limits import DEFAULT_LIMITS, Limits
from screentest.video.memory import memory_video
from screentest.video.source import VideoSource, cut_short, no_picture
from screentest.video.survey import Survey, Surveyor

# Converter: decoded frame → array of the size and layout that was asked for.

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
    """Make the key of a request; those with the same key share one conversion."""
    return request.size, request.layout, request.filter


class Converter:
    """Converts the frames of one video for one key. Upright: rotation is applied.

    With ``borders`` the picture inside them is what comes out, in the size that was asked for.
    """

    def __init__(self, key: ConversionKey, borders: Borders | None = None) -> None:
        self._size, self._layout, filter_ = key
        self._interpolation = _INTERPOLATION[filter_]
        self._reformatter = VideoReformatter()
        self._borders = borders

    def __call__(self, frame: VideoFrame) -> Image:
        """Return the pixels, in an array of their own."""
        quarter_turns = rotation_of(frame) // 90
        width, height = frame.width, frame.height
        if quarter_turns % 2:
            width, height = height, width
        crop = self._crop(width, height)
        target_width, target_height = crop.whole if crop else self._size.of(width, height)
        if quarter_turns % 2:
            target_width, target_height = target_height, target_width
        if self._layout is Layout.CODED and frame.format.is_rgb:
            # Where colour is halved depends on what codecs tag RGB with: here it has no tags.
            frame = VideoFrame.from_ndarray(frame.to_ndarray(format="rgb24"), format="rgb24")
        converted = self._reformatter.reformat(
            frame,
            width=target_width,
            height=target_height,
            format=_coded_like(frame) if self._layout in AS_CODED else self._layout.value,
            interpolation=self._interpolation,
            # The luma of RGB has no range of its own, and what a file's tag says of it depends on
            # the codec: it is that of ordinary video.
            dst_color_range=ColorRange.MPEG
            if self._layout in AS_CODED and frame.format.is_rgb
            else None,
            # Decoder threads keep the cores busy already.
            threads=1,
        )
        if self._layout is Layout.LUMA:
            image = _plane(converted, 0)
        elif self._layout is Layout.CODED:
            image = _all_planes(converted)
        else:
            image = cast("Image", converted.to_ndarray())
        if quarter_turns:
            # rot90 turns counter-clockwise, the file's angle is clockwise.
            image = np.ascontiguousarray(np.rot90(image, -quarter_turns))
        if crop:
            image = np.ascontiguousarray(image[crop.rows, crop.columns])
        image.flags.writeable = False
        return image

    def _crop(self, width: int, height: int) -> _Crop | None:
        """Return the crop of the whole frame; None where its size is not that of the borders."""
        borders = self._borders
        if borders is None or (borders.width, borders.height) != (width, height):
            return None
        grid = GRID if self._layout in AS_CODED else 1
        exact = self._size.exact is not None
        sides = zip(
            (width, height),
            (borders.left, borders.top),
            borders.inside,
            self._size.of(*borders.inside),
            strict=True,
        )
        (across, columns), (down, rows) = (_cut(*side, grid, exact=exact) for side in sides)
        return _Crop((across, down), columns, rows)


AS_CODED = (Layout.LUMA, Layout.CODED)
GRID = 16
"""Pixels: luma as it is coded is cut on the grid of coded blocks, so that these stay on theirs."""


@dataclass(frozen=True, slots=True)
class _Crop:
    whole: tuple[int, int]
    """The size to which the whole frame is brought."""
    columns: slice
    rows: slice


def _cut(
    whole: int, start: int, inside: int, wanted: int, grid: int, *, exact: bool
) -> tuple[int, slice]:
    """One side: to which length the whole is brought, and what is cut out of that.

    >>> _cut(1280, 280, 720, 720, 1, exact=False), _cut(1280, 280, 720, 160, 1, exact=False)
    ((1280, slice(280, 1000, None)), (284, slice(64, 220, None)))
    >>> _cut(1280, 280, 720, 720, 16, exact=False)[1]
    slice(288, 1000, None)
    """
    if wanted == inside:
        return whole, slice(-(-start // grid) * grid, start + inside)
    length, first = round(whole * wanted / inside), round(start * wanted / inside)
    if exact:
        return max(length, first + wanted), slice(first, first + wanted)
    # Scaling mixes the border into the line beside it.
    before, after = int(start > 0), int(start + inside < whole)
    low = -(-start * wanted // inside) + before
    high = (start + inside) * length // whole - after
    return length, slice(low, max(low + 1, high))


def _coded_like(frame: VideoFrame) -> str:
    """Return the 8-bit format whose first plane is the luma of ``frame``, in the range it has
    there."""
    # The same format costs nothing: the frame itself comes back.
    return frame.format.name if frame.format.name in _EIGHT_BIT_LUMA_FIRST else "yuv420p"


def _plane(frame: VideoFrame, number: int) -> Image:
    plane = frame.planes[number]
    rows = np.frombuffer(memoryview(plane), np.uint8).reshape(-1, plane.line_size)
    return rows[: plane.height, : plane.width].copy()


def _all_planes(frame: VideoFrame) -> Image:
    """Those of colour in the size of luma, each pixel repeated; without any, grey."""
    import cv2

    if frame.format.name.startswith("nv"):
        frame = frame.reformat(format="yuv420p")
    planes = np.empty((3, frame.height, frame.width), np.uint8)
    planes[len(frame.planes) :] = 128
    for number in range(len(frame.planes)):
        plane = _plane(frame, number)
        down, across = (
            -(-whole // part) for whole, part in zip(planes[0].shape, plane.shape, strict=True)
        )
        size = (plane.shape[1] * across, plane.shape[0] * down)
        whole = cv2.resize(plane, size, interpolation=cv2.INTER_NEAREST) if number else plane
        planes[number] = whole[: frame.height, : frame.width]
    # Planes stay apart in memory: each is read alone.
    return planes.transpose(1, 2, 0)


def rotation_of(frame: VideoFrame) -> int:
    """Degrees clockwise that turn the coded picture upright: 0, 90, 180 or 270."""
    # FFmpeg's angle is counter-clockwise and may be negative; only quarter turns are shown.
    return round(-frame.rotation / 90) % 4 * 90


def decoder_version() -> str:
    """PyAV and its FFmpeg, for signatures: other versions may decode to other pixels."""
    codec = av.library_versions["libavcodec"]
    return f"av{av.__version__}/lavc{'.'.join(map(str, codec))}"


def probe(path: Path | str, limits: Limits = DEFAULT_LIMITS) -> VideoInfo:
    """Describe the video in ``path``; raises VideoError where there is none to describe.

    Every packet is read and one picture decoded. To learn whether all of it decodes, scan it.
    """
    return examine(path, limits)[0]


def examine(path: Path | str, limits: Limits = DEFAULT_LIMITS) -> tuple[VideoInfo, Survey]:
    """Return the description and the survey it rests on."""
    video = memory_video(path)
    if video is not None:
        return video.info, video.survey
    with VideoSource(path, limits) as source:
        surveyor = Surveyor(source)
        packets = surveyor.packets()
        picture = next((frame for _, frame in source.frames(packets=packets)), None)
        for _ in packets:  # the rest is read, not decoded
            pass
        table = surveyor.table()
        limits.check_duration(table.end - table.start)
        if picture is None:
            raise no_picture(source.path)
        faults = list(source.faults)
        missing = cut_short(Path(path))
        if missing is not None:
            faults.insert(0, missing)
        # In a file that lists its frames, a picture that stays longer is meant to.
        if "mp4" not in source.container.format.name.split(","):
            faults += [
                Fault("gap", "frames seem to be missing here", moment) for moment in table.gaps()
            ]
        return _describe(source, table, picture, faults), table


def _describe(
    source: VideoSource, table: Survey, picture: VideoFrame, faults: list[Fault]
) -> VideoInfo:
    rotation = rotation_of(picture)
    width, height = picture.width, picture.height
    if rotation % 180:
        width, height = height, width
    rate, constant = table.rate()
    aspect = source.stream.sample_aspect_ratio
    return VideoInfo(
        container=source.container.format.name,
        codec=source.stream.codec_context.name,
        width=width,
        height=height,
        pixel_format=picture.format.name,
        bit_depth=max(component.bits for component in picture.format.components),
        rotation=rotation,
        sample_aspect=Fraction(aspect) if aspect else Fraction(1),
        start=table.start,
        duration=table.end - table.start,
        frames=len(table.pts),
        rate=rate,
        constant_rate=constant,
        keyframes=table.entries,
        faults=tuple(dict.fromkeys(faults)),
        metadata=dict(source.container.metadata),
    )
