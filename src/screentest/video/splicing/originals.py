"""Originals: the very pictures that a normalised clip was encoded from, decoded once more.

Seeking into a stranger's file can give wrong pictures without an error. Every picture is
compared with the checksum taken when the file was normalised; after the first that differs,
the source is decoded from its beginning instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from screentest.base.printable import shown_path
from screentest.core import BadOption, timecode
from screentest.video.limits import Limits
from screentest.video.source import Source
from screentest.video.splicing.encode import StreamFormat
from screentest.video.splicing.pictures import Fitter, checksum, timed_frames

if TYPE_CHECKING:
    from screentest.core.frames import Image
    from screentest.video.splicing.normalize import NormalizedVideo
    from screentest.video.splicing.parts import Origin


def original_pictures(
    video: NormalizedVideo, first: int, ticks: Sequence[int], limits: Limits
) -> Iterator[Image]:
    """The pictures number ``first`` and on of ``video``, shown at ``ticks``, from its source."""
    served = 0
    entry = video.cut_before(ticks[0] * video.format.time_base).entry
    for enter_at in (entry, None) if entry is not None else (None,):
        for picture in _decoded(video, enter_at, ticks[served:], limits):
            if checksum(picture) != video.checksum(first + served):
                break
            yield picture
            served += 1
        if served == len(ticks):
            return
    raise BadOption(
        f"{shown_path(video.source)} no longer gives the pictures that "
        f"{shown_path(video.path)} was made from, "
        f"at {timecode(ticks[served] * video.format.time_base)}",
        advice="The source, or the decoder, has changed: normalise it again.",
    )


def _decoded(
    video: NormalizedVideo, enter_at: int | None, ticks: Sequence[int], limits: Limits
) -> Iterator[Image]:
    """Pictures as long as they come at the ticks where they should."""
    form = video.format
    fit = Fitter(form.width, form.height, form.matrix)
    with Source(video.source, limits, threads=video.settings.threads) as source:
        if enter_at is not None:
            source.seek(enter_at)
        coming = timed_frames(source.frames(), video.clock, ticks[0], ticks[-1] + 1)
        for one, tick in zip(coming, ticks, strict=False):
            if one.tick != tick:
                return
            yield fit(one.frame)


def other_pictures(origin: Origin, form: StreamFormat, limits: Limits) -> Iterator[Image]:
    """The pictures of another file, upright and in the size of the normalised one."""
    fit = Fitter(form.width, form.height, form.matrix)
    with Source(origin.path, limits) as source:
        # From the beginning: of this file nothing is known that would make seeking safe.
        for moment, frame in source.frames():
            if origin.span is not None and moment >= origin.span.end:
                return
            if origin.span is None or moment >= origin.span.start:
                yield fit(frame)
