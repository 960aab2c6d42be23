"""Ladders: how accuracy rises with the severity of the harm and the number of harmed clips."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from screentest.certify.accuracy import by_pair
from screentest.certify.cases import strongest
from screentest.certify.judgements import Judgement
from screentest.core import Aspect
from screentest.degrade.testbed import Kind
from screentest.stats.dose import DoseResponse, dose_response

Step = Literal["severity", "clips"]


def reference(judgements: Sequence[Judgement]) -> list[Judgement]:
    """Those at the strongest rung of each source and degradation: what the table shows."""
    top = {case.id for case in strongest(one.case for one in judgements)}
    return [one for one in judgements if one.case.id in top]


def ladders(judgements: Sequence[Judgement], *, by: Step) -> dict[str, DoseResponse]:
    """Dose and response by aspect, over severities or over numbers of clips.

    The other of the two is held at its highest value, and only sources that have an answer on
    every rung count: else an easier source on one rung would look like a stronger dose. A pair
    counts once, with the mean of its answers.
    """
    found: dict[str, DoseResponse] = {}
    for aspect in Aspect:
        own = [
            one
            for one in judgements
            if one.case.kind is Kind.DEGRADATION and one.case.contest.aspect is aspect
        ]
        rungs = _rungs(own, by)
        if len(rungs) < 2:
            continue
        response = dose_response(
            list(rungs),
            [sum(points) for points in rungs.values()],
            [len(points) for points in rungs.values()],
            harmless=0.0,
        )
        if response.value is not None:
            found[aspect.value] = response.value
    return found


def _rungs(judgements: Sequence[Judgement], by: Step) -> dict[float, list[float]]:
    pairs = [
        (one.case.cluster, *_split(one.case.rung, by), points)
        for one, points in by_pair(judgements).values()
    ]
    if not pairs:
        return {}
    top = max(other for _, _, other, _ in pairs)
    held = [(cluster, dose, points) for cluster, dose, other, points in pairs if other == top]
    doses = sorted({dose for _, dose, _ in held})
    whole = set.intersection(
        *({cluster for cluster, dose, _ in held if dose == level} for level in doses)
    )
    rungs: dict[float, list[float]] = {level: [] for level in doses} if whole else {}
    for cluster, dose, points in held:
        if cluster in whole:
            rungs[dose].append(points)
    return rungs


def _split(rung: tuple[float, int], by: Step) -> tuple[float, float]:
    """The dose, and what is held."""
    severity, clips = rung
    return (severity, float(clips)) if by == "severity" else (float(clips), severity)
