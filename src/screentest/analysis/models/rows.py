"""One metric with all models: a row of the answer, its values and its pairs of models."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from screentest.analysis.models.margins import Margin
from screentest.analysis.models.text import number
from screentest.core.metric import OutputInfo
from screentest.core.signature import split_value_name
from screentest.core.table import Better
from screentest.stats.intervals import Interval
from screentest.stats.signflip import LEVEL, sign_flip_interval

Place: TypeAlias = Literal["first", "last", ""]
State: TypeAlias = Literal["holds", "open", "tied", "describes", "uncompared"]

FIRST: Place = "first"
LAST: Place = "last"


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
    """Whether it is surely better than some other model, and none is surely better than it; leads
    that are owed to a fault do not count."""
    worst: bool = False
    """Whether some other model is surely better than it, and it is surely better than none."""
    owed: bool = False
    """Whether it is surely ahead of another in what goes with a fault, its own or the other's."""


@dataclass(frozen=True, slots=True)
class ModelPair:
    """Two models in one metric, on the prompts that all have; the better one first."""

    better: str
    worse: str
    difference: float
    """How much better, in the metric's own units: never negative."""
    gaps: tuple[float, ...]
    """The difference on each prompt, the smallest first."""
    level: float
    """The level of the test that Holm's correction leaves it."""
    p_value: float
    """Of the hypothesis that the models differ by no more than the margin."""
    adjusted_p: float
    """Holm's, over all metrics and pairs of models."""
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
    owed_to: str = ""
    """Where the better one has a fault that makes this number look better: who has it, such as
    ``blurred pictures``. Such a lead makes no winner."""
    doubtful: bool = False
    """Whether that may as well be a fault of the worse one: who is sharper and noisier may be
    either."""

    @property
    def prompts(self) -> int:
        """Prompts that are compared."""
        return len(self.gaps)

    @property
    def interval(self) -> Interval | None:
        """The differences that the test does not reject: they are all above the margin exactly
        where the difference holds. None where so few prompts reject nothing, or where all are
        alike."""
        found = sign_flip_interval(np.array(self.gaps) - self.margin, level=self.level)
        if found is None:
            return None
        return Interval(found.low + self.margin, found.high + self.margin)

    @property
    def holds(self) -> bool:
        """Whether it may be said that the better one is better."""
        return self.adjusted_p <= LEVEL and self.difference > self.margin


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """One metric, with all models."""

    name: str
    """The name of the value, as results have it."""
    title: str
    """The same without options that change no number."""
    group: str
    """``picture``, ``time``, ``prompt`` or ``other``."""
    info: OutputInfo
    pooled: str
    """What of a video the number is about, in words: ``worst tenth``; empty for the whole."""
    values: tuple[ModelValue, ...]
    """By model, in the order of the answer's models."""
    pairs: tuple[ModelPair, ...]
    """Every two models, the surest difference first; none where the value only describes."""
    leader: str
    """The model with the best mean; empty where it only describes, and where best is shared:
    where another is within the margin, or is printed the same."""
    ahead: int
    """Prompts on which the leader alone is best, by however little."""
    prompts: int
    """Prompts on which all models have a value that have any: all here is about these."""
    state: State
    needed: int | None = None
    """About how many prompts would settle what the row ``says``, where nothing holds yet; where it
    says nothing, the surest difference."""
    label: str = ""
    """The name in words, for a sentence."""
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
    why: str = ""
    """Why nothing is claimed, where the state is ``uncompared``."""

    @property
    def better(self) -> Better:
        """Which direction is better; empty where the value only describes."""
        return self.info.better

    @property
    def merit(self) -> str:
        """What one that is ahead is better in: what sentences and cards call it. A row of a table
        has the label, since there the arrow is of the number."""
        return self.info.merit or self.label

    @property
    def metric(self) -> str:
        """The metric that gives the value."""
        return split_value_name(self.name)[0]

    def of(self, model: str) -> ModelValue:
        """One model's value."""
        return next(one for one in self.values if one.model == model)

    @property
    def says(self) -> Place:
        """What the row says: that the leader is ``first``, ahead of all others, or that the last is
        ``last``; what is settled, or would be sooner. Empty where both places are shared."""
        said = [place for place in (FIRST, LAST) if self._shows(place)]
        if not said:
            return ""
        if self.state == "holds":
            return next((one for one in said if all(p.holds for p in self._shows(one))), said[0])
        return min(said, key=lambda one: self._need(one) or math.inf)

    @property
    def settled(self) -> bool:
        """Whether what the row ``says`` is shown: against every other, and not against one."""
        shown = self._shows(self.says)
        return bool(shown) and all(pair.holds for pair in shown)

    @property
    def named(self) -> tuple[ModelPair, ...]:
        """The differences that what the row ``says`` takes; where it says nothing, the surest."""
        if self.says:
            return tuple(self._shows(self.says))
        return tuple([pair for pair in self.pairs if self.differ(pair)][:1])

    @property
    def need(self) -> int | None:
        """About how many prompts would show all that is ``named``."""
        return _all_need(self.named)

    def _shows(self, place: Place) -> list[ModelPair]:
        """The differences that a place takes: with every other model."""
        if place == FIRST:
            return [pair for pair in self.pairs if self.leader and pair.better == self.leader]
        return [pair for pair in self.pairs if self.last and place and pair.worse == self.last]

    def _need(self, place: Place) -> int | None:
        return _all_need(self._shows(place))

    def over(self, model: str) -> tuple[str, ...]:
        """The models that one is surely better than, and not by a fault of its own."""
        held = {p.worse for p in self.pairs if p.better == model and p.holds and not p.owed_to}
        return tuple(one.model for one in self.values if one.model in held)

    def under(self, model: str) -> tuple[str, ...]:
        """The models that are surely better than one, and not by a fault of their own."""
        held = {p.better for p in self.pairs if p.worse == model and p.holds and not p.owed_to}
        return tuple(one.model for one in self.values if one.model in held)

    @property
    def rivals(self) -> int:
        """How many others a model is compared with."""
        return sum(one.mean is not None for one in self.values) - 1

    def differ(self, pair: ModelPair) -> bool:
        """Whether a difference of two models is more than a tie: see ``counts``."""
        one, two = self.of(pair.better).mean, self.of(pair.worse).mean
        return pair.holds or (pair.difference > pair.margin and counts(one, two, pair.margin))

    @property
    def spread(self) -> float:
        """From the lowest to the highest prompt, in the metric's units."""
        known = [value for one in self.values for value in one.prompts.values()]
        return max(known) - min(known) if known else 0.0


