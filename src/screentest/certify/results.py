"""The parts of a certificate, each from the judgements it speaks of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from screentest.certify.accuracy import accuracy, by_pair
from screentest.certify.certificate import AspectResult, FilterResult, PlaceboResult
from screentest.certify.judgements import Judgement, in_both_orders
from screentest.core import Aspect, Choice, Outcome
from screentest.degrade.testbed import Kind
from screentest.stats import order_effect, pearson
from screentest.stats.trend import Trend, duration_trend


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


def trend(judgements: Sequence[Judgement]) -> Outcome[Trend]:
    """Whether long videos are harder: one value per pair, so that orders do not count double."""
    pairs = by_pair(judgements).values()
    return duration_trend([one.case.duration for one, _ in pairs], [points for _, points in pairs])


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


def filter_result(judgements: Sequence[Judgement]) -> FilterResult | None:
    """Accuracies before and after people's filter; None where nobody filtered."""
    told = [one for one in judgements if one.case.kept is not None]
    if not told:
        return None
    kept = [one for one in told if one.case.kept]
    before = {aspect: accuracy(own) for aspect, own in _by_aspect(told).items()}
    after = {aspect: accuracy(own) for aspect, own in _by_aspect(kept).items()}
    both = [
        (before[aspect].unwrap().value, found.unwrap().value)
        for aspect, found in after.items()
        if found.ok
    ]
    return FilterResult(
        pairs=len({one.place for one in told}),
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
    for aspect in Aspect:
        own = [one for one in judgements if one.case.contest.aspect is aspect]
        if own:
            found[aspect] = own
    return found
