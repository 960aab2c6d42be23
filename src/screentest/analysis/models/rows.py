"""One metric with all models: a row of the comparison, its values and its pairs of models."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar

from screentest.analysis.evidence import Evidence
from screentest.analysis.results import Margin
from screentest.core.metric import OutputInfo, SideEffect
from screentest.core.signature import split_value_name
from screentest.core.table import Better
from screentest.stats.intervals import Interval
from screentest.stats.signflip import LEVEL

T = TypeVar("T")


class State(StrEnum):
    """The result of one metric."""

    SIGNIFICANT = "significant"
    """Some difference is larger than its margin, after correction."""
    UNDECIDED = "undecided"
    """Neither a difference nor its absence is shown."""
    EQUIVALENT = "equivalent"
    """Every difference is shown to be within its margin."""
    DESCRIBED = "described"
    """Neither direction is better."""
    NOT_COMPARED = "not_compared"


class Place(StrEnum):
    """The claim of a row: which end of the models stands out."""

    FIRST = "first"
    LAST = "last"
    NONE = ""


class Explained(StrEnum):
    """The standing of a lead that goes with an artefact."""

    ARTEFACT = "artefact"
    """The better one has a fault that makes this number look better."""
    AMBIGUOUS = "ambiguous"
    """One of the two has it, or the other lost detail: no number tells which."""


class NotCompared(StrEnum):
    """Why a metric is not compared."""

    SETTINGS = "settings"
    """Values were measured with different versions, options or models."""
    FRAME_RATES = "frame_rates"
    """The number depends on the frame rate, and the models' rates differ."""
    MISSING_VALUES = "missing_values"
    """One model lacks more values than another: those may be its worst."""
    OLD_VERSION = "old_version"
    """The margin is known of another version of the metric."""
    FEW_FILMS = "few_films"
    """The margin was measured on too few films."""


class Part(StrEnum):
    """The part of a video that its number is about."""

    WHOLE = "whole"
    WORST_TENTH = "worst_tenth"
    MEAN = "mean"
    MIXED = "mixed"
    """The worst tenth where all videos of a prompt have several shots, else the whole."""


@dataclass(frozen=True, slots=True)
class Missing:
    """The values that a model lacks, on the prompts that all models have videos of."""

    prompts: int
    of_prompts: int
    videos: int
    of_videos: int

    @property
    def nothing(self) -> bool:
        """Return True where it has no value at all."""
        return self.prompts == self.of_prompts


@dataclass(frozen=True, slots=True)
class WhyNotCompared:
    """Why a metric is not compared, with the facts of its reason."""

    reason: NotCompared
    settings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By key of the signature, the values that differ."""
    rates: Mapping[str, float] = field(default_factory=dict)
    """By model, the frame rate."""
    missing: Mapping[str, Missing] = field(default_factory=dict)
    """By model."""
    version: str = ""
    """The version whose margin is known."""
    films: int = 0
    """Films that the margin was measured on."""
    comparable: tuple[str, ...] = ()
    """The models that could be compared without the others."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """An artefact that goes with a lead."""

    kind: Explained
    value: str
    """The value that shows the artefact, as the metric names it."""
    model: str
    """The model that has it, or may have it."""
    more: bool | None
    """Whether more of the value is the artefact, or less; None: what is worse."""
    tests: tuple[str, ...] = ()
    """Degradations that show both: the number is known to prefer them, and the value shows them."""


@dataclass(frozen=True, slots=True)
class ModelValue:
    """One model in one metric."""

    model: str
    mean: float | None
    """Over prompts, in the metric's own units; None where it has no value."""
    interval: Interval | None
    """Of the mean, over prompts; None where they do not show how much others would differ."""
    prompts: Mapping[str, float]
    """The value of each prompt that is compared: the mean of its videos that count."""
    scored: int
    """Videos that have a value."""
    total: int
    best: bool = False
    """Significantly better than some other model, and none is significantly better than it; leads
    that an artefact explains do not count."""
    worst: bool = False
    """Significantly worse than some other model, and significantly better than none."""
    explained: bool = False
    """Significantly ahead of another, which an artefact explains."""


