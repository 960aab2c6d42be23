"""Correlations with p-values, rankings of many systems, and whether two rankings agree.

What has no value has a reason, never NaN.

>>> found = spearman([1, 2, 3, 4], [1, 3, 2, 4]).unwrap()
>>> round(found.value, 3), round(found.p_value, 3), found.n
(0.8, 0.333, 4)
>>> spearman([1, 2, 3], [5, 5, 5]).failure.detail
'all values of the second are equal, so nothing can go with them'
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

import numpy as np

from screentest.core import NoValue, Outcome
from screentest.stats.arrays import Floats, Labels, Numbers, together, undefined
from screentest.stats.intervals import Interval, coefficient_interval
from screentest.stats.paired import Difference, holm, paired_difference
from screentest.stats.signflip import LEVEL

SMALLEST = 3
"""Two points are always on a line; their correlation says nothing."""
_ALL_ORDERS = 8
"""Up to so many points every order is tried: 40,320 of them."""
_MANY = 30
"""From so many points on Student's t, or the normal, is as good; below, orders are drawn."""
_ORDERS = 9_999


@dataclass(frozen=True, slots=True)
class Correlation:
    """A coefficient between -1 and 1, its two-sided p-value, and of how many."""

    value: float
    p_value: float
    n: int


def spearman(first: Numbers, second: Numbers) -> Outcome[Correlation]:
    """Spearman's ρ with average ranks for ties.

    p by permutation: of all orders up to eight points, of 9,999 drawn ones below thirty. Student's
    t, as from thirty on, is badly wrong for few: of four points it calls 8.6% significant at 5%.
    """
    return _correlate(first, second, _spearman)


def kendall(first: Numbers, second: Numbers) -> Outcome[Correlation]:
    """Kendall's τ-b, which allows for ties; p exact without ties, else as of Spearman's."""
    return _correlate(first, second, _kendall)


def pearson(first: Numbers, second: Numbers) -> Outcome[Correlation]:
    """Pearson's r; p from Student's t."""
    return _correlate(first, second, _pearson)


def spearman_p(rho: float, n: int) -> float:
    """Return the two-sided p-value of a printed ρ over n points, from Student's t.

    >>> round(spearman_p(0.0487, 50), 3)
    0.737
    """
    if not -1 <= rho <= 1:
        raise ValueError(f"invalid correlation {rho}: must be in [-1, 1]")
    if n < SMALLEST:
        raise ValueError(f"{n} points have no p-value; {SMALLEST} are needed")
    if abs(rho) == 1:
        return 0.0
    from scipy.special import stdtr

    t = abs(rho) * math.sqrt((n - 2) / (1 - rho * rho))
    return float(2 * stdtr(n - 2, -t))


Method: TypeAlias = Literal["spearman", "kendall"]


def coefficient(first: Numbers, second: Numbers, method: Method = "spearman") -> Outcome[float]:
    """ρ or τ-b alone: p-values take long for few points, and who draws samples needs none."""
    measure = _rho if method == "spearman" else _tau
    result = _correlate(
        first, second, lambda item, other: Correlation(measure(item, other), 1.0, 0)
    )
    return result.map(lambda item: item.value)


@dataclass(frozen=True, slots=True)
class ClusteredCorrelation:
    """A coefficient over values that come in clusters, with its interval over clusters."""

    value: float
    interval: Interval | None
    """None below five clusters."""
    n: int
    clusters: int

    @classmethod
    def of(cls, estimate: Callable[[np.ndarray], float], sources: Labels) -> ClusteredCorrelation:
        """Return what ``estimate`` works out from the values that a mask keeps: from all."""
        count = len(sources)
        try:
            interval = coefficient_interval(estimate, sources, count)
        except NoValue:  # too few clusters, or constant without one of them
            interval = None
        value = estimate(np.ones(count, dtype=bool))
        return cls(value, interval, count, len(set(sources)))

    def __str__(self) -> str:
        return f"{self.value:.3f}" + (f" {self.interval}" if self.interval else "")


