"""Filtering: which pairs people confirm, the paper's Table 3, and a testbed of what is left."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from screentest.annotate.material import unit_key
from screentest.annotate.records import Record
from screentest.core import Aspect
from screentest.degrade.subset import subset_of, write_subset
from screentest.degrade.testbed import Kind, Testbed, read_testbed
from screentest.stats import FilteredPairs, Retention, filter_pairs


@dataclass(frozen=True, slots=True)
class Filtering:
    """What became of the pairs."""

    by_aspect: Mapping[str, FilteredPairs]
    unrated: int
    """Pairs with fewer ratings than asked for: neither confirmed nor refused, so left out."""

    @property
    def kept(self) -> frozenset[str]:
        """The units that stay."""
        return frozenset(key for found in self.by_aspect.values() for key in found.kept)

    @property
    def total(self) -> Retention:
        """The last row of the table."""
        return sum((one.retention for one in self.by_aspect.values()), Retention(0, 0, 0))


def filter_records(records: Iterable[Record], *, units: Mapping[str, str], least: int) -> Filtering:
    """Apply the rule to all pairs (``units``: key to aspect) with at least ``least`` ratings."""
    ratings: dict[str, list[str]] = defaultdict(list)
    for record in records:
        if record.rating is not None and not record.gold:
            ratings[record.unit].append(record.rating)
    rated: dict[str, dict[str, list[str]]] = defaultdict(dict)
    unrated = 0
    for key, aspect in units.items():
        if len(ratings[key]) < least:
            unrated += 1
        else:
            rated[aspect][key] = ratings[key]
    order = [aspect.value for aspect in Aspect]
    aspects = sorted(rated, key=lambda one: order.index(one) if one in order else len(order))
    return Filtering({aspect: filter_pairs(rated[aspect]) for aspect in aspects}, unrated)


def write_filtered(folder: Path, out: Path, kept: frozenset[str]) -> Testbed:
    """A testbed with the kept pairs only, and the placebos as they were.

    The folder must be empty, so that nothing of another testbed is mixed in.
    """
    testbed = read_testbed(folder)
    pairs = [pair for pair in testbed.pairs if pair.kind is Kind.PLACEBO or unit_key(pair) in kept]
    rule = {"filtered": "count(C) = 0 and count(A) > count(B)"}
    filtered = subset_of(testbed, pairs, rule)
    write_subset(folder, out, filtered)
    return filtered
