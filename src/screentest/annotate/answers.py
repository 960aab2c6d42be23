"""Answers: what may be said at each step. Everything else is turned away, nothing is guessed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from screentest.core import Clip, Time
from screentest.judges.votes import VoteTask

# Tasks: what people are asked, and in which steps.


class Step(StrEnum):
    """One answer within a task."""

    CHOICE = "choice"
    CHECK = "check"
    RATE = "rate"
    ANSWERS = "answers"
    REVIEW = "review"


STEPS: Final[Mapping[VoteTask, tuple[Step, ...]]] = MappingProxyType(
    {
        VoteTask.PAIRS: (Step.CHOICE,),
        VoteTask.CHECK: (Step.CHOICE, Step.CHECK),
        VoteTask.RATE: (Step.RATE,),
        VoteTask.QUESTIONS: (Step.ANSWERS,),
        VoteTask.PROMPTS: (Step.REVIEW,),
        VoteTask.ARENA: (Step.CHOICE,),
    }
)


def step_after(task: VoteTask, step: Step) -> Step | None:
    """Return the step that follows, or None where that was the last.

    >>> step_after(VoteTask.CHECK, Step.CHOICE).value
    'check'
    """
    steps = STEPS[task]
    place = steps.index(step) + 1
    return steps[place] if place < len(steps) else None


# Unit: one thing that several people judge, and what is needed to show it.


@dataclass(frozen=True, slots=True)
class Footage:
    """A video on disk, and how long it lasts."""

    path: Path
    duration: Time


@dataclass(frozen=True, slots=True)
class HarmMark:
    """A harmed stretch, and on which of the unit's videos it is to be seen."""

    clip: int
    """Its place in the script, from 0."""
    video: int
    """0: the first video, 1: the second. A clip that is gone is seen on the first."""
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class UnitQuestion:
    """An atomic question about a video."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Unit:
    """What is judged. Of two videos of a testbed, the first is the intact one."""

    key: str
    task: VoteTask
    source: str
    video: str
    """The video that is judged (of a pair: the changed one), as its testbed or manifest has it."""
    videos: tuple[Footage, ...]
    prompt: str = ""
    clips: tuple[Clip, ...] = ()
    name: str = ""
    """The degradation; empty for single videos."""
    aspect: str = ""
    severity: float | None = None
    clip_count: int | None = None
    marks: tuple[HarmMark, ...] = ()
    questions: tuple[UnitQuestion, ...] = ()
    pictures: tuple[str, ...] = ()
    """References that the model was given. Of a single video, the second is the original."""
    models: tuple[str, ...] = ()
    """Of an arena: whose the two videos are."""
    groups: Mapping[str, str] = field(default_factory=dict)
    gold: Mapping[str, Any] | None = None
    """The known answer of an item that tests the worker."""

    @property
    def seconds(self) -> float:
        return float(sum(video.duration for video in self.videos))


SCORES: Final = tuple(half / 2 for half in range(11))
"""0 to 5 in steps of 0.5."""
EXAMPLE: Final = "example"
"""The part of a known answer that says why it is right: such an item is shown to learn from."""
RATINGS: Final = ("A", "B", "C")
LONGEST_COMMENT: Final = 100_000
LONGEST_PROMPT: Final = 200_000


class BadAnswer(ValueError):
    """Not an answer to this step."""


def check_answer(
    step: Step,
    given: object,
    *,
    questions: Sequence[str] = (),
    ties: bool = False,
    prompt: str = "",
) -> dict[str, Any]:
    """Return the answer, as it is stored; raises BadAnswer.

    >>> check_answer(Step.RATE, {"score": 3.5})
    {'score': 3.5}
    """
    if not isinstance(given, Mapping):
        raise BadAnswer("an answer must be an object")
    match step:
        case Step.CHOICE:
            allowed = ("left", "right", "same") if ties else ("left", "right")
            return {"choice": _one_of(given, "choice", allowed)}
        case Step.CHECK:
            if given.get("confirmed") is not True:
                raise BadAnswer("confirm that you looked at every marked part")
            return {"rating": _one_of(given, "rating", RATINGS), "confirmed": True}
        case Step.RATE:
            score = given.get("score")
            if isinstance(score, bool) or not isinstance(score, int | float):
                raise BadAnswer("a score must be a number")
            if score not in SCORES:
                raise BadAnswer("a score must be 0 to 5 in steps of 0.5")
            return {"score": float(score)}
        case Step.ANSWERS:
            return {"answers": _answers(given.get("answers"), questions)}
        case Step.REVIEW:
            return _review(given, prompt)


def check_comment(given: object) -> str:
    """Return a remark, whatever is in it; at most 100,000 characters."""
    if given is None:
        return ""
    if not isinstance(given, str):
        raise BadAnswer("a comment must be text")
    if len(given) > LONGEST_COMMENT:
        raise BadAnswer(f"a comment must have {LONGEST_COMMENT:,} characters or fewer")
    return _storable(given)


def _one_of(given: Mapping[str, Any], name: str, allowed: Sequence[str]) -> str:
    value = given.get(name)
    if not isinstance(value, str) or value not in allowed:
        raise BadAnswer(f"{name} must be one of {', '.join(allowed)}")
    return value


def _answers(given: object, questions: Sequence[str]) -> dict[str, int]:
    if not isinstance(given, Mapping) or set(given) != set(questions):
        raise BadAnswer("every question needs an answer")
    for value in given.values():
        if isinstance(value, bool) or value not in (0, 1):
            raise BadAnswer("an answer to a question must be 1 or 0")
    return {question: int(given[question]) for question in questions}


def _review(given: Mapping[str, Any], prompt: str) -> dict[str, Any]:
    verdict = _one_of(given, "verdict", ("approve", "correct"))
    if verdict == "approve":
        return {"verdict": verdict}
    text = given.get("text")
    if not isinstance(text, str) or not text.strip():
        raise BadAnswer("a correction needs its text")
    if len(text) > LONGEST_PROMPT:
        raise BadAnswer(f"a prompt must have {LONGEST_PROMPT:,} characters or fewer")
    # A text field sends \r\n wherever it shows a new line.
    text = _storable(text.replace("\r\n", "\n"))
    if text.strip() == prompt.replace("\r\n", "\n").strip():
        raise BadAnswer("the text is unchanged: approve it, or correct it")
    return {"verdict": verdict, "text": text}


def _storable(text: str) -> str:
    """No database keeps lone surrogates, and PostgreSQL keeps no NUL."""
    return text.replace("\x00", "�").encode("utf-8", "replace").decode("utf-8")


def check_gold(unit: Unit, answer: object) -> dict[str, Any]:
    """Return the known answer of a gold item as its file gives it; raises BadAnswer."""
    if unit.task in (VoteTask.PAIRS, VoteTask.CHECK):
        if answer not in (None, "intact", "degraded"):
            raise BadAnswer("the answer of a pair must be intact or degraded")
        return {"picked": "second" if answer == "degraded" else "first"}
    if unit.task is VoteTask.ARENA:
        words = dict(zip((*unit.models, "tie"), ("first", "second", "tie"), strict=True))
        if not isinstance(answer, str) or answer not in words:
            raise BadAnswer(f"the answer must be one of {', '.join(words)}")
        return {"picked": words[answer]}
    if not isinstance(answer, Mapping):
        raise BadAnswer("a gold item needs its answer, an object")
    match unit.task:
        case VoteTask.RATE:
            low, high = answer.get("low"), answer.get("high")
            if low not in SCORES or high not in SCORES:
                raise BadAnswer("a gold score must have low and high, 0 to 5")
            return {"low": float(low), "high": float(high)}
        case VoteTask.QUESTIONS:
            names = [question.id for question in unit.questions]
            return {"answers": _answers(answer, names)}
        case _:
            if answer.get("verdict") not in ("approve", "correct"):
                raise BadAnswer("the verdict must be approve or correct")
            return {"verdict": answer["verdict"]}


def is_right(answer: Mapping[str, Any], gold: Mapping[str, Any]) -> bool:
    """Return whether an answer is the known one.

    >>> is_right({"score": 4.5}, {"low": 4.0, "high": 5.0})
    True
    """
    if "low" in gold:
        return bool(gold["low"] <= answer["score"] <= gold["high"])
    return all(answer.get(name) == value for name, value in gold.items() if name != EXAMPLE)