@dataclass(frozen=True, slots=True)
class ModelPair:
    """Two models in one metric, on the prompts that all have; the better one first."""

    better: str
    worse: str
    difference: float
    """How much better, in the metric's own units: never negative."""
    gaps: tuple[float, ...]
    """The difference on each prompt, the smallest first."""
    p_value: float
    """Of the hypothesis that the models differ by no more than the margin."""
    adjusted_p: float
    """Of the test of all metrics and pairs of models together."""
    ahead: int
    """Prompts on which the better one is better, by however little."""
    behind: int
    clear: int = 0
    """Prompts on which it is better by more than the margin."""
    needed: int | None = None
    """About how many prompts might show it, four times in five if the effect is what it seems; a
    rough forecast. None where that cannot be said."""
    reach: int | None = None
    """The same if the difference is what it seems, where prompts are too few to say what of it
    is chance."""
    margin: float = 0.0
    """The mean difference must be larger than this to count; 0 where none is known."""
    interval: Interval | None = None
    """The differences that the test does not reject, all above the margin exactly where the
    difference is significant. None where so few prompts reject nothing, or where all are alike."""
    equivalent: bool = False
    """The difference is shown to be within the margin, in both directions."""
    explanation: Explanation | None = None
    """The artefact that goes with this lead: such a lead makes no winner."""

    @property
    def prompts(self) -> int:
        """Prompts that are compared."""
        return len(self.gaps)

    @property
    def significant(self) -> bool:
        """Return True where the better one may be called better."""
        return self.adjusted_p <= LEVEL and self.difference > self.margin

    @property
    def earned(self) -> bool:
        """Return True where it is significant and no artefact explains it."""
        return self.significant and self.explanation is None

    @property
    def differs(self) -> bool:
        """Return True where the two are more than a tie: more than the margin apart."""
        return self.difference > self.margin


@dataclass(frozen=True, slots=True)
class MetricRow:
    """One metric, with all models."""

    name: str
    """The name of the value, as results have it."""
    group: str
    """``picture``, ``time``, ``prompt`` or ``other``."""
    info: OutputInfo
    part: Part
    stand_ins: tuple[str, ...]
    """The heuristics that answered in place of the model of a paper."""
    values: tuple[ModelValue, ...]
    """By model, in the order of the comparison's models."""
    pairs: tuple[ModelPair, ...]
    """Every two models, the surest difference first; none where the value only describes."""
    leader: str
    """The model with the best mean; empty where it only describes, and where another is within
    the margin."""
    ahead: int
    """Prompts on which the leader alone is best, by however little."""
    prompts: int
    """Prompts on which all models have a value that have any: all here is about these."""
    state: State
    leaning: bool = False
    """It is undecided, with a direction: more prompts might show it, or it stands out by itself."""
    needed: int | None = None
    """About how many prompts would show the row's claim, where nothing is significant yet; where it
    has none, the surest difference."""
    last: str = ""
    """The model with the worst mean; empty as ``leader`` is."""
    behind: int = 0
    """Prompts on which the last alone is worst, by however little."""
    clear: int = 0
    """Prompts on which the leader alone is best by more than the margin."""
    clear_last: int = 0
    """Prompts on which the last alone is worst by more than the margin."""
    margin: Margin | None = None
    """The smallest difference that counts; None where it is not known."""
    why: WhyNotCompared | None = None
    """Why it is not compared, where it is not."""
    helped_by: tuple[SideEffect, ...] = ()
    """Artefacts that make it look better."""
    visible: float | None = None
    """The difference of means from which on anybody sees it; see ``Traits``."""
    evidence: Evidence | None = None
    """What is known of it; None where nothing can be."""

    @property
    def shows(self) -> bool:
        """Return True where there is something to see: a difference, or a direction."""
        return self.state is State.SIGNIFICANT or self.leaning

    @property
    def better(self) -> Better:
        """The better direction; empty where the value only describes."""
        return self.info.better

    @property
    def sign(self) -> int:
        """1 where more is better, else -1."""
        return 1 if self.info.higher_is_better else -1

    @property
    def metric(self) -> str:
        """The metric that gives the value."""
        return split_value_name(self.name)[0]

    @property
    def least(self) -> float:
        """The smallest difference that counts; 0 where none is known."""
        return self.margin.value if self.margin is not None else 0.0

    def of(self, model: str) -> ModelValue:
        """One model's value."""
        return next(value for value in self.values if value.model == model)

    @property
    def claim(self) -> Place:
        """The place that the row claims: that the leader is ahead of all others, or that the last
        is behind them; the one that is significant, or would be sooner."""
        places = [place for place in (Place.FIRST, Place.LAST) if self._pairs_for(place)]
        if not places:
            return Place.NONE
        if self.state is State.SIGNIFICANT:
            whole = [p for p in places if all(pair.significant for pair in self._pairs_for(p))]
            return (whole or places)[0]
        return min(places, key=lambda place: _all_needed(self._pairs_for(place)) or math.inf)

    @property
    def settled(self) -> bool:
        """Return True where the row's claim is shown against every other model."""
        pairs = self._pairs_for(self.claim)
        return bool(pairs) and all(pair.significant for pair in pairs)

    @property
    def claimed(self) -> tuple[ModelPair, ...]:
        """The differences that the row's claim takes; without a claim, the surest."""
        pairs = self._pairs_for(self.claim)
        return tuple(pairs or [pair for pair in self.pairs if pair.differs][:1])

    @property
    def needed_for_claim(self) -> int | None:
        """About how many prompts would show all that is claimed."""
        return _all_needed(self.claimed)

    @property
    def p(self) -> float | None:
        """The corrected p of the row's claim, the largest where it takes several differences; of
        the significant ones where only those are shown. None where nothing was tested."""
        shown = [pair for pair in self.pairs if pair.significant]
        pairs = self.claimed if self.settled or not shown else shown
        return max((pair.adjusted_p for pair in pairs or self.pairs[:1]), default=None)

    def _pairs_for(self, place: Place) -> list[ModelPair]:
        """Return the differences that a place takes: with every other model."""
        if place is Place.FIRST:
            return [pair for pair in self.pairs if self.leader and pair.better == self.leader]
        return [pair for pair in self.pairs if self.last and place and pair.worse == self.last]

    def over(self, model: str) -> tuple[str, ...]:
        """Return the models that one is significantly better than, and not by an artefact."""
        worse = {pair.worse for pair in self.pairs if pair.better == model and pair.earned}
        return tuple(value.model for value in self.values if value.model in worse)

    def under(self, model: str) -> tuple[str, ...]:
        """Return the models that are significantly better than one, and not by an artefact."""
        better = {pair.better for pair in self.pairs if pair.worse == model and pair.earned}
        return tuple(value.model for value in self.values if value.model in better)

    @property
    def rivals(self) -> int:
        """The number of others that a model is compared with."""
        return sum(value.mean is not None for value in self.values) - 1

    @property
    def spread(self) -> float:
        """From the lowest to the highest prompt, in the metric's units."""
        numbers = [number for value in self.values for number in value.prompts.values()]
        return max(numbers) - min(numbers) if numbers else 0.0


