"""PacketFile: the packets of a normalised file by number, to be copied without decoding."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator
from fractions import Fraction
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from screentest.base.printable import shown_path
from screentest.core import BadOption, Span, Time, timecode
from screentest.video.limits import Limits
from screentest.video.source import Source
from screentest.video.splicing.h264 import parameter_sets

if TYPE_CHECKING:
    from av.video.stream import VideoStream

    from screentest.video.source import VideoPacket


class PacketFile:
    """An open normalised file. Each of its keyframes stands at the head of what leans on it."""

    def __init__(self, path: Path, limits: Limits, timescale: int, end: Time) -> None:
        self._path = path
        self._source = Source(path, limits)
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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._source.close()

    @property
    def stream(self) -> VideoStream:
        """The track, for a muxer to imitate."""
        return self._source.stream

    @property
    def parameter_sets(self) -> tuple[bytes, ...]:
        """What a decoder must know before the first packet."""
        return parameter_sets(bytes(self.stream.codec_context.extradata or b""))

    def numbers(self, span: Span) -> range:
        """The numbers of the packets of ``span``, which are also those of its pictures.

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
            + " and ".join(f"{Fraction(one, self._timescale)} s" for one in near)
            + ". Ask for one there when you normalise, or move the part.",
        )
