"""What the agents that write and answer questions must answer: objects, every field required."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from screentest.metrics.etva.categories import Category

_MOST = 80
"""Far above any prompt's elements; a list without end is no answer."""
_Words = Annotated[str, Field(max_length=300)]


class ElementsAnswer(BaseModel):
    """The first agent: what the text contains."""

    background: _Words | None
    camera: _Words | None
    entities: list[_Words] = Field(max_length=_MOST)
    attributes: list[_Words] = Field(max_length=_MOST)
    relations: list[_Words] = Field(max_length=_MOST)


class BoundAttribute(BaseModel):
    """An attribute with the number of its entity."""

    entity: int
    attribute: _Words


class BoundRelation(BaseModel):
    """A relation with the numbers of its ends."""

    subject: int
    relation: _Words
    object: int


class GraphAnswer(BaseModel):
    """The second agent: what hangs on what."""

    attributes: list[BoundAttribute] = Field(max_length=_MOST)
    relations: list[BoundRelation] = Field(max_length=_MOST)


class WrittenQuestion(BaseModel):
    """A question about one element."""

    element: int
    question: _Words
    category: Category


class QuestionsAnswer(BaseModel):
    """The third agent: a question for each element."""

    questions: list[WrittenQuestion] = Field(max_length=3 * _MOST)


class NumberedAnswer(BaseModel):
    """The answer to one of several questions."""

    number: int
    reasoning: str
    token: Literal["[YES]", "[NO]"]


class AnswersAnswer(BaseModel):
    """The answers to several questions about one video."""

    answers: list[NumberedAnswer] = Field(max_length=3 * _MOST)