def apart(first: float | None, second: float | None, margin: float) -> bool:
    """Return True where two means are no tie: more than the margin apart, and than rounding makes.

    >>> apart(0.42, 0.41, 0.02), apart(0.42, 0.41, 0.0), apart(1.8301, 1.8302, 0.0)
    (False, True, True)
    """
    if first is None or second is None:
        return False
    return abs(first - second) > max(margin, 1e-9 * max(abs(first), abs(second)))


def _all_needed(pairs: Sequence[ModelPair]) -> int | None:
    counts = [pair.needed for pair in pairs]
    return None if not counts or None in counts else max(count for count in counts if count)


def pair_order(pair: ModelPair) -> tuple[float, float, float]:
    """Sort key of differences: by the test, then by how many prompts agree."""
    return (pair.adjusted_p, pair.p_value, -(pair.ahead - pair.behind) / max(1, pair.prompts))


def row_order(row: MetricRow) -> tuple[float, ...]:
    """Sort key of rows: by the test, then by how many prompts it would take, then by size."""
    if not row.pairs:
        return (2.0, 2.0, 0.0, 0.0, 0.0)
    first = row.pairs[0]
    size = -first.difference / (row.spread or 1.0)
    return (*pair_order(first), float(row.needed or math.inf), size)


def forecastable(rows: Sequence[MetricRow]) -> list[MetricRow]:
    """Return the rows that more prompts might settle, the soonest first, then the largest
    difference; not those that an artefact explains."""
    open_rows = [row for row in rows if row.needed and not any(p.explanation for p in row.claimed)]

    def order(row: MetricRow) -> tuple[int, float]:
        size = min(pair.difference for pair in row.claimed) / (row.spread or 1.0)
        return (row.needed or 0, -size)

    return sorted(open_rows, key=order)


def first_and_last(row: MetricRow) -> tuple[str, str]:
    """Return the only first and the only last model in a metric; empty where that is shared.

    Less noise in blurred pictures is no reason to call the others noisy, nor the blurred one best.
    """
    if not row.shows:
        return "", ""
    return _only(row, row.sign), _only(row, -row.sign)


def _only(row: MetricRow, sign: int) -> str:
    """Return the model whose mean, times ``sign``, is above that of all it is fair to compare
    with."""
    means = {value.model: value.mean for value in row.values if value.mean is not None}
    explained = [{pair.better, pair.worse} for pair in row.pairs if pair.explanation]
    for model, mean in means.items():
        others = [
            other
            for name, other in means.items()
            if name != model and {name, model} not in explained
        ]
        nearest = max(others, key=lambda other: sign * other, default=None)
        if nearest is not None and sign * (mean - nearest) > 0 and apart(mean, nearest, row.least):
            return model
    return ""


def spread_out(given: Sequence[T], metric: Callable[[T], str]) -> list[T]:
    """In the same order, but the first of each metric before the second of any: three numbers of
    one freeze do not hide the rest.

    >>> spread_out(["a1", "a2", "b1", "a3"], lambda one: one[0])
    ['a1', 'b1', 'a2', 'a3']
    """
    had: Counter[str] = Counter()
    turns = []
    for item in given:
        turns.append(had[metric(item)])
        had[metric(item)] += 1
    return [item for _, item in sorted(zip(turns, given, strict=True), key=lambda pair: pair[0])]
