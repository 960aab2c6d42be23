"""The scenes of an item: the clips of its script, or all of it with its prompt."""

from __future__ import annotations

from dataclasses import dataclass

from screentest.core import Failure, Item, Reason, Span


@dataclass(frozen=True, slots=True)
class Piece:
    """A text, and the time in which it should be shown; or why that cannot be looked at."""

    text: str
    span: Span
    failure: Failure | None = None


def pieces_of(item: Item, whole: Span, *, clips: bool = True) -> list[Piece]:
    """What is asked about with which part of the video.

    A script with times is asked about clip by clip. Where it has none, nobody knows when a
    clip is on, so each is asked about with the frames of the whole. Clips without a caption
    ask for nothing.
    """
    if not clips or item.script is None or not item.script.text.strip():
        return [Piece(item.text, whole)]
    pieces = []
    for clip in item.script.clips:
        if clip.caption.strip():
            pieces.append(_piece(clip.caption, clip.span, whole))
    return pieces


def _piece(caption: str, span: Span | None, whole: Span) -> Piece:
    if span is None:
        return Piece(caption, whole)
    start, end = max(span.start, whole.start), min(span.end, whole.end)
    if start < end:
        return Piece(caption, Span(start, end))
    told = f"the clip at {span} lies outside the video, which ends at {float(whole.end):.3f} s"
    return Piece(caption, span, Failure(Reason.NOT_APPLICABLE, told))
