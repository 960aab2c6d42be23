"""From points per piece to values per video.

A video judged shot by shot has the mean of its shots, each with the weight of its running time.
Judged at both levels, it has the mean of the two. The average is the unweighted mean of the
eight dimensions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from screentest.core import NoValue, Outcome, Outcomes, Point, Score, Span, Time
from screentest.metrics.univ.dimensions import Dimension
from screentest.metrics.univ.forms import MOST, Finding, Mark
from screentest.metrics.univ.inspecting import Judged

if TYPE_CHECKING:
    from screentest.core.score import Json

AVERAGE = "average"
LEAST_JUDGED = 0.5
"""The share of the running time that must have been judged for shots to make a score."""


def average(values: Mapping[Dimension, float]) -> float:
    """The unweighted mean of all eight; a KeyError where one is missing.

    >>> average(dict.fromkeys(Dimension, 7.5))
    7.5
    """
    return math.fsum(values[dimension] for dimension in Dimension) / len(Dimension)


def outcomes_of(whole: Judged | None, shots: Sequence[Judged]) -> Outcomes:
    """The eight dimensions and their average, with findings and shots as evidence."""
    levels: list[dict[Dimension, float]] = []
    details: dict[str, Json] = {}
    if whole is not None:
        levels.append(_points(_must_have(whole)))
        details["video"] = _told(whole)
    if shots:
        levels.append(_shot_means(shots))
        details["shots"] = [_told(one) for one in shots]
        details["judged"] = {"shots": sum(one.marks is not None for one in shots), "of": len(shots)}
    values = {
        dimension: math.fsum(level[dimension] for level in levels) / len(levels)
        for dimension in Dimension
    }
    found: dict[str, Outcome[Score]] = {
        AVERAGE: Outcome.of(Score(average(values), _average_curve(whole, shots), details))
    }
    for dimension, value in values.items():
        curve = _curve(dimension, whole, shots)
        reasons: list[Json] = [
            {"shot": one.piece.number, "reason": _mark(one, dimension).reason}
            for one in ([whole] if whole is not None else []) + list(shots)
            if one.marks is not None
        ]
        found[dimension.value] = Outcome.of(Score(value, curve, {"reasons": reasons}))
    return found


def _must_have(judged: Judged) -> Judged:
    if judged.failure is not None:
        raise NoValue(judged.failure.reason, judged.failure.detail, advice=judged.failure.advice)
    return judged


def _points(judged: Judged) -> dict[Dimension, float]:
    return {dimension: float(_mark(judged, dimension).score) for dimension in Dimension}


def _mark(judged: Judged, dimension: Dimension) -> Mark:
    found: Mark = getattr(judged.marks, dimension.value)
    return found


def _shot_means(shots: Sequence[Judged]) -> dict[Dimension, float]:
    total = math.fsum(float(one.piece.span.duration) for one in shots)
    judged = [one for one in shots if one.marks is not None]
    weights = [float(one.piece.span.duration) for one in judged]
    if not judged or math.fsum(weights) < LEAST_JUDGED * total:
        lost = next(one.failure for one in shots if one.failure is not None)
        told = f"{len(shots) - len(judged)} of {len(shots)} shots were not judged: {lost.detail}"
        raise NoValue(lost.reason, told, advice=lost.advice)
    return {
        dimension: math.fsum(
            weight * _mark(one, dimension).score
            for one, weight in zip(judged, weights, strict=True)
        )
        / math.fsum(weights)
        for dimension in Dimension
    }


def _curve(
    dimension: Dimension, whole: Judged | None, shots: Sequence[Judged]
) -> tuple[Point, ...]:
    """Shots with their points; where there are none, the findings in the dimension."""
    if shots:
        return tuple(
            Point(one.piece.span, float(mark.score), mark.reason)
            for one in shots
            if one.marks is not None
            for mark in [_mark(one, dimension)]
        )
    return tuple(point for finding, point in _findings(whole) if finding.dimension is dimension)


def _average_curve(whole: Judged | None, shots: Sequence[Judged]) -> tuple[Point, ...]:
    if shots:
        return tuple(
            Point(one.piece.span, average(_points(one)), one.marks.comment)
            for one in shots
            if one.marks is not None
        )
    return tuple(point for _, point in _findings(whole))


def _findings(judged: Judged | None) -> list[tuple[Finding, Point]]:
    """Each finding as a point: full marks less its severity, at the time it was seen."""
    if judged is None or judged.inspection is None:
        return []
    found = []
    for finding in sorted(judged.inspection.findings, key=lambda one: (one.start, one.end)):
        span = _inside(finding, judged.piece.span)
        value = MOST * (1 - finding.severity)
        found.append((finding, Point(span, value, f"{finding.kind}: {finding.description}")))
    return found


def _inside(finding: Finding, whole: Span) -> Span:
    """A model's times, kept to the time there is."""

    def kept(moment: float) -> Time:
        return min(max(Time(repr(moment)), whole.start), whole.end)

    return Span(kept(finding.start), kept(finding.end))


def _told(judged: Judged) -> Json:
    """All that was said, as JSON."""
    span = judged.piece.span
    found: dict[str, Json] = {
        "shot": judged.piece.number,
        "start": float(span.start),
        "end": float(span.end),
    }
    if judged.inspection is not None:
        found |= judged.inspection.model_dump(mode="json")
    if judged.marks is not None:
        found["comment"] = judged.marks.comment
        found["scores"] = {
            dimension.value: _mark(judged, dimension).score for dimension in Dimension
        }
    if judged.failure is not None:
        found["failed"] = str(judged.failure)
    return found
