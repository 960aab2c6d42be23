"""The metrics of the five tasks that end in a video: findings first, then points out of ten.

Judged as a whole, as the released code does, or shot by shot, which long videos need: every
point on the curve then is one shot, with the judge's reason.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import fmean
from typing import TYPE_CHECKING

from screentest.core import Level
from screentest.core.errors import NoValue
from screentest.core.frames import Consumer, VideoInfo
from screentest.core.item import Item, Span, Time
from screentest.core.metric import Calls, MetricInfo, Outcomes, OutputInfo, Resources
from screentest.core.outcome import Failure, Outcome, Point, Score, attempt
from screentest.core.registry import register
from screentest.measure.items import lacking
from screentest.models.ask import Frames, send
from screentest.models.ask.templates import Slot
from screentest.models.chat.messages import ChatRequest
from screentest.run.session import Settings, Tools
from screentest.suites.univ.pieces import (
    AT_ONCE,
    JUDGE,
    Piece,
    PieceLevel,
    UnivTask,
    request,
    shot_pieces,
    show_references,
    shown,
    whole_piece,
)
from screentest.suites.univ.schema import MOST, Finding, Inspection, Mark, Marks
from screentest.suites.univ.vocabulary import TITLES, Dimension

if TYPE_CHECKING:
    from screentest.core.outcome import Json


SCORE_TEMPLATE = "univ/score"
INSPECTION, REPORT = 1500, 2000
"""Tokens of the checklist; of the findings and what the points mean, about."""


@dataclass(frozen=True, slots=True)
class JudgedPiece:
    """What the judge said of one piece, or why it said nothing."""

    piece: Piece
    inspection: Inspection | None = None
    marks: Marks | None = None
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class Inspector:
    """Asks two questions about each piece of an item: its faults, and how many points it gets.

    The first shows all that the task gives (references, text, original) and the video, and asks for
    findings along six parts; the second turns the findings into points for eight dimensions.
    """

    task: UnivTask
    item: Item
    resources: Resources
    frames: Frames
    level: PieceLevel
    consumers: Sequence[Consumer] = ()

    def finish(self) -> Outcomes:
        judged = self.judge(self.pieces())
        whole = next((item for item in judged if not item.piece.number), None)
        return outcomes_of(whole, [item for item in judged if item.piece.number])

    def pieces(self) -> list[Piece]:
        """Return what is asked about; a video of one shot is the same at both levels."""
        whole = [] if self.level == "shots" else [whole_piece(self.item, self.resources)]
        shots = [] if self.level == "video" else shot_pieces(self.item, self.resources)
        return shots if len(shots) == 1 else [*whole, *shots]

    def judge(self, pieces: Sequence[Piece]) -> list[JudgedPiece]:
        """Return all pieces, in two rounds of questions."""
        judge = self.resources.role(JUDGE)
        first = (self.inspection_request(piece) for piece in pieces)
        inspected: list[Outcome[Inspection]] = send(judge, first, together=AT_ONCE)
        both = list(zip(pieces, inspected, strict=True))
        second = [self.score_request(piece, item.unwrap()) for piece, item in both if item.ok]
        marked: Iterator[Outcome[Marks]] = iter(send(judge, second, together=AT_ONCE))
        judged = []
        for piece, item in both:
            if item.failure is not None:
                judged.append(JudgedPiece(piece, failure=item.failure))
            else:
                points = next(marked)
                judged.append(JudgedPiece(piece, item.value, points.value, points.failure))
        _must_be_whole(judged)
        return judged

    def inspection_request(self, piece: Piece) -> ChatRequest:
        item, needs = self.item, self.task.needs
        slots: dict[str, Slot] = {
            "part": _part(piece),
            "pictures": self.frames.show(self.resources, item.video, piece.span),
        }
        if "references" in needs:
            slots["references"] = [*show_references(item.references)]
        if "text" in needs:
            slots["text"] = piece.text
        if "instruction" in needs:
            slots["instruction"] = item.instruction
        if "source" in needs and item.source is not None:
            slots["original"] = self.frames.show(self.resources, item.source, piece.source)
        use = self.task.use("inspect")
        return request(self.resources, self.task.template, slots, Inspection, use)

    def score_request(self, piece: Piece, inspection: Inspection) -> ChatRequest:
        slots: dict[str, Slot] = {
            "part": _part(piece),
            "seconds": round(float(piece.span.duration), 2),
            "remarks": dict(inspection.remarks.model_dump()),
            "findings": [_finding_slots(finding) for finding in inspection.readable],
            "unread": [lost.text for lost in inspection.unread],
        }
        return request(self.resources, SCORE_TEMPLATE, slots, Marks, self.task.use("score"))


def _part(piece: Piece) -> Slot:
    if not piece.number:
        return None
    start, end = float(piece.span.start), float(piece.span.end)
    return {"number": piece.number, "of": piece.of, "start": round(start, 2), "end": round(end, 2)}


def _finding_slots(finding: Finding) -> dict[str, Slot]:
    slots: dict[str, Slot] = finding.model_dump(mode="json", exclude={"fix"})
    return slots | {"dimension": slots["dimension"] or "none of the eight"}


def _must_be_whole(judged: Sequence[JudgedPiece]) -> None:
    """Raise what the next try could fix; what was answered is in the ledger by then."""
    for item in judged:
        if item.failure is not None and item.failure.reason.transient:
            lost: Outcome[Marks] = Outcome(failure=item.failure)
            lost.unwrap()


AVERAGE = "average"
LEAST_JUDGED = 0.5
"""The share of the running time that must have been judged for shots to make a score."""


def average(values: Mapping[Dimension, float]) -> float:
    """Return the unweighted mean of all eight; a KeyError where one is missing.

    >>> average(dict.fromkeys(Dimension, 7.5))
    7.5
    """
    return fmean(values[dimension] for dimension in Dimension)


def outcomes_of(whole: JudgedPiece | None, shots: Sequence[JudgedPiece]) -> Outcomes:
    """Return the eight dimensions and their average, with findings and shots as evidence.

    A video judged shot by shot has the mean of its shots, each with the weight of its running time.
    Judged at both levels, it has the mean of the two. The average is the unweighted mean of the
    eight dimensions.
    """
    levels: list[dict[Dimension, float]] = []
    details: dict[str, Json] = {}
    if whole is not None:
        if (lost := whole.failure) is not None:
            raise NoValue(lost.reason, lost.detail, advice=lost.advice)
        levels.append(_points(whole))
        details["video"] = _record(whole)
    if shots:
        levels.append(_shot_means(shots))
        details["shots"] = [_record(shot) for shot in shots]
        details["judged"] = {
            "shots": sum(shot.marks is not None for shot in shots),
            "of": len(shots),
        }
    values = {dimension: fmean(level[dimension] for level in levels) for dimension in Dimension}
    result: dict[str, Outcome[Score]] = {
        AVERAGE: Outcome.of(Score(average(values), _average_curve(whole, shots), details))
    }
    for dimension, value in values.items():
        curve = _curve(dimension, whole, shots)
        reasons: list[Json] = [
            {"shot": item.piece.number, "reason": _mark(item, dimension).reason}
            for item in ([whole] if whole is not None else []) + list(shots)
            if item.marks is not None
        ]
        result[dimension.value] = Outcome.of(Score(value, curve, {"reasons": reasons}))
    return result


def _points(judged: JudgedPiece) -> dict[Dimension, float]:
    return {dimension: float(_mark(judged, dimension).score) for dimension in Dimension}


def _mark(judged: JudgedPiece, dimension: Dimension) -> Mark:
    result: Mark = getattr(judged.marks, dimension.value)
    return result


def _shot_means(shots: Sequence[JudgedPiece]) -> dict[Dimension, float]:
    total = math.fsum(float(shot.piece.span.duration) for shot in shots)
    judged = [shot for shot in shots if shot.marks is not None]
    weights = [float(item.piece.span.duration) for item in judged]
    if not judged or math.fsum(weights) < LEAST_JUDGED * total:
        lost = next(shot.failure for shot in shots if shot.failure is not None)
        message = f"{len(shots) - len(judged)} of {len(shots)} shots were not judged: {lost.detail}"
        raise NoValue(lost.reason, message, advice=lost.advice)
    return {
        dimension: math.fsum(
            weight * _mark(item, dimension).score
            for item, weight in zip(judged, weights, strict=True)
        )
        / math.fsum(weights)
        for dimension in Dimension
    }


def _curve(
    dimension: Dimension, whole: JudgedPiece | None, shots: Sequence[JudgedPiece]
) -> tuple[Point, ...]:
    """Shots with their points; where there are none, the findings in the dimension."""
    if shots:
        return tuple(
            Point(shot.piece.span, float(mark.score), mark.reason)
            for shot in shots
            if shot.marks is not None
            for mark in [_mark(shot, dimension)]
        )
    return tuple(point for finding, point in _findings(whole) if finding.dimension is dimension)


def _average_curve(whole: JudgedPiece | None, shots: Sequence[JudgedPiece]) -> tuple[Point, ...]:
    if shots:
        return tuple(
            Point(shot.piece.span, average(_points(shot)), shot.marks.comment)
            for shot in shots
            if shot.marks is not None
        )
    return tuple(point for _, point in _findings(whole))


def _findings(judged: JudgedPiece | None) -> list[tuple[Finding, Point]]:
    """Return each finding as a point: full marks less its severity, at the time it was seen."""
    if judged is None or judged.inspection is None:
        return []
    result = []
    for finding in sorted(judged.inspection.readable, key=lambda item: (item.start, item.end)):
        span = _inside(finding, judged.piece.span)
        value = MOST * (1 - finding.severity)
        result.append((finding, Point(span, value, f"{finding.kind}: {finding.description}")))
    return result


def _inside(finding: Finding, whole: Span) -> Span:
    """Return a model's times, kept to the time there is."""

    def kept(moment: float) -> Time:
        return min(max(Time(repr(moment)), whole.start), whole.end)

    return Span(kept(finding.start), kept(finding.end))


