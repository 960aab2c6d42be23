"""Accuracy: points for the intact video, with every interval that belongs to them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from screentest.certificates.certificate import Accuracy, AspectResult, FilterResult, PlaceboResult
from screentest.core import Aspect, Choice, Failure, Outcome, PairKind, Reason, all_aspects
from screentest.judges.cases import Judgement, in_both_orders, strongest
from screentest.stats import bootstrap_accuracy, order_effect, pearson, wald, wilson
from screentest.stats.trend import DoseResponse, Trend, dose_response, duration_trend


def accuracy(judgements: Sequence[Judgement]) -> Outcome[Accuracy]:
    """Points with all their intervals; a failed Outcome where nothing was answered."""
    answered = [(one, earned) for one in judgements if (earned := one.points) is not None]
    points = [value for _, value in answered]
    lost = [
        one.outcome.failure
        for one in judgements
        if one.outcome is not None and one.outcome.failure is not None
    ]
    failures = Counter(one.reason for one in lost)
    if not points:
        return _no_answer(lost, len(judgements))
    # Several orders and repeats of a pair are not independent: sources are resampled whole.
    clusters = [one.case.cluster for one, _ in answered]
    total = sum(points)
    pairs = len({one.place for one, _ in answered})
    return Outcome.of(
        Accuracy(
            points=total,
            judgements=len(points),
            total=len(judgements),
            ties=sum(value == 0.5 for value in points),
            # A judge that rates videos alone gives the same answer in both orders: counted
            # twice, its interval would be too narrow by a factor of √2.
            wilson=wilson(total / len(points) * pairs, pairs),
            wald=wald(total, len(points)),
            clustered=bootstrap_accuracy(points, clusters) if len(set(clusters)) > 1 else None,
            failures=dict(sorted(failures.items())),
            pairs=pairs,
        )
    )


def _no_answer(lost: Sequence[Failure], total: int) -> Outcome[Accuracy]:
    """The commonest reason, in the words of its first failure, and the others by name."""
    if not lost:
        return Outcome.failed(Reason.NOT_APPLICABLE, "nothing was judged")
    counts = Counter(one.reason for one in lost)
    reason = max(counts, key=lambda one: counts[one])
    first = next(one for one in lost if one.reason is reason)
    others = [f"{one.value} {count}" for one, count in sorted(counts.items()) if one is not reason]
    many = ", ".join([f"{counts[reason]} of {total} judgements", *others])
    return Outcome.failed(reason, f"{first.detail or 'no answer'} ({many})", first.advice)


def by_pair(judgements: Iterable[Judgement]) -> dict[tuple[str, str], tuple[Judgement, float]]:
    """One value per pair that was answered: the mean over orders and repeats."""
    found: dict[tuple[str, str], list[tuple[Judgement, float]]] = {}
    for one in judgements:
        if one.points is not None:
            found.setdefault(one.place, []).append((one, one.points))
    return {
        place: (many[0][0], sum(points for _, points in many) / len(many))
        for place, many in sorted(found.items())
    }


# Ladders: how accuracy rises with the severity of the harm and the number of harmed clips.

Step = Literal["severity", "clips"]


def reference(judgements: Sequence[Judgement]) -> list[Judgement]:
    """Those at the strongest rung of each source and degradation: what the table shows."""
    top = {case.id for case in strongest(one.case for one in judgements)}
    return [one for one in judgements if one.case.id in top]


def ladders(judgements: Sequence[Judgement], *, by: Step) -> dict[str, DoseResponse]:
    """Dose and response by aspect, over severities or over numbers of clips.

    The other of the two is held at its highest value, and only sources that have an answer on
    every rung count: else an easier source on one rung would look like a stronger dose. A pair
    counts once, with the mean of its answers.
    """
    found: dict[str, DoseResponse] = {}
    for aspect in all_aspects():
        own = [
            one
            for one in judgements
            if one.case.kind is PairKind.DEGRADATION and one.case.aspect is aspect
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


def _rungs(judgements: Sequence[Judgement], by: Step) -> dict[float, list[float]]:
    pairs = [
        (one.case.cluster, *_split(one.case.rung, by), points)
        for one, points in by_pair(judgements).values()
    ]
    if not pairs:
        return {}
    top = max(other for _, _, other, _ in pairs)
    held = [(cluster, dose, points) for cluster, dose, other, points in pairs if other == top]
    doses = sorted({dose for _, dose, _ in held})
    whole = set.intersection(
        *({cluster for cluster, dose, _ in held if dose == level} for level in doses)
    )
    rungs: dict[float, list[float]] = {level: [] for level in doses} if whole else {}
    for cluster, dose, points in held:
        if cluster in whole:
            rungs[dose].append(points)
    return rungs


def _split(rung: tuple[float, int], by: Step) -> tuple[float, float]:
    """The dose, and what is held."""
    severity, clips = rung
    return (severity, float(clips)) if by == "severity" else (float(clips), severity)


# The parts of a certificate, each from the judgements it speaks of.


def aspect_results(
    judgements: Sequence[Judgement], human: Mapping[Aspect, float] | None = None
) -> tuple[AspectResult, ...]:
    """One result per aspect that was asked about, in the order of the paper's tables."""
    return tuple(
        AspectResult(
            aspect=aspect,
            pairs=len({one.case.id for one in own}),
            sources=len({one.case.cluster for one in own}),
            accuracy=accuracy(own),
            order=order_effect(in_both_orders(own)),
            trend=trend(own),
            human=(human or {}).get(aspect),
        )
        for aspect, own in _by_aspect(judgements).items()
    )


