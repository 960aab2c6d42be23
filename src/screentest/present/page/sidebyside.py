"""Prompt by model: which videos stand in a row, how far apart they are, where each is behind.

Nothing here is a claim: distances between single videos say where to look.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from screentest.analysis.models.rows import MetricRow, NotCompared, WhyNotCompared, apart
from screentest.analysis.models.samples import rates_differ
from screentest.analysis.results import Results
from screentest.present.page.data import Report
from screentest.present.screens import artefact_words, why_words

_BEHIND = 0.1
"""How far behind the others a video must be, as a share of the run's spread, to be said so."""


@dataclass(frozen=True, slots=True)
class Weak:
    """What a video is worst at, against the others."""

    name: str
    value: float
    low: float
    high: float
    """Between these are the others."""
    behind: float
    """How far, as a share of the spread of all videos in this value."""


@dataclass(frozen=True, slots=True)
class Row:
    """One prompt with the videos of each model; without models, one video."""

    prompt: str
    cells: tuple[tuple[str, ...], ...]
    """Items, by model."""
    gaps: Mapping[str, float] = field(default_factory=dict)
    """By value: how far apart the models are; of one video alone, how low it is."""

    @property
    def items(self) -> list[str]:
        return [item for cell in self.cells for item in cell]

    @property
    def gap(self) -> float:
        """How far apart over all values."""
        return sum(self.gaps.values()) / len(self.gaps) if self.gaps else 0.0


@dataclass(frozen=True, slots=True)
class SideBySide:
    """All rows, and what each video is worst at."""

    rows: tuple[Row, ...]
    weak: Mapping[str, Weak]


def side_by_side(report: Report, direction: Callable[[str], int]) -> SideBySide:
    """Rows by prompt where models are compared, else one for each video, in the run's order.

    ``direction`` is 1 where more is better, -1 where less is, 0 where neither.
    """
    results = report.results
    values = _values(results)
    spreads = {name: _spread(found.values()) for name, found in values.items()}
    apart = uncompared_of(report)
    signs = {name: 0 if name in apart else direction(name) for name in values}
    systems = report.systems
    if len(systems) < 2:
        rows = tuple(
            Row(
                known.text,
                ((item,),),
                {
                    name: -(signs[name] or 1) * found[item] / spreads[name]
                    for name, found in values.items()
                    if item in found and spreads[name]
                },
            )
            for item, known in results.items.items()
        )
        groups = [[[item] for item in results.items]]
    else:
        rows = tuple(_rows(report, systems, values, spreads, signs))
        groups = [[list(cell) for cell in row.cells if cell] for row in rows]
    margins = margins_of(report) if len(systems) > 1 else None
    excused = {
        name: {item for item in results.items if results.group(item, report.by) in models}
        for name, models in excused_of(report).items()
    }
    weak: dict[str, Weak] = {}
    for cells in groups:
        weak |= _weakest(cells, values, spreads, signs, margins, excused)
    return SideBySide(rows, weak)


def margins_of(report: Report) -> dict[str, float]:
    """The smallest difference between models that counts, where the answer knows one."""
    rows = report.comparison.rows if report.comparison else ()
    return {row.name: row.margin.value for row in rows if row.margin is not None}


def uncompared_of(report: Report) -> dict[str, str]:
    """By value, why single videos are not compared in it: as the answer has it, or of all videos.

    Where models lack values unevenly, two videos that have theirs can still be compared.
    """
    if report.comparison is not None:
        rows = report.comparison.rows
        reasons = {row.name: row.why for row in rows if row.why is not None}
    else:
        reasons = {
            name: WhyNotCompared(NotCompared.FRAME_RATES, rates={"from": rates[0], "to": rates[1]})
            for name in report.results.names
            if (rates := rates_differ(report.results, name))
        }
    return {
        name: why_words(why)
        for name, why in reasons.items()
        if why.reason is NotCompared.FRAME_RATES
    }


def excused_of(report: Report) -> dict[str, dict[str, str]]:
    """By value, the models that are behind only what owes it to a fault, and what has the fault."""
    found: dict[str, dict[str, str]] = {}
    for row in report.comparison.rows if report.comparison else ():
        for model in report.systems:
            if fault := excuse(row, model):
                found.setdefault(row.name, {})[model] = fault
    return found


