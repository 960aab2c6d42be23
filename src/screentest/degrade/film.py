"""From a script on the source's clock to the clips of the normalised film."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from screentest.core import Script, Span, Time
from screentest.degrade.captions.facts import CaptionFacts
from screentest.degrade.contract import Film, FilmClip

if TYPE_CHECKING:
    from screentest.video import NormalizedVideo


def boundaries(script: Script) -> list[Time]:
    """Where the clips of a timed script begin and end."""
    spans = [clip.span for clip in script.clips if clip.span is not None]
    return sorted({moment for span in spans for moment in (span.start, span.end)})


def places_of(video: NormalizedVideo) -> Mapping[Time, Time]:
    """Where each boundary that was asked for lies in the file. Long films have thousands."""
    return {boundary.asked: boundary.time for boundary in video.boundaries}


def film_of(video: NormalizedVideo, script: Script, facts: Sequence[CaptionFacts | None]) -> Film:
    """The film with its captioned clips. Clips of which no frame is left have no place in it.

    That is so for a caption beyond the end of the film, and for one shorter than a frame.
    Facts are None where a caption could not be read.
    """
    times, places = video.frame_times(), places_of(video)
    clips = []
    for number, (clip, said) in enumerate(zip(script.clips, facts, strict=True)):
        assert clip.span is not None
        start, end = places[clip.span.start], places[clip.span.end]
        frames = bisect_left(times, end) - bisect_left(times, start)
        if frames > 0:
            span, known = Span(start, end), said or CaptionFacts()
            clips.append(FilmClip(number, clip.caption, span, frames, known, said is None))
    return Film(video, tuple(clips))
