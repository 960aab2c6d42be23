"""Agreement with people: per prompt over the models that both rated, then averaged.

The paper's way. A prompt whose scores or ratings are all equal has no correlation: such
prompts are counted and left out of the average. ``Compat.UPSTREAM`` counts them as 0, as the
released code does, which pulls every average towards 0.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np

from screentest.core import Outcome, Reason, UserError
from screentest.core.codec import parse_json
from screentest.stats import (
    Correlation,
    Difference,
    Interval,
    kendall,
    mean_interval,
    paired_difference,
    spearman,
    wilson,
)
from screentest.suites.etva.answers import Compat

Ratings = Mapping[str, Mapping[str, float]]
"""Prompt → model → a number, higher is better."""
Measure: TypeAlias = Callable[[Sequence[float], Sequence[float]], Outcome[Correlation]]


@dataclass(frozen=True, slots=True)
class PerPrompt:
    """The mean of the prompts' correlations."""

    mean: float
    interval: Interval | None
    """Over prompts; None where there are too few."""
    defined: int
    undefined: int
    """Prompts whose numbers are all equal on one side, or too few to correlate."""


@dataclass(frozen=True, slots=True)
class WithPeople:
    """Rank correlations of scores with ratings by people."""

    kendall: Outcome[PerPrompt]
    spearman: Outcome[PerPrompt]


def with_people(scores: Ratings, ratings: Ratings, *, compat: Compat = Compat.STRICT) -> WithPeople:
    """Kendall's τ-b and Spearman's ρ of every prompt that both have, averaged."""
    return WithPeople(
        _averaged(scores, ratings, kendall, compat), _averaged(scores, ratings, spearman, compat)
    )


@dataclass(frozen=True, slots=True)
class AnswerAccuracy:
    """How often the machine answers as people do."""

    same: int
    total: int
    """Questions that both answered."""
    interval: Interval

    @property
    def share(self) -> float:
        """The share answered alike."""
        return self.same / self.total


def answer_accuracy(
    ours: Mapping[str, bool], people: Mapping[str, bool]
) -> Outcome[AnswerAccuracy]:
    """The share of questions that both answer alike, by the questions' names.

    >>> answer_accuracy({"q1": True, "q2": False, "q3": True}, {"q1": True, "q2": True}).value.share
    0.5
    """
    both = ours.keys() & people.keys()
    if not both:
        return Outcome.failed(Reason.NOT_APPLICABLE, "no question has both answers")
    same = sum(ours[name] == people[name] for name in both)
    return Outcome.of(AnswerAccuracy(same, len(both), wilson(same, len(both))))


def _averaged(
    scores: Ratings, ratings: Ratings, measure: Measure, compat: Compat
) -> Outcome[PerPrompt]:
    found = by_prompt(scores, ratings, measure)
    undefined = sum(value is None for value in found.values())
    values = [value for value in found.values() if value is not None]
    defined = len(values)
    if compat is Compat.UPSTREAM:
        values += [0.0] * undefined
    if not values:
        message = f"not one of {undefined} prompts has a correlation"
        return Outcome.failed(Reason.NOT_APPLICABLE, message)
    interval = mean_interval(values) if len(values) > 2 and np.ptp(values) > 0 else None
    return Outcome.of(PerPrompt(float(np.mean(values)), interval, defined, undefined))


def by_prompt(scores: Ratings, ratings: Ratings, measure: Measure) -> dict[str, float | None]:
    """The correlation of each prompt that both have; None where it has none."""
    found: dict[str, float | None] = {}
    for prompt in sorted(scores.keys() & ratings.keys()):
        models = sorted(scores[prompt].keys() & ratings[prompt].keys())
        outcome = measure(
            [scores[prompt][name] for name in models], [ratings[prompt][name] for name in models]
        )
        found[prompt] = outcome.unwrap().value if outcome.ok else None
    return found


def closer_to_people(
    first: Ratings, second: Ratings, ratings: Ratings, *, compat: Compat = Compat.STRICT
) -> Outcome[tuple[Difference, Difference]]:
    """By how much the first correlates better with people, in Kendall's τ-b and Spearman's ρ.

    Over the prompts that both can be compared on; with ``Compat.UPSTREAM`` a prompt without a
    correlation counts as 0 on its side.
    """
    made = []
    for measure in (kendall, spearman):
        one, other = by_prompt(first, ratings, measure), by_prompt(second, ratings, measure)
        both = [name for name in one if name in other]
        if compat is Compat.STRICT:
            both = [name for name in both if one[name] is not None and other[name] is not None]
        if not both:
            return Outcome.failed(Reason.NOT_APPLICABLE, "no prompt has both correlations")
        made.append(
            paired_difference([one[name] or 0.0 for name in both], [other[n] or 0.0 for n in both])
        )
    return Outcome.of((made[0], made[1]))


def read_score_file(path: Path) -> dict[str, dict[str, float]]:
    """Scores of others by their name: item → number.

    JSON ``{item: number}``, named by the file; or a CSV with a column ``item`` and a column of
    numbers for each score.
    """
    if path.suffix.lower() == ".json":
        try:
            found = parse_json(path.read_text(encoding="utf-8-sig"))
        except (OSError, ValueError) as error:
            raise UserError(f"{path} is not a file of scores: {error}", advice=_FORM) from None
        if not isinstance(found, dict) or not all(map(_is_number, found.values())):
            raise UserError(f"{path} is not an object of numbers", advice=_FORM)
        return {path.stem: {str(item): float(value) for item, value in found.items()}}
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path} is not a file of scores: {error}", advice=_FORM) from None
    if not rows or "item" not in rows[0]:
        raise UserError(f"{path} has no column item", advice=_FORM)
    scores: dict[str, dict[str, float]] = {}
    for number, row in enumerate(rows, start=2):
        for name, written in row.items():
            if name and name != "item" and (written or "").strip():
                scores.setdefault(name, {})[row["item"]] = _number(path, number, str(written))
    return scores


_FORM = "Give a CSV with the column item and a column for each score, or JSON {item: number}."


def _is_number(value: object) -> bool:
    return type(value) in (int, float) and math.isfinite(float(str(value)))


def _number(path: Path, line: int, written: str) -> float:
    try:
        value = float(written)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise UserError(f"{path}, line {line}: {written[:40]!r} is not a number", advice=_FORM)
    return value
