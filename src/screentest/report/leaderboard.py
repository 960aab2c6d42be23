"""The leaderboard: systems on the same prompts, with sets that cannot be told apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from screentest.evaluate.results import Results, Total, total
from screentest.report.data import Report
from screentest.stats import compare_systems


@dataclass(frozen=True, slots=True)
class Line:
    """One system in one value."""

    value: str
    system: str
    mean: float | None
    low: float | None
    high: float | None
    scored: int
    total: int
    best: bool = False
    """Whether no other system is significantly better."""
    tied_with: tuple[str, ...] = ()


def leaderboard(report: Report) -> list[Line]:
    """Lines by value, the best system first; empty where there are not two systems."""
    systems = report.systems
    if len(systems) < 2:
        return []
    groups = report.results.by_group(report.by)
    lines: list[Line] = []
    for name in report.results.names:
        info = report.results.outputs[name]
        sign = 1.0 if info.higher_is_better else -1.0
        own = []
        for system in systems:
            part = groups[system]
            found = total(name, part.of(name), info, pending=_pending(part, name))
            own.append((system, found))
        tied = _tied(report.results, groups, name, sign, systems)
        top = _top(own, sign)
        for system, found in sorted(own, key=lambda one: _rank(one[1], sign)):
            summary = found.summary
            lines.append(
                Line(
                    name,
                    system,
                    summary.value if summary else None,
                    summary.low if summary else None,
                    summary.high if summary else None,
                    found.scored,
                    found.total,
                    best=system == top or top in tied.get(system, ()),
                    tied_with=tied.get(system, ()),
                )
            )
    return lines


def _pending(part: Results, name: str) -> int:
    return sum(1 for _, waiting in part.pending if waiting == name)


def _rank(found: Total, sign: float) -> float:
    return float("inf") if found.summary is None else -sign * found.summary.value


def _top(own: Sequence[tuple[str, Total]], sign: float) -> str:
    system, found = min(own, key=lambda one: _rank(one[1], sign))
    return system if found.summary is not None else ""


def _tied(
    results: Results,
    groups: Mapping[str, Results],
    name: str,
    sign: float,
    systems: list[str],
) -> dict[str, tuple[str, ...]]:
    """With whom each system is tied, on the prompts that all of them have."""
    points: dict[str, dict[str, float]] = {}
    for system in systems:
        points[system] = {
            results.items[value.item].text or value.item: sign * value.outcome.value.value
            for value in groups[system].of(name)
            if value.outcome.value is not None
        }
    shared = sorted(set.intersection(*(set(found) for found in points.values())))
    if len(shared) < 2:
        return {}
    ranking = compare_systems({s: [points[s][text] for text in shared] for s in systems})
    tied: dict[str, set[str]] = {}
    for group in ranking.tied_sets:
        for system in group:
            tied.setdefault(system, set()).update(other for other in group if other != system)
    return {system: tuple(sorted(others)) for system, others in tied.items()}
