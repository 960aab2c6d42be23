"""Joining: one source of several short videos, each of them a clip.

Degradations need films of several clips; corpora of short videos have one each. SLVMEval joins
two for its proxy experiment on FETV. What is joined here is a source like any other: all that
is made of it is encoded from it, by one encoder, once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from screentest.core import (
    BadOption,
    Clip,
    Failure,
    Item,
    Reason,
    Script,
    Size,
    Span,
    Time,
    VideoError,
    from_json,
    to_json,
)
from screentest.degrade.names import folder_name
from screentest.run import hash_item, hash_parts
from screentest.video import EncoderSettings, probe
from screentest.video.atomic import atomic_output
from screentest.video.sandbox import supervised
from screentest.video.source import Source
from screentest.video.splicing.clips import ClipWriter
from screentest.video.splicing.encode import StreamFormat
from screentest.video.splicing.mp4 import Mp4Writer
from screentest.video.splicing.pictures import (
    Clock,
    Fitter,
    even_size,
    matrix_of,
    timed_frames,
)
from screentest.video.survey import survey

if TYPE_CHECKING:
    from av.video.frame import VideoFrame

    from screentest.core.frames import Image

FOLDER = "joined"
LOSSLESS = EncoderSettings(crf=0, preset="ultrafast")
_BLACK, _GREY = 16, 128


@dataclass(frozen=True, slots=True)
class Joined:
    """Sources made of short videos, and the groups that could not be joined."""

    items: tuple[Item, ...]
    failed: Mapping[str, Failure] = field(default_factory=dict)
    left_over: tuple[str, ...] = ()
    """Ids at the end that were too few for a group."""


def join_videos(
    items: Sequence[Item],
    count: int,
    testbed: Path,
    *,
    long_side: int | None = None,
    rate: Fraction | None = None,
) -> Joined:
    """Join every ``count`` items, in their order; the files are kept in ``testbed``.

    Pictures of another shape than the first of a group get black bars; the frame rate is that
    of the first, or ``rate``.
    """
    if count < 2:
        raise BadOption(f"{count} videos cannot be joined", advice="Give 2 or more.")
    groups = [items[at : at + count] for at in range(0, len(items), count)]
    whole = [group for group in groups if len(group) == count]
    (testbed / FOLDER).mkdir(parents=True, exist_ok=True)
    made, failed = [], {}
    for group in whole:
        name = "+".join(item.id for item in group)
        outcome = supervised(_joined, name, list(group), testbed, long_side, rate)
        if outcome.failure is not None:
            failed[name] = outcome.failure
        else:
            made.append(outcome.unwrap())
    left = [item.id for group in groups if len(group) < count for item in group]
    return Joined(tuple(made), failed, tuple(left))


def _joined(
    name: str, group: list[Item], testbed: Path, long_side: int | None, rate: Fraction | None
) -> Item:
    """In the worker: the source of one group, made or found."""
    parts = {str(number): hash_item(item) for number, item in enumerate(group)}
    digest = hash_parts({**parts, "long_side": str(long_side), "rate": str(rate)})[:12]
    out = testbed / FOLDER / f"{folder_name(name)}-{digest}.mp4"
    record = out.with_suffix(".json")
    if out.exists() and record.exists():  # both are whole: they were put in place in one step
        script = from_json(Script, record.read_bytes())
    else:
        script = _write(group, out, long_side, rate)
        with atomic_output(record) as file:
            file.write(to_json(script).encode())
    return Item(id=name, video=out, script=script, groups=dict(group[0].groups))


def _write(group: list[Item], out: Path, long_side: int | None, rate: Fraction | None) -> Script:
    tape = _Tape(group[0].video, long_side, rate)
    with atomic_output(out) as file, Mp4Writer(file, LOSSLESS, tape.form) as writer:
        writing = ClipWriter(writer, LOSSLESS, tape.form)
        clips = tuple(Clip(item.text, tape.append(item.video, writing)) for item in group)
        writing.finish()
    return Script(clips)


class _Tape:
    """Videos one after another, in the size and at the rate of the first."""

    def __init__(self, first: Path, long_side: int | None, rate: Fraction | None) -> None:
        info = probe(first)
        width, height = even_size(Size(long_side=long_side), info.width, info.height)
        wanted = rate or info.rate.limit_denominator(1001)
        with Source(first) as source:
            _, frame = _first(source.frames(), first)
            matrix = matrix_of(frame)
        scale = wanted.numerator
        while scale < 10_000:
            scale *= 2
        self.form = StreamFormat(width, height, scale, wanted, constant_rate=True, matrix=matrix)
        self._end = 0

    def append(self, path: Path, clips: ClipWriter) -> Span:
        """Write a video; where it lies."""
        step, count = int(self.form.timescale / self.form.rate), 0
        for picture in self._pictures(path):
            tick = self._end + count * step
            clips.add(picture, tick, step, begins_clip=count == 0)
            count += 1
        start, self._end = self._end, self._end + count * step
        return Span(start * self.form.time_base, self._end * self.form.time_base)

    def _pictures(self, path: Path) -> Iterator[Image]:
        info, end = probe(path), survey(path).end
        inner = _inside(info.width, info.height, self.form.width, self.form.height)
        fit = Fitter(*inner, self.form.matrix)
        with Source(path) as source:
            frames = source.frames()
            first = _first(frames, path)
            clock = Clock(first[0], self.form.timescale, self.form.rate)
            last = max(clock.step, clock.tick(end))
            for one in timed_frames(chain([first], frames), clock, 0, last):
                yield framed(fit(one.frame), self.form.width, self.form.height)


def _first(frames: Iterator[tuple[Time, VideoFrame]], path: Path) -> tuple[Time, VideoFrame]:
    found = next(frames, None)
    if found is None:
        raise VideoError(
            Reason.UNDECODABLE,
            f"no picture in {path.name} can be decoded",
            advice="Check that it plays; render or download it again.",
        )
    return found


def _inside(width: int, height: int, most_width: int, most_height: int) -> tuple[int, int]:
    """The largest even size of this shape that fits.

    >>> _inside(640, 360, 200, 200)
    (200, 112)
    """
    scale = min(Fraction(most_width, width), Fraction(most_height, height))
    return even_size(Size(exact=(int(width * scale), int(height * scale))), width, height)


def framed(picture: Image, width: int, height: int) -> Image:
    """An I420 picture in the middle of a black one."""
    rows, across = picture.shape
    down = rows * 2 // 3
    if (across, down) == (width, height):
        return picture
    left, top = (width - across) // 4 * 2, (height - down) // 4 * 2
    result = np.full((height * 3 // 2, width), _GREY, np.uint8)
    result[:height] = _BLACK
    result[top : top + down, left : left + across] = picture[:down]
    chroma = result[height:].reshape(2, height // 2, width // 2)
    inner = picture[down:].reshape(2, down // 2, across // 2)
    chroma[:, top // 2 : (top + down) // 2, left // 2 : (left + across) // 2] = inner
    return result
