"""Survey: what the packets of a file say, without decoding them.

One pass over the packets gives every presentation time, the points where decoding can
begin, and whether the frame rate is constant. It costs about a hundredth of a decode.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from screentest._util.text import shown_path
from screentest.core import Reason, Time, VideoError
from screentest.video.limits import DEFAULT_LIMITS, Limits
from screentest.video.source import MAX_FAULTS, VideoSource

if TYPE_CHECKING:
    from screentest.video.source import VideoPacket

_ENOUGH_FOR_A_GRID = 20
_RARE = 0.1

_H264_IDR = 5
# Instantaneous refresh, clean random access, broken link: what leans across them is shown
# before them, and such leading frames are reached from the entry before.
_HEVC_ENTRIES = range(16, 22)


@dataclass(frozen=True, slots=True)
class Survey:
    """The timestamps of a video stream, in ticks of its time base."""

    time_base: Fraction
    pts: NDArray[np.int64]
    """In presentation order."""
    entry: NDArray[np.int64]
    """For each frame: the timestamp of the point where decoding must begin to reach it."""
    last_duration: int
    nominal_rate: Fraction
    entries: int

    @property
    def times(self) -> Sequence[Time]:
        return [int(tick) * self.time_base for tick in self.pts]

    @property
    def start(self) -> Time:
        """When the first frame appears."""
        return int(self.pts[0]) * self.time_base

    @property
    def end(self) -> Time:
        """When the last frame has been shown."""
        return int(self.pts[-1] + self.last_duration) * self.time_base

    def rate(self) -> tuple[Fraction, bool]:
        """Frames per second, and whether it is constant.

        Constant means that every timestamp is within one tick of an even grid: containers
        that count in milliseconds cannot do better.
        """
        count = len(self.pts)
        if count < 2:
            return self.nominal_rate, True
        elapsed = int(self.pts[-1] - self.pts[0]) * self.time_base
        if elapsed <= 0:
            return self.nominal_rate, False
        mean = (count - 1) / elapsed
        for rate in (self.nominal_rate, mean):
            step = float(1 / rate / self.time_base)
            grid = self.pts[0] + np.arange(count) * step
            if np.abs(self.pts - grid).max() <= 1.0:
                return rate, True
        return mean, False

    def gaps(self) -> list[Time]:
        """Return where an otherwise even film lacks frames: the times after which they are missing.

        Demuxers pass over damaged packets without a word; a hole in the grid is what remains.
        A film whose rate varies throughout has no grid, and so no gaps.
        """
        steps = np.diff(self.pts)
        if len(steps) < _ENOUGH_FOR_A_GRID:
            return []
        usual = float(np.median(steps))
        wide = steps > 1.5 * usual
        even = np.abs(steps - usual) <= 1.0
        if not wide.any() or wide.mean() > _RARE or not (even | wide).all():
            return []
        return [int(tick) * self.time_base for tick in self.pts[:-1][wide][:MAX_FAULTS]]

    def shown_at(self, moment: Time) -> int:
        """Return the index of the frame on the screen at ``moment``; outside the video, the
        nearest."""
        tick = moment / self.time_base
        after = int(np.searchsorted(self.pts, int(tick // 1), side="right"))
        return min(max(after - 1, 0), len(self.pts) - 1)


def survey(path: Path | str, limits: Limits = DEFAULT_LIMITS) -> Survey:
    """Read the packets of the video in ``path``."""
    from screentest.video.memory import memory_video  # which is made of surveys

    video = memory_video(path)
    if video is not None:
        return video.survey
    with VideoSource(path, limits) as source:
        surveyor = Surveyor(source)
        for _ in surveyor.packets():
            pass
        return surveyor.table()


class Surveyor:
    """Reads the packets of an open source; ``table`` is the survey after the last of them."""

    def __init__(self, source: VideoSource) -> None:
        self._source = source
        self._is_entry = _EntryTest(source)
        # Plain machine integers: three hours of Python ones would weigh as much as the decoder.
        self._ticks, self._entry = array("q"), array("q")
        self._last_entry: int | None = None
        self._entry_before: int | None = None
        self._last_shown, self._last_duration, self._entries = -(2**63), 0, 0

    def packets(self) -> Iterator[VideoPacket]:
        """Yield each packet after it was noted."""
        for packet in self._source.packets():
            if packet.size and not packet.is_discard:
                self._note(packet)
            yield packet

    def _note(self, packet: VideoPacket) -> None:
        source, ticks = self._source, self._ticks
        pts = packet.pts if packet.pts is not None else packet.dts
        if pts is None:
            pts = round(len(ticks) / source.nominal_rate / source.time_base)
        if self._is_entry(packet):
            self._entry_before, self._last_entry = self._last_entry, pts
            self._entries += 1
        ticks.append(pts)
        # Frames shown before the entry they follow in the file lean on the one before it.
        leading = self._last_entry is not None and pts < self._last_entry
        origin = self._entry_before if leading else self._last_entry
        self._entry.append(origin if origin is not None else -(2**62))
        if pts >= self._last_shown:
            self._last_shown, self._last_duration = pts, int(packet.duration or 0)
        source.limits.check_frames(len(ticks))

    def table(self) -> Survey:
        """Return the survey of all packets that were read; raises VideoError without any."""
        source = self._source
        if not self._ticks:
            raise VideoError(
                Reason.UNDECODABLE,
                f"{shown_path(source.path)} holds no video packets",
                advice="The file is cut short or empty: fetch or render it again.",
            )
        file_order = np.frombuffer(self._ticks, dtype=np.int64)
        order = np.argsort(file_order, kind="stable")
        frame_ticks = round(1 / source.nominal_rate / source.time_base)
        return Survey(
            time_base=source.time_base,
            pts=file_order[order],
            entry=np.frombuffer(self._entry, dtype=np.int64)[order],
            last_duration=self._last_duration or max(1, frame_ticks),
            nominal_rate=source.nominal_rate,
            entries=self._entries,
        )


class _EntryTest:
    """Whether decoding can begin at a packet.

    H.264 and H.265 streams flag pictures as keyframes that others lean across (open GOPs,
    recovery points). Decoding from there gives wrong pictures without an error, so the
    packet's own units are looked at.
    """

    def __init__(self, source: VideoSource) -> None:
        context = source.stream.codec_context
        self._codec = context.name
        extradata = bytes(context.extradata or b"")
        # In MP4 and Matroska units are prefixed by their length, elsewhere by a start code.
        self._length_prefixed = len(extradata) > 4 and extradata[0] == 1
        if self._codec == "h264" and self._length_prefixed:
            self._length_size = (extradata[4] & 3) + 1
        elif self._codec == "hevc" and self._length_prefixed and len(extradata) > 21:
            self._length_size = (extradata[21] & 3) + 1
        else:
            self._length_size = 4

    def __call__(self, packet: VideoPacket) -> bool:
        if not packet.is_keyframe:
            return False
        if self._codec == "h264":
            return any(unit[0] & 0x1F == _H264_IDR for unit in self._units(bytes(packet)))
        if self._codec == "hevc":
            return any(
                (unit[0] >> 1) & 0x3F in _HEVC_ENTRIES for unit in self._units(bytes(packet))
            )
        return True

    def _units(self, data: bytes) -> list[bytes]:
        """Return the first bytes of each unit in a packet."""
        heads: list[bytes] = []
        if self._length_prefixed:
            place = 0
            while place + self._length_size < len(data):
                size = int.from_bytes(data[place : place + self._length_size], "big")
                place += self._length_size
                heads.append(data[place : place + 1])
                place += size
            return [head for head in heads if head]
        place = data.find(b"\x00\x00\x01")
        while 0 <= place < len(data) - 3:
            heads.append(data[place + 3 : place + 4])
            place = data.find(b"\x00\x00\x01", place + 3)
        return heads
