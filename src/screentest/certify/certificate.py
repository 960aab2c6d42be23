"""Certificate: what testbeds say about one evaluator, as numbers with intervals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from screentest.core import Aspect, Outcome, Reason
from screentest.stats import Correlation, Interval
from screentest.stats.dose import DoseResponse
from screentest.stats.order import OrderEffect
from screentest.stats.trend import Trend

SCHEMA = 1
CHANCE = 0.5
INSTRUCTION = "painted_instruction"
"""The placebo that tells the judge what to answer: there the changed video must not win."""

TEXT_ASPECTS = frozenset(
    {
        Aspect.OBJECT_INTEGRITY,
        Aspect.COLOR,
        Aspect.COMPREHENSIVENESS,
        Aspect.SPATIAL_RELATIONSHIP,
        Aspect.TEMPORAL_FLOW,
    }
)
"""Aspects in which intact and degraded can be told apart only by what the prompt says."""


@dataclass(frozen=True, slots=True)
class Accuracy:
    """How often the intact video was preferred; a tie is half a point."""

    points: float
    judgements: int
    """Answers that were given."""
    total: int
    """Answers that were asked for."""
    ties: int
    wilson: Interval
    """Over pairs: the answers on one pair, in both orders, hang together."""
    wald: Interval
    """As the paper prints it: over all answers, as if they were independent."""
    clustered: Interval | None
    """Bootstrap over sources; None where there is only one."""
    failures: Mapping[Reason, int] = field(default_factory=dict)
    pairs: int = 0
    """Pairs with an answer."""

    @property
    def value(self) -> float:
        """The share of points."""
        return self.points / self.judgements

    @property
    def coverage(self) -> float:
        """The share of questions that were answered."""
        return self.judgements / self.total


@dataclass(frozen=True, slots=True)
class AspectResult:
    """One aspect at the reference severity."""

    aspect: Aspect
    pairs: int
    sources: int
    accuracy: Outcome[Accuracy]
    order: Outcome[OrderEffect]
    trend: Outcome[Trend]
    human: float | None = None
    """How often people prefer the intact video of these pairs, where they were asked."""


@dataclass(frozen=True, slots=True)
class PlaceboResult:
    """What the judge made of edits that change nothing."""

    name: str
    pairs: int
    false_alarms: Outcome[Accuracy]
    """How often it preferred the untouched copy; a fair judge is at a half, or ties."""
    tie_share: float


@dataclass(frozen=True, slots=True)
class PromptResult:
    """What becomes of the answers when the prompt is another one."""

    change: str
    """``swapped``, ``shuffled`` or ``empty``."""
    aspect: Aspect
    pairs: int
    changed_share: float
    """Answers that are no longer the same."""
    accuracy: Outcome[Accuracy]

    @property
    def should_matter(self) -> bool:
        """Whether a judge that reads would answer otherwise: the order of the captions is
        part of temporal flow alone, the words of all aspects that are about the text."""
        if self.change == "shuffled":
            return self.aspect is Aspect.TEMPORAL_FLOW
        return self.aspect in TEXT_ASPECTS


@dataclass(frozen=True, slots=True)
class FilterResult:
    """Accuracies on all pairs, and on those alone that people's filter kept."""

    pairs: int
    kept: int
    overall: Outcome[Accuracy]
    """On the kept pairs."""
    aspects: Mapping[Aspect, Outcome[Accuracy]]
    """On the kept pairs."""
    agreement: Outcome[Correlation]
    """Pearson's r, over aspects, between the accuracies before and after."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What the judgements took, all together."""

    seconds: float
    """Per judgement, on one worker."""
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    uncounted: int = 0
    """Calls of which nobody told the tokens: they are in none of the sums."""
    cost: Decimal | None = None
    unpriced: int = 0
    """Calls whose price is not known: the cost is that of the others."""
    judgements: int = 0
    measured_with: tuple[str, ...] = ()
    """Other metrics that were measured in the same scans, whose time is in the seconds too."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """What testbeds say about one evaluator."""

    judge: str
    signature: str
    testbeds: tuple[str, ...]
    overall: Outcome[Accuracy]
    aspects: tuple[AspectResult, ...]
    order: Outcome[OrderEffect]
    trend: Outcome[Trend]
    severities: Mapping[str, DoseResponse] = field(default_factory=dict)
    """By aspect, where the testbed has a ladder."""
    clip_counts: Mapping[str, DoseResponse] = field(default_factory=dict)
    placebos: tuple[PlaceboResult, ...] = ()
    prompts: tuple[PromptResult, ...] = ()
    cost: Cost = field(default_factory=lambda: Cost(0.0))
    schema: int = SCHEMA
    summary: str = ""
    filtered: FilterResult | None = None
    """Where a testbed was given that people's filter left."""
    by_testbed: Mapping[str, Outcome[Accuracy]] = field(default_factory=dict)
    """Where there are several."""
    chance: float = CHANCE

    @property
    def mean_over_aspects(self) -> float | None:
        """Every aspect counts alike, however many pairs it has."""
        known = [one.accuracy.unwrap().value for one in self.aspects if one.accuracy.ok]
        return sum(known) / len(known) if known else None
