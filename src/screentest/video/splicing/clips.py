"""ClipWriter: pictures in, encoded clip by clip, each with an encoder of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from screentest.video.splicing.encode import ClipEncoder, EncoderSettings, StreamFormat

if TYPE_CHECKING:
    from av.packet import Packet
    from av.stream import Stream

    from screentest.core.frames import Image
    from screentest.video.splicing.mp4 import Mp4Writer


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
        """The next picture; with ``begins_clip`` nothing after it leans on what was before."""
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