def clustered(
    first: Numbers, second: Numbers, sources: Labels, method: Method = "spearman"
) -> Outcome[ClusteredCorrelation]:
    """Return a correlation whose points come in clusters, such as the videos of one prompt.

    >>> found = clustered(range(12), [*range(1, 12), 0], [n // 2 for n in range(12)]).unwrap()
    >>> round(found.value, 3), found.n, found.clusters
    (0.538, 12, 6)
    """
    left, right = together(first, second)
    whole = coefficient(left, right, method)
    if whole.failure is not None:
        return Outcome(failure=whole.failure)

    def estimate(kept: np.ndarray) -> float:
        return coefficient(left[kept], right[kept], method).unwrap()

    return Outcome.of(ClusteredCorrelation.of(estimate, sources))


@dataclass(frozen=True, slots=True)
class RankAgreement:
    """Rank agreement of two testbeds on the same systems."""

    spearman: Correlation
    kendall: Correlation
    systems: tuple[str, ...]
    left_out: tuple[str, ...]
    """Systems that only one of the two has."""


def rank_agreement(
    first: Mapping[str, float], second: Mapping[str, float]
) -> Outcome[RankAgreement]:
    """Compare the systems that both testbeds scored; higher is better in both."""
    systems = tuple(sorted(first.keys() & second.keys()))
    left = np.array([first[name] for name in systems])
    right = np.array([second[name] for name in systems])
    rho, tau = spearman(left, right), kendall(left, right)
    if rho.failure is not None:
        return Outcome(failure=rho.failure)
    left_out = tuple(sorted(first.keys() ^ second.keys()))
    return Outcome.of(RankAgreement(rho.unwrap(), tau.unwrap(), systems, left_out))


def _correlate(
    first: Numbers, second: Numbers, measure: Callable[[Floats, Floats], Correlation]
) -> Outcome[Correlation]:
    left, right = together(first, second)
    if left.size < SMALLEST:
        return undefined(f"{left.size} points have no correlation; {SMALLEST} are needed")
    for name, array in (("first", left), ("second", right)):
        # Differences of this size are rounding, from which a correlation would be made of noise.
        if float(np.ptp(array)) <= 1e-13 * float(np.abs(array).max()):
            return undefined(f"all values of the {name} are equal, so nothing can go with them")
    return Outcome.of(measure(left, right))


def _rho(left: Floats, right: Floats) -> float:
    from scipy.stats import rankdata

    return _product_moment(rankdata(left), rankdata(right))


def _tau(left: Floats, right: Floats) -> float:
    from scipy.stats import kendalltau

    return _bounded(float(kendalltau(left, right).statistic))


def _spearman(left: Floats, right: Floats) -> Correlation:
    rho = _rho(left, right)
    if left.size >= _MANY:
        return Correlation(rho, spearman_p(rho, left.size), left.size)
    from scipy.stats import rankdata

    return Correlation(rho, permutation_p(rankdata(left), rankdata(right)), left.size)


def _kendall(left: Floats, right: Floats) -> Correlation:
    from scipy.stats import kendalltau

    result = kendalltau(left, right)
    tied = any(np.unique(array).size < array.size for array in (left, right))
    p = _kendall_p(left, right) if tied and left.size < _MANY else float(result.pvalue)
    return Correlation(_bounded(float(result.statistic)), p, left.size)


def _pearson(left: Floats, right: Floats) -> Correlation:
    from scipy.stats import pearsonr

    result = pearsonr(_centred(left), _centred(right))
    return Correlation(_bounded(float(result.statistic)), float(result.pvalue), left.size)


def _centred(array: Floats) -> Floats:
    """Return the same up to place and size, so that squares neither overflow nor vanish."""
    small = array / np.abs(array).max()
    small = small - small.mean()
    scaled: Floats = small / np.abs(small).max()
    return scaled


def _product_moment(left: Floats, right: Floats) -> float:
    across, along = left - left.mean(), right - right.mean()
    return _bounded(
        float(across @ along) / math.sqrt(float(across @ across) * float(along @ along))
    )


