"""Accuracy: points for the original, with every interval that belongs to them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from screentest.analysis.judges.certificate import (
    Accuracy,
    AspectResult,
    Certificate,
    FilterResult,
    OperatorResult,
    PlaceboResult,
)
from screentest.core import Aspect, Choice, Failure, Outcome, PairKind, Reason, all_aspects
from screentest.core.registry import registry
from screentest.judges.cases import Judgement, in_both_orders, strongest
from screentest.judges.spread import PlaceboSpread, PlaceboSpreads
from screentest.stats import (
    Claim,
    Correlation,
    Finding,
    Interval,
    claims,
    order_effect,
    pearson,
    share_interval,
    source_trend,
    wald,
)
from screentest.stats.claims import PlaceboPoints, Points
from screentest.stats.trend import DoseResponse, Trend, dose_response, duration_trend
from screentest.testbeds.testbed import CHANGES


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
    total = sum(points)
    pairs = len({one.place for one, _ in answered})
    return Outcome.of(
        Accuracy(
            points=total,
            judgements=len(points),
            total=len(judgements),
            ties=sum(value == 0.5 for value in points),
            interval=share_interval(points, [one.case.cluster for one, _ in answered]),
            # Both orders of a pair are one trial, as in the paper's table 5.
            wald=wald(total / len(points) * pairs, pairs),
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
    """One value per pair that was answered: the mean over orders and repeats.

    Where both orders were asked, an answer counts with its counterpart alone: of a judge that says
    first and fails where the original is second, what is left would all be right.
    """
    given = list(judgements)
    asked = len({one.order for one in given})
    answered_orders = Counter((*one.place, one.repeat) for one in given if one.points is not None)
    found: dict[tuple[str, str], list[tuple[Judgement, float]]] = {}
    for one in given:
        if one.points is not None and answered_orders[(*one.place, one.repeat)] == asked:
            found.setdefault(one.place, []).append((one, one.points))
    return {
        place: (many[0][0], sum(points for _, points in many) / len(many))
        for place, many in sorted(found.items())
    }


# Ladders: how accuracy rises with the severity and the number of degraded clips.

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
    apart: dict[tuple[str, str, float, float], list[float]] = {}
    for one, points in by_pair(judgements).values():
        # Copies of one film are one pair, in whichever testbeds they are.
        place = (one.case.cluster, one.case.name, *_split(one.case.rung, by))
        apart.setdefault(place, []).append(points)
    if not apart:
        return {}
    top = max(other for _, _, _, other in apart)
    at_top = [
        (cluster, dose, sum(points) / len(points))
        for (cluster, _, dose, other), points in apart.items()
        if other == top
    ]
    doses = sorted({dose for _, dose, _ in at_top})
    whole = set.intersection(
        *({cluster for cluster, dose, _ in at_top if dose == level} for level in doses)
    )
    rungs: dict[float, list[float]] = {level: [] for level in doses} if whole else {}
    for cluster, dose, mean in at_top:
        if cluster in whole:
            rungs[dose].append(mean)
    return rungs


def _split(rung: tuple[float, int], by: Step) -> tuple[float, float]:
    """The dose, and the other of the two."""
    severity, clips = rung
    return (severity, float(clips)) if by == "severity" else (float(clips), severity)


# The parts of a certificate, each from the judgements it speaks of.


def aspect_results(
    judgements: Sequence[Judgement],
    findings: Mapping[tuple[str, str], Finding],
    human: Mapping[Aspect, float] | None = None,
    margins: Mapping[Aspect, PlaceboSpread] | None = None,
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
            finding=findings[aspect.value, ""],
            human=(human or {}).get(aspect),
            margin=(margins or {}).get(aspect),
        )
        for aspect, own in _by_aspect(judgements).items()
    )


def operator_results(
    judgements: Sequence[Judgement], findings: Mapping[tuple[str, str], Finding]
) -> tuple[OperatorResult, ...]:
    """The operators of each aspect apart."""
    return tuple(
        OperatorResult(
            aspect,
            name,
            _label(name, own[0].case.kind),
            len({one.case.id for one in own}),
            accuracy(own),
            findings[aspect.value, name],
        )
        for aspect, mine in _by_aspect(judgements).items()
        for name, own in _by_operator(mine).items()
    )


def _label(operator: str, kind: PairKind | None) -> str:
    """A name for an operator. The paper's are called like their aspects, which says too much."""
    if kind is PairKind.PROMPT:
        return f"false prompts ({CHANGES.get(operator, operator)})"
    if operator not in registry.names("aspect"):
        return operator.replace("_", " ")
    known = registry.names("degradation")
    return (
        str(registry.entry("degradation", operator).info["summary"])
        if operator in known
        else operator
    )


