"""The tasks, what is judged at once (the whole video or one shot), and how a question is made.

A shot's text is the clip of the script that is on at its middle, or the clip of its number where
script and video have equally many; else the whole text. Its source is the shot of its number where
both videos have equally many; else the same share of the running time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from screentest.core import Item, Resources, Shot, Span
from screentest.models.ask import Frames, Placing, Query
from screentest.models.ask.templates import Pictures, Slot
from screentest.models.chat.messages import ChatRequest, Encoding, Sampling, encode
from screentest.models.pictures import read_picture

if TYPE_CHECKING:
    from pydantic import BaseModel

PieceLevel: TypeAlias = Literal["video", "shots", "both"]


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the video, from 1; number 0 is all of it."""

    span: Span
    text: str
    source: Span | None = None
    number: int = 0
    of: int = 0


def whole_piece(item: Item, resources: Resources) -> Piece:
    """Return the whole video as one piece."""
    source = resources.info(item.source).span if item.source else None
    return Piece(resources.info(item.video).span, item.text, source)


def shot_pieces(item: Item, resources: Resources) -> list[Piece]:
    """One piece for each shot of the video."""
    shots = resources.shots(item.video)
    sources = _source_spans(item, resources, shots)
    return [
        Piece(
            shot.span, shot_text(item, shot.span, place, len(shots)), source, place + 1, len(shots)
        )
        for place, (shot, source) in enumerate(zip(shots, sources, strict=True))
    ]


def shot_text(item: Item, span: Span, place: int, count: int) -> str:
    """Return what was asked of one shot, as far as the item says."""
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


_WHOLE = Encoding(quality=95)


def show_references(paths: Sequence[Path]) -> list[Pictures]:
    """Return each reference whole, in a picture of its own; an unreadable one fails them all."""
    return [Pictures([encode(read_picture(path), _WHOLE)]) for path in paths]


class UnivTask(StrEnum):
    """What a model was asked to do; V2T ends in text and is judged otherwise."""

    V2T = "v2t"
    T2V = "t2v"
    R2V = "r2v"
    TV2V = "tv2v"
    RV2V = "rv2v"
    V2V = "v2v"

    @property
    def needs(self) -> tuple[str, ...]:
        return _NEEDS[self]

    @property
    def metric(self) -> str:
        return f"univ_{self.value}"

    @property
    def template(self) -> str:
        return f"univ/{self.value}"

    def use(self, step: str) -> str:
        return f"univ.{self.value}.{step}"


_NEEDS = {
    UnivTask.V2T: ("text",),
    UnivTask.T2V: ("text",),
    UnivTask.R2V: ("references", "text"),
    UnivTask.TV2V: ("source", "instruction"),
    UnivTask.RV2V: ("source", "references", "instruction"),
    UnivTask.V2V: ("source",),
}

JUDGE = "chat.judge"
CAPTION = "chat.caption"
SAMPLING = Sampling(temperature=0.0001, max_tokens=32768)
"""UniV-Eval's: as good as greedy, with room for long lists of faults."""
AT_ONCE = 16
"""Questions that are asked together: the pictures of a long film's shots are many."""


def request(
    resources: Resources,
    template: str,
    slots: Mapping[str, Slot],
    form: type[BaseModel] | None,
    use: str,
    repeat: int = 0,
) -> ChatRequest:
    """Return a request with its slots filled, sampled as the paper's judge."""
    query = Query(template, form, use=use, sampling=SAMPLING)
    return query.request(resources.prompts, slots, repeat=repeat)


_RATES = ((10, Fraction(4)), (15, Fraction(2)), (90, Fraction(1)), (300, Fraction(1, 2)))
_SIDES = ((10, 480), (180, 360))
MOST_FRAMES = 320
"""No more frames than this, spread evenly. Ours: the released code has no such limit, and it
bites only beyond ten minutes."""


def shown(fps: Fraction = Fraction(4), short_side: int = 480, most: int = MOST_FRAMES) -> Frames:
    """Return which frames a model is shown, and how large: of a longer video fewer and smaller.

    The published rates: four a second at a short side of 480, two from 15 s on, one from 90 s on,
    one every two seconds from 300 s on; a short side of 360 from 180 s on. Frames are taken at
    whole steps of the source's own frames, and never enlarged.
    """
    return Frames(
        rate=fps,
        placing=Placing.STEPS,
        most=most,
        short_side=short_side,
        slower=_RATES,
        smaller=_SIDES,
    )
