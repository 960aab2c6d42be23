"""Certificate: what testbeds say about one evaluator, as numbers with intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from screentest.certify.judgements import Judgement, in_both_orders
from screentest.core import Aspect, Choice, NoValue, Outcome, Reason
from screentest.degrade.testbed import Kind
from screentest.stats import Interval, bootstrap_accuracy, wald, wilson
from screentest.stats.dose import DoseResponse, dose_response
from screentest.stats.order import OrderEffect, order_effect
from screentest.stats.trend import Trend, duration_trend

SCHEMA = 1
CHANCE = 0.5
INSTRUCTION = "painted_instruction"
"""The placebo that tells the judge what to answer: there the changed video must not win."""


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
    wald: Interval
    """As the paper prints it."""
    clustered: Interval | None
    """Bootstrap over sources; None where there is only one."""
    failures: Mapping[Reason, int] = field(default_factory=dict)

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


@dataclass(frozen=True, slots=True)
class Cost:
    """What the judgements took."""

    seconds: float
    """Per judgement, on one worker."""
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: Decimal | None = None
    judgements: int = 0


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

    @property
    def mean_over_aspects(self) -> float | None:
        """Every aspect counts alike, however many pairs it has."""
        known = [one.accuracy.unwrap().value for one in self.aspects if one.accuracy.ok]
        return sum(known) / len(known) if known else None


def accuracy(judgements: Sequence[Judgement]) -> Outcome[Accuracy]:
    """Points with all their intervals; a failed Outcome where nothing was answered."""
    answered = [(one, earned) for one in judgements if (earned := one.points) is not None]
    points = [value for _, value in answered]
    failures = Counter(
        one.outcome.failure.reason
        for one in judgements
        if one.outcome is not None and one.outcome.failure is not None
    )
    if not points:
        told = ", ".join(f"{reason.value} ({count})" for reason, count in sorted(failures.items()))
        reason = max(failures, key=lambda one: failures[one]) if failures else Reason.NOT_APPLICABLE
        return Outcome.failed(reason, told or "nothing was judged")
    # Several orders and repeats of a pair are not independent: sources are resampled whole.
    clusters = [one.case.cluster for one, _ in answered]
    try:
        clustered: Interval | None = bootstrap_accuracy(points, clusters)
    except NoValue:
        clustered = None
    total = sum(points)
    return Outcome.of(
        Accuracy(
            points=total,
            judgements=len(points),
            total=len(judgements),
            ties=sum(value == 0.5 for value in points),
            wilson=wilson(total, len(points)),
            wald=wald(total, len(points)),
            clustered=clustered,
            failures=dict(sorted(failures.items())),
        )
    )


def reference(judgements: Iterable[Judgement]) -> list[Judgement]:
    """Those at the strongest rung of each source and aspect: what the table of aspects shows."""
    ladder = [one for one in judgements if one.case.kind is Kind.DEGRADATION]
    top: dict[tuple[str, str], tuple[float, int]] = {}
    for one in ladder:
        place = (one.case.cluster, one.case.name)
        top[place] = max(top.get(place, (0.0, 0)), _rung(one))
    return [one for one in ladder if _rung(one) == top[one.case.cluster, one.case.name]]


def _rung(one: Judgement) -> tuple[float, int]:
    return (one.case.severity or 0.0, one.case.clips or 0)


def aspect_results(
    judgements: Sequence[Judgement], human: Mapping[Aspect, float] | None = None
) -> tuple[AspectResult, ...]:
    """One result per aspect that was asked about, in the order of the paper's tables."""
    results = []
    for aspect in Aspect:
        own = [one for one in judgements if one.case.contest.aspect is aspect]
        if own:
            results.append(
                AspectResult(
                    aspect=aspect,
                    pairs=len({one.case.id for one in own}),
                    sources=len({one.case.cluster for one in own}),
                    accuracy=accuracy(own),
                    order=order_effect(in_both_orders(own)),
                    trend=trend(own),
                    human=(human or {}).get(aspect),
                )
            )
    return tuple(results)


def trend(judgements: Sequence[Judgement]) -> Outcome[Trend]:
    """Whether long videos are harder: one value per case, so that orders do not count double."""
    by_case: dict[tuple[str, str], list[float]] = {}
    durations: dict[tuple[str, str], float] = {}
    for one in judgements:
        if one.points is not None:
            place = (one.case.id, str(one.case.contest.aspect))
            by_case.setdefault(place, []).append(one.points)
            durations[place] = one.case.duration
    places = sorted(by_case)
    return duration_trend(
        [durations[place] for place in places],
        [sum(by_case[place]) / len(by_case[place]) for place in places],
    )


def ladders(judgements: Sequence[Judgement], *, by: str) -> dict[str, DoseResponse]:
    """Dose and response by aspect, over severities or over numbers of clips.

    The other of the two is held at its highest value, and only sources that have every rung
    count: else an easier source on one rung would look like a stronger dose.
    """
    found: dict[str, DoseResponse] = {}
    for aspect in Aspect:
        own = [
            one
            for one in judgements
            if one.case.kind is Kind.DEGRADATION and one.case.contest.aspect is aspect
        ]
        rungs = _rungs(own, by)
        if len(rungs) < 2:
            continue
        response = dose_response(
            list(rungs),
            [sum(points) for points in rungs.values()],
            [len(points) for points in rungs.values()],
            harmless=0.0,
        )
        if response.value is not None:
            found[aspect.value] = response.value
    return found


def _rungs(judgements: Sequence[Judgement], by: str) -> dict[float, list[float]]:
    def dose(one: Judgement) -> float:
        return float((one.case.severity if by == "severity" else one.case.clips) or 0.0)

    def other(one: Judgement) -> float:
        return float((one.case.clips if by == "severity" else one.case.severity) or 0.0)

    if not judgements:
        return {}
    top = max(map(other, judgements))
    held = [one for one in judgements if other(one) == top]
    doses = sorted({dose(one) for one in held})
    whole = set.intersection(
        *({one.case.cluster for one in held if dose(one) == level} for level in doses)
    )
    rungs: dict[float, list[float]] = {}
    for one in held:
        if one.case.cluster in whole and one.points is not None:
            rungs.setdefault(dose(one), []).append(one.points)
    return {level: rungs[level] for level in doses if level in rungs}


def placebo_results(judgements: Sequence[Judgement]) -> tuple[PlaceboResult, ...]:
    """One result per placebo."""
    own = [one for one in judgements if one.case.kind is Kind.PLACEBO]
    results = []
    for name in sorted({one.case.name for one in own}):
        named = [one for one in own if one.case.name == name]
        answers = [one.choice for one in named if one.choice is not None]
        ties = answers.count(Choice.TIE) / len(answers) if answers else 0.0
        pairs = len({one.case.id for one in named})
        results.append(PlaceboResult(name, pairs, accuracy(named), ties))
    return tuple(results)
