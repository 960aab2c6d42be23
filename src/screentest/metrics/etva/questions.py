"""Questions of a prompt, as they are saved, edited and used again for every model.

>>> one = Question("q1", "Is there a cat in the video?", Category.EXISTENCE)
>>> kept = distinct([one, Question("q2", "Is there a cat shown in this video?", one.category)])
>>> [question.id for question in kept]
['q1']
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from screentest.core import UserError
from screentest.metrics.etva.categories import Category
from screentest.metrics.etva.graph import SceneGraph

_PLACE = re.compile(
    r"\b(?:in|during|at some point in) (?:this|the)(?: part of (?:this|the))?"
    r" (?:video|clip|shot|scene|film)\b"
)
_FILLER = re.compile(r"\b(?:a|an|the|any|there|shown|present|visible|seen|currently)\b")
_SIGNS = re.compile(r"[^\w\s]")


class BadQuestions(UserError):
    """A set of questions that contradicts itself."""


@dataclass(frozen=True, slots=True)
class Question:
    """One yes/no question; yes is what the prompt asks for."""

    id: str
    text: str
    category: Category
    element: str = ""
    """The element of the scene graph it asks about; empty: none."""
    needs: tuple[str, ...] = ()
    """Questions that must be answered yes for this one to make sense."""


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """All that is asked about videos of one prompt. A line of a questions file."""

    prompt: str
    questions: tuple[Question, ...]
    graph: SceneGraph | None = None
    knowledge: str | None = None
    """What the prompt leaves unsaid; None: not looked for yet."""
    writer: str = ""
    """Who wrote them: ``chat``, ``rules``, ``released``; a person may have edited since."""
    left_out: tuple[str, ...] = ()
    """What a writer named that could not be used, with why."""

    def __post_init__(self) -> None:
        ids = [question.id for question in self.questions]
        if len(set(ids)) < len(ids):
            raise BadQuestions(f"two questions of {self.prompt[:60]!r} have the same id")
        for question in self.questions:
            _check(question, set(ids), self.graph)
        _refuse_circles(self.questions)

    def round_by_round(self) -> Iterator[list[Question]]:
        """The questions in rounds: each needs only those of earlier rounds."""
        done: set[str] = set()
        waiting = list(self.questions)
        while waiting:
            ready = [one for one in waiting if done.issuperset(one.needs)]
            yield ready
            done.update(one.id for one in ready)
            waiting = [one for one in waiting if one.id not in done]


def distinct(questions: Iterable[Question]) -> list[Question]:
    """Each question once: those that differ in filler words only are the same.

    What needed one that goes needs the one that stays.
    """
    kept: dict[str, Question] = {}
    stands_for: dict[str, str] = {}
    for question in questions:
        first = kept.setdefault(plain(question.text), question)
        stands_for[question.id] = first.id
    return [
        replace(
            one,
            needs=tuple(
                dict.fromkeys(
                    stands_for[need]
                    for need in one.needs
                    if need in stands_for and stands_for[need] != one.id
                )
            ),
        )
        for one in kept.values()
    ]


def plain(text: str) -> str:
    """The words of a question that carry it, for comparing.

    >>> plain("Is there any sand shown in this video?")
    'is sand'
    """
    bare = " ".join(_SIGNS.sub(" ", text.lower()).split())
    return " ".join(_FILLER.sub(" ", _PLACE.sub(" ", bare)).split())


def with_needs(questions: Sequence[Question], graph: SceneGraph) -> list[Question]:
    """The questions, each needing those about the entities that its element hangs on."""
    by_element = {one.element: one.id for one in questions if one.element}
    return [
        replace(
            one,
            needs=tuple(
                by_element[end]
                for end in graph.ends(one.element)
                if end in by_element and by_element[end] != one.id
            ),
        )
        for one in questions
    ]


def _check(question: Question, ids: set[str], graph: SceneGraph | None) -> None:
    if not question.text.strip():
        raise BadQuestions(f"question {question.id!r} is empty")
    if question.element and (graph is None or graph.element(question.element) is None):
        raise BadQuestions(
            f"question {question.id!r} asks about {question.element!r}, which is not in the graph"
        )
    for need in question.needs:
        if need not in ids:
            raise BadQuestions(f"question {question.id!r} needs {need!r}, which is not there")


def _refuse_circles(questions: Sequence[Question]) -> None:
    done: set[str] = set()
    waiting = list(questions)
    while waiting:
        rest = [one for one in waiting if not done.issuperset(one.needs)]
        if len(rest) == len(waiting):
            names = ", ".join(one.id for one in rest[:5])
            raise BadQuestions(f"the questions {names} need each other in a circle")
        done.update(one.id for one in waiting if one not in rest)
        waiting = rest
