"""Standings: what a suite's values add up to, for all items or for each group of them.

Every value is a mean over items, every dimension the unweighted mean of its parts that have a
value. How many items and parts that is stands beside it. The interval is that of the mean over
prompts, at every level; where a part rests on one item there is none. Groups are ranked by the
parts that all of them have: nobody leads because something is missing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from screentest._util.collect import grouped
from screentest.analysis.results import Results, plain_name
from screentest.analysis.suites import Dimension, Suite
from screentest.core import Failure, OutputInfo, Reason, attempt
from screentest.core.table import Better
from screentest.stats import Interval, source_interval


@dataclass(frozen=True, slots=True)
class StandingLevel:
    """One node of the tree: a mean with its interval, and what it could be taken of."""

    path: tuple[str, ...]
    """Names from the root down to this node."""
    title: str
    value: float | None
    """In the suite's scale; None where nothing below has a value."""
    interval: Interval | None = None
    scored: int = 0
    """Items without a gap in any part of the suite below this node; what is not applicable to an
    item is not a gap."""
    total: int = 0
    """Items that are, or will be, measured."""
    parts: int = 0
    """Values below it that some item has."""
    of_parts: int = 0
    better: Better = ""
    ends: tuple[float, float] | None = None
    """The range that its value cannot leave, where it has two ends."""
    stand_ins: tuple[str, ...] = ()
    """What answered in place of the model of a paper, in the values right below it."""
    failure: Failure | None = None
    """Where it has no value: the most common reason."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What the items of one group add up to, from the root of the tree down."""

    group: str
    levels: tuple[StandingLevel, ...]
    shared: Mapping[tuple[str, ...], StandingLevel] | None = None
    """By path, the tree over the parts that every group has; None where all have the same."""

    @property
    def top(self) -> StandingLevel:
        """What all its own parts add up to."""
        return self.levels[0]

    @property
    def compared(self) -> Mapping[tuple[str, ...], StandingLevel]:
        """By path, the levels that groups are ranked by."""
        return {level.path: level for level in self.levels} if self.shared is None else self.shared


def standings(results: Results, suite: Suite, by: str = "") -> list[Standing]:
    """Return the standing of all items, or of each group; best first, without a value last."""
    if not suite.dimensions and suite.add_up is None:
        return []
    add = suite.add_up or add_up
    named = {name: part for name, part in results.by_group(by).items() if name} if by else {}
    parts = named or {"": results}
    ranked = {group: Standing(group, tuple(add(part, suite))) for group, part in parts.items()}
    ranked = {group: standing for group, standing in ranked.items() if standing.levels}
    held = [
        _Values.read(parts[group], suite).held
        for group, standing in ranked.items()
        if standing.top.value is not None
    ]
    common = frozenset.intersection(*held) if held else frozenset()
    if any(leaves != common for leaves in held):
        less = replace(suite, dimensions=tuple(_only(suite.dimensions, common)))
        for group, standing in ranked.items():
            levels = add(parts[group], less) if less.dimensions else ()
            ranked[group] = replace(standing, shared={level.path: level for level in levels})
    return sorted(ranked.values(), key=_rank)


def _only(nodes: Iterable[Dimension], leaves: Collection[str]) -> Iterator[Dimension]:
    """Yield the dimensions with nothing but these leaves; those that have none are left out."""
    for node in nodes:
        values = tuple(value for value in node.values if value in leaves)
        parts = tuple(_only(node.parts, leaves))
        if values or parts:
            yield replace(node, values=values, parts=parts)


def add_up(results: Results, suite: Suite) -> list[StandingLevel]:
    """Return the tree over the items of ``results``, each dimension before its parts."""
    values = _Values.read(results, suite)
    return [level for root in suite.dimensions for level in values.levels(root, (), suite.scale)]


def _rank(standing: Standing) -> tuple[bool, float, int, str]:
    top = standing.top
    level = standing.compared.get(top.path)
    value = level.value if level is not None and top.value is not None else None
    sign = 1.0 if top.better == "lower" else -1.0
    return value is None, sign * (value or 0.0), -top.parts, standing.group


@dataclass(frozen=True, slots=True)
class _Sum:
    """A mean as a weighted sum of the means of values."""

    value: float | None
    weights: Mapping[str, float]


