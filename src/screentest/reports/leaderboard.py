"""The leaderboard: systems on the same prompts, with sets that cannot be told apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from screentest.reports.data import Report
from screentest.scores.results import Results, Total, total
from screentest.stats import compare_systems
from screentest.stats.rank import Ranking


@dataclass(frozen=True, slots=True)
class SystemMean:
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


def leaderboard(report: Report) -> list[SystemMean]:
    """Lines by value, the best system first; empty where there are not two systems."""
    systems = report.systems
    if len(systems) < 2:
        return []
    empty = Results({}, (), report.results.outputs)
    known = report.results.by_group(report.by)
    groups = {system: known.get(system, empty) for system in systems}
    lines: list[SystemMean] = []
    for name in report.results.names:
        info = report.results.outputs[name]
        sign = 1.0 if info.higher_is_better else -1.0
        own = []
        for system in systems:
            waiting = _pending(report, system, name)
            one = groups[system]
            found = total(name, one.of(name), info, pending=waiting, case=one.case)
            own.append((system, found))
        ranking = _ranking(groups, name)
        for system, found in sorted(own, key=lambda one: _rank(one[1], sign)):
            summary = found.summary
            lines.append(
                SystemMean(
                    name,
                    system,
                    summary.value if summary else None,
                    summary.low if summary else None,
                    summary.high if summary else None,
                    found.scored,
                    found.total,
                    best=summary is not None and (ranking is None or system in ranking.best),
                    tied_with=_tied(ranking, system),
                )
            )
    return lines


def _pending(report: Report, system: str, name: str) -> int:
    results = report.results
    return sum(
        1
        for item, waiting in results.pending
        if waiting == name and results.group(item, report.by) == system
    )


def _rank(found: Total, sign: float) -> float:
    return float("inf") if found.summary is None else -sign * found.summary.value


def _ranking(groups: Mapping[str, Results], name: str) -> Ranking | None:
    """The systems that have values, on the prompts that all of those have; None below two."""
    points = {system: part.by_case(name) for system, part in groups.items()}
    points = {system: found for system, found in points.items() if found}
    shared = sorted(set.intersection(*map(set, points.values()))) if len(points) > 1 else []
    if len(shared) < 2:
        return None
    return compare_systems({s: [found[text] for text in shared] for s, found in points.items()})


def _tied(ranking: Ranking | None, system: str) -> tuple[str, ...]:
    sets = [tied for tied in ranking.tied_sets if system in tied] if ranking else []
    return tuple(sorted({other for tied in sets for other in tied} - {system}))
