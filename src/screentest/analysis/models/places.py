"""Who is first or last in a measure by what was seen, whether or not it is settled.

It is no claim about models: ``best_at`` and ``worst_at`` of an answer are. Who says it, says on how
many prompts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

from screentest.analysis.models.answer import Answer
from screentest.analysis.models.rows import AnswerRow, ModelValue, counts
from screentest.analysis.models.text import spread_out


@dataclass(frozen=True, slots=True)
class Place:
    """One model in one measure, with the one it is compared with."""

    row: AnswerRow
    other: ModelValue
    """Who comes next; of one that is between the others, who is first."""
    gap: float
    """How far apart the two are, of the whole spread."""


def firsts(answer: Answer, model: str) -> list[Place]:
    """Measures in which a model alone has the best mean, the widest lead first."""
    return _listed(_ends(answer, model, last=False))


def lasts(answer: Answer, model: str) -> list[Place]:
    """Measures in which a model alone has the worst mean, the widest gap first."""
    return _listed(_ends(answer, model, last=True))


def behinds(answer: Answer, model: str) -> list[Place]:
    """Measures in which a model is behind the middle of the others, the widest gap first."""
    return _listed(_middle(answer, model))


def ends(answer: Answer, row: AnswerRow) -> tuple[str, str]:
    """Who alone is first in a measure, and who alone is last; empty where that is shared."""
    first, last = (
        next((name for name in answer.models if any(_of(row, answer, name, last=end))), "")
        for end in (False, True)
    )
    return first, last


def _of(row: AnswerRow, answer: Answer, model: str, *, last: bool) -> Iterator[bool]:
    return (one.row is row for one in _ends(answer, model, last=last))


def _ends(answer: Answer, model: str, *, last: bool) -> Iterator[Place]:
    for row, own, others in _open(answer, model):
        sign = _sign(row) * (-1 if last else 1)
        # The nearest of the others: where it is as good, or as bad, the place is shared.
        other = max(others, key=lambda one: sign * (one.mean or 0.0))
        gap = sign * (own - (other.mean or 0.0))
        if gap > 0 and counts(own, other.mean, _margin(row)):
            yield Place(row, other, gap / (row.spread or 1.0))


def _middle(answer: Answer, model: str) -> Iterator[Place]:
    for row, own, others in _open(answer, model):
        sign = _sign(row)
        middle = median(one.mean or 0.0 for one in others)
        if sign * (middle - own) > 0 and counts(own, middle, _margin(row)):
            first = max(others, key=lambda one: sign * (one.mean or 0.0))
            yield Place(row, first, sign * (middle - own) / (row.spread or 1.0))


def _open(answer: Answer, model: str) -> Iterator[tuple[AnswerRow, float, list[ModelValue]]]:
    """Rows in which there is a difference, with the model's mean and those it is fair to compare.

    Less noise in blurred pictures is no reason to call the others noisy, nor the blurred one best.
    """
    for row in answer.rows:
        owed = {
            (pair.worse if pair.better == model else pair.better)
            for pair in row.pairs
            if pair.owed_to and model in (pair.better, pair.worse)
        }
        own = row.of(model).mean
        others = [
            one
            for one in row.values
            if one.mean is not None and one.model not in owed and one.model != model
        ]
        if row.state in ("holds", "open") and own is not None and others:
            yield row, own, others


def _listed(found: Iterator[Place]) -> list[Place]:
    """What a stand-in says comes last, then what re-encoding alone may make."""
    ordered = sorted(
        found, key=lambda one: (one.row.title.endswith("]"), one.row.margin is None, -one.gap)
    )
    return spread_out(ordered, lambda one: one.row.metric)


def _sign(row: AnswerRow) -> int:
    return -1 if row.better == "lower" else 1


def _margin(row: AnswerRow) -> float:
    return row.margin.value if row.margin is not None else 0.0
