"""Filtering: which pairs people confirm, the paper's Table 3, and a testbed of what is left."""

from __future__ import annotations

import os
import shutil
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from screentest.annotate.material import unit_key
from screentest.annotate.records import Record
from screentest.core import Aspect, UserError
from screentest.degrade.testbed import Kind, Testbed, read_testbed, write_testbed
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

    Videos are linked where the disk can do that, else copied. The folder must be empty, so
    that nothing of another testbed is mixed in.
    """
    testbed = read_testbed(folder)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UserError(f"{out} is not empty", advice="Give a new folder.")
    pairs = tuple(
        pair for pair in testbed.pairs if pair.kind is Kind.PLACEBO or unit_key(pair) in kept
    )
    used = {pair.source for pair in pairs}
    sources = tuple(source for source in testbed.sources if source.id in used)
    wanted = [pair.changed.path for pair in pairs] + [pair.intact for pair in pairs]
    wanted += [source.prompt for source in sources]
    _take(folder, out, wanted)
    filtered = replace(
        testbed,
        sources=sources,
        pairs=pairs,
        recipe={**testbed.recipe, "filtered": "count(C) = 0 and count(A) > count(B)"},
    )
    write_testbed(out, filtered)
    return filtered


def _take(folder: Path, out: Path, names: Sequence[str]) -> None:
    base = folder.resolve()
    for name in dict.fromkeys(names):
        origin, target = (base / name).resolve(), out / name
        if not origin.is_relative_to(base):
            raise UserError(f"{name!r} is outside of the testbed")
        target.parent.mkdir(parents=True, exist_ok=True)
        with suppress(OSError):
            os.link(origin, target)
            continue
        shutil.copyfile(origin, target)
