"""Statistics of a testbed: what was asked for, what could be made, and what the films are like."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import TypeVar

from screentest.core import PairKind, Reason, Time, all_aspects
from screentest.core.item import joined
from screentest.testbeds.testbed import Pair, Skip, SourceFilm, Testbed

T = TypeVar("T", bound=Hashable)

BIN = 100
"""Seconds in a bar of the durations, as in the paper's figure 9."""
NO_GROUP = "(none)"


@dataclass(frozen=True, slots=True)
class AspectCount:
    """One line of the paper's Table 3, as far as building goes."""

    kind: PairKind
    name: str
    """The operator or placebo."""
    aspect: str
    """What it harms; empty for a placebo."""
    initial: int
    """Pairs that were asked for."""
    eligible: int
    """Those whose film has the clips for it."""
    kept: int
    """Those that were made."""

    @property
    def retention(self) -> float | None:
        """The share that was kept; None where nothing was asked for."""
        return self.kept / self.initial if self.initial else None


@dataclass(frozen=True, slots=True)
class DurationBin:
    """How many videos last from ``start`` up to, and not including, ``end`` seconds."""

    start: int
    end: int
    sources: int
    pairs: int


@dataclass(frozen=True, slots=True)
class GroupCount:
    """How many sources and pairs have one value of a group."""

    value: str
    sources: int
    pairs: int


@dataclass(frozen=True, slots=True)
class Spread:
    """The least, the middle and the most of something, over sources."""

    least: float
    median: float
    mean: float
    most: float
    total: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread | None:
        """None where there are no values.

        >>> Spread.of([1, 2, 6])
        Spread(least=1, median=2, mean=3.0, most=6, total=9)
        """
        if not values:
            return None
        return cls(min(values), median(values), fmean(values), max(values), sum(values))


@dataclass(frozen=True, slots=True)
class Statistics:
    """What a testbed holds, counted: sources, pairs, clips, durations."""

    sources: int
    pairs: int
    pending: int
    aspects: tuple[AspectCount, ...]
    reasons: Mapping[str, int]
    """Why pairs were skipped."""
    durations: tuple[DurationBin, ...]
    groups: Mapping[str, tuple[GroupCount, ...]]
    """By the name of the group: category, theme…"""
    spreads: Mapping[str, Spread]
    """Seconds, clips, prompt words, prompt characters: per source."""
    words: tuple[int, ...]
    """Of each prompt, for the histogram."""


def statistics_of(testbed: Testbed) -> Statistics:
    """Count what a testbed holds."""
    prompts = [prompt_of(source) for source in testbed.sources]
    words = [len(prompt.split()) for prompt in prompts]
    values: dict[str, Sequence[float]] = {
        "duration, s": [float(duration_of(source)) for source in testbed.sources],
        "clips": [len(source.clips) for source in testbed.sources],
        "prompt, words": words,
        "prompt, characters": [len(prompt) for prompt in prompts],
    }
    spreads = {name: Spread.of(numbers) for name, numbers in values.items()}
    return Statistics(
        sources=len(testbed.sources),
        pairs=len(testbed.pairs),
        pending=testbed.pending,
        aspects=tuple(_aspects(testbed)),
        reasons=dict(Counter(skip.failure.reason.value for skip in testbed.skips).most_common()),
        durations=tuple(_durations(testbed)),
        groups=_groups(testbed),
        spreads={name: spread for name, spread in spreads.items() if spread is not None},
        words=tuple(words),
    )


def prompt_of(source: SourceFilm) -> str:
    """Return the prompt of a source: its captions joined."""
    return joined(source.clips)


def duration_of(source: SourceFilm) -> Time:
    """Return the duration of a source."""
    return source.intact[0].duration if source.intact else Time(0)


def _aspects(testbed: Testbed) -> list[AspectCount]:
    listed: list[Pair | Skip] = [*testbed.pairs, *testbed.skips]
    harms = {change.name: change.aspect.value for change in listed if change.aspect is not None}
    made = Counter((pair.kind, pair.name) for pair in testbed.pairs)
    skipped = Counter((skip.kind, skip.name) for skip in testbed.skips)
    unfit = Counter(
        (skip.kind, skip.name)
        for skip in testbed.skips
        if skip.failure.reason is Reason.NOT_APPLICABLE
    )
    counts = []
    order = [aspect.value for aspect in all_aspects()]

    def place(entry: tuple[PairKind, str]) -> tuple[bool, int, bool, str]:
        """In the order of the paper's tables, its own operator first."""
        kind, name = entry
        aspect = harms.get(name, name)
        rank = order.index(aspect) if aspect in order else len(order)
        return kind is PairKind.PLACEBO, rank, name != aspect, name

    for kind, name in sorted({*made, *skipped}, key=place):
        initial = made[kind, name] + skipped[kind, name]
        counts.append(
            AspectCount(
                kind,
                name,
                harms.get(name, "") if kind is not PairKind.PLACEBO else "",
                initial,
                initial - unfit[kind, name],
                made[kind, name],
            )
        )
    return counts


def _durations(testbed: Testbed) -> list[DurationBin]:
    """From 0 to the longest, empty ones included."""
    sources, weights = _weighed(
        testbed, [int(duration_of(source) // BIN) for source in testbed.sources]
    )
    return [
        DurationBin(number * BIN, (number + 1) * BIN, sources[number], weights[number])
        for number in range(max(sources, default=-1) + 1)
    ]


def _groups(testbed: Testbed) -> dict[str, tuple[GroupCount, ...]]:
    names = dict.fromkeys(name for source in testbed.sources for name in source.groups)
    groups = {}
    for name in names:
        values = [source.groups.get(name, NO_GROUP) for source in testbed.sources]
        sources, weights = _weighed(testbed, values)
        groups[name] = tuple(
            GroupCount(value, count, weights[value])
            for value, count in sorted(sources.items(), key=lambda entry: (-entry[1], entry[0]))
        )
    return groups


def _weighed(testbed: Testbed, values: Sequence[T]) -> tuple[Counter[T], Counter[T]]:
    """Count the sources of each value, and their pairs; there is one value for each source."""
    pairs = Counter(pair.source for pair in testbed.pairs)
    sources, weights = Counter[T](), Counter[T]()
    for source, value in zip(testbed.sources, values, strict=True):
        sources[value] += 1
        weights[value] += pairs[source.id]
    return sources, weights
