"""Mp4Writer: packets of one video track into an MP4, with times that always fit together.

Decoding times are laid here, over the whole file, and not taken from the encoders: the n-th
packet is decoded when the (n - depth)-th picture is shown. They rise strictly whatever pieces
follow each other, and no packet is decoded later than it is shown.
"""

from __future__ import annotations

from collections import deque
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import av
from av.packet import Packet

from screentest.video.edit.encode import EncoderSettings, StreamFormat, configure
from screentest.video.edit.packets import length_prefixed

if TYPE_CHECKING:
    from av.container import OutputContainer
    from av.stream import Stream
    from av.video.stream import VideoStream

    from screentest._util.atomic import OutputFile


class Mp4Writer:
    """Writes one file. Use it as a context manager; it is complete when the block ends."""

    def __init__(
        self,
        file: OutputFile,
        settings: EncoderSettings,
        form: StreamFormat,
        like: VideoStream | None = None,
    ) -> None:
        self._file = file
        self._form = form
        self._depth = settings.depth
        self._decode_at: deque[int] = deque()
        self._durations: dict[int, int] = {}
        self.end = 0
        """The tick at which the last picture announced has been shown."""
        scale = str(form.timescale)
        self._container: OutputContainer = av.open(
            file,
            mode="w",
            format="mp4",
            container_options={
                "video_track_timescale": scale,
                # The edit list counts in these; anything coarser would round the length.
                "movie_timescale": scale,
                # No version, no date: the same pictures give the same file.
                "fflags": "+bitexact",
                "write_btrt": "0",
            },
        )
        self._copies = like is not None
        self._stream = self._add(settings, like)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._container.close()
        if kind is None and self._durations:
            raise AssertionError(f"{len(self._durations)} pictures were announced, not written")

    def announce(self, tick: int, duration: int) -> None:
        """The next picture in order of showing. Announce it before its packet is written."""
        if tick != self.end or duration <= 0:
            raise ValueError(f"a picture at {tick} for {duration} ticks cannot follow {self.end}")
        if tick == 0:
            # The head start that reordered packets need, in steps of the first picture.
            self._decode_at.extend(-ahead * duration for ahead in range(self._depth, 0, -1))
        self._decode_at.append(tick)
        self._durations[tick] = duration
        self.end = tick + duration

    def write(self, packet: Packet[Any], tick: int) -> None:
        """The next packet in order of decoding, as an MP4 holds it; shown from ``tick`` on."""
        packet.duration = self._durations.pop(tick)
        packet.pts, packet.dts = tick, self._decode_at.popleft()
        if packet.dts > tick:
            raise AssertionError(f"the packet for {tick} would be decoded at {packet.dts}")
        packet.time_base = self._form.time_base
        packet.stream = self._stream
        self._container.mux_one(packet)
        self._file.check()

    def write_encoded(self, packet: Packet[Stream], tick: int) -> None:
        """The same for a packet as the encoder gives it."""
        if self._copies:  # then the muxer takes every packet as it is
            stored = Packet(length_prefixed(bytes(packet)))
            stored.is_keyframe = packet.is_keyframe
            packet = stored
        self.write(packet, tick)

    def _add(self, settings: EncoderSettings, like: VideoStream | None) -> VideoStream:
        if like is not None:
            return self._container.add_stream_from_template(like)
        # This encoder only writes the header; each clip brings its own.
        stream: VideoStream = self._container.add_stream("libx264")
        configure(stream.codec_context, settings, self._form)
        stream.time_base = self._form.time_base
        return stream
