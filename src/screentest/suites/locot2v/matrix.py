"""The videos of a testbed as items, and what sub-dimensions say of each of its pairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from screentest.core import Item, all_aspects
from screentest.stats import Interval, wilson
from screentest.suites.locot2v.suite import ALL
from screentest.suites.locot2v.tables import Scores
from screentest.testbeds.testbed import Testbed

# Which sub-dimension reacts to which harm: a matrix from the pairs of a testbed.
#
# A sub-dimension reacts where it gives the harmed video of a pair less than the intact one. A
# half counts for a tie: what never reacts has 0.5, what always does has 1, and what takes the
# harm for a gain has 0.


@dataclass(frozen=True, slots=True)
class PairScores:
    """What one pair of videos was given."""

    aspect: str
    intact: Mapping[str, float]
    """By sub-dimension."""
    changed: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Reaction:
    """How often the intact video was given more, less or the same."""

    more: int = 0
    less: int = 0
    same: int = 0

    @property
    def pairs(self) -> int:
        """How many pairs have both values."""
        return self.more + self.less + self.same

    @property
    def share(self) -> float:
        """The share of pairs in which the harm was seen; a tie is half of one."""
        return (self.more + self.same / 2) / self.pairs

    @property
    def interval(self) -> Interval:
        """Wilson's, at 95%."""
        return wilson(self.more + self.same / 2, self.pairs)

    @property
    def is_sure(self) -> bool:
        """Whether it cannot well be none: the interval leaves a half out.

        >>> Reaction(more=9).is_sure, Reaction(more=2, less=1).is_sure, Reaction(less=9).is_sure
        (True, False, True)
        """
        return not self.interval.low <= 0.5 <= self.interval.high


def reactions(pairs: Iterable[PairScores]) -> dict[str, dict[str, Reaction]]:
    """By sub-dimension and aspect; what no pair has is not there.

    >>> found = reactions([PairScores("color", {"a": 0.9}, {"a": 0.5})])
    >>> found["a"]["color"].share
    1.0
    """
    counted: dict[str, dict[str, Reaction]] = {}
    for pair in pairs:
        for name in pair.intact.keys() & pair.changed.keys():
            before, after = pair.intact[name], pair.changed[name]
            row = counted.setdefault(name, {})
            old = row.get(pair.aspect, Reaction())
            row[pair.aspect] = Reaction(
                old.more + (before > after),
                old.less + (before < after),
                old.same + (before == after),
            )
    return counted


PLACEBOS = "placebos"
"""The column of edits that should change nothing."""


def items_of_testbed(folder: Path, testbed: Testbed) -> list[Item]:
    """Every video of every pair once, with the prompt of its source."""
    prompts = {one.id: (folder / one.prompt).read_text(encoding="utf-8") for one in testbed.sources}
    videos: dict[str, Item] = {}
    for pair in testbed.pairs:
        for path in (pair.intact, pair.changed.path):
            videos[path] = Item(path, folder / path, prompt=prompts[pair.source])
    return list(videos.values())


Matrix = Mapping[str, Mapping[str, Reaction]]
"""By sub-dimension, in the paper's order, and column; a cell without pairs is not there."""


def matrix(testbed: Testbed, scores: Scores) -> Matrix:
    """How each sub-dimension takes each harm, and the placebos together."""
    found = reactions(
        PairScores(
            pair.aspect.value if pair.aspect is not None else PLACEBOS,
            scores.items.get(pair.intact, {}),
            scores.items.get(pair.changed.path, {}),
        )
        for pair in testbed.pairs
    )
    return {one.name: found.get(one.name, {}) for one in ALL}


def columns(testbed: Testbed) -> dict[str, int]:
    """The columns that this testbed has, in the order of the aspects, with their pairs."""
    counted: dict[str, int] = {}
    for aspect in all_aspects():
        pairs = sum(pair.aspect is aspect for pair in testbed.pairs)
        if pairs:
            counted[aspect.value] = pairs
    placebos = sum(pair.aspect is None for pair in testbed.pairs)
    return {**counted, **({PLACEBOS: placebos} if placebos else {})}
