"""Samples: pick moments of a video, and get the frames that are on the screen then.

Moments come first (centres of shots, N in all, k per second), as exact times; then the frames
are fetched by the cheaper of two ways: seeking from entry point to entry point in order, or
one scan through. Both give the same pictures.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType

import numpy as np
from av.video.frame import VideoFrame

from screentest.core.errors import BadOption, VideoError
from screentest.core.frames import NATIVE, Borders, Filter, Frame, FrameRequest, Layout, Size
from screentest.core.item import Span, Time, timecode
from screentest.core.outcome import Reason
from screentest.video.limits import DEFAULT_LIMITS, Limits
from screentest.video.memory import open_source
from screentest.video.probe import Converter, conversion_key
from screentest.video.survey import Survey, survey

SEEK_COST = 12
"""What a seek costs, in decoded frames: the decoder's threads start empty. Measured."""


def centres(spans: Iterable[Span]) -> list[Time]:
    """Return the middle of each span."""
    return [span.centre for span in spans]


def evenly(span: Span, count: int) -> list[Time]:
    """``count`` moments, each in the middle of its share of ``span``.

    >>> [str(t) for t in evenly(Span(Fraction(0), Fraction(10)), 2)]
    ['5/2', '15/2']
    """
    if count < 1:
        raise BadOption.of("count", count, "1 or more")
    return [span.start + span.duration * (2 * n + 1) / (2 * count) for n in range(count)]


def every(span: Span, rate: Fraction) -> list[Time]:
    """Moments at ``rate`` per second from the start of ``span`` on.

    >>> [str(t) for t in every(Span(Fraction(0), Fraction(1)), Fraction(2))]
    ['0', '1/2']
    """
    if rate <= 0:
        raise BadOption.of("rate", rate, "above 0")
    ticks = -(-span.duration * rate // 1)
    return [span.start + n / rate for n in range(int(ticks))]


def sample_frames(
    path: Path | str,
    moments: Sequence[Time],
    *,
    size: Size = NATIVE,
    layout: Layout = Layout.RGB,
    filter: Filter = Filter.BICUBIC,
    limits: Limits = DEFAULT_LIMITS,
    table: Survey | None = None,
    cut: Borders | None = None,
    kept: Mapping[Time, VideoFrame] = MappingProxyType({}),
) -> Iterator[Frame]:
    """Yield the frame on the screen at each of ``moments``, in order of time, each frame once.

    Before the first frame and after the last, the nearest one counts. Where two moments show
    the same frame it comes once. ``cut`` are borders to leave out. Nothing is decoded where
    ``kept`` has all of the frames.
    """
    table = table or survey(path, limits)
    wanted = sorted({table.shown_at(moment) for moment in moments})
    key = conversion_key(FrameRequest(size=size, layout=layout, filter=filter))
    convert = Converter(key, cut)
    times = [int(table.pts[index]) * table.time_base for index in wanted]
    if all(moment in kept for moment in times):
        for moment, index in zip(times, wanted, strict=True):
            yield Frame(moment, index, convert(kept[moment]))
        return
    served = 0
    with open_source(path, limits) as source:
        for leg in _plan(table, wanted):
            if leg.entry is not None and not source.seek(leg.entry):
                break
            due = {int(table.pts[index]): index for index in leg.indices}
            for moment, picture in source.frames(only=due):
                index = due[int(moment / table.time_base)]
                if index != wanted[served]:
                    break  # one was lost on the way
                yield Frame(moment, index, convert(picture))
                served += 1
                if index == leg.indices[-1]:
                    break
            if wanted[served - 1] != leg.indices[-1]:
                break  # this file does not seek as its index says
    if wanted[served:]:
        yield from _walk(path, table, wanted[served:], convert, limits)


KEPT_BYTES = 256 << 20
"""The memory that the decoded frames of a short film may take: about 5 s of 1280 × 720."""


class KeptFrames:
    """The decoded frames of a film that is short enough to keep all of them; else none."""

    def __init__(self, most: int = KEPT_BYTES) -> None:
        self.frames: dict[Time, VideoFrame] = {}
        self._left = most

    def add(self, moment: Time, frame: VideoFrame) -> None:
        """Keep a frame, unless that would be too much: then let go of all."""
        self._left -= sum(plane.buffer_size for plane in frame.planes)
        if self._left >= 0:
            self.frames[moment] = frame
        else:
            self.frames.clear()


@dataclass(frozen=True, slots=True)
class _Leg:
    """Frames that are reached in one go; ``entry`` is where to seek first, None: read on."""

    entry: int | None
    indices: tuple[int, ...]


def _plan(table: Survey, wanted: Sequence[int]) -> list[_Leg]:
    """Legs in order of time; one leg from the start where seeking would cost more."""
    legs: list[_Leg] = []
    cost = 0
    # Places in the file, not on the screen: that is what has to be decoded.
    starts = {int(entry): int(np.searchsorted(table.pts, entry)) for entry in set(table.entry)}
    for index in wanted:
        entry = int(table.entry[index])
        if legs and legs[-1].entry == entry:
            reached = legs[-1].indices[-1]
            cost += index - reached
            legs[-1] = _Leg(entry, (*legs[-1].indices, index))
            continue
        legs.append(_Leg(entry, (index,)))
        cost += SEEK_COST + index - starts[entry]
    if cost >= (wanted[-1] if wanted else 0):
        return [_Leg(None, tuple(wanted))] if wanted else []
    return legs


def _walk(
    path: Path | str, table: Survey, missing: Sequence[int], convert: Converter, limits: Limits
) -> Iterator[Frame]:
    """Decode from the start, every frame, and pick: slow and sure."""
    remaining = {int(table.pts[index]): index for index in missing}
    with open_source(path, limits) as source:
        for moment, picture in source.frames():
            index = remaining.pop(int(moment / table.time_base), None)
            if index is not None:
                yield Frame(moment, index, convert(picture))
            if not remaining:
                return
    first = min(remaining) * table.time_base
    raise VideoError(
        Reason.UNDECODABLE,
        f"{len(remaining)} of the frames asked for cannot be decoded, "
        f"the first at {timecode(first)}",
        advice="The file is damaged there: `screentest probe` shows its faults.",
    )
