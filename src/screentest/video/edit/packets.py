"""PacketFile: the packets of a normalised file by number, to be copied without decoding.

With the little of H.264 that this needs.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from screentest._util.text import shown_path
from screentest.core import BadOption, Span, Time, timecode
from screentest.video.limits import Limits
from screentest.video.source import VideoSource

if TYPE_CHECKING:
    from av.video.stream import VideoStream

    from screentest.video.source import VideoPacket


# The little of H.264 that splicing needs: units, parameter sets, the encoder's signature.

_START = b"\x00\x00\x01"
_KIND = 0x1F
_SEI, _SPS, _PPS = 6, 7, 8
_X264_MARK = b"x264 - core"


def units(stream: bytes) -> Iterator[bytes]:
    """Yield the units of a byte stream, which stand between start codes.

    >>> list(units(bytes.fromhex("00000001 6742 000001 68ce")))
    [b'gB', b'h\\xce']
    """
    place = stream.find(_START)
    while place >= 0:
        begin = place + len(_START)
        place = stream.find(_START, begin)
        # A unit never ends in a zero byte: what is there belongs to the next start code.
        unit = stream[begin : place if place >= 0 else len(stream)].rstrip(b"\x00")
        if unit:
            yield unit


def length_prefixed(stream: bytes) -> bytes:
    """Return the same units as MP4 stores them: each behind its length in four bytes."""
    return b"".join(len(unit).to_bytes(4, "big") + unit for unit in units(stream))


def parameter_sets(header: bytes) -> tuple[bytes, ...]:
    """Return the parameter sets in an encoder's header or in an MP4's decoder record (avcC).

    >>> parameter_sets(bytes.fromhex("0164001effe1 0002 6742 01 0002 68ce"))
    (b'gB', b'h\\xce')
    """
    if header[:1] != b"\x01":
        return tuple(unit for unit in units(header) if unit[0] & _KIND in (_SPS, _PPS))
    sets: list[bytes] = []
    place = 5
    for mask in (0x1F, 0xFF):  # the count of the first kind shares its byte with reserved bits
        count, place = header[place] & mask, place + 1
        for _ in range(count):
            size = int.from_bytes(header[place : place + 2], "big")
            sets.append(header[place + 2 : place + 2 + size])
            place += 2 + size
    return tuple(sets)


def encoder_note(stream: bytes) -> str:
    """Return the note of x264 on itself and its options in the first packet it writes; else
    empty."""
    for unit in units(stream):
        begin = unit.find(_X264_MARK)
        if unit[0] & _KIND == _SEI and begin >= 0:
            return unit[begin:].split(b"\x00", 1)[0].decode("ascii", "replace")
    return ""


class PacketFile:
    """An open normalised file. Each of its keyframes stands at the head of what leans on it."""

    def __init__(self, path: Path, limits: Limits, timescale: int, end: Time) -> None:
        self._path = path
        self._source = VideoSource(path, limits)
        self._timescale = timescale
        self._end = int(end * timescale)
        shown_at, decoded_at, keys = array("q"), array("q"), array("b")
        for packet in self._source.packets():
            if packet.size and packet.pts is not None and packet.dts is not None:
                shown_at.append(packet.pts)
                decoded_at.append(packet.dts)
                keys.append(packet.is_keyframe)
        self._shown_at = np.array(shown_at, np.int64)
        self._decoded_at = np.array(decoded_at, np.int64)
        self._keys = np.flatnonzero(keys).tolist()
        self._at = len(shown_at)
        self._coming: Iterator[VideoPacket] = iter(())
        self.ticks: NDArray[np.int64] = np.sort(self._shown_at)
        """When each picture is shown, in order."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._source.close()

    @property
    def stream(self) -> VideoStream:
        """The track, for a muxer to imitate."""
        return self._source.stream

    @property
    def parameter_sets(self) -> tuple[bytes, ...]:
        """The header that a decoder needs before the first packet."""
        return parameter_sets(bytes(self.stream.codec_context.extradata or b""))

    def numbers(self, span: Span) -> range:
        """Return the numbers of the packets of ``span``, which are also those of its pictures.

        Raises BadOption where it does not begin and end at keyframes.
        """
        first, last = self._number(span.start), self._number(span.end)
        if first >= last:
            raise BadOption(f"{span} holds no frame", advice="Leave the part out.")
        return range(first, last)

    def timing(self, numbers: range) -> tuple[list[int], list[int]]:
        """When the pictures of a span are shown, from its start, and for how long."""
        stop = self._end if numbers.stop == len(self.ticks) else self.ticks[numbers.stop]
        ticks = self.ticks[numbers.start : numbers.stop]
        durations = np.diff(ticks, append=stop)
        return (ticks - ticks[0]).tolist(), durations.tolist()

    def read(self, numbers: range) -> Iterator[tuple[int, VideoPacket]]:
        """Packets with when each is shown, counted from the start of the first."""
        start = int(self.ticks[numbers.start])
        if self._at != numbers.start:
            self._go_to(numbers.start)
        while self._at < numbers.stop:
            packet = next(self._coming, None)
            if packet is None or packet.dts != self._decoded_at[self._at]:
                raise self._changed()
            number, self._at = self._at, self._at + 1
            if number >= numbers.start:
                yield int(self._shown_at[number]) - start, packet

    def _go_to(self, number: int) -> None:
        """Seek to a packet, or some way before it."""
        for target in (number, 0):
            self._source.seek(int(self._decoded_at[target]))
            coming = self._source.packets()
            first = next(coming)
            self._coming = chain([first], coming)
            self._at = int(np.searchsorted(self._decoded_at, first.dts or 0))
            if self._at <= number:
                return
        raise self._changed()

    def _changed(self) -> BadOption:
        return BadOption(
            f"{shown_path(self._path)} changed while it was read",
            advice="Normalise the source again.",
        )

    def _number(self, moment: Time) -> int:
        tick = moment * self._timescale
        if tick == self._end:
            return len(self.ticks)
        place = bisect_left(self._keys, tick, key=lambda number: self._shown_at[number])
        near = [int(self._shown_at[number]) for number in self._keys[max(0, place - 1) : place + 1]]
        if tick in near:
            return self._keys[near.index(int(tick)) + max(0, place - 1)]
        raise BadOption(
            f"there is no keyframe at {timecode(moment)} ({moment} s)",
            advice="The nearest are at "
            + " and ".join(f"{Fraction(tick, self._timescale)} s" for tick in near)
            + ". Ask for one there when you normalise, or move the part.",
        )
