"""Answering by a chat model: it watches, doubts, and concludes with one token."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from typing import Any, Protocol

from screentest.core import Filter, Frame, Outcome, Reason, Span, attempt
from screentest.models.ask import Frames, Placing, Query, send
from screentest.models.ask.templates import Pictures, Prompts, Slot
from screentest.models.chat.messages import ChatRequest, Encoding, Film, Part, Sampling, timed
from screentest.models.chat.parsing import parse_yes_no, spoken
from screentest.models.chat.refusals import declines
from screentest.models.roles import Chat
from screentest.suites.etva.graph import AnswersAnswer
from screentest.suites.etva.questions import PromptQuestion, QuestionSet

_TOKEN = re.compile(r"\[\s*(yes|no)\s*\]", re.IGNORECASE)
_CONCLUSION = re.compile(r"\bConclusion\W*:", re.IGNORECASE)
_CONCLUDED = re.compile(r"[\s*_]*\[?\s*(yes|no)\b\s*\]?", re.IGNORECASE)


class Compat(StrEnum):
    """By which rules an answer is read."""

    STRICT = "strict"
    """Exactly one of the two tokens, or there is no answer."""
    UPSTREAM = "upstream"
    """As the released code counted: yes where [YES] stands anywhere, no in every other case."""


def read_answer(text: str, compat: Compat = Compat.STRICT) -> Outcome[bool]:
    """Return whether an answer is yes or no; what a model thought before it spoke does not count.

    >>> read_answer("Conclusion: [YES] A girl walks.").value
    True
    >>> read_answer("Both [YES] and [NO] could be said.").failure.reason.value
    'unparsable'
    """
    if compat is Compat.UPSTREAM:
        return Outcome.of("[YES]" in text)
    answer = spoken(text)
    result = {token.lower() for token in _TOKEN.findall(answer)}
    if len(result) == 1:
        return attempt(lambda: parse_yes_no(text))
    # "Answer with [YES] or [NO]" may be said again before it is done.
    concluded = _CONCLUSION.split(answer)
    if len(concluded) > 1 and (token := _CONCLUDED.match(concluded[-1])):
        last = f"[{token[1]}]{concluded[-1][token.end() :]}"
        if len({word.lower() for word in _TOKEN.findall(last)}) == 1 and not declines(answer):
            return attempt(lambda: parse_yes_no(last))
    statement = "both [YES] and [NO]" if result else "neither [YES] nor [NO]"
    end = " ".join(text[-120:].split())
    return Outcome.failed(Reason.UNPARSABLE, f"the answer has {statement}. It ends: {end!r}")


USE = "etva.answer"
ANSWER_SAMPLING = Sampling(
    temperature=0.1, top_p=0.001, repetition_penalty=1.05, min_tokens=10, max_tokens=1024
)
"""As the released code has it, for answers and for knowledge."""


def _concludes(slots: Mapping[str, Any], text: str) -> None:
    read_answer(text).unwrap()


# The released code reads every text as yes or no, so that nothing is ever sent back there.
AS_RELEASED = Query("etva/answer", use=USE, sampling=ANSWER_SAMPLING)
ONE = replace(AS_RELEASED, check=_concludes)
MANY = Query("etva/answers", AnswersAnswer, use=USE, sampling=ANSWER_SAMPLING)
_ENCODING = Encoding()


@dataclass(frozen=True, slots=True)
class Answered:
    """A question with its answer, and all that was said on the way."""

    question: PromptQuestion
    answer: Outcome[bool]
    said: str = ""
    gated: bool = False
    """Not asked, since what it is about is not there: a no."""


@dataclass(frozen=True, slots=True, eq=False)
class ShownScene:
    """A piece of video, what it should show, and what is to be asked."""

    asked: QuestionSet
    span: Span
    frames: Callable[[], Iterator[Frame]]
    """Its frames, decoded anew at each call: nobody need keep them all."""
    film: Film | None = None
    """The video, where it is shown whole: a server that takes videos may be sent that."""


class Answerer(Protocol):
    """Answers questions about a scene."""

    def answer(self, scene: ShownScene, questions: Sequence[PromptQuestion]) -> list[Answered]:
        """One for each question, in their order."""


@dataclass(frozen=True, slots=True)
class Stages:
    """Which stages of reasoning the model goes through; all, unless one is left out."""

    knowledge: bool = True
    understanding: bool = True
    reflection: bool = True


@dataclass(slots=True, eq=False)
class ChatAnswerer:
    """Asks a chat model about a scene's frames: each question by itself, or some together."""

    chat: Chat
    prompts: Prompts
    stages: Stages
    compat: Compat
    batch: int
    _shown: tuple[ShownScene, list[Part]] | None = None

    def answer(self, scene: ShownScene, questions: Sequence[PromptQuestion]) -> list[Answered]:
        """One for each question. The frames are encoded once.

        Of a batch, questions that the model left out or answered both ways are asked once more, by
        themselves; the other answers stand.
        """
        first, lacking = self._ask(scene, questions)
        again, _ = self._ask(scene, lacking, repeat=1)
        better = {item.question.id: item for item in again}
        return [better.get(item.question.id, item) for item in first]

    def _ask(
        self, scene: ShownScene, questions: Sequence[PromptQuestion], repeat: int = 0
    ) -> tuple[list[Answered], list[PromptQuestion]]:
        """Return the answers, and which questions lack one in a batch that was answered."""
        if not questions:
            return [], []
        pictures = self._pictures(scene)
        size = self.batch
        parts = [questions[at : at + size] for at in range(0, len(questions), size)]
        requests = [self._request(scene, pictures, part, repeat) for part in parts]
        outcomes = send(self.chat, requests)
        answered: list[Answered] = []
        lacking: list[PromptQuestion] = []
        for part, outcome in zip(parts, outcomes, strict=True):
            read = self._read(part, outcome)
            answered += read
            if outcome.ok and size > 1:
                lacking += [item.question for item in read if not item.answer.ok]
        return answered, lacking

    def _pictures(self, scene: ShownScene) -> list[Part]:
        """Return the scene's frames, encoded once however often it is asked about."""
        if self._shown is None or self._shown[0] is not scene:
            self._shown = scene, timed(scene.frames(), _ENCODING, film=scene.film)
        return self._shown[1]

    def _request(
        self,
        scene: ShownScene,
        pictures: Sequence[Part],
        questions: Sequence[PromptQuestion],
        repeat: int,
    ) -> ChatRequest:
        stages = self.stages
        slots: dict[str, Slot] = {
            "pictures": Pictures(pictures),
            "prompt": scene.asked.prompt,
            "knowledge": (scene.asked.knowledge or "") if stages.knowledge else "",
            "understanding": stages.understanding,
            "reflection": stages.reflection,
        }
        if self.batch == 1:
            query = AS_RELEASED if self.compat is Compat.UPSTREAM else ONE
            return query.request(self.prompts, slots | {"question": questions[0].text})
        each = MANY.sampling
        room = replace(each, max_tokens=each.max_tokens * len(questions))
        slots |= {"questions": [question.text for question in questions]}
        return MANY.request(self.prompts, slots, repeat=repeat, sampling=room)

    def _read(
        self, questions: Sequence[PromptQuestion], outcome: Outcome[str | AnswersAnswer]
    ) -> list[Answered]:
        if (failure := outcome.failure) is not None:
            # Of a batch, nobody can tell which answer the text belongs to.
            said = failure.answer if self.batch == 1 else ""
            failed: Outcome[bool] = Outcome(failure=failure)
            if said and self.compat is Compat.UPSTREAM:
                failed = read_answer(said, self.compat)
            return [Answered(question, failed, said) for question in questions]
        answer = outcome.unwrap()
        if isinstance(answer, AnswersAnswer):
            return _numbered(questions, answer)
        read = read_answer(answer, self.compat)
        return [Answered(question, read, answer) for question in questions]