def _bounded(coefficient: float) -> float:
    # Rounding may leave a perfect correlation a bit beside 1; printed and compared, it is 1.
    nearest = float(round(coefficient))
    return nearest if abs(coefficient - nearest) < 1e-14 and nearest else coefficient


def permutation_p(ranks: Floats, others: Floats) -> float:
    """Return the share of orders in which two lists of ranks are as far from unrelated.

    The same for any order of the pairs.
    """
    item, other = _in_order(ranks, others)
    item, other = item - item.mean(), other - other.mean()
    seen = abs(float(item @ other)) - 1e-9
    # What was seen is one of the orders, so p is never 0.
    return float(np.mean(np.abs(other[_orders(item.size)] @ item) >= seen))


def _kendall_p(left: Floats, right: Floats) -> float:
    """Return the same of concordant less discordant pairs; τ-b's divisor stays the same."""
    item, other = _in_order(left, right)
    first, second = np.triu_indices(item.size, 1)
    signs = np.sign(item[first] - item[second])
    seen = abs(float(signs @ np.sign(other[first] - other[second]))) - 1e-9
    shuffled = other[_orders(item.size)]
    agreeing = np.zeros(len(shuffled))
    for sign, i, j in zip(signs, first, second, strict=True):
        agreeing += sign * np.sign(shuffled[:, i] - shuffled[:, j])
    return float(np.mean(np.abs(agreeing) >= seen))


def _in_order(left: Floats, right: Floats) -> tuple[Floats, Floats]:
    # Drawn orders are those of places: the places must not depend on the order of coming.
    order = np.lexsort((right, left))
    return left[order], right[order]


@lru_cache(8)  # a few megabytes each
def _orders(count: int) -> np.ndarray:
    """Return all orders of few places; of more, the given one and as many drawn as are needed."""
    if count <= _ALL_ORDERS:
        return np.array(list(itertools.permutations(range(count))))
    given = np.arange(count)
    drawn = np.random.default_rng(0).permuted(np.tile(given, (_ORDERS, 1)), axis=1)
    return np.vstack([given, drawn])


# Many systems on the same pairs: a ranking, and the sets without a significant difference.


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


def compare_systems(points: Mapping[str, Numbers], sources: Labels | None = None) -> Ranking:
    """Rank systems by their mean points on the same pairs, listed in the same order.

    >>> points = {"a": [1] * 40, "b": [1] * 38 + [0] * 2, "c": [1] * 10 + [0] * 30}
    >>> [" ".join(tied) for tied in compare_systems(points).tied_sets]
    ['a b', 'c']
    """
    if not points:
        raise ValueError("there are no systems to compare")
    mean = {name: float(np.mean(np.asarray(row, float))) for name, row in points.items()}
    systems = tuple(sorted(points, key=lambda name: (-mean[name], name)))
    couples = list(itertools.combinations(systems, 2))
    differences = [paired_difference(points[a], points[b], sources) for a, b in couples]
    adjusted = holm([difference.p_value for difference in differences])
    pairs = tuple(
        SystemPair(a, b, difference, p)
        for (a, b), difference, p in zip(couples, differences, adjusted, strict=True)
    )
    apart = {frozenset((pair.first, pair.second)) for pair in pairs if pair.adjusted_p <= LEVEL}
    return Ranking(systems, pairs, tied_sets(systems, apart))


def tied_sets(
    systems: tuple[str, ...], different: Set[frozenset[str]]
) -> tuple[tuple[str, ...], ...]:
    """Return the largest sets of systems in which no two are ``different``, best first.

    >>> tied_sets(("a", "b", "c"), {frozenset("ac")})
    (('a', 'b'), ('b', 'c'))
    """
    alike = {
        name: {other for other in systems if other != name and {name, other} not in different}
        for name in systems
    }
    place = {name: rank for rank, name in enumerate(systems)}
    result = [
        tuple(sorted(group, key=place.__getitem__)) for group in _cliques(alike, set(), set(alike))
    ]
    return tuple(sorted(result, key=lambda group: [place[name] for name in group]))


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
