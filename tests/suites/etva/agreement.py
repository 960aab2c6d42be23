"""How far two writers ask the same: the share of one's questions that the other has too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from screentest.models.roles import TextEmbedding
from screentest.suites.etva.graph import Category
from screentest.suites.etva.questions import QuestionSet

LEAST = 0.7
"""From this similarity on two questions are taken to ask the same. With MiniLM, "Is the camera
moving left?" and "Is the camera panning to the left?" have 0.78; of pairs of different released
questions about one prompt 86% stay below it."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """How many questions of the one have a counterpart, in all and by category."""

    found: int
    total: int
    by_category: Mapping[Category, tuple[int, int]]

    @property
    def share(self) -> float:
        """The share that has one."""
        return self.found / self.total if self.total else 0.0


def covered(
    wanted: Sequence[QuestionSet],
    written: Sequence[QuestionSet],
    text: TextEmbedding,
    *,
    least: float = LEAST,
) -> Agreement:
    """Which of the ``wanted`` questions are asked in ``written``, prompt by prompt."""
    counts = {category: [0, 0] for category in Category}
    for want, have in zip(wanted, written, strict=True):
        if not want.questions:
            continue
        vectors = text.embed([one.text for one in (*want.questions, *have.questions)])
        ours, theirs = vectors[: len(want.questions)], vectors[len(want.questions) :]
        best = (ours @ theirs.T).max(axis=1) if len(theirs) else [0.0] * len(ours)
        for question, similarity in zip(want.questions, best, strict=True):
            counts[question.category][0] += bool(similarity >= least)
            counts[question.category][1] += 1
    by_category = {kind: (found, total) for kind, (found, total) in counts.items()}
    found, total = (sum(pair[n] for pair in by_category.values()) for n in (0, 1))
    return Agreement(found, total, by_category)