class _Values:
    """The values of a suite's leaves, by leaf and item."""

    def __init__(self, items: Iterable[str], case: Callable[[str], str]) -> None:
        self.items = list(items)
        self.case = case
        """The prompt of an item."""
        self.numbers: dict[str, dict[str, float]] = {}
        self.excused: dict[str, set[str]] = {}
        """Items to which a leaf is not applicable."""
        self.info: dict[str, OutputInfo] = {}
        self.stand_ins: dict[str, tuple[str, ...]] = {}
        self.failures: dict[str, Counter[Failure]] = {}

    @classmethod
    def read(cls, results: Results, suite: Suite) -> _Values:
        # Two runs may differ in an option that changes no number, such as the place of a file.
        names = grouped((plain_name(name), name) for name in results.outputs)
        result = cls((), results.unit)
        touched: dict[str, None] = {}
        for leaf in suite.leaves:
            numbers = result.numbers.setdefault(leaf, {})
            excused = result.excused.setdefault(leaf, set())
            for name in names.get(plain_name(leaf), ()):
                result.info[leaf] = results.outputs[name]
                result.stand_ins[leaf] = results.stand_ins_of(name)
                for value in results.of(name):
                    touched[value.item] = None
                    failure = value.outcome.failure
                    if failure is not None:
                        brief = Failure(failure.reason, failure.brief)
                        result.failures.setdefault(leaf, Counter())[brief] += 1
                    if value.number is not None:
                        numbers[value.item] = value.number
                    elif failure is not None and failure.reason is Reason.NOT_APPLICABLE:
                        excused.add(value.item)
        selected = {name for leaf in result.numbers for name in names.get(plain_name(leaf), ())}
        touched |= {item: None for item, name in results.pending if name in selected}
        result.items = list(touched)
        return result

    @property
    def held(self) -> frozenset[str]:
        """The leaves that some item has a value of."""
        return frozenset(leaf for leaf, numbers in self.numbers.items() if numbers)

    def levels(
        self, node: Dimension, above: tuple[str, ...], scale: float
    ) -> Iterator[StandingLevel]:
        """Yield this node, then all below it; a dimension of one value is its own leaf."""
        path = (*above, node.name)
        yield self.level(path, node.title or node.name, node, scale)
        for part in node.parts:
            yield from self.levels(part, path, scale)
        for value in node.values if len(node.values) > 1 else ():
            name = plain_name(value)
            yield self.level((*path, name), name, Dimension(name, (value,)), scale)

    def level(
        self, path: tuple[str, ...], title: str, node: Dimension, scale: float
    ) -> StandingLevel:
        leaves = tuple(dict.fromkeys(node.leaves))
        total = self.sum(node)
        low, high = self.ends(total)
        failures = sum((self.failures.get(leaf, Counter()) for leaf in leaves), Counter[Failure]())
        interval, had = self.interval(total), total.value is not None
        return StandingLevel(
            path,
            title,
            None if total.value is None else scale * total.value,
            Interval(scale * interval.low, scale * interval.high) if interval else None,
            scored=sum(self.has_no_gap(item, leaves) for item in self.items),
            total=len(self.items),
            parts=len(self.held.intersection(leaves)),
            of_parts=len(leaves),
            better=_better(self.info[leaf] for leaf in leaves if leaf in self.info),
            ends=(scale * low, scale * high)
            if math.isfinite(low) and low < high < math.inf
            else None,
            stand_ins=tuple(
                dict.fromkeys(
                    backend for leaf in node.values for backend in self.stand_ins.get(leaf, ())
                )
            ),
            failure=max(failures, key=failures.__getitem__, default=None) if not had else None,
        )

    def sum(self, node: Dimension) -> _Sum:
        """Return the unweighted mean of the parts there are, and the weights of the leaves."""
        parts = [self.sum(part) for part in node.parts]
        for leaf in node.values:
            numbers = self.numbers[leaf].values()
            mean = math.fsum(numbers) / len(numbers) if numbers else None
            parts.append(_Sum(mean, {leaf: 1.0}))
        had = [(part.value, part.weights) for part in parts if part.value is not None]
        if not had:
            return _Sum(None, {})
        weights: dict[str, float] = {}
        for _, inner in had:
            for leaf, weight in inner.items():
                weights[leaf] = weights.get(leaf, 0.0) + weight / len(had)
        return _Sum(math.fsum(value for value, _ in had) / len(had), weights)

    def ends(self, total: _Sum) -> tuple[float, float]:
        ranges = [(weight, self.info[leaf]) for leaf, weight in total.weights.items()]
        low = math.fsum(weight * info.low for weight, info in ranges)
        return low, math.fsum(weight * info.high for weight, info in ranges)

    def interval(self, total: _Sum) -> Interval | None:
        """Over prompts, each item with what it adds to the mean.

        Several videos of one prompt are not independent of each other. An item that lacks a leaf
        adds nothing for it, so that with complete values this is the interval of the mean of the
        items' own totals.
        """
        columns = [self.numbers[leaf] for leaf in total.weights]
        if total.value is None or any(len(numbers) < 2 for numbers in columns):
            return None
        items = dict.fromkeys(item for numbers in columns for item in numbers)
        added = dict.fromkeys(items, total.value)
        for (_, weight), numbers in zip(total.weights.items(), columns, strict=True):
            mean = math.fsum(numbers.values()) / len(numbers)
            share = weight * len(items) / len(numbers)
            for item, number in numbers.items():
                added[item] += share * (number - mean)
        cases = [self.case(item) for item in added]
        interval = attempt(lambda: source_interval(list(added.values()), cases)).value
        if interval is None:  # all items are equal: no spread, no interval
            return None
        return interval.within(*self.ends(total)).holding(total.value)

    def has_no_gap(self, item: str, leaves: Sequence[str]) -> bool:
        has = [item in self.numbers[leaf] for leaf in leaves]
        whole = (
            scored or item in self.excused[leaf] for scored, leaf in zip(has, leaves, strict=True)
        )
        return any(has) and all(whole)


def _better(infos: Iterable[OutputInfo]) -> Better:
    """Return the direction that all values share; none where they differ."""
    directions = {info.higher_is_better for info in infos}
    return "" if len(directions) != 1 else "higher" if directions.pop() else "lower"
