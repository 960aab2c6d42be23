"""Splice: render a changed copy of a normalised video at the price of what changes.

Kept parts are copies of packets. A touched part is encoded from the source's own pictures by
the encoder that made the normalised file, with a fresh start at each clip, so that a part
whose pictures are not changed comes out with the very bytes it had. What is not in the list
is dropped; the order of the list is the order of the result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from screentest._util.atomic import atomic_output
from screentest._util.text import shown_path
from screentest.core import BadOption, Frame, Image, Span, Time
from screentest.video.edit.encode import Mp4Writer, PacketFile
from screentest.video.edit.normalize import NormalizedVideo, refuse_to_replace
from screentest.video.edit.pictures import (
    ClipWriter,
    Keep,
    PixelConverter,
    Reencode,
    VideoPart,
    original_pictures,
    other_pictures,
)

if TYPE_CHECKING:
    from collections.abc import Generator


@dataclass(frozen=True, slots=True)
class SplicedVideo:
    """A file made by splice."""

    path: Path
    frames: int
    duration: Time
    places: tuple[Span, ...]
    """Where each part is in it."""


def splice(video: NormalizedVideo, parts: Sequence[VideoPart], out: Path) -> SplicedVideo:
    """Write the ``parts`` of ``video`` to ``out``, each where the one before it ended.

    A part begins and ends at keyframes; ``video.clips`` has those that were asked for.

    >>> from importlib.resources import files
    >>> from tempfile import TemporaryDirectory
    >>> from screentest.video.edit.normalize import normalize
    >>> from screentest.video.edit.pictures import frame_by_frame
    >>> source = Path(str(files("screentest") / "sample" / "frenchgp_1906_214x160.mp4"))
    >>> with TemporaryDirectory() as folder:
    ...     film = normalize(source, Path(folder) / "film.mp4", keyframes_at=[Time(5), Time(10)])
    ...     start, middle, end = film.clips
    ...     dark = Reencode(middle, frame_by_frame(lambda image: image // 2))
    ...     splice(film, [Keep(start), dark, Keep(end)], Path(folder) / "dark.mp4").frames
    288
    """
    out = Path(out)
    refuse_to_replace(out, video.path, video.source)
    if not parts:
        raise BadOption("nothing would be left of the video", advice="Give at least one part.")
    time_base = video.format.time_base
    with PacketFile(video.path, video.format.timescale, video.duration) as packets:
        _check_record(video, packets)
        plans = [_plan(video, packets, part) for part in parts]
        frames = sum(len(plan.ticks) for plan in plans)
        edges = [0]
        with (
            atomic_output(out) as file,
            Mp4Writer(file, video.settings, video.format, like=packets.stream) as writer,
        ):
            renderer = _Renderer(video, packets, writer)
            for number, plan in enumerate(plans, start=1):
                renderer.render(plan, number)
                edges.append(writer.end)
    places = tuple(Span(start * time_base, two * time_base) for start, two in pairwise(edges))
    return SplicedVideo(out, frames, edges[-1] * time_base, places)


@dataclass(frozen=True, slots=True)
class _PartPlan:
    """A part with all that must be known before anything is written."""

    part: VideoPart
    numbers: range
    """The frames of the normalised file that it covers."""
    ticks: Sequence[int]
    """When its pictures will be shown, from the start of the part."""
    durations: Sequence[int]


def _check_record(video: NormalizedVideo, packets: PacketFile) -> None:
    if len(packets.ticks) != video.frames:
        raise BadOption(
            f"{shown_path(video.path)} has {len(packets.ticks)} frames, its record {video.frames}",
            advice="It is not the file that was recorded: normalise the source again.",
        )


def _plan(video: NormalizedVideo, packets: PacketFile, part: VideoPart) -> _PartPlan:
    numbers = packets.numbers(part.span)
    if isinstance(part, Keep) or part.durations is None:
        return _PartPlan(part, numbers, *packets.timing(numbers))
    # The edges are rounded, not the lengths: errors must not add up.
    edges = [
        round(edge * video.format.timescale) for edge in accumulate(part.durations, initial=Time(0))
    ]
    durations = [two - start for start, two in pairwise(edges)]
    if not durations or min(durations) < 1:
        raise BadOption(
            f"the part {part.span} declares no frame, or one that is never shown",
            advice="Give every picture a duration above zero.",
        )
    return _PartPlan(part, numbers, edges[:-1], durations)


class _Renderer:
    """Writes parts, one after the other."""

    def __init__(self, video: NormalizedVideo, packets: PacketFile, writer: Mp4Writer) -> None:
        self._video = video
        self._packets = packets
        self._writer = writer
        self._clips = ClipWriter(writer, video.settings, video.format)
        scale = video.format.timescale
        self._clip_starts = {int(cut.time * scale) for cut in video.cuts}

    def render(self, plan: _PartPlan, number: int) -> None:
        if isinstance(plan.part, Keep):
            self._copy(plan)
        else:
            self._encode(plan, plan.part, f"part {number} ({plan.part.span})")

    def _copy(self, plan: _PartPlan) -> None:
        begin = self._writer.end
        for tick, duration in zip(plan.ticks, plan.durations, strict=True):
            self._writer.announce(begin + tick, duration)
        for tick, packet in self._packets.read(plan.numbers):
            self._writer.write(packet, begin + tick)

    def _encode(self, plan: _PartPlan, part: Reencode, name: str) -> None:
        begin = self._writer.end
        starts = self._starts_in(plan, part)
        convert = PixelConverter(part.pixels, self._video.format)
        shape = part.pixels.shape(self._video.format)
        with closing(self._frames(plan, part, convert, name)) as frames:
            images = iter(part.change(frames))
            for tick, duration in zip(plan.ticks, plan.durations, strict=True):
                image = _next_image(images, shape, name)
                picture = convert.pack(image)
                self._clips.add(picture, begin + tick, duration, begins_clip=tick in starts)
            if next(images, None) is not None:
                raise BadOption(
                    f"{name}: the frame function gives more than {len(plan.ticks)} frames",
                    advice="Give as many as come in, or declare the durations of all.",
                )
        self._clips.finish()
        self._check_encoder()

    def _starts_in(self, plan: _PartPlan, part: Reencode) -> set[int]:
        """Return the ticks in a part at which a clip begins; with times of its own it is one
        clip."""
        if part.durations is not None:
            return {0}
        first = int(self._packets.ticks[plan.numbers.start])
        return {0} | {tick for tick in plan.ticks if first + tick in self._clip_starts}

    def _frames(
        self, plan: _PartPlan, part: Reencode, convert: PixelConverter, name: str
    ) -> Generator[Frame]:
        """Yield the pictures of a part as its function sees them."""
        ticks = self._packets.ticks[plan.numbers.start : plan.numbers.stop].tolist()
        pictures = self._pictures(plan.numbers, ticks, part)
        for index, tick in zip(plan.numbers, ticks, strict=True):
            picture = next(pictures, None)
            if picture is None:
                raise BadOption(
                    f"{name}: the origin has {index - plan.numbers.start} frames, "
                    f"the part {len(ticks)}",
                    advice="Give an origin with a picture for every frame of the part.",
                )
            yield Frame(tick * self._video.format.time_base, index, convert.unpack(picture))
        if next(pictures, None) is not None:
            raise BadOption(
                f"{name}: the origin has more than the {len(ticks)} frames of the part",
                advice="Name the span of it that is meant.",
            )

    def _pictures(self, numbers: range, ticks: list[int], part: Reencode) -> Iterator[Image]:
        if part.origin is not None:
            return other_pictures(part.origin, self._video.format)
        return original_pictures(self._video, numbers.start, ticks)

    def _check_encoder(self) -> None:
        """Another build of x264 may write other packets, or ones the file's header does not fit."""
        same = self._clips.parameter_sets == self._packets.parameter_sets
        if not same or self._clips.note != self._video.encoder:
            raise BadOption(
                f"{shown_path(self._video.path)} was written by another build of the encoder",
                advice="Normalise the source again with the one that is installed now.",
            )


def _next_image(images: Iterator[object], shape: tuple[int, ...], name: str) -> Image:
    image = next(images, None)
    if image is None:
        raise BadOption(
            f"{name}: the frame function gives too few frames",
            advice="Give as many as come in, or declare the durations of all.",
        )
    given = f"type {type(image).__name__}"
    if isinstance(image, np.ndarray):
        if image.dtype == np.uint8 and image.shape == shape:
            return np.ascontiguousarray(image)
        given = f"{image.dtype}, {_sides(image.shape)}"
    raise BadOption(
        f"{name}: the frame function gives {given}",
        advice=f"Give an array of uint8, {_sides(shape)}.",
    )


def _sides(shape: tuple[int, ...]) -> str:
    return "×".join(map(str, shape)) or "without sides"
