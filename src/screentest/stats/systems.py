"""Many systems on the same pairs: a ranking, and the sets that cannot be told apart.

>>> points = {"a": [1] * 40, "b": [1] * 38 + [0] * 2, "c": [1] * 10 + [0] * 30}
>>> [" ".join(tied) for tied in compare_systems(points).tied_sets]
['a b', 'c']
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass

import numpy as np

from screentest.stats._arrays import Labels, Numbers
from screentest.stats.paired import Difference, holm, paired_bootstrap

LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class SystemPair:
    """One comparison of two systems, the better one first."""

    first: str
    second: str
    difference: Difference
    adjusted_p: float
    """Holm's correction over all pairs of systems."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """Systems from best to worst, every comparison, and who is tied with whom."""

    systems: tuple[str, ...]
    pairs: tuple[SystemPair, ...]
    tied_sets: tuple[tuple[str, ...], ...]
    """Each a largest set in which no two differ significantly; a system may be in several."""

    @property
    def best(self) -> tuple[str, ...]:
        """The top system and all that it does not beat significantly."""
        top = self.systems[0]
        tied = {name for group in self.tied_sets if top in group for name in group}
        return tuple(name for name in self.systems if name in tied)


def compare_systems(
    points: Mapping[str, Numbers],
    sources: Labels | None = None,
    *,
    level: float = LEVEL,
    seed: int = 0,
) -> Ranking:
    """Rank systems by their mean points on the same pairs, listed in the same order."""
    if not points:
        raise ValueError("there are no systems to compare")
    mean = {name: float(np.mean(np.asarray(row, float))) for name, row in points.items()}
    systems = tuple(sorted(points, key=lambda name: (-mean[name], name)))
    couples = list(itertools.combinations(systems, 2))
    differences = [paired_bootstrap(points[a], points[b], sources, seed=seed) for a, b in couples]
    adjusted = holm([difference.p_value for difference in differences])
    pairs = tuple(
        SystemPair(a, b, difference, p)
        for (a, b), difference, p in zip(couples, differences, adjusted, strict=True)
    )
    apart = {frozenset((pair.first, pair.second)) for pair in pairs if pair.adjusted_p <= level}
    return Ranking(systems, pairs, tied_sets(systems, apart))


def tied_sets(
    systems: tuple[str, ...], different: Set[frozenset[str]]
) -> tuple[tuple[str, ...], ...]:
    """The largest sets of systems in which no two are ``different``, best first.

    >>> tied_sets(("a", "b", "c"), {frozenset("ac")})
    (('a', 'b'), ('b', 'c'))
    """
    alike = {
        name: {other for other in systems if other != name and {name, other} not in different}
        for name in systems
    }
    place = {name: rank for rank, name in enumerate(systems)}
    found = [
        tuple(sorted(group, key=place.__getitem__)) for group in _cliques(alike, set(), set(alike))
    ]
    return tuple(sorted(found, key=lambda group: [place[name] for name in group]))


def _cliques(
    alike: Mapping[str, set[str]], chosen: set[str], open_: set[str], seen: Set[str] = frozenset()
) -> Iterator[set[str]]:
    """Bron and Kerbosch's search for largest complete sets; systems are few."""
    if not open_:
        if not seen:
            yield chosen
        return
    done: set[str] = set(seen)
    pivot = max(open_ | done, key=lambda name: (len(alike[name] & open_), name))
    for name in sorted(open_ - alike[pivot]):
        yield from _cliques(alike, chosen | {name}, open_ & alike[name], done & alike[name])
        open_ = open_ - {name}
        done.add(name)
