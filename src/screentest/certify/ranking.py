"""More than two: judges or systems ranked on what all have, and rankings held side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from screentest.certify.compare import Points, source_of
from screentest.core import Outcome, Reason
from screentest.stats import RankAgreement, Ranking, compare_systems, rank_agreement


@dataclass(frozen=True, slots=True)
class RankedRow:
    """All sides in one aspect or metric, on the items that every one of them has."""

    name: str
    means: Mapping[str, float]
    ranking: Ranking
    items: int
    dropped: int
    """Items that some side has no value for."""


def ranked(sides: Mapping[str, Points], *, judgements: bool) -> Outcome[tuple[RankedRow, ...]]:
    """One row per aspect or metric that all sides have."""
    every = list(sides.values())
    rows = []
    for name in [name for name in every[0] if all(name in side for side in every)]:
        items = sorted(set.intersection(*(set(side[name]) for side in every)))
        seen = set().union(*(side[name] for side in every))
        if not items:
            continue
        points = {side: [found[name][item] for item in items] for side, found in sides.items()}
        clusters = [source_of(item) if judgements else item for item in items]
        rows.append(
            RankedRow(
                name,
                {side: sum(found) / len(found) for side, found in points.items()},
                compare_systems(points, clusters),
                len(items),
                len(seen) - len(items),
            )
        )
    if not rows:
        return Outcome.failed(Reason.NOT_APPLICABLE, "they have nothing in common")
    return Outcome.of(tuple(rows))


def overall(points: Points) -> float | None:
    """The mean over all items of all aspects; None where there is nothing."""
    every = [value for by_item in points.values() for value in by_item.values()]
    return sum(every) / len(every) if every else None


def agreement(first: Mapping[str, Points], second: Mapping[str, Points]) -> Outcome[RankAgreement]:
    """Whether two testbeds put the same judges, or two benchmarks the same systems, in one order.

    As the paper holds the ranking on its synthetic pairs against that on people's ratings.
    """
    one, two = (
        {name: value for name, points in side.items() if (value := overall(points)) is not None}
        for side in (first, second)
    )
    return rank_agreement(one, two)