def find_claims(
    judgements: Sequence[Judgement], placebos: Sequence[Judgement]
) -> dict[tuple[str, str], Finding]:
    """Make the claims, by aspect and operator; the operator is empty for the aspect.

    All claims of a certificate are corrected together. An aspect of one operator is that operator;
    of several, each counts alike in every film, and none may fool the judge.
    """
    groups: dict[tuple[str, str], dict[str, float]] = {}
    shown: list[Interval | None] = []
    for aspect, own in _by_aspect(judgements).items():
        apart = {name: by_film(mine) for name, mine in _by_operator(own).items()}
        groups |= {(aspect.value, name): points for name, points in apart.items()}
        shown += [shown_interval(mine) for mine in _by_operator(own).values()]
        if len(apart) > 1:
            groups[aspect.value, ""] = _mean_of(list(apart.values()))
            shown.append(shown_interval(own))
    fair = _placebo_points(placebos, groups)
    unit = "film" if any(one.case.kind is PairKind.DEGRADATION for one in judgements) else "prompt"
    made = claims(list(groups.values()), fair, intervals=shown, unit=unit)
    found = dict(zip(groups, made, strict=True))
    for aspect, own in _by_aspect(judgements).items():
        names = list(_by_operator(own))
        whole = found.get((aspect.value, ""), found[aspect.value, names[0]])
        made_claims = {found[aspect.value, name].claim for name in names}
        if whole.claim is Claim.SEES and Claim.PREFERS_DEGRADED in made_claims:
            whole = replace(whole, claim=Claim.MIXED)
        found[aspect.value, ""] = whole
    return found


def shown_interval(judgements: Sequence[Judgement]) -> Interval | None:
    """The one that is shown beside the claim."""
    found = accuracy(judgements).value
    return found.interval if found is not None else None


def _placebo_points(
    placebos: Sequence[Judgement], groups: Mapping[tuple[str, str], Points]
) -> list[dict[str, dict[str, float | None]]]:
    """By kind, what each film's placebos got in the aspect of each group, or where they were put in
    others only, there; None where the judge failed. An operator with a control of its own is held
    against that alone, and a family of such operators against all of theirs together."""
    kinds = {
        name: _in_aspects(own, {aspect for aspect, _ in groups})
        for name, own in _by_operator([one for one in placebos if one.case.is_harmless]).items()
    }
    apart: dict[str, list[Judgement]] = {}
    for one in placebos:
        if one.case.control_of:
            apart.setdefault(one.case.control_of, []).append(one)
    controls = {name: _put_by_film(own) for name, own in apart.items()}
    found = []
    for aspect, name in groups:
        own = {kind: points[aspect] for kind, points in kinds.items()}
        family = {other: points for (of, other), points in groups.items() if of == aspect and other}
        if name in controls:
            own = {"": controls[name]}
        elif not name and controls.keys() & family.keys():
            own[""] = _controls_of(family, controls)
        found.append(own)
    return found


def _controls_of(
    family: Mapping[str, Points], controls: Mapping[str, PlaceboPoints]
) -> dict[str, float | None]:
    """By film, the mean over the operators that the judge answered of what their controls got; None
    where one of these has no answer."""
    found: dict[str, float | None] = {}
    for film in sorted(set().union(*family.values())):
        got = [
            controls[name][film]
            for name, points in family.items()
            if film in points and film in controls.get(name, {})
        ]
        known = [one for one in got if one is not None]
        if got:
            found[film] = sum(known) / len(known) if len(known) == len(got) else None
    return found


def _in_aspects(
    judgements: Sequence[Judgement], aspects: Iterable[str]
) -> dict[str, dict[str, float | None]]:
    """The points of each film that the judge was put, in an aspect, or where not there, in all."""
    overall = _put_by_film(judgements)
    apart = {aspect.value: _put_by_film(own) for aspect, own in _by_aspect(judgements).items()}
    return {aspect: {**overall, **apart.get(aspect, {})} for aspect in aspects}


def _put_by_film(judgements: Sequence[Judgement]) -> dict[str, float | None]:
    """The points of each film that the judge was put, None where it has no answer."""
    return {**dict.fromkeys(one.case.cluster for one in judgements), **by_film(judgements)}


def by_film(judgements: Sequence[Judgement]) -> dict[str, float]:
    """The mean points of each source film, every pair of it counting alike."""
    found: dict[str, list[float]] = {}
    for one, points in by_pair(judgements).values():
        found.setdefault(one.case.cluster, []).append(points)
    return {film: sum(points) / len(points) for film, points in found.items()}