def operator_results(judgements: Sequence[Judgement]) -> dict[str, Outcome[Accuracy]]:
    """The degradations of one aspect apart, by ``aspect/name``, where it has several."""
    found: dict[str, Outcome[Accuracy]] = {}
    for aspect, own in _by_aspect(judgements).items():
        names = list(dict.fromkeys(one.case.name for one in own))
        for name in names if len(names) > 1 else ():
            named = [one for one in own if one.case.name == name]
            found[f"{aspect.value}/{name}"] = accuracy(named)
    return found


def trend(judgements: Sequence[Judgement]) -> Outcome[Trend]:
    """Whether long videos are harder: one value per pair, so that orders do not count double."""
    pairs = by_pair(judgements).values()
    return duration_trend([one.case.duration for one, _ in pairs], [points for _, points in pairs])


def placebo_results(judgements: Sequence[Judgement]) -> tuple[PlaceboResult, ...]:
    """One result per placebo."""
    own = [one for one in judgements if one.case.kind is PairKind.PLACEBO]
    results = []
    for name in sorted({one.case.name for one in own}):
        named = [one for one in own if one.case.name == name]
        answers = [one.choice for one in named if one.choice is not None]
        ties = answers.count(Choice.TIE) / len(answers) if answers else 0.0
        pairs = len({one.case.id for one in named})
        results.append(PlaceboResult(name, pairs, accuracy(named), ties))
    return tuple(results)


def filter_result(judgements: Sequence[Judgement]) -> FilterResult | None:
    """Accuracies before and after people's filter; None where nobody filtered."""
    filtered = [one for one in judgements if one.case.kept is not None]
    if not filtered:
        return None
    kept = [one for one in filtered if one.case.kept]
    before = {aspect: accuracy(own) for aspect, own in _by_aspect(filtered).items()}
    after = {aspect: accuracy(own) for aspect, own in _by_aspect(kept).items()}
    both = [
        (before[aspect].unwrap().value, found.unwrap().value)
        for aspect, found in after.items()
        if found.ok
    ]
    return FilterResult(
        pairs=len({one.place for one in filtered}),
        kept=len({one.place for one in kept}),
        overall=accuracy(kept),
        aspects=after,
        agreement=pearson([one for one, _ in both], [other for _, other in both]),
    )


def by_testbed(judgements: Sequence[Judgement]) -> dict[str, list[Judgement]]:
    """The judgements of each testbed apart."""
    found: dict[str, list[Judgement]] = {}
    for one in judgements:
        found.setdefault(one.case.testbed, []).append(one)
    return found


def _by_aspect(judgements: Sequence[Judgement]) -> dict[Aspect, list[Judgement]]:
    found: dict[Aspect, list[Judgement]] = {}
    for aspect in all_aspects():
        own = [one for one in judgements if one.case.aspect is aspect]
        if own:
            found[aspect] = own
    return found
