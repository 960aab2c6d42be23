"""Tasks: what people are asked, and in which steps."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final


class Task(StrEnum):
    """One kind of work."""

    PAIRS = "pairs"
    """Which of two videos is better for an aspect."""
    CHECK = "check"
    """The same; then, with the intended answer shown, whether the degradation succeeded."""
    RATE = "rate"
    """How well one video shows its prompt: 0 to 5 in halves."""
    QUESTIONS = "questions"
    """Yes or no to each question about one video."""
    PROMPTS = "prompts"
    """Approve or correct a prompt against its video."""


class Step(StrEnum):
    """One answer within a task."""

    CHOICE = "choice"
    CHECK = "check"
    RATE = "rate"
    ANSWERS = "answers"
    REVIEW = "review"


STEPS: Final[Mapping[Task, tuple[Step, ...]]] = MappingProxyType(
    {
        Task.PAIRS: (Step.CHOICE,),
        Task.CHECK: (Step.CHOICE, Step.CHECK),
        Task.RATE: (Step.RATE,),
        Task.QUESTIONS: (Step.ANSWERS,),
        Task.PROMPTS: (Step.REVIEW,),
    }
)


def of_two(task: Task) -> bool:
    """Whether two videos stand side by side."""
    return task in (Task.PAIRS, Task.CHECK)


def step_after(task: Task, step: Step) -> Step | None:
    """The step that follows, or None where that was the last.

    >>> step_after(Task.CHECK, Step.CHOICE).value
    'check'
    """
    steps = STEPS[task]
    place = steps.index(step) + 1
    return steps[place] if place < len(steps) else None
