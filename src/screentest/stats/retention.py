"""Which degraded pairs people confirm, by the filter of the SLVMEval paper's appendix A.5.

>>> kept = filter_pairs({"p1": "AAAAB", "p2": "AAAAC", "p3": "ABBBA"})
>>> kept.kept, kept.failed, kept.weak
(('p1',), ('p2',), ('p3',))
>>> print(kept.retention)
1 of 3 kept (33.3%)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

CLEAR, WEAK, FAILED = "A", "B", "C"
"""The degradation succeeded in all chosen clips; in some, or weakly; in none."""


@dataclass(frozen=True, slots=True)
class Retention:
    """One row of the paper's Table 3."""

    initial: int
    failed: int
    """Left out because someone said C."""
    weak: int
    """Left out because A did not outnumber B."""

    def __post_init__(self) -> None:
        if min(self.failed, self.weak) < 0 or self.failed + self.weak > self.initial:
            raise ValueError(
                f"{self.failed} and {self.weak} cannot be left out of {self.initial} pairs"
            )

    @property
    def final(self) -> int:
        """Pairs that stay."""
        return self.initial - self.failed - self.weak

    @property
    def rate(self) -> float | None:
        """The share that stays; None where there was nothing to begin with."""
        return self.final / self.initial if self.initial else None

    def __add__(self, other: Retention) -> Retention:
        return Retention(
            self.initial + other.initial, self.failed + other.failed, self.weak + other.weak
        )

    def __str__(self) -> str:
        rate = f" ({self.rate:.1%})" if self.rate is not None else ""
        return f"{self.final} of {self.initial} kept{rate}"


@dataclass(frozen=True, slots=True)
class FilteredPairs:
    """Pairs by what became of them, each in the order of their ids."""

    kept: tuple[str, ...]
    failed: tuple[str, ...]
    weak: tuple[str, ...]

    @property
    def retention(self) -> Retention:
        """How many stayed."""
        initial = len(self.kept) + len(self.failed) + len(self.weak)
        return Retention(initial, len(self.failed), len(self.weak))


def filter_pairs(answers: Mapping[str, Iterable[str]]) -> FilteredPairs:
    """Keep a pair iff nobody said C and more said A than B.

    A pair that nobody rated is not confirmed, so it counts as weak.
    """
    places: dict[str, list[str]] = {CLEAR: [], WEAK: [], FAILED: []}
    for pair in sorted(answers):
        counts = Counter(answers[pair])
        unknown = counts.keys() - {CLEAR, WEAK, FAILED}
        if unknown:
            raise ValueError(f"{sorted(unknown)[0]!r} on {pair} is none of A, B and C")
        if counts[FAILED] > 0:
            places[FAILED].append(pair)
        else:
            places[CLEAR if counts[CLEAR] > counts[WEAK] else WEAK].append(pair)
    return FilteredPairs(tuple(places[CLEAR]), tuple(places[FAILED]), tuple(places[WEAK]))
