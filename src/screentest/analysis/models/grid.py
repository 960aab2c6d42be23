"""Prompts by models: the videos of each cell, how far apart they are, where each is behind.

Nothing here is a claim: distances between single videos say where to look.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from screentest.analysis.models.comparison import ModelComparison
from screentest.analysis.models.moments import direction
from screentest.analysis.models.rows import (
    Explanation,
    MetricRow,
    NotCompared,
    WhyNotCompared,
    apart,
)
from screentest.analysis.models.samples import rates_differ
from screentest.analysis.results import Results

_BEHIND = 0.1
"""How far behind the others a video must be, as a share of the run's spread, to be weak there."""


@dataclass(frozen=True, slots=True)
class Weak:
    """The value in which a video is furthest behind the others."""

    name: str
    value: float
    low: float
    high: float
    """Between these are the others."""
    behind: float
    """How far, as a share of the spread of all videos in this value."""


@dataclass(frozen=True, slots=True)
class GridRow:
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
        """Return how far apart over all values."""
        return sum(self.gaps.values()) / len(self.gaps) if self.gaps else 0.0


@dataclass(frozen=True, slots=True)
class Grid:
    """All rows, and the value in which each video is weakest."""

    rows: tuple[GridRow, ...]
    weak: Mapping[str, Weak]


@dataclass(frozen=True, slots=True)
class _Scale:
    """One value of all videos: its numbers, their spread, and the better direction."""

    name: str
    numbers: Mapping[str, float]
    spread: float
    sign: int
    """0 where videos are not compared in it."""

    def mean(self, cell: Sequence[str]) -> float | None:
        available = [self.numbers[item] for item in cell if item in self.numbers]
        return sum(available) / len(available) if available else None


def prompt_grid(results: Results, comparison: ModelComparison | None) -> Grid:
    """Rows by prompt where models are compared, else one for each video, in the run's order."""
    scales = list(_scales(results, comparison))
    if comparison is None or len(comparison.models) < 2:
        rows = [
            GridRow(item.text, ((name,),), _heights(scales, name))
            for name, item in results.items.items()
        ]
        return Grid(tuple(rows), _weakest([[name] for name in results.items], scales))
    rows = list(_prompt_rows(results, comparison, scales))
    margins = {row.name: row.margin.value for row in comparison.rows if row.margin is not None}
    excused = {
        row.name: {
            item
            for item in results.items
            if (model := results.group(item, comparison.by)) in comparison.models
            and excuse(row, model)
        }
        for row in comparison.rows
    }
    weak: dict[str, Weak] = {}
    for row in rows:
        weak |= _weakest([cell for cell in row.cells if cell], scales, margins, excused)
    return Grid(tuple(rows), weak)


def uncompared(results: Results, comparison: ModelComparison | None) -> dict[str, WhyNotCompared]:
    """By value, why single videos are not compared in it: as the comparison has it, or of all.

    Where models lack values unevenly, two videos that have theirs can still be compared.
    """
    if comparison is not None:
        reasons = {row.name: row.why for row in comparison.rows if row.why is not None}
    else:
        reasons = {
            name: WhyNotCompared(NotCompared.FRAME_RATES, rates={"from": rates[0], "to": rates[1]})
            for name in results.names
            if (rates := rates_differ(results, name))
        }
    return {name: why for name, why in reasons.items() if why.reason is NotCompared.FRAME_RATES}


def excuse(row: MetricRow, model: str) -> Explanation | None:
    """Return the artefact that explains why others are ahead of a model; None where one earned
    it."""
    explanations = [pair.explanation for pair in row.pairs if pair.worse == model]
    return explanations[0] if explanations and all(explanations) else None


def _scales(results: Results, comparison: ModelComparison | None) -> Iterator[_Scale]:
    left_out = uncompared(results, comparison)
    for name in results.names:
        numbers = results.numbers(name)
        sign = 0 if name in left_out else direction(results, name)
        yield _Scale(name, numbers, _spread(numbers.values()), sign)


def _spread(numbers: Iterable[float]) -> float:
    available = list(numbers)
    return max(available) - min(available) if available else 0.0


def _heights(scales: Iterable[_Scale], item: str) -> dict[str, float]:
    """Return how low one video is in each value."""
    return {
        scale.name: -(scale.sign or 1) * scale.numbers[item] / scale.spread
        for scale in scales
        if item in scale.numbers and scale.spread
    }


def _prompt_rows(
    results: Results, comparison: ModelComparison, scales: Sequence[_Scale]
) -> Iterator[GridRow]:
    cells: dict[str, list[list[str]]] = {}
    prompts: dict[str, str] = {}
    for name, item in results.items.items():
        model = item.groups.get(comparison.by, "")
        if model in comparison.models:
            case = results.case(name)
            column = comparison.models.index(model)
            cells.setdefault(case, [[] for _ in comparison.models])[column].append(name)
            prompts.setdefault(case, item.text or case)
    for case, row in cells.items():
        gaps = {}
        for scale in scales:
            means = [mean for cell in row if (mean := scale.mean(cell)) is not None]
            if len(means) > 1 and scale.spread and scale.sign:
                gaps[scale.name] = _spread(means) / scale.spread
        yield GridRow(prompts[case], tuple(map(tuple, row)), gaps)


def _weakest(
    cells: Sequence[Sequence[str]],
    scales: Iterable[_Scale],
    margins: Mapping[str, float] | None = None,
    excused: Mapping[str, Collection[str]] | None = None,
) -> dict[str, Weak]:
    """For each item: the value in which it is furthest behind the mean of the other cells.

    Not one in which it is ``excused``. With ``margins`` it must also be worse than each of them by
    more than the margin: who shares the last place is not last.
    """
    weakest: dict[str, Weak] = {}
    for scale in scales:
        means = [scale.mean(cell) for cell in cells]
        available = sorted(mean for mean in means if mean is not None)
        if not scale.sign or not scale.spread or len(available) < 2:
            continue
        for cell, mean in zip(cells, means, strict=True):
            if mean is None:
                continue
            others = (sum(available) - mean) / (len(available) - 1)
            # Without this one: the ends of the others.
            low = available[1] if mean == available[0] else available[0]
            high = available[-2] if mean == available[-1] else available[-1]
            nearest = low if scale.sign > 0 else high
            for item in cell:
                number = scale.numbers.get(item)
                if number is None or item in (excused or {}).get(scale.name, ()):
                    continue
                if margins is not None:
                    margin = margins.get(scale.name, 0.0)
                    ahead = scale.sign * (nearest - number) > margin
                    if not (ahead and apart(number, nearest, margin)):
                        continue
                behind = scale.sign * (others - number) / scale.spread
                if behind > max(_BEHIND, weakest[item].behind if item in weakest else 0.0):
                    weakest[item] = Weak(scale.name, number, low, high, behind)
    return weakest