def _numbered(questions: Sequence[PromptQuestion], given: AnswersAnswer) -> list[Answered]:
    """Return each question's own answer; none, or two that differ, counts as no answer."""
    answered = []
    for number, question in enumerate(questions, start=1):
        mine = [answer for answer in given.answers if answer.number == number]
        tokens = {item.token for item in mine}
        statement = "\n".join(f"{item.reasoning} {item.token}".strip() for item in mine)
        outcome: Outcome[bool] = Outcome.of(tokens == {"[YES]"})
        if len(tokens) != 1:
            message = "is answered both ways" if tokens else "has no answer"
            outcome = Outcome.failed(Reason.UNPARSABLE, f"question {number} of the batch {message}")
        answered.append(Answered(question, outcome, statement))
    return answered


def answer_all(answerer: Answerer, scene: ShownScene, *, gating: bool) -> list[Answered]:
    """Return all questions of a scene; with ``gating`` none about what is known not to be there."""
    if not gating:
        return answerer.answer(scene, scene.asked.questions)
    done: dict[str, Answered] = {}
    for subset in scene.asked.round_by_round():
        for item in subset:
            if no := next((done[need] for need in item.needs if _is_no(done[need])), None):
                message = f"not asked: {no.question.text} No."
                done[item.id] = Answered(item, Outcome.of(False), message, gated=True)
        open_ = [item for item in subset if item.id not in done]
        done |= {item.question.id: item for item in answerer.answer(scene, open_)}
    return [done[question.id] for question in scene.asked.questions]


def _is_no(answered: Answered) -> bool:
    # Where the answer is not known, the next question is worth asking.
    return answered.answer.ok and not answered.answer.unwrap()


def must_be_whole(outcomes: Iterable[Outcome[Any]]) -> None:
    """Raise what the next try could fix: no score is made of the answers that happened to come.

    Those that came are in the ledger, so that trying again costs only what is missing.
    """
    for outcome in outcomes:
        if outcome.failure is not None and outcome.failure.reason.transient:
            outcome.unwrap()


MIN_FRAMES = 4
MAX_FRAMES = 768
MAX_PIXELS = 1280 * 28 * 28
"""Of one frame: what the released code asks its video model for."""


def shown(
    fps: Fraction = Fraction(2),
    least: int = MIN_FRAMES,
    most: int = MAX_FRAMES,
    max_pixels: int = MAX_PIXELS,
) -> Frames:
    """Return how a video is shown: two frames a second, at least four, evenly.

    An even number of frames, the first and the last among them.
    """
    return Frames(
        rate=fps,
        placing=Placing.ENDS,
        least=least,
        most=most,
        multiple=2,
        max_pixels=max_pixels,
        filter=Filter.BICUBIC,
    )
