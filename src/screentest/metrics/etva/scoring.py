"""From the answers of all scenes to a metric's outcomes: score, coverage, categories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from screentest.core import (
    Failure,
    NoValue,
    Outcome,
    OutputInfo,
    Point,
    Reason,
    Score,
    Span,
    from_json,
    to_json,
)
from screentest.core.score import Json
from screentest.metrics.etva.answering import Answered
from screentest.metrics.etva.categories import MEANINGS, Category
from screentest.metrics.etva.questions import QuestionSet

SCORE, COVERAGE = "score", "coverage"
OUTPUTS = {
    SCORE: OutputInfo("share of the questions answered with yes"),
    COVERAGE: OutputInfo("share of the questions that have an answer"),
    **{
        category.value: OutputInfo(f"share of yes where a question asks {meaning}")
        for category, meaning in MEANINGS.items()
    },
}
_LONGEST_NOTE = 400


@dataclass(frozen=True, slots=True)
class Asked:
    """A scene with its answers, or the reason why it has no questions."""

    text: str
    span: Span
    questions: QuestionSet | None = None
    answered: tuple[Answered, ...] = ()
    failure: Failure | None = None

    @property
    def share(self) -> float | None:
        """The share of yes among the answers; None where there are none."""
        values = [one.answer.unwrap() for one in self.answered if one.answer.ok]
        return sum(values) / len(values) if values else None

    @property
    def coverage(self) -> float:
        """The share of questions that have an answer; 0 where no questions could be had."""
        if not self.answered:
            return 0.0
        return sum(one.answer.ok for one in self.answered) / len(self.answered)


def outcomes_of(scenes: Sequence[Asked]) -> dict[str, Outcome[Score]]:
    """Every output. Questions of all scenes count alike; a text that asks nothing counts not."""
    scenes = [scene for scene in scenes if scene.answered or scene.failure is not None]
    answered = [one for scene in scenes for one in scene.answered]
    if not answered:
        raise _nothing_asked(scenes)
    outcomes = {SCORE: _score(scenes, answered)}
    coverage = sum(scene.coverage for scene in scenes) / len(scenes)
    told = _counts(answered)
    if not outcomes[SCORE].ok:
        told["scenes"] = [_told(scene) for scene in scenes]  # what was said is kept either way
    outcomes[COVERAGE] = Outcome.of(Score(coverage, details=told))
    for category in Category:
        mine = [one for one in answered if one.question.category is category]
        outcomes[category.value] = _share(mine, "no question of this category")
    return outcomes


def _score(scenes: Sequence[Asked], answered: Sequence[Answered]) -> Outcome[Score]:
    share = _share(answered, "no question was asked")
    if not share.ok:
        return share
    curve = tuple(
        Point(scene.span, scene.share, _note(scene)) for scene in scenes if scene.share is not None
    )
    details = {**_counts(answered), "scenes": [_told(scene) for scene in scenes]}
    return Outcome.of(Score(share.unwrap().value, curve, details))


def _note(scene: Asked) -> str:
    """What was missing in a scene, for whoever looks at the curve."""
    missing = [
        one.question.text for one in scene.answered if one.answer.ok and not one.answer.unwrap()
    ]
    told = f"no: {' '.join(missing)}" if missing else "yes to all that was answered"
    return told if len(told) <= _LONGEST_NOTE else f"{told[: _LONGEST_NOTE - 1]}…"


def _share(answered: Sequence[Answered], nothing: str) -> Outcome[Score]:
    if not answered:
        return Outcome.failed(Reason.NOT_APPLICABLE, nothing)
    values = [one.answer.unwrap() for one in answered if one.answer.ok]
    if not values:
        failure = next(one.answer.failure for one in answered if one.answer.failure is not None)
        told = f"no question ({len(answered)} asked) has an answer; the first: {failure.detail}"
        return Outcome.failed(failure.reason, told, failure.advice)
    return Outcome.of(Score(sum(values) / len(values), details=_counts(answered)))


def _counts(answered: Sequence[Answered]) -> dict[str, Json]:
    done = [one.answer.unwrap() for one in answered if one.answer.ok]
    return {
        "yes": sum(done),
        "answered": len(done),
        "asked": len(answered),
        "gated": sum(one.gated for one in answered),
    }


def _told(scene: Asked) -> Json:
    """A scene as evidence: its questions with what was said, its graph and knowledge."""
    told: dict[str, Json] = {
        "text": scene.text,
        "start": float(scene.span.start),
        "end": float(scene.span.end),
    }
    if scene.failure is not None:
        return told | {"failure": str(scene.failure)}
    told["questions"] = [_evidence(one) for one in scene.answered]
    if scene.questions is not None:
        told |= {"writer": scene.questions.writer, "knowledge": scene.questions.knowledge or ""}
        told["left_out"] = list(scene.questions.left_out)
        if scene.questions.graph is not None:
            told["graph"] = from_json(dict, to_json(scene.questions.graph))
    return told


def _evidence(answered: Answered) -> Json:
    question, failure = answered.question, answered.answer.failure
    told: dict[str, Json] = {
        "id": question.id,
        "question": question.text,
        "category": question.category.value,
        "answer": None if failure is not None else "yes" if answered.answer.unwrap() else "no",
        "said": answered.said,
    }
    if failure is not None:
        told["reason"] = str(failure)
    if answered.gated:
        told["gated"] = True
    return told


def _nothing_asked(scenes: Sequence[Asked]) -> NoValue:
    for scene in scenes:
        if scene.failure is not None:
            return NoValue(scene.failure.reason, scene.failure.detail, advice=scene.failure.advice)
    return NoValue(Reason.NOT_APPLICABLE, "the text gives nothing to ask about")
