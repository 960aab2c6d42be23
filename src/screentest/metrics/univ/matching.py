"""From matches to values: sub-dimensions, dimensions, and their average.

A sub-dimension is the mean of its items; a dimension the unweighted mean of its
sub-dimensions; the average that of the dimensions. The released code has no such step, so this
one is ours. What has no item has no value: the published table fills its camera column with the
mean of the other seven, which leaves the average what it is here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from screentest.core import Outcome, Outcomes, Point, Reason, Score, Span
from screentest.core.score import Json
from screentest.metrics.univ.checklist import Entry
from screentest.metrics.univ.dimensions import ALL_SUBDIMENSIONS, ATMOSPHERE, OWNER, Dimension
from screentest.metrics.univ.forms import Match

AVERAGE = "average"


@dataclass(frozen=True, slots=True)
class Levels:
    """Means at every level; what has no item is not there."""

    by_about: Mapping[str, float]
    """Sub-dimensions, atmosphere, and subject where it is not told apart."""
    dimensions: Mapping[Dimension, float]
    average: float | None


def add_up(entries: Sequence[Entry], scores: Sequence[float]) -> Levels:
    """The means of some scored entries.

    >>> warm, red = Entry("colour_hue", "warm"), Entry("colour_hue", "red")
    >>> add_up([warm, red, Entry("action_event", "runs")], [1.0, 0.5, 0.0]).average
    0.375
    """
    grouped: dict[str, list[float]] = {}
    for entry, score in zip(entries, scores, strict=True):
        grouped.setdefault(entry.about, []).append(score)
    by_about = {about: _mean(some) for about, some in grouped.items()}
    dimensions = {}
    for dimension in Dimension:
        parts = [value for about, value in by_about.items() if _counts_in(about, dimension)]
        if parts:
            dimensions[dimension] = _mean(parts)
    average = _mean(list(dimensions.values())) if dimensions else None
    return Levels(by_about, dimensions, average)


def outcomes_of(entries: Sequence[Entry], matches: Sequence[Match]) -> Outcomes:
    """Every output of the metric."""
    levels = add_up(entries, [match.score for match in matches])
    told: list[Json] = [
        {
            "about": entry.about,
            "item": entry.text,
            "present": match.present,
            "score": match.score,
            "reason": match.reason,
        }
        for entry, match in zip(entries, matches, strict=True)
    ]
    details: dict[str, Json] = {
        "items": told,
        "dimensions": {"had": len(levels.dimensions), "of": len(Dimension)},
    }
    curve = _curve(entries, matches)
    found: dict[str, Outcome[Score]] = {
        AVERAGE: _none("no item counts in any dimension")
        if levels.average is None
        else Outcome.of(Score(levels.average, curve, details))
    }
    for dimension in Dimension:
        if dimension in levels.dimensions:
            found[dimension.value] = Outcome.of(Score(levels.dimensions[dimension]))
        else:
            found[dimension.value] = _none(
                f"the ground truth has no item about {dimension.value}, and none is made up"
            )
    for about in (*ALL_SUBDIMENSIONS, ATMOSPHERE):
        found[about] = (
            Outcome.of(Score(levels.by_about[about]))
            if about in levels.by_about
            else _none(f"the ground truth has no item about {about}")
        )
    return found


def _curve(entries: Sequence[Entry], matches: Sequence[Match]) -> tuple[Point, ...]:
    """Shot by shot, where the ground truth knows when a thing is seen."""
    shots: dict[Span, list[float]] = {}
    for entry, match in zip(entries, matches, strict=True):
        if entry.span is not None:
            shots.setdefault(entry.span, []).append(match.score)
    return tuple(
        Point(span, _mean(shots[span]), f"{len(shots[span])} items")
        for span in sorted(shots, key=lambda one: (one.start, one.end))
    )


def _counts_in(about: str, dimension: Dimension) -> bool:
    return about == dimension.value or OWNER.get(about) is dimension


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _none(why: str) -> Outcome[Score]:
    return Outcome.failed(Reason.NOT_APPLICABLE, why)
