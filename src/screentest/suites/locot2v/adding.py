"""Adding up: unweighted means at every level, with what is missing beside them.

From values per item to sub-dimensions (mean over items), from there to the five dimensions and
to the total (means of their parts), for all items or for those of one theme or category.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from screentest.suites.locot2v.dimensions import ALL, FIVE

Values = Mapping[str, float]
"""By name of the sub-dimension, of one item."""


@dataclass(frozen=True, slots=True)
class Level:
    """A mean, and of how many of its parts it could be taken."""

    value: float
    had: int
    of: int

    @property
    def complete(self) -> bool:
        """Whether nothing is missing."""
        return self.had == self.of


@dataclass(frozen=True, slots=True)
class Standing:
    """What all items of one group add up to. What has no value at all is not there."""

    subdimensions: Mapping[str, Level]
    """Counted in items."""
    dimensions: Mapping[str, Level]
    """Counted in sub-dimensions."""
    total: Level | None
    """Counted in dimensions."""


def unweighted(values: Sequence[float], of: int | None = None) -> Level | None:
    """The mean of what there is; None where there is nothing.

    >>> unweighted([0.25, 0.75], of=4)
    Level(value=0.5, had=2, of=4)
    """
    if not values:
        return None
    return Level(math.fsum(values) / len(values), len(values), len(values) if of is None else of)


def dimension_means(subdimensions: Values) -> dict[str, Level]:
    """The five dimensions from sub-dimensions."""
    found = {}
    for name, members in FIVE.items():
        had = [subdimensions[one.name] for one in members if one.name in subdimensions]
        level = unweighted(had, len(members))
        if level is not None:
            found[name] = level
    return found


def total_of(dimensions: Mapping[str, Level]) -> Level | None:
    """The mean of the dimensions there are."""
    return unweighted([level.value for level in dimensions.values()], len(FIVE))


def add_up(items: Sequence[Values]) -> Standing:
    """Sub-dimensions, dimensions and total of some items."""
    subdimensions = {}
    for one in ALL:
        level = unweighted([item[one.name] for item in items if one.name in item], len(items))
        if level is not None:
            subdimensions[one.name] = level
    dimensions = dimension_means({name: level.value for name, level in subdimensions.items()})
    return Standing(subdimensions, dimensions, total_of(dimensions))


def by_group(items: Mapping[str, Values], groups: Mapping[str, str]) -> dict[str, Standing]:
    """The standing of each group of items; those in no group are left out."""
    members: dict[str, list[Values]] = {}
    for name, values in items.items():
        if groups.get(name):
            members.setdefault(groups[name], []).append(values)
    return {group: add_up(members[group]) for group in sorted(members)}
