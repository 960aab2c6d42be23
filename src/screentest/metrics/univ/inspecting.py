"""Two questions about each piece: what is wrong with it, then how many points it gets.

The first shows all that the task gives (references, text, original) and the video, and asks
for findings along six parts; the second turns the findings into points for eight dimensions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from screentest.core import Failure, Item, Outcome, Resources
from screentest.metrics.univ.asking import JUDGE, ask, request
from screentest.metrics.univ.forms import Finding, Inspection, Marks
from screentest.metrics.univ.looking import Looking
from screentest.metrics.univ.pieces import Piece
from screentest.metrics.univ.references import show_references
from screentest.metrics.univ.tasks import Task
from screentest.models.chat.messages import ChatRequest
from screentest.prompts.values import Slot
from screentest.run.records import TRANSIENT

SCORE_TEMPLATE = "univ/score"


@dataclass(frozen=True, slots=True)
class Judged:
    """What the judge said of one piece, or why it said nothing."""

    piece: Piece
    inspection: Inspection | None = None
    marks: Marks | None = None
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class Inspector:
    """Asks about pieces of one item."""

    task: Task
    item: Item
    resources: Resources
    looking: Looking

    def judge(self, pieces: Sequence[Piece]) -> list[Judged]:
        """All pieces, in two rounds of questions."""
        first = (self.inspection_request(piece) for piece in pieces)
        inspected: list[Outcome[Inspection]] = ask(self.resources, JUDGE, first)
        seen = [(piece, one.value) for piece, one in zip(pieces, inspected, strict=True) if one.ok]
        second = [self.score_request(piece, one) for piece, one in seen if one is not None]
        marked: list[Outcome[Marks]] = ask(self.resources, JUDGE, second)
        waiting = iter(marked)
        judged = []
        for piece, one in zip(pieces, inspected, strict=True):
            points = next(waiting) if one.ok else None
            failure = one.failure or (points.failure if points is not None else None)
            marks = points.value if points is not None else None
            judged.append(Judged(piece, one.value, marks, failure))
        _must_be_whole(judged)
        return judged

    def inspection_request(self, piece: Piece) -> ChatRequest:
        """What is wrong with it?"""
        item, needs = self.item, self.task.needs
        slots: dict[str, Slot] = {
            "part": _part(piece),
            "pictures": self.looking.show(item.video, self.resources, piece.span),
        }
        if "references" in needs:
            slots["references"] = list(show_references(item.references, self.looking.short_side))
        if "text" in needs:
            slots["text"] = piece.text
        if "instruction" in needs:
            slots["instruction"] = item.instruction
        if "source" in needs and item.source is not None:
            slots["original"] = self.looking.show(item.source, self.resources, piece.source)
        use = self.task.use("inspect")
        return request(self.resources, self.task.template, slots, Inspection, use)

    def score_request(self, piece: Piece, inspection: Inspection) -> ChatRequest:
        """How many points is that?"""
        slots: dict[str, Slot] = {
            "part": _part(piece),
            "seconds": round(float(piece.span.duration), 2),
            "remarks": dict(inspection.remarks.model_dump()),
            "findings": [_told(finding) for finding in inspection.findings],
        }
        return request(self.resources, SCORE_TEMPLATE, slots, Marks, self.task.use("score"))


def _part(piece: Piece) -> Slot:
    if not piece.number:
        return None
    start, end = float(piece.span.start), float(piece.span.end)
    return {
        "number": piece.number,
        "of": piece.of,
        "start": round(start, 2),
        "end": round(end, 2),
    }


def _told(finding: Finding) -> dict[str, Slot]:
    return {
        "part": finding.part.value,
        "dimension": finding.dimension.value if finding.dimension else "none of the eight",
        "start": finding.start,
        "end": finding.end,
        "kind": finding.kind,
        "description": finding.description,
        "severity": finding.severity,
    }


def _must_be_whole(judged: Sequence[Judged]) -> None:
    """Raise what the next try could mend; what was answered is in the ledger by then."""
    for one in judged:
        if one.failure is not None and one.failure.reason in TRANSIENT:
            Outcome[Marks](failure=one.failure).unwrap()
