"""One item measured: questions for each of its scenes, answers, outcomes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from screentest.core import (
    Consumer,
    Filter,
    Frame,
    FrameRequest,
    Item,
    Outcome,
    Outcomes,
    Resources,
    VideoInfo,
)
from screentest.metrics.etva.answering import Answerer, Scene, answer_all, must_be_whole
from screentest.metrics.etva.looking import Looking
from screentest.metrics.etva.questions import QuestionSet
from screentest.metrics.etva.scenes import Piece, pieces_of
from screentest.metrics.etva.scoring import Asked, outcomes_of

Writer = Callable[[Sequence[str]], list[Outcome[QuestionSet]]]
"""Prompts in, their questions out, with the knowledge that answering wants."""


@dataclass(slots=True, eq=False)
class Questioning:
    """A metric of questions at work on one item. It looks at chosen moments, not at a stream."""

    item: Item
    resources: Resources
    write: Writer
    answerer: Answerer
    looking: Looking
    gating: bool
    clips: bool

    @property
    def consumers(self) -> Sequence[Consumer]:
        """None: frames are sampled."""
        return ()

    def finish(self) -> Outcomes:
        """Ask about every scene."""
        info = self.resources.info(self.item.video)
        pieces = pieces_of(self.item, info.span, clips=self.clips)
        seen = [piece for piece in pieces if piece.failure is None]
        written = iter(self.write([piece.text for piece in seen]))
        return outcomes_of(
            [
                self._ask(info, piece, next(written))
                if piece.failure is None
                else Asked(piece.text, piece.span, failure=piece.failure)
                for piece in pieces
            ]
        )

    def _ask(self, info: VideoInfo, piece: Piece, written: Outcome[QuestionSet]) -> Asked:
        must_be_whole([written])
        if written.failure is not None:
            return Asked(piece.text, piece.span, failure=written.failure)
        asked = written.unwrap()
        scene = Scene(asked, piece.span, partial(self._frames, info, piece))
        answered = answer_all(self.answerer, scene, gating=self.gating)
        must_be_whole([one.answer for one in answered])
        return Asked(piece.text, piece.span, asked, tuple(answered))

    def _frames(self, info: VideoInfo, piece: Piece) -> Iterator[Frame]:
        moments = self.looking.moments(info, piece.span)
        request = FrameRequest(size=self.looking.size(info), filter=Filter.BICUBIC)
        return self.resources.frames(self.item.video, moments, request)
