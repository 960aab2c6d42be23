"""The encoder: one fresh x264 for every clip, so that a clip's bytes depend on it alone.

A clip that is encoded again from the same pictures gives the same packets, wherever it stands
and whatever came before it. All clips of a file share one pair of parameter sets, because
those depend on the settings and the format only. Mp4Writer puts packets of one video track into an
MP4, with times that always fit together.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, fields
from fractions import Fraction
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import av
import numpy as np
from av.codec.context import Flags
from av.packet import Packet
from av.video.frame import VideoFrame
from numpy.typing import NDArray

from screentest._util.text import shown_path
from screentest.core import BadOption, Image, Signature, Span, Time, timecode
from screentest.video.source import VideoSource

if TYPE_CHECKING:
    from av.container import OutputContainer
    from av.stream import Stream
    from av.video.codeccontext import VideoCodecContext
    from av.video.stream import VideoStream

    from screentest._util.atomic import OutputFile
    from screentest.video.source import VideoPacket


PIXEL_FORMAT = "yuv420p"
_VERSION = 1
_PRESETS = (
    *("ultrafast", "superfast", "veryfast", "faster", "fast"),
    *("medium", "slow", "slower", "veryslow", "placebo"),
)


@dataclass(frozen=True, slots=True)
class EncoderSettings:
    """How pictures become packets. Same settings and same pictures: same bytes, anywhere.

    >>> print(EncoderSettings(crf=20).signature)
    x264|v:1|b_frames:3|b_pyramid:True|crf:20|gop:250|preset:fast|threads:4
    """

    crf: float = 18
    """Constant rate factor; 18 is close to what the eye cannot tell from the source."""
    preset: str = "fast"
    b_frames: int = 3
    """The most B-frames in a row."""
    b_pyramid: bool = True
    """Whether B-frames may lean on B-frames."""
    gop: int = 250
    """The most frames from one keyframe to the next, inside a clip."""
    threads: int = 4
    """Part of the result, so it is never taken from the machine."""

    def __post_init__(self) -> None:
        if self.preset not in _PRESETS:
            raise BadOption(
                f"x264 has no preset {self.preset!r}", advice=f"Known: {', '.join(_PRESETS)}."
            )
        for name, low, high in (
            ("crf", 0, 51),
            ("b_frames", 0, 16),
            ("gop", 1, 10_000),
            ("threads", 1, 64),
        ):
            value = getattr(self, name)
            if not low <= value <= high:
                raise BadOption.of(name, value, f"from {low} to {high}")

    @property
    def signature(self) -> Signature:
        """The part of a signature that these settings decide."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        # 20 and 20.0 are one setting, and JSON makes the one of the other.
        return Signature.of("x264", version=_VERSION, **values | {"crf": f"{self.crf:g}"})

    @property
    def depth(self) -> int:
        """By how many frames the order of packets may run ahead of the order of pictures."""
        if self.b_frames == 0 or self.gop == 1:
            return 0
        return 2 if self.b_pyramid and self.b_frames > 1 else 1

    def options(self, *, constant_rate: bool) -> dict[str, str]:
        """Return the settings as libavcodec takes them."""
        x264 = {
            "force-cfr": str(int(constant_rate)),
            "cpu-independent": "1",  # some of x264's arithmetic differs from processor to processor
            "sliced-threads": "0",
            "lookahead-threads": "1",
            "open-gop": "0",
            "b-pyramid": "normal" if self.b_pyramid else "none",
        }
        return {
            "preset": self.preset,
            "crf": f"{self.crf:g}",
            "bf": str(self.b_frames),
            "g": str(self.gop),
            "a53cc": "0",  # captions that travel inside pictures are dropped
            "x264-params": ":".join(f"{key}={value}" for key, value in x264.items()),
        }


