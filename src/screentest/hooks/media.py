"""What a tracker is shown of a video: the film itself, and pictures of its worst moments."""

from __future__ import annotations

import io
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from screentest.core.frames import Filter, Image, Size
from screentest.core.item import Time
from screentest.video.memory import memory_video, open_source
from screentest.video.probe import Converter, conversion_key, probe
from screentest.video.samples import evenly, sample_frames

if TYPE_CHECKING:
    from screentest.present.results import ItemScores

_PLAYED = frozenset({".mp4", ".m4v", ".webm"})
_QUALITY = {"crf": "20", "preset": "veryfast"}
_GIF_FRAMES, _GIF_SIDE = 24, 192
_PICTURE_SIDE = 384


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment of a video: its picture, and what is low there."""

    time: float
    image: Image
    words: str

    def caption(self, clip: str) -> str:
        """Clip, time and words in one line."""
        return f"{clip} at {self.time:.2f} s: {self.words}"


def playable(video: Path) -> bytes:
    """Give the video as browsers play it: the file itself, else H.264 in MP4."""
    if memory_video(video) is None and video.suffix.lower() in _PLAYED:
        return video.read_bytes()
    import av

    from screentest.core.frames import FrameRequest

    info = probe(video)
    even = Size(exact=(max(2, info.width // 2 * 2), max(2, info.height // 2 * 2)))
    convert = Converter(conversion_key(FrameRequest(size=even, filter=Filter.BICUBIC)))
    held = io.BytesIO()
    with av.open(held, "w", format="mp4") as container, open_source(video) as source:
        stream = container.add_stream("libx264", rate=info.rate, options=dict(_QUALITY))
        assert even.exact is not None
        stream.width, stream.height = even.exact
        stream.pix_fmt = "yuv420p"
        stream.codec_context.time_base = Fraction(1, 90_000)
        for moment, picture in source.frames():
            frame = av.VideoFrame.from_ndarray(convert(picture), format="rgb24")
            frame.pts, frame.time_base = round(moment * 90_000), Fraction(1, 90_000)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return held.getvalue()


def animated(video: Path) -> bytes:
    """Make a small GIF of a few frames, at the pace of the video."""
    from PIL import Image as Pictures

    span = probe(video).span
    moments = evenly(span, _GIF_FRAMES)
    frames = list(sample_frames(video, moments, size=Size(long_side=_GIF_SIDE), filter=Filter.AREA))
    pictures = [Pictures.fromarray(frame.image) for frame in frames]
    held = io.BytesIO()
    pace = max(20, round(float(span.duration) * 1000 / len(pictures)))
    pictures[0].save(held, "GIF", save_all=True, append_images=pictures[1:], duration=pace, loop=0)
    return held.getvalue()


def moments(scores: ItemScores) -> list[Moment]:
    """Pictures of the worst moments of a video."""
    pictures = []
    for seconds, words in scores.worst:
        frames = sample_frames(
            scores.item.video, [Time(seconds)], size=Size(long_side=_PICTURE_SIDE)
        )
        pictures += [Moment(seconds, np.asarray(frame.image), words) for frame in frames]
    return pictures
