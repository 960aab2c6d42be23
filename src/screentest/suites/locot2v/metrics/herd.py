"""Content clarity, and HERD, human expectation realisation degree, by a chat model that watches.

HERD has seven dimensions with six questions each.

Each question can be answered yes, no or unclear, and has a polarity: of a positive one yes
meets the expectation, of a negative one no does. A dimension is the share of answers that meet
it among those that are yes or no.

The printed numbers cannot have come about that way: all are multiples of 1/1440, so no answer
was left out as unclear. ``unclear="wrong"`` counts such answers as not met, which fits them.

Questions come from the suite. Where it has none, they are written from what it says is expected,
or from the item's prompt: what a viewer would expect, six questions per dimension, and the polarity
of each.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any, Literal

from pydantic import BaseModel, Field

from screentest._util.collect import grouped
from screentest.core.errors import BadOption
from screentest.core.frames import VideoInfo
from screentest.core.item import Item
from screentest.core.metric import Calls, MetricInfo, Outcomes, OutputInfo, Resources
from screentest.core.outcome import Json, Outcome, Score
from screentest.core.registry import register
from screentest.models.ask import Explanation, NonBlank, Query
from screentest.models.ask.templates import Trusted
from screentest.models.chat.messages import Sampling
from screentest.suites.locot2v.data import DIMENSIONS, TERMS, ExpectationQuestion, PromptRecord
from screentest.suites.locot2v.requests import (
    Asking,
    AskingByRecords,
    Records,
    declared,
    few,
    no_score,
)

CONTENT_CLARITY = "locot2v_content_clarity"
MOST = 4


class Mark(BaseModel):
    """Points with a reason."""

    reason: Explanation
    score: int = Field(ge=0, le=MOST)


class Marks(BaseModel):
    """All four dimensions; the reason comes before the points."""

    theme_clarity: Mark
    logical_structure: Mark
    information_completeness: Mark
    information_consistency: Mark


@register("metric", CONTENT_CLARITY, summary="how clearly the video tells what it tells")
class ContentClarity(Asking):
    """Can a viewer tell what the video is about, and follow it? (equation 2)

    A chat model watches the video and gives each of four dimensions 0 to 4 points with reasons. It
    is asked R times with some randomness, like a small panel; a dimension is the mean of its points
    over 4. The printed values are multiples of a third of a point, so R was 3.

    ``rounds`` is R; ``temperature`` the randomness between them.
    """

    info = MetricInfo(
        outputs=declared(CONTENT_CLARITY), roles=("chat.watch",), prompts=("locot2v/clarity",)
    )

    def __init__(
        self, *, rounds: int = 3, temperature: float = 0.7, frames: int = 32, long_side: int = 512
    ) -> None:
        if rounds < 1:
            raise BadOption(f"{CONTENT_CLARITY}: rounds is at least 1")
        self.rounds, self.temperature = rounds, temperature
        self.frames = few(frames, long_side)

    def calls_of(self, item: Item, video: VideoInfo) -> Sequence[Calls]:
        """Return one call for each round."""
        return (self.frames.calls("chat.watch", video, self.rounds),)

    def conclude(self, item: Item, resources: Resources) -> Outcomes:
        sampling = Sampling(temperature=self.temperature, seed=1)  # each round has its own
        query = Query("locot2v/clarity", Marks, "chat.watch", sampling=sampling)
        slots = {"pictures": self.frames.show(resources, item.video)}
        answers = query.ask(resources, [slots], repeats=self.rounds)
        rounds: list[Marks] = [answer.unwrap() for answer in answers]
        return {name: Outcome.of(_score(name, rounds)) for name in self.info.outputs}


def _score(name: str, rounds: list[Marks]) -> Score:
    marks: list[Mark] = [getattr(item, name) for item in rounds]
    reasons: list[Json] = [{"score": mark.score, "reason": mark.reason} for mark in marks]
    return Score(fmean(mark.score / MOST for mark in marks), details={"rounds": reasons})


PER_DIMENSION = 6
ABOUT: Mapping[str, str] = TERMS["expectations"]
"""What each dimension is about, in our words."""


class Expectations(BaseModel):
    """One text per dimension; empty where there is nothing to say."""

    emotional_response: str
    narrative_flow: str
    character_development: str
    visual_style: str
    themes: str
    interpretive_depth: str
    overall_impression: str


class SixQuestions(BaseModel):
    """Closed questions on one dimension."""

    questions: list[NonBlank] = Field(min_length=PER_DIMENSION, max_length=PER_DIMENSION)


class Polarity(BaseModel):
    """Whether yes says that the expectation is met."""

    polarity: Literal["positive", "negative"]


_EXAMPLE = re.compile(r"\b(storm|harbour)", re.IGNORECASE)
"""What the worked example of the request is about."""
_OPEN = frozenset(("what", "who", "whom", "whose", "which", "why", "how"))


def _can_be_answered(slots: Mapping[str, Any], answer: SixQuestions) -> None:
    """With yes or no, each once, about what was said: small models ask "What is the mood of the
    light?", the same question six times, which would count one answer as six, and those of the
    example."""
    seen = set[str]()
    foreign = _EXAMPLE.search(str(slots.get("evaluation", ""))) is None
    for text in answer.questions:
        words = " ".join(re.findall(r"\w+", text.casefold()))
        if words in seen:
            raise ValueError(f"questions: {text!r} is there twice: word each of them differently")
        seen.add(words)
        if foreign and _EXAMPLE.search(text):
            raise ValueError(f"questions: {text!r} is about the example: ask about what was said")
        if text.split()[0].strip("\"'“‘(").lower() in _OPEN:
            raise ValueError(
                f"questions: {text!r} cannot be answered with yes or no: begin with Is, Are, Does, "
                "Do or Has"
            )


EXPECT = Query("locot2v/herd_expect", Expectations, "chat.extract")
QUESTIONS = Query("locot2v/herd_questions", SixQuestions, "chat.extract", check=_can_be_answered)
POLARITY = Query("locot2v/herd_polarity", Polarity, "chat.extract")


Sixfold = Literal["rewordings", "different"]
"""Six wordings of one question, against the chance of one wording, as the paper has them; or six
questions that ask for different things."""


def questions_on(
    expectations: Mapping[str, str], resources: Resources, sixfold: Sixfold = "rewordings"
) -> dict[str, tuple[ExpectationQuestion, ...]]:
    """Six questions on what is said of each dimension, with the polarity of each."""
    names = list(expectations)
    if not names:
        return {}
    written = QUESTIONS.ask(
        resources,
        [
            {
                "dimension": Trusted(f"{DIMENSIONS[name]}: {ABOUT[name]}"),
                "evaluation": expectations[name],
                "count": PER_DIMENSION,
                "rewordings": sixfold == "rewordings",
            }
            for name in names
        ],
    )
    texts = [
        (name, text)
        for name, item in zip(names, written, strict=True)
        for text in item.unwrap().questions
    ]
    judged = POLARITY.ask(resources, [{"question": text} for _, text in texts])
    result: dict[str, tuple[ExpectationQuestion, ...]] = dict.fromkeys(names, ())
    for (name, text), entry in zip(texts, judged, strict=True):
        question = ExpectationQuestion(text.strip(), entry.unwrap().polarity == "positive")
        result[name] = (*result[name], question)
    return result


def dimensions() -> list[Trusted]:
    """Return the seven dimensions and what they are about, for templates."""
    return [Trusted(f"{name}: {about}") for name, about in ABOUT.items()]


HERD = "locot2v_herd"
Unclear = Literal["left_out", "wrong"]


class Answer(BaseModel):
    """What was seen."""

    answer: Literal["yes", "no", "unclear"]


ANSWER = Query("locot2v/herd_answer", Answer, "chat.watch")


@register(
    "metric",
    HERD,
    summary="whether a viewer's expectations are met, in seven dimensions",
    neutral=("records",),
)
class Herd(AskingByRecords):
    """Share of answers that agree with their question's polarity.

    ``records`` is a prompt suite's file with questions; else they are written anew. ``questions``
    is whether the six of a dimension are rewordings of one, or different.
    """

    info = MetricInfo(
        outputs={name: OutputInfo(f"{title}: met") for name, title in DIMENSIONS.items()},
        roles=(ANSWER.role, QUESTIONS.role),
        needs=("text",),
        prompts=(ANSWER.template, EXPECT.template, QUESTIONS.template, POLARITY.template),
    )

    def __init__(
        self,
        *,
        records: str = "",
        unclear: Unclear = "left_out",
        questions: Sixfold = "rewordings",
        frames: int = 32,
        long_side: int = 512,
    ) -> None:
        self.records, self.frames = Records(records), few(frames, long_side)
        self.unclear, self.sixfold = unclear, questions

    def asks(self, record: PromptRecord, video: VideoInfo) -> Sequence[Calls]:
        count = sum(map(len, record.questions.values()))
        written = 0
        if not record.questions:
            about = len(record.expectations) or len(DIMENSIONS)
            count = about * PER_DIMENSION
            written = about + count + (not record.expectations)
        watched = self.frames.calls(ANSWER.role, video, count)
        return watched, Calls(QUESTIONS.role, "video", count=written)

    def conclude(self, item: Item, resources: Resources) -> Outcomes:
        record = self.records.of(item)
        questions = record.questions or self._written(record, resources)
        pictures = self.frames.show(resources, item.video)
        asked = [(name, question) for name in DIMENSIONS for question in questions.get(name, ())]
        answers = ANSWER.ask(
            resources, [{"pictures": pictures, "question": entry.text} for _, entry in asked]
        )
        result = grouped(
            (name, (question, answer))
            for (name, question), answer in zip(asked, answers, strict=True)
        )
        return {name: self._dimension(result.get(name, [])) for name in DIMENSIONS}

    def _written(
        self, record: PromptRecord, resources: Resources
    ) -> dict[str, tuple[ExpectationQuestion, ...]]:
        """From what the record expects, else from the prompt: its base says nothing of that."""
        expectations = record.expectations
        if not expectations:
            asked = {"prompt": record.prompt, "dimensions": dimensions()}
            given: Expectations = EXPECT.one(resources, asked)
            texts = {name: getattr(given, name).strip() for name in DIMENSIONS}
            expectations = {name: text for name, text in texts.items() if text}
        return questions_on(expectations, resources, self.sixfold)

    def _dimension(
        self, answered: Sequence[tuple[ExpectationQuestion, Outcome[Answer]]]
    ) -> Outcome[Score]:
        if not answered:
            return no_score("the suite asks nothing on this dimension")
        for _, outcome in answered:
            if outcome.failure is not None:
                return Outcome(failure=outcome.failure)
        statement = [(question, outcome.unwrap().answer) for question, outcome in answered]
        value = realised([(item.positive, answer) for item, answer in statement], self.unclear)
        if value is None:
            return no_score("every answer was unclear")
        details: dict[str, Json] = {
            "asked": len(statement),
            "clear": sum(answer != "unclear" for _, answer in statement),
            "answers": [
                {"question": item.text, "positive": item.positive, "answer": answer}
                for item, answer in statement
            ],
        }
        return Outcome.of(Score(value, details=details))


def realised(answers: Sequence[tuple[bool, str]], unclear: Unclear) -> float | None:
    """Return the share that meets expectations; None where nothing was clear and that is left out.

    >>> answers = [(True, "yes"), (False, "no"), (True, "no"), (True, "unclear")]
    >>> realised(answers, "left_out"), realised(answers, "wrong")
    (0.6666666666666666, 0.5)
    """
    met = sum(answer == ("yes" if positive else "no") for positive, answer in answers)
    valid = sum(answer in ("yes", "no") for _, answer in answers)
    count = len(answers) if unclear == "wrong" else valid
    return met / count if count else None