def excuse(row: MetricRow, model: str) -> str:
    """What has the fault by which others are ahead of a model; empty where one is not by it."""
    artefacts = [pair.explanation for pair in row.pairs if pair.worse == model]
    first = artefacts[0] if artefacts and all(artefacts) else None
    return artefact_words(first, {}) if first is not None else ""


def labels(report: Report, row: Row) -> dict[str, str]:
    """What tells videos of one model on one prompt apart: groups that differ, such as a seed."""
    found = {}
    for cell in row.cells:
        known = [report.results.items[item].groups for item in cell]
        names = [
            name
            for name in dict.fromkeys(name for groups in known for name in groups)
            if len({groups.get(name) for groups in known}) > 1
        ]
        for item, groups in zip(cell, known, strict=True):
            if len(cell) > 1:
                apart = [f"{name} {groups[name]}" for name in names if name in groups]
                found[item] = ", ".join(apart) or item
    return found


def _values(results: Results) -> dict[str, dict[str, float]]:
    """By name of the value and item."""
    found: dict[str, dict[str, float]] = {name: {} for name in results.names}
    for one in results.values:
        if one.outcome.value is not None:
            found.setdefault(one.name, {})[one.item] = one.outcome.value.value
    return found


def _spread(numbers: Any) -> float:
    known = list(numbers)
    return max(known) - min(known) if known else 0.0


def _rows(
    report: Report,
    systems: Sequence[str],
    values: Mapping[str, Mapping[str, float]],
    spreads: Mapping[str, float],
    signs: Mapping[str, int],
) -> list[Row]:
    results = report.results
    cases: dict[str, list[list[str]]] = {}
    prompts: dict[str, str] = {}
    for item, known in results.items.items():
        group = known.groups.get(report.by, "")
        if group in systems:
            case = results.case(item)
            cases.setdefault(case, [[] for _ in systems])[systems.index(group)].append(item)
            prompts.setdefault(case, known.text or case)
    rows = []
    for case, cells in cases.items():
        gaps = {}
        for name, found in values.items():
            means = [mean for cell in cells if (mean := _mean(cell, found)) is not None]
            if len(means) > 1 and spreads[name] and signs[name]:
                gaps[name] = _spread(means) / spreads[name]
        rows.append(Row(prompts[case], tuple(map(tuple, cells)), gaps))
    return rows


def _mean(cell: Sequence[str], found: Mapping[str, float]) -> float | None:
    known = [found[item] for item in cell if item in found]
    return sum(known) / len(known) if known else None


def _weakest(
    cells: Sequence[Sequence[str]],
    values: Mapping[str, Mapping[str, float]],
    spreads: Mapping[str, float],
    signs: Mapping[str, int],
    margins: Mapping[str, float] | None,
    excused: Mapping[str, Collection[str]],
) -> dict[str, Weak]:
    """For each item: the value in which it is furthest behind the mean of the other cells.

    Not one in ``excused``: an item that is behind only what owes it to a fault. With ``margins``
    it must also be worse than each of them by more than the margin: who shares the last place is
    not last.
    """
    best: dict[str, Weak] = {}
    for name, found in values.items():
        if not signs[name] or not spreads[name]:
            continue
        means = [_mean(cell, found) for cell in cells]
        known = [mean for mean in means if mean is not None]
        if len(known) < 2:
            continue
        total, ends = sum(known), sorted(known)
        for cell, mean in zip(cells, means, strict=True):
            if mean is None:
                continue
            rest = (total - mean) / (len(known) - 1)
            # Without this one: the ends of the others.
            low = ends[1] if mean == ends[0] else ends[0]
            high = ends[-2] if mean == ends[-1] else ends[-1]
            for item in cell:
                if item not in found or item in excused.get(name, ()):
                    continue
                behind = signs[name] * (rest - found[item]) / spreads[name]
                if margins is not None and not _last(
                    found[item], low if signs[name] > 0 else high, signs[name], margins.get(name, 0)
                ):
                    continue
                if behind > max(_BEHIND, best[item].behind if item in best else 0.0):
                    best[item] = Weak(name, found[item], low, high, behind)
    return best


def _last(value: float, nearest: float, sign: int, margin: float) -> bool:
    return sign * (nearest - value) > margin and apart(value, nearest, margin)
