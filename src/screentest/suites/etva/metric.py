"""ETVA: the share of questions about a prompt that its video answers with yes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Literal

from screentest._util.text import one_line
from screentest.core.codec import to_object
from screentest.core.errors import BadOption, NoValue
from screentest.core.frames import Consumer, VideoInfo
from screentest.core.item import Item, Span
from screentest.core.metric import (
    Calls,
    Level,
    Measurement,
    MetricInfo,
    Outcomes,
    OutputInfo,
    Resources,
)
from screentest.core.outcome import Failure, Json, Outcome, Point, Reason, Score
from screentest.core.registry import register
from screentest.models.ask import Frames
from screentest.models.chat.messages import Film
from screentest.suites.etva import agents, answers
from screentest.suites.etva.agents import TEMPLATE as KNOWLEDGE
from screentest.suites.etva.agents import add_knowledge
from screentest.suites.etva.answers import (
    MAX_FRAMES,
    MAX_PIXELS,
    MIN_FRAMES,
    Answered,
    Answerer,
    Compat,
    ShownScene,
    answer_all,
    must_be_whole,
    shown,
)
from screentest.suites.etva.graph import MEANINGS, Category
from screentest.suites.etva.questions import QuestionSet, QuestionsFile
from screentest.suites.etva.rules.writer import rules_signature, write_all_by_rules

SCORE, COVERAGE = "score", "coverage"
OUTPUTS = {
    SCORE: OutputInfo("share of the questions answered with yes"),
    COVERAGE: OutputInfo("share of the questions that have an answer", descriptive=True),
    **{
        category.value: OutputInfo(f"share of yes where a question asks {meaning}")
        for category, meaning in MEANINGS.items()
    },
}
_LONGEST_NOTE = 400


@dataclass(frozen=True, slots=True)
class AskedScene:
    """A text with its answers, or the reason why it has no questions."""

    text: str
    span: Span
    """The time in which it should be shown."""
    questions: QuestionSet | None = None
    answered: tuple[Answered, ...] = ()
    failure: Failure | None = None

    @property
    def share(self) -> float | None:
        """The share of yes among the answers; None where there are none."""
        values = [item.answer.unwrap() for item in self.answered if item.answer.ok]
        return sum(values) / len(values) if values else None

    @property
    def coverage(self) -> float:
        """The share of questions that have an answer; 0 where no questions could be had."""
        if not self.answered:
            return 0.0
        return sum(item.answer.ok for item in self.answered) / len(self.answered)


def pieces_of(item: Item, whole: Span, *, clips: bool) -> list[AskedScene]:
    """Return what is asked about with which part of the video.

    A script with times is asked about clip by clip. Where it has none, nobody knows when a
    clip is on, so each is asked about with the frames of the whole. Clips without a caption
    ask for nothing.
    """
    if not clips or item.script is None or not item.script.text.strip():
        return [AskedScene(item.text, whole)]
    return [
        _piece(clip.caption, clip.span, whole) for clip in item.script.clips if clip.caption.strip()
    ]


def _piece(caption: str, span: Span | None, whole: Span) -> AskedScene:
    if span is None:
        return AskedScene(caption, whole)
    start, end = max(span.start, whole.start), min(span.end, whole.end)
    if start < end:
        return AskedScene(caption, Span(start, end))
    message = f"the clip at {span} is outside the video, which ends at {float(whole.end):.3f} s"
    return AskedScene(caption, span, failure=Failure(Reason.NOT_APPLICABLE, message))


FLOOR = 0.5
"""The share of questions that must have an answer: of fewer there is no score."""


def outcomes_of(scenes: Sequence[AskedScene], floor: float = FLOOR) -> dict[str, Outcome[Score]]:
    """Return every output. Questions of all scenes count alike; what asks nothing is left out."""
    scenes = [scene for scene in scenes if scene.answered or scene.failure is not None]
    answered = [item for scene in scenes for item in scene.answered]
    if not answered:
        nothing = Failure(Reason.NOT_APPLICABLE, "the text gives nothing to ask about")
        why = next((scene.failure for scene in scenes if scene.failure is not None), nothing)
        raise NoValue(why.reason, why.detail, advice=why.advice)
    coverage = sum(scene.coverage for scene in scenes) / len(scenes)
    score = _share(answered, "no question was asked", floor)
    if score.ok and coverage < floor:  # clips that nothing could be asked about
        few = f"the clips have answers to {coverage:.0%} of their questions, on average"
        score = Outcome.failed(Reason.LOW_COVERAGE, few)
    counts = _counts(answered)
    evidence = counts | {"scenes": [_scene_record(scene) for scene in scenes]}
    curve = tuple(
        Point(scene.span, scene.share, _note(scene)) for scene in scenes if scene.share is not None
    )
    # What was said is kept either way.
    details = counts if score.ok else evidence
    outcomes = {
        SCORE: score.map(lambda share: Score(share.value, curve, evidence)),
        COVERAGE: Outcome.of(Score(coverage, details=details)),
    }
    for category in Category:
        mine = [item for item in answered if item.question.category is category]
        outcomes[category.value] = _share(mine, "no question of this category", floor)
    return outcomes


def _note(scene: AskedScene) -> str:
    """Return what was missing in a scene, for whoever looks at the curve."""
    missing = [
        item.question.text for item in scene.answered if item.answer.ok and not item.answer.unwrap()
    ]
    note = f"no: {' '.join(missing)}" if missing else "yes to all that was answered"
    return one_line(note, _LONGEST_NOTE)


def _share(answered: Sequence[Answered], nothing: str, floor: float) -> Outcome[Score]:
    if not answered:
        return Outcome.failed(Reason.NOT_APPLICABLE, nothing)
    values = [item.answer.unwrap() for item in answered if item.answer.ok]
    if not values:
        failure = next(item.answer.failure for item in answered if item.answer.failure is not None)
        message = f"no question ({len(answered)} asked) has an answer; the first: {failure.detail}"
        return Outcome.failed(failure.reason, message, failure.advice)
    if len(values) < floor * len(answered):
        few = f"{len(values)} of {len(answered)} questions have an answer: too few for a score"
        return Outcome.failed(Reason.LOW_COVERAGE, few)
    return Outcome.of(Score(sum(values) / len(values), details=_counts(answered)))


def _counts(answered: Sequence[Answered]) -> dict[str, Json]:
    done = [item.answer.unwrap() for item in answered if item.answer.ok]
    return {
        "yes": sum(done),
        "answered": len(done),
        "asked": len(answered),
        "gated": sum(item.gated for item in answered),
    }


def _scene_record(scene: AskedScene) -> Json:
    """Return a scene as evidence: its questions with what was said, its graph and knowledge."""
    record: dict[str, Json] = {
        "text": scene.text,
        "start": float(scene.span.start),
        "end": float(scene.span.end),
    }
    if scene.failure is not None:
        return record | {"failure": str(scene.failure)}
    record["questions"] = [_evidence(item) for item in scene.answered]
    if scene.questions is not None:
        record |= {"writer": scene.questions.writer, "knowledge": scene.questions.knowledge or ""}
        record["left_out"] = list(scene.questions.left_out)
        if scene.questions.graph is not None:
            record["graph"] = to_object(scene.questions.graph)
    return record


def _evidence(answered: Answered) -> Json:
    question, failure = answered.question, answered.answer.failure
    record: dict[str, Json] = {
        "id": question.id,
        "question": question.text,
        "category": question.category.value,
        "answer": None if failure is not None else "yes" if answered.answer.unwrap() else "no",
        "said": answered.said,
    }
    if failure is not None:
        record |= {"reason": str(failure), "failed": failure.reason.value}
    if answered.gated:
        record["gated"] = True
    return record


Writer = Callable[[Sequence[str]], list[Outcome[QuestionSet]]]
"""Prompts in, their questions out, with the knowledge that answering wants."""


@dataclass(slots=True, eq=False)
class QuestionMeasurement:
    """A metric of questions at work on one item. It looks at chosen moments, not at a stream."""

    item: Item
    resources: Resources
    write: Writer
    answerer: Answerer
    shown: Frames
    gating: bool
    clips: bool
    floor: float = FLOOR
    consumers: Sequence[Consumer] = ()

    def finish(self) -> Outcomes:
        whole = self.resources.info(self.item.video).span
        pieces = pieces_of(self.item, whole, clips=self.clips)
        written = iter(self.write([piece.text for piece in pieces if piece.failure is None]))
        scenes = [
            self._ask(piece, next(written)) if piece.failure is None else piece for piece in pieces
        ]
        return outcomes_of(scenes, self.floor)

    def _ask(self, piece: AskedScene, written: Outcome[QuestionSet]) -> AskedScene:
        must_be_whole([written])
        if written.failure is not None:
            return replace(piece, failure=written.failure)
        asked = written.unwrap()
        video = self.item.video
        frames = partial(self.shown.of, self.resources, video, piece.span)
        film = Film(video) if piece.span == self.resources.info(video).span else None
        scene = ShownScene(asked, piece.span, frames, film)
        answered = answer_all(self.answerer, scene, gating=self.gating)
        must_be_whole([item.answer for item in answered])
        return replace(piece, questions=asked, answered=tuple(answered))


WRITE, KNOW, ANSWER = "chat.questions", "chat.knowledge", "chat.answer"


@register(
    "metric",
    "etva",
    summary="share of yes to questions about each piece of the prompt, by a chat model",
    neutral=("questions",),
)
class Etva:
    """Ask a chat model yes/no questions about a video.

    ``writer`` is who writes the questions: ``chat`` by a scene graph, ``vanilla`` all at once after
    examples, ``rules`` without a model. ``questions`` is a file that has them already.
    ``knowledge``, ``understanding`` and ``reflection`` leave a stage out, ``direct`` all three.
    ``gating`` asks nothing about what is not there. ``compat=upstream`` reads answers as the
    released code did. ``batch`` is how many questions share one request. ``clips=false`` asks
    about the script of a long video as a whole.
    """

    def __init__(
        self,
        *,
        writer: Literal["chat", "vanilla", "rules"] = "chat",
        questions: str = "",
        knowledge: bool = True,
        understanding: bool = True,
        reflection: bool = True,
        direct: bool = False,
        gating: bool = False,
        compat: Compat = Compat.STRICT,
        batch: int = 1,
        fps: float = 2.0,
        min_frames: int = MIN_FRAMES,
        max_frames: int = MAX_FRAMES,
        max_pixels: int = MAX_PIXELS,
        clips: bool = True,
    ) -> None:
        if batch < 1 or min_frames < 1 or max_frames < min_frames or fps <= 0 or max_pixels < 1024:
            raise BadOption("invalid batch, frames, fps or pixels of etva: must be above 0")
        stages = (stage and not direct for stage in (knowledge, understanding, reflection))
        self.stages = answers.Stages(*stages)
        self.shown = shown(Fraction(str(fps)), min_frames, max_frames, max_pixels)
        self.saved = QuestionsFile(Path(questions)) if questions else None
        self.writer, self.compat, self.batch = writer, compat, batch
        self.gating, self.clips = gating, clips

    @property
    def info(self) -> MetricInfo:
        roles: list[str] = []
        prompts: list[str] = []
        if self.saved is None and self.writer != "rules":
            roles.append(WRITE)
            plainly = self.writer == agents.PLAIN_NAME
            prompts += (agents.PLAINLY.template,) if plainly else agents.TEMPLATES
        if self._asks_knowledge:
            roles.append(KNOW)
            prompts.append(KNOWLEDGE)
        roles.append(ANSWER)
        prompts.append((answers.ONE if self.batch == 1 else answers.MANY).template)
        return MetricInfo(
            OUTPUTS, Level.CLIP, roles=tuple(roles), needs=("text",), prompts=tuple(prompts)
        )

    @property
    def signature_parts(self) -> Mapping[str, object]:
        """The questions themselves where they come from a file, else the rules' lists."""
        if self.saved is not None:
            return {"questions": self.saved.digest, "writer": "file"}
        return {"rules": rules_signature().digest} if self.writer == "rules" else {}

    @property
    def _asks_knowledge(self) -> bool:
        return self.stages.knowledge and not (self.saved is not None and self.saved.all_known)

    def calls_of(self, item: Item, video: VideoInfo) -> Sequence[Calls] | None:
        """Return a call for each question, and for knowledge; None where a model is to write."""
        if self.saved is None and self.writer != "rules":
            return None
        found = pieces_of(item, video.span, clips=self.clips)
        pieces = [piece for piece in found if piece.failure is None]
        written = self._known([piece.text for piece in pieces])
        calls = []
        for piece, asked in (
            (piece, one.value) for piece, one in zip(pieces, written, strict=True)
        ):
            if asked is not None:
                count = math.ceil(len(asked.questions) / self.batch)
                calls.append(self.shown.calls(ANSWER, video, count, piece.span))
                calls += [Calls(KNOW, "video")] * (self._asks_knowledge and asked.knowledge is None)
        return calls

    def start(self, item: Item, resources: Resources) -> Measurement:

        def write(texts: Sequence[str]) -> list[Outcome[QuestionSet]]:
            written = self._write(texts, resources)
            if self._asks_knowledge:
                return add_knowledge(written, resources.role(KNOW), resources.prompts)
            return written

        answerer = answers.ChatAnswerer(
            resources.role(ANSWER), resources.prompts, self.stages, self.compat, self.batch
        )
        return QuestionMeasurement(
            item, resources, write, answerer, self.shown, self.gating, self.clips
        )

    def _known(self, texts: Sequence[str]) -> list[Outcome[QuestionSet]]:
        """Return questions that need no model."""
        return self.saved.write(texts) if self.saved is not None else write_all_by_rules(texts)

    def _write(self, texts: Sequence[str], resources: Resources) -> list[Outcome[QuestionSet]]:
        if self.saved is not None or self.writer == "rules":
            return self._known(texts)
        write = agents.WRITERS[self.writer]
        return write(texts, resources.role(WRITE), resources.prompts)