@dataclass(frozen=True, slots=True)
class StreamFormat:
    """What all pictures of a file share. The numbers for colour are H.264's; 2: not said."""

    width: int
    height: int
    timescale: int
    """Ticks per second; every time in the file is a whole number of them."""
    rate: Fraction
    """Frames per second, for the encoder's planning and never for computing times."""
    constant_rate: bool
    """Whether the rate is exact throughout."""
    sample_aspect: Fraction = Fraction(1)
    matrix: int = 2
    primaries: int = 2
    transfer: int = 2

    def __post_init__(self) -> None:
        if self.width % 2 or self.height % 2 or min(self.width, self.height) < 2:
            raise ValueError(f"sides must be even: {self.width}×{self.height}")

    @property
    def time_base(self) -> Fraction:
        """The length of a tick in seconds."""
        return Fraction(1, self.timescale)


def configure(context: VideoCodecContext, settings: EncoderSettings, form: StreamFormat) -> None:
    """Prepare an encoder that is not open yet."""
    context.width, context.height = form.width, form.height
    context.pix_fmt = PIXEL_FORMAT
    context.time_base = form.time_base
    context.framerate = form.rate
    context.sample_aspect_ratio = form.sample_aspect
    context.color_range = 1  # limited, as video has it
    context.colorspace = form.matrix
    context.color_primaries = form.primaries
    context.color_trc = form.transfer
    context.thread_count = settings.threads
    context.flags |= int(Flags.global_header)
    context.options = settings.options(constant_rate=form.constant_rate)


class ClipEncoder:
    """Encodes one clip. The first packet starts afresh: nothing before it is needed."""

    def __init__(self, settings: EncoderSettings, form: StreamFormat, start: int) -> None:
        self._context: VideoCodecContext = av.CodecContext.create("libx264", "w")
        configure(self._context, settings, form)
        self._context.open()
        self._form = form
        self._start = start
        self.note = ""
        """What the encoder says of itself, once the first packet is out."""

    @property
    def parameter_sets(self) -> tuple[bytes, ...]:
        """The header that a decoder needs before the first packet."""
        return parameter_sets(bytes(self._context.extradata or b""))

    def encode(self, picture: Image, tick: int) -> list[Packet[Stream]]:
        """Hand over the next picture (I420, shown from ``tick`` on); packets that are ready."""
        frame = VideoFrame.from_ndarray(picture, format=PIXEL_FORMAT)
        # Counted from the clip's start: an encoder that sees other numbers might decide otherwise.
        frame.pts = tick - self._start
        frame.time_base = self._form.time_base
        return self._taken(self._context.encode(frame))

    def finish(self) -> list[Packet[Stream]]:
        """Return the packets still inside."""
        return self._taken(self._context.encode(None))

    def _taken(self, packets: list[Packet[Stream]]) -> list[Packet[Stream]]:
        if packets and not self.note:
            self.note = encoder_note(bytes(packets[0]))
        for packet in packets:
            packet.pts = (packet.pts or 0) + self._start
        return packets


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
        """Take the next picture in order of showing. Announce it before its packet is written."""
        if tick != self.end or duration <= 0:
            raise ValueError(
                f"invalid picture at {tick} for {duration} ticks: must begin at {self.end}"
            )
        if tick == 0:
            # The head start that reordered packets need, in steps of the first picture.
            self._decode_at.extend(-ahead * duration for ahead in range(self._depth, 0, -1))
        self._decode_at.append(tick)
        self._durations[tick] = duration
        self.end = tick + duration

    def write(self, packet: Packet[Any], tick: int) -> None:
        """Write the next packet in order of decoding, as an MP4 holds it; shown from ``tick``
        on."""
        packet.duration = self._durations.pop(tick)
        packet.pts, packet.dts = tick, self._decode_at.popleft()
        if packet.dts > tick:
            raise AssertionError(f"the packet for {tick} would be decoded at {packet.dts}")
        packet.time_base = self._form.time_base
        packet.stream = self._stream
        self._container.mux_one(packet)
        self._file.check()

    def write_encoded(self, packet: Packet[Stream], tick: int) -> None:
        """Write a packet as the encoder gives it."""
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


# PacketFile: the packets of a normalised file by number, to be copied without decoding.
# With the little of H.264 that this needs.


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

    def __init__(self, path: Path, timescale: int, end: Time) -> None:
        self._path = path
        self._source = VideoSource(path)
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