def _mean_of(apart: Sequence[Mapping[str, float]]) -> dict[str, float]:
    films = sorted(set().union(*apart))
    return {
        film: sum(known) / len(known)
        for film in films
        if (known := [points[film] for points in apart if film in points])
    }


def duration_effect(judgements: Sequence[Judgement]) -> Outcome[Correlation]:
    """Correlate accuracy with duration, with one value per film."""
    pairs = list(by_pair(judgements).values())
    return source_trend(
        [one.case.duration for one, _ in pairs],
        [points for _, points in pairs],
        [one.case.cluster for one, _ in pairs],
    )


def trend(judgements: Sequence[Judgement]) -> Outcome[Trend]:
    """Accuracy in the paper's bins of duration: one value per pair, whichever film it is of."""
    pairs = by_pair(judgements).values()
    return duration_trend([one.case.duration for one, _ in pairs], [points for _, points in pairs])


def placebo_results(judgements: Sequence[Judgement]) -> tuple[PlaceboResult, ...]:
    """One result per placebo, each with whether it differs from fair."""
    own = [one for one in judgements if one.case.kind is PairKind.PLACEBO]
    apart = dict(sorted(_by_operator(own).items()))
    findings = claims([by_film(named) for named in apart.values()])
    results = []
    for (name, named), finding in zip(apart.items(), findings, strict=True):
        answers = [one.choice for one in named if one.choice is not None]
        ties = answers.count(Choice.TIE) / len(answers) if answers else 0.0
        pairs = len({one.case.id for one in named})
        results.append(PlaceboResult(name, pairs, accuracy(named), ties, finding))
    return tuple(results)


def margins_of(judgements: Sequence[Judgement], least: float = 0.0) -> dict[Aspect, PlaceboSpread]:
    """By aspect, the margin that a rating judge would have on a film that is not among these."""
    moved = [
        (one.case.aspect, one.case.cluster, verdict.first - verdict.second)
        for one in judgements
        if one.case.is_harmless
        and one.outcome is not None
        and (verdict := one.outcome.value) is not None
        and verdict.first is not None
        and verdict.second is not None
    ]
    learnt = PlaceboSpreads.learnt(moved)
    return {aspect: learnt.of(aspect, least=least) for aspect in _by_aspect(judgements)}


def filter_result(judgements: Sequence[Judgement]) -> FilterResult | None:
    """Accuracies before and after people's filter; None where nobody filtered."""
    filtered = [one for one in judgements if one.case.kept is not None]
    if not filtered:
        return None
    kept = [one for one in filtered if one.case.kept]
    return FilterResult(
        pairs=len({one.place for one in filtered}),
        kept=len({one.place for one in kept}),
        overall=accuracy(kept),
        aspects={aspect: accuracy(own) for aspect, own in _by_aspect(kept).items()},
        before={aspect: accuracy(own) for aspect, own in _by_aspect(filtered).items()},
    )


def filter_agreement(certificates: Sequence[Certificate]) -> dict[Aspect, Outcome[Correlation]]:
    """By aspect, Pearson's r over judges between their accuracies before and after the filter.

    As the SLVMEval paper has it: high where the filter leaves the order of the judges as it was.
    """
    both: dict[Aspect, list[tuple[float, float]]] = {}
    for one in certificates:
        for aspect, found in (one.filtered.aspects if one.filtered else {}).items():
            assert one.filtered is not None
            before = one.filtered.before[aspect]
            if found.value is not None and before.value is not None:
                both.setdefault(aspect, []).append((before.value.value, found.value.value))
    return {
        aspect: pearson([one for one, _ in both[aspect]], [two for _, two in both[aspect]])
        for aspect in all_aspects()
        if aspect in both
    }


def by_testbed(judgements: Sequence[Judgement]) -> dict[str, list[Judgement]]:
    """The judgements of each testbed apart."""
    found: dict[str, list[Judgement]] = {}
    for one in judgements:
        found.setdefault(one.case.testbed, []).append(one)
    return found


def _by_operator(judgements: Sequence[Judgement]) -> dict[str, list[Judgement]]:
    found: dict[str, list[Judgement]] = {}
    for one in judgements:
        found.setdefault(one.case.name, []).append(one)
    return found


def _by_aspect(judgements: Sequence[Judgement]) -> dict[Aspect, list[Judgement]]:
    found: dict[Aspect, list[Judgement]] = {aspect: [] for aspect in all_aspects()}
    for one in judgements:
        found.setdefault(one.case.aspect, []).append(one)
    return {aspect: own for aspect, own in found.items() if own}
