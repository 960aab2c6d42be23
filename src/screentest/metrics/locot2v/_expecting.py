"""What a viewer would expect, as questions with a polarity: for HERD and for building suites."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, Field

from screentest.core import Resources
from screentest.corpus.locot2v import DIMENSIONS, ExpectationQuestion
from screentest.metrics.locot2v._asking import Asking
from screentest.prompts.values import Trusted

PER_DIMENSION = 6
ABOUT: Mapping[str, str] = {
    "emotional_response": "what the viewer feels, and whether attention is held to the end",
    "narrative_flow": "how the story unfolds: order, transitions, pace",
    "character_development": "how full and believable the characters are, and how their "
    "relations change",
    "visual_style": "camera work, colour, light and framing, and the mood they make",
    "themes": "the ideas and messages, and how clearly they come across",
    "interpretive_depth": "symbols, open questions, and room for more than one reading",
    "overall_impression": "what stays with the viewer, and for whom it is worth watching",
}
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

    questions: list[str] = Field(min_length=PER_DIMENSION, max_length=PER_DIMENSION)


class Polarity(BaseModel):
    """Whether yes says that the expectation is met."""

    polarity: Literal["positive", "negative"]


EXPECT = Asking("extract", "locot2v/herd_expect", Expectations)
QUESTIONS = Asking("extract", "locot2v/herd_questions", SixQuestions)
POLARITY = Asking("extract", "locot2v/herd_polarity", Polarity)


def questions_for(prompt: str, resources: Resources) -> dict[str, tuple[ExpectationQuestion, ...]]:
    """Questions on a video that was only asked for, not seen: from its prompt."""
    expected: Expectations = EXPECT.one(resources, {"prompt": prompt, "dimensions": dimensions()})
    said = {name: getattr(expected, name).strip() for name in DIMENSIONS}
    return questions_on({name: text for name, text in said.items() if text}, resources)


def questions_on(
    expectations: Mapping[str, str], resources: Resources
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
            }
            for name in names
        ],
    )
    texts = [
        (name, text)
        for name, one in zip(names, written, strict=True)
        for text in one.unwrap().questions
    ]
    judged = POLARITY.ask(resources, [{"question": text} for _, text in texts])
    found: dict[str, tuple[ExpectationQuestion, ...]] = dict.fromkeys(names, ())
    for (name, text), one in zip(texts, judged, strict=True):
        question = ExpectationQuestion(text.strip(), one.unwrap().polarity == "positive")
        found[name] = (*found[name], question)
    return found


def dimensions() -> list[Trusted]:
    """The seven dimensions and what they are about, for templates."""
    return [Trusted(f"{name}: {about}") for name, about in ABOUT.items()]
