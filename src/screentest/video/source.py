"""VideoSource: one open video. Gives its packets and its frames with exact times.

Times are the stream's own presentation timestamps as rationals. A decoding error costs the
packets it hits and is kept as a Fault; the frames around it still come. ``cut_short`` says whether
a file ends before its own structure does.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterator
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Self

import av
from av.container import InputContainer
from av.packet import Packet
from av.stream import Disposition
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from screentest._util.text import shown_path
from screentest.core import Fault, Reason, Time, VideoError
from screentest.video.container import open_container, video_stream
from screentest.video.limits import DEFAULT_LIMITS, Limits, PlainFile

if TYPE_CHECKING:
    VideoPacket = Packet[VideoStream]


MAX_FAULTS = 100
"""Faults kept one by one; a file broken throughout would otherwise fill the memory."""

_PLAUSIBLE_RATE = Fraction(25)
"""For the rare stream that has neither timestamps nor a frame rate."""


class VideoSource:
    """An open video file. Use it as a context manager."""

    def __init__(self, path: Path | str, limits: Limits = DEFAULT_LIMITS) -> None:
        self.path = Path(path)
        self.limits = limits
        self.faults: list[Fault] = []
        self.fault_count = 0
        self._first: Time | None = None
        self.container: InputContainer = open_container(self.path, limits)
        try:
            self.stream: VideoStream = self._choose_stream()
        except BaseException:
            self.container.close()
            raise
        # One thread: over damage, threads race, by frames and by slices alike, and nothing tells
        # beforehand that a stream is whole. Films are decoded side by side instead, by workers.
        self.stream.thread_type = "NONE"
        self.stream.codec_context.thread_count = 1
        self.time_base: Fraction = self.stream.time_base or Fraction(1, 90_000)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        self.container.close()

    @property
    def nominal_rate(self) -> Fraction:
        """The rate the file claims. Good for guessing, never for computing times."""
        rate = self.stream.guessed_rate or self.stream.average_rate or self.stream.base_rate
        return Fraction(rate) if rate else _PLAUSIBLE_RATE

    def packets(self) -> Iterator[VideoPacket]:
        """Yield the coded packets of the video stream, in file order; a damaged end is a fault."""
        demuxer = self.container.demux(self.stream)
        while True:
            try:
                packet = next(demuxer)
            except StopIteration:
                return
            except MemoryError:
                raise self._out_of_memory() from None
            except av.FFmpegError as error:
                self._note("unreadable", f"the file cannot be read further: {_words(error)}")
                return
            yield packet

    def frames(
        self, only: Container[int] | None = None, packets: Iterator[VideoPacket] | None = None
    ) -> Iterator[tuple[Time, VideoFrame]]:
        """Decode frames from here on, with their times; ``packets`` are read by the caller too.

        With ``only`` (timestamps in stream ticks) others may be left out, and those that no
        other frame is built from are not even decoded.
        """
        context = self.stream.codec_context
        count = 0
        last: Time | None = None
        for packet in self.packets() if packets is None else packets:
            if only is not None and packet.size:
                context.skip_frame = "DEFAULT" if packet.pts in only else "NONREF"
            for frame in self._decode(packet):
                if only is not None and frame.pts not in only:
                    continue
                moment = self._time_of(frame, last, count)
                self._check(moment, frame, count + 1)
                if last is not None and moment <= last:
                    self._note("timestamps", "timestamps do not increase", moment)
                if frame.is_corrupt:
                    self._note("corrupt_frame", "a frame is damaged", moment)
                last = moment
                count += 1
                yield moment, frame

    def seek(self, pts: int) -> bool:
        """Go to the last point at or before ``pts`` where decoding can begin, if it can."""
        try:
            self.container.seek(pts, stream=self.stream, backward=True, any_frame=False)
        except av.FFmpegError:  # a bare stream has no index to seek by
            return False
        return True

    def _decode(self, packet: VideoPacket) -> list[VideoFrame]:
        try:
            frames: list[VideoFrame] = packet.decode()
        except MemoryError:  # FFmpeg's own is both; a shortened film must not pass for a whole
            raise self._out_of_memory() from None
        except av.FFmpegError as error:
            moment = None if packet.pts is None else packet.pts * self.time_base
            self._note("undecodable_packet", _words(error), moment)
            return []
        return frames

    def _time_of(self, frame: VideoFrame, last: Time | None, count: int) -> Time:
        if frame.pts is not None:
            return frame.pts * self.time_base
        if count == 0:
            self._note("no_timestamps", f"no timestamps: taken as {self.nominal_rate} frames/s")
        return Fraction(0) if last is None else last + 1 / self.nominal_rate

    def _check(self, moment: Time, frame: VideoFrame, count: int) -> None:
        # Sizes can change inside a stream, after the header was found harmless.
        self.limits.check_size(frame.width, frame.height)
        self.limits.check_frames(count)
        if self._first is None:
            self._first = moment
        self.limits.check_duration(moment - self._first)

    def _choose_stream(self) -> VideoStream:
        chosen = video_stream(self.container)
        if chosen is None:
            raise VideoError(Reason.UNDECODABLE, f"{shown_path(self.path)} has no video track")
        others = [
            stream
            for stream in self.container.streams.video
            if stream is not chosen and not stream.disposition & Disposition.attached_pic
        ]
        if others:
            self._note("other_tracks", f"{len(others) + 1} video tracks: the first is used")
        return chosen

    def _out_of_memory(self) -> VideoError:
        return VideoError(
            Reason.TOO_LARGE,
            f"decoding {shown_path(self.path)} needs more memory than allowed",
            advice="Make a smaller copy of it, or raise Limits.memory if you trust it.",
        )

    def _note(self, kind: str, detail: str, moment: Time | None = None) -> None:
        self.fault_count += 1
        if len(self.faults) < MAX_FAULTS:
            self.faults.append(Fault(kind, detail, moment))


def no_picture(
    path: Path, advice: str = "Check that it plays; render or download it again."
) -> VideoError:
    """Return the error to raise where nothing in a file could be decoded."""
    words = f"no picture in {shown_path(path)} can be decoded"
    return VideoError(Reason.UNDECODABLE, words, advice=advice)


def _words(error: av.FFmpegError) -> str:
    return (error.strerror or type(error).__name__).lower()


_EBML, _SEGMENT = 0x1A45DFA3, 0x18538067
_BOXES = frozenset(
    b"ftyp moov mdat free skip wide pnot styp moof mfra sidx ssix emsg prft pdin meta uuid".split()
)
"""What stands at the top of an MP4 or QuickTime file. Anything else was appended to it."""
_MOST_PARTS = 100_000
"""A fragmented film of a day has about as many; more is not worth the walk."""


def cut_short(path: Path) -> Fault | None:
    """Return a fault that says how many bytes are missing at the end, or None where none are.

    MP4, Matroska and AVI say at their head how long their parts are. A file that was cut on the way
    (a download that broke off, a full disk) decodes up to the cut without a word from the demuxer;
    here the missing bytes are counted. Streams without such sizes pass as whole.
    """
    file = PlainFile(path)
    try:
        size = file.seek(0, os.SEEK_END)
        missing = _structure_end(file, size) - size
    finally:
        file.close()
    if missing <= 0:
        return None
    return Fault("cut_short", f"the file ends {missing:,} bytes before it should")


def _structure_end(file: PlainFile, size: int) -> int:
    head = _read(file, 0, 12)
    if head[4:8] in _BOXES:
        return _mp4_end(file, size)
    if head[:4] == b"RIFF" and head[8:] == b"AVI ":
        return _avi_end(file, size)
    if int.from_bytes(head[:4], "big") == _EBML:
        return _matroska_end(file)
    return 0


def _mp4_end(file: PlainFile, size: int) -> int:
    place = 0
    for _ in range(_MOST_PARTS):
        head = _read(file, place, 16)
        length = int.from_bytes(head[:4], "big")
        if len(head) < 8:
            return place + 8 if any(head) else place  # half a box, or padding
        if length == 0 or head[4:8] not in _BOXES:  # 0: it lasts to the end, wherever that is
            return place
        if length == 1:
            length = int.from_bytes(head[8:16], "big")
        if length < 8:
            return place
        place += length
        if place >= size:
            break
    return place


def _avi_end(file: PlainFile, size: int) -> int:
    place = 0
    for _ in range(_MOST_PARTS):  # films above a gigabyte are a row of RIFFs
        head = _read(file, place, 8)
        if head[:4] != b"RIFF" or len(head) < 8:
            return place
        length = int.from_bytes(head[4:], "little")
        if length == 0:  # never finished: its writer was stopped
            return place
        place += 8 + length
        if place >= size:
            break
    return place


def _matroska_end(file: PlainFile) -> int:
    place = 0
    for wanted in (_EBML, _SEGMENT):
        head = _read(file, place, 12)
        length = _matroska_length(head[4:])
        if int.from_bytes(head[:4], "big") != wanted or length is None:
            return 0
        width, value = length
        place += 4 + width + value
    return place


def _matroska_length(data: bytes) -> tuple[int, int] | None:
    """Return the width and value of a Matroska length; None where it is unknown, as in a live
    stream."""
    if not data or not data[0]:
        return None
    width = 9 - data[0].bit_length()
    bits = 7 * width
    value = int.from_bytes(data[:width], "big") & ((1 << bits) - 1)
    if len(data) < width or value == (1 << bits) - 1:
        return None
    return width, value


def _read(file: PlainFile, place: int, count: int) -> bytes:
    file.seek(place)
    return file.read(count)
