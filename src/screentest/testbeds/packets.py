"""Packets of a video file, and where those of two files differ."""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from pathlib import Path

from screentest.core.item import Span, timecode
from screentest.testbeds.faults import Fault
from screentest.testbeds.testbed import Pair
from screentest.video.source import VideoSource


@dataclass(frozen=True, slots=True)
class Packet:
    """A coded picture: its time and the hash of its bytes."""

    tick: int
    """When it is shown."""
    is_key: bool
    digest: bytes


@dataclass(frozen=True, slots=True)
class Track:
    """All packets of a video, in the order of the file, and what a decoder is given first."""

    header: bytes
    time_base: Fraction
    packets: tuple[Packet, ...]

    def outside(self, spans: Sequence[Span]) -> list[Packet]:
        """Return the packets that are shown in none of ``spans``."""
        ranges = sorted(map(self._ticks, spans), key=lambda ticks: ticks.start)
        starts = [ticks.start for ticks in ranges]

        def is_in(tick: int) -> bool:
            place = bisect_right(starts, tick) - 1
            return place >= 0 and tick in ranges[place]

        return [packet for packet in self.packets if not is_in(packet.tick)]

    def inside(self, span: Span) -> list[bytes]:
        """Return the hashes of the packets that are shown in ``span``."""
        ticks = self._ticks(span)
        return [packet.digest for packet in self.packets if packet.tick in ticks]

    def timecode(self, packet: Packet) -> str:
        """When a packet is shown, for people."""
        return timecode(packet.tick * self.time_base)

    def _ticks(self, span: Span) -> range:
        return range(ceil(span.start / self.time_base), ceil(span.end / self.time_base))


def read_track(path: Path) -> Track:
    """Read and hash the packets of a video. Nothing is decoded."""
    with VideoSource(path) as source:
        header = bytes(source.stream.codec_context.extradata or b"")
        packets = tuple(
            Packet(
                packet.pts or 0,
                bool(packet.is_keyframe),
                hashlib.blake2b(bytes(packet), digest_size=16).digest(),
            )
            for packet in source.packets()
            if packet.size
        )
        return Track(hashlib.sha256(header).digest(), source.time_base, packets)


def compare_tracks(pair: Pair, intact: Track, changed: Track) -> Iterator[Fault]:
    """Find where they differ although nothing was done, or are the same although it was."""
    if intact.header != changed.header:
        yield Fault.of("headers")
    if intact.time_base != changed.time_base:
        yield Fault.of("time_bases", intact=intact.time_base, changed=changed.time_base)
        return
    yield from _difference(pair, intact, changed)
    for touch in pair.touched:
        if touch.degraded == touch.intact and intact.inside(touch.intact) == changed.inside(
            touch.intact
        ):
            yield Fault.of("touch_unchanged", number=touch.clip + 1, span=touch.intact)


def _difference(pair: Pair, intact: Track, changed: Track) -> Iterator[Fault]:
    ours = intact.outside([touch.intact for touch in pair.touched])
    theirs = changed.outside(
        [touch.degraded for touch in pair.touched if touch.degraded is not None]
    )
    # Where clips were dropped or moved, the others may be shown at another time.
    in_place = all(touch.degraded == touch.intact for touch in pair.touched)
    wrong = [
        (first, second)
        for first, second in zip(ours, theirs, strict=False)
        if (first.digest, first.is_key) != (second.digest, second.is_key)
        or (in_place and first.tick != second.tick)
    ]
    if wrong:
        first, second = wrong[0]
        yield Fault.of(
            "packets",
            count=len(wrong),
            total=len(ours),
            intact=intact.timecode(first),
            changed=changed.timecode(second),
        )
    if len(ours) != len(theirs):
        yield Fault.of("packet_count", intact=len(ours), changed=len(theirs))
