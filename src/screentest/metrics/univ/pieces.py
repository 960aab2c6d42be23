"""What is judged at once: the whole video, or one shot with the text and source that go with it.

A shot's text is the clip of the script that is on at its middle, or the clip of its number
where script and video have equally many; else the whole text. Its source is the shot of its
number where both videos have equally many; else the same share of the running time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from screentest.core import Item, Resources, Shot, Span

Level: TypeAlias = Literal["video", "shots", "both"]


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the video, from 1; number 0 is all of it."""

    span: Span
    text: str
    source: Span | None = None
    number: int = 0
    of: int = 0


def whole_piece(item: Item, resources: Resources) -> Piece:
    """All of it."""
    source = resources.info(item.source).span if item.source else None
    return Piece(resources.info(item.video).span, item.text, source)


def shot_pieces(item: Item, resources: Resources) -> list[Piece]:
    """Shot by shot."""
    shots = resources.shots(item.video)
    sources = _source_spans(item, resources, shots)
    return [
        Piece(
            shot.span, shot_text(item, shot.span, place, len(shots)), source, place + 1, len(shots)
        )
        for place, (shot, source) in enumerate(zip(shots, sources, strict=True))
    ]


def shot_text(item: Item, span: Span, place: int, count: int) -> str:
    """What was asked of one shot, as far as the item says."""
    clips = item.script.clips if item.script is not None else ()
    for clip in clips:
        if clip.span is not None and span.centre in clip.span and clip.caption.strip():
            return clip.caption
    untimed = bool(clips) and clips[0].span is None
    if untimed and len(clips) == count and clips[place].caption.strip():
        return clips[place].caption
    return item.text


def _source_spans(item: Item, resources: Resources, shots: Sequence[Shot]) -> Sequence[Span | None]:
    if item.source is None:
        return [None] * len(shots)
    theirs = resources.shots(item.source)
    if len(theirs) == len(shots):
        return [shot.span for shot in theirs]
    whole, source = resources.info(item.video).span, resources.info(item.source).span
    scale = source.duration / whole.duration
    return [
        Span(
            source.start + (shot.start - whole.start) * scale,
            source.start + (shot.end - whole.start) * scale,
        )
        for shot in shots
    ]