def _record(judged: JudgedPiece) -> Json:
    """Return all that was said, as JSON."""
    span = judged.piece.span
    result: dict[str, Json] = {
        "shot": judged.piece.number,
        "start": float(span.start),
        "end": float(span.end),
    }
    if judged.inspection is not None:
        result |= judged.inspection.model_dump(mode="json", exclude={"findings"})
        result["findings"] = [item.model_dump(mode="json") for item in judged.inspection.readable]
        result["unread"] = [
            {"problem": lost.problem, "text": lost.text} for lost in judged.inspection.unread
        ]
    if judged.marks is not None:
        result["comment"] = judged.marks.comment
        result["scores"] = {
            dimension.value: _mark(judged, dimension).score for dimension in Dimension
        }
    if judged.failure is not None:
        result["failed"] = str(judged.failure)
    return result


OUTPUTS = {
    AVERAGE: OutputInfo("the mean of the eight dimensions", high=MOST),
    **{
        dimension.value: OutputInfo(f"{TITLES[dimension]}, out of ten", high=MOST)
        for dimension in Dimension
    },
}


@dataclass(frozen=True)
class VideoTask:
    """Eight dimensions out of ten, and their average."""

    task: UnivTask
    level: PieceLevel
    frames: Frames

    @property
    def info(self) -> MetricInfo:
        return MetricInfo(
            outputs=OUTPUTS,
            level=Level.VIDEO if self.level == "video" else Level.CLIP,
            roles=(JUDGE,),
            needs=self.task.needs,
            shots=self.level != "video",
            prompts=(self.task.template, SCORE_TEMPLATE),
        )

    def calls_of(self, item: Item, video: VideoInfo) -> Sequence[Calls]:
        """Return both questions about each piece; shots are those of the default detector."""
        needs = self.task.needs
        if lacking(item, needs):
            return ()
        tools = Tools(Settings())
        pieces = attempt(self.start(item, tools).pieces).value or ()
        source = tools.info(item.source) if item.source and pieces else None
        calls = []
        for piece in pieces:
            look = self.frames.calls(JUDGE, video, span=piece.span)
            pictures = look.frames + len(item.references) * ("references" in needs)
            if source and "source" in needs:
                pictures += self.frames.calls(JUDGE, source, span=piece.source).frames
            calls += [
                replace(look, frames=pictures, words=INSPECTION),
                Calls(JUDGE, "video", words=REPORT),
            ]
        return calls

    def start(self, item: Item, resources: Resources) -> Inspector:
        return Inspector(self.task, item, resources, self.frames, self.level)


def _factory(task: UnivTask) -> Callable[..., VideoTask]:
    def video_task(
        *,
        level: PieceLevel = "video",
        fps: float = 4,
        short_side: int = 480,
        most_frames: int = 320,
    ) -> VideoTask:
        return VideoTask(task, level, shown(Fraction(repr(fps)), short_side, most_frames))

    return video_task


# The registry reads names from this text, so each stands in a call of its own.
for _task, _register in {
    UnivTask.T2V: register(
        "metric", "univ_t2v", version=1, summary="does the video show what its text says?"
    ),
    UnivTask.R2V: register(
        "metric", "univ_r2v", version=1, summary="does it keep to text and reference pictures?"
    ),
    UnivTask.TV2V: register(
        "metric", "univ_tv2v", version=1, summary="is the original edited as the text says?"
    ),
    UnivTask.RV2V: register(
        "metric", "univ_rv2v", version=1, summary="is the original edited as text and pictures say?"
    ),
    UnivTask.V2V: register(
        "metric", "univ_v2v", version=1, summary="is the original reconstructed faithfully?"
    ),
}.items():
    _register(_factory(_task))
