"""The encoder: one fresh x264 for every clip, so that a clip's bytes depend on it alone.

A clip that is encoded again from the same pictures gives the same packets, wherever it stands
and whatever came before it. All clips of a file share one pair of parameter sets, because
those depend on the settings and the format only. Mp4Writer puts packets of one video track into an
MP4, with times that always fit together.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, fields
from fractions import Fraction
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import av
from av.codec.context import Flags
from av.packet import Packet
from av.video.frame import VideoFrame

from screentest.core import BadOption, Image, Signature
from screentest.video.edit.packets import encoder_note, length_prefixed, parameter_sets

if TYPE_CHECKING:
    from av.container import OutputContainer
    from av.stream import Stream
    from av.video.codeccontext import VideoCodecContext
    from av.video.stream import VideoStream

    from screentest._util.atomic import OutputFile

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
                raise BadOption(f"invalid {name} {value}: must be from {low} to {high}")

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