def _all_need(pairs: Sequence[ModelPair]) -> int | None:
    wanted = [pair.needed for pair in pairs]
    return None if not wanted or None in wanted else max(one for one in wanted if one)


def counts(one: float | None, two: float | None, margin: float) -> bool:
    """Whether two means are more than a tie: more than the margin apart, and printed differently.

    >>> counts(0.42, 0.41, 0.02), counts(0.42, 0.41, 0.0), counts(1.8301, 1.8302, 0.0)
    (False, True, False)
    """
    if one is None or two is None:
        return False
    return abs(one - two) > margin and number(one) != number(two)


def leads(row: AnswerRow, model: str) -> bool:
    """Whether it is ahead of all so far, and not by a fault of its own."""
    earned = any(pair.better == model and not pair.owed_to for pair in row.pairs)
    first = row.leader == model and 2 * row.clear > row.prompts
    return row.state == "open" and first and earned


def trails(row: AnswerRow, model: str) -> bool:
    """Whether it is behind all so far, and some other is ahead of it by no fault of its own."""
    earned = any(pair.worse == model and not pair.owed_to for pair in row.pairs)
    return row.state == "open" and row.last == model and 2 * row.clear_last > row.prompts and earned


def pair_surety(pair: ModelPair) -> tuple[float, float, float]:
    """How differences are sorted: by the test, then by how many prompts agree."""
    return (pair.adjusted_p, pair.p_value, -(pair.ahead - pair.behind) / max(1, pair.prompts))


def surety(row: AnswerRow) -> tuple[float, ...]:
    """How rows are sorted: by the test, then by how many prompts it would take, then by size."""
    if not row.pairs:
        return (2.0, 2.0, 0.0, 0.0, 0.0)
    first = row.pairs[0]
    size = -first.difference / (row.spread or 1.0)
    return (*pair_surety(first), float(row.needed or math.inf), size)


def foretold(rows: Sequence[AnswerRow]) -> list[AnswerRow]:
    """The rows that more prompts might settle, the soonest first, then the largest difference; not
    what is owed to a fault."""
    found = [row for row in rows if row.needed and not any(pair.owed_to for pair in row.named)]

    def order(row: AnswerRow) -> tuple[int, float]:
        size = min(pair.difference for pair in row.named) / (row.spread or 1.0)
        return (row.needed or 0, -size)

    return sorted(found, key=order)
