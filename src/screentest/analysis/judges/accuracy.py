"""Accuracy: points for the original, with every interval that belongs to them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from screentest._util.collect import grouped
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
from screentest.stats.trend import (
    DoseResponse,
    Trend,
    dose_response,
    duration_trend,
    too_few_durations,
)
from screentest.testbeds.testbed import CHANGES


def accuracy(judgements: Sequence[Judgement]) -> Outcome[Accuracy]:
    """Points with all their intervals; a failed Outcome where nothing was answered."""
    answered = [
        (judgement, earned) for judgement in judgements if (earned := judgement.points) is not None
    ]
    points = [value for _, value in answered]
    lost = [
        judgement.outcome.failure
        for judgement in judgements
        if judgement.outcome is not None and judgement.outcome.failure is not None
    ]
    failures = Counter(item.reason for item in lost)
    if not points:
        return _no_answer(lost, len(judgements))
    total = sum(points)
    pairs = len({item.place for item, _ in answered})
    return Outcome.of(
        Accuracy(
            points=total,
            judgements=len(points),
            total=len(judgements),
            ties=sum(value == 0.5 for value in points),
            interval=share_interval(points, [item.case.cluster for item, _ in answered]),
            # Both orders of a pair are one trial, as in the paper's table 5.
            wald=wald(total / len(points) * pairs, pairs),
            failures=dict(sorted(failures.items())),
            pairs=pairs,
        )
    )


def _no_answer(lost: Sequence[Failure], total: int) -> Outcome[Accuracy]:
    """Return the commonest reason, in the words of its first failure, and the others by name."""
    if not lost:
        return Outcome.failed(Reason.NOT_APPLICABLE, "nothing was judged")
    counts = Counter(item.reason for item in lost)
    reason = max(counts, key=lambda item: counts[item])
    first = next(item for item in lost if item.reason is reason)
    others = [
        f"{item.value} {count}" for item, count in sorted(counts.items()) if item is not reason
    ]
    many = ", ".join([f"{counts[reason]} of {total} judgements", *others])
    return Outcome.failed(reason, f"{first.detail or 'no answer'} ({many})", first.advice)


def by_pair(judgements: Iterable[Judgement]) -> dict[tuple[str, str], tuple[Judgement, float]]:
    """One value per pair that was answered: the mean over orders and repeats.

    Where both orders were asked, an answer counts with its counterpart alone: of a judge that says
    first and fails where the original is second, what is left would all be right.
    """
    given = list(judgements)
    asked = len({item.order for item in given})
    answered_orders = Counter(
        (*item.place, item.repeat) for item in given if item.points is not None
    )
    result = grouped(
        (entry.place, (entry, entry.points))
        for entry in given
        if entry.points is not None and answered_orders[(*entry.place, entry.repeat)] == asked
    )
    return {
        place: (many[0][0], sum(points for _, points in many) / len(many))
        for place, many in sorted(result.items())
    }


# Ladders: how accuracy rises with the severity and the number of degraded clips.

Step = Literal["severity", "clips"]


def reference(judgements: Sequence[Judgement]) -> list[Judgement]:
    """Those at the strongest rung of each source and degradation: what the table shows."""
    top = {case.id for case in strongest(judgement.case for judgement in judgements)}
    return [judgement for judgement in judgements if judgement.case.id in top]


def ladders(judgements: Sequence[Judgement], *, by: Step) -> dict[str, DoseResponse]:
    """Dose and response by aspect, over severities or over numbers of clips.

    The other of the two is held at its highest value, and only sources that have an answer on
    every rung count: else an easier source on one rung would look like a stronger dose. A pair
    counts once, with the mean of its answers.
    """
    result: dict[str, DoseResponse] = {}
    degraded = [item for item in judgements if item.case.kind is PairKind.DEGRADATION]
    for aspect, selected in _by_aspect(degraded).items():
        rungs = _rungs(selected, by)
        if len(rungs) < 2:
            continue
        response = dose_response(
            list(rungs),
            [sum(points) for points in rungs.values()],
            [len(points) for points in rungs.values()],
            harmless=0.0,
        )
        if response.value is not None:
            result[aspect.value] = response.value
    return result


def _rungs(judgements: Sequence[Judgement], by: Step) -> dict[float, list[float]]:
    # Copies of one film are one pair, in whichever testbeds they are.
    apart = grouped(
        ((item.case.cluster, item.case.name, *_split(item.case.rung, by)), points)
        for item, points in by_pair(judgements).values()
    )
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
    """Return the dose, and the other of the two."""
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
            pairs=len({item.case.id for item in selected}),
            sources=len({item.case.cluster for item in selected}),
            accuracy=accuracy(selected),
            order=order_effect(in_both_orders(selected)),
            trend=trend(selected),
            finding=findings[aspect.value, ""],
            human=(human or {}).get(aspect),
            margin=(margins or {}).get(aspect),
        )
        for aspect, selected in _by_aspect(judgements).items()
    )


def operator_results(
    judgements: Sequence[Judgement], findings: Mapping[tuple[str, str], Finding]
) -> tuple[OperatorResult, ...]:
    """Return the operators of each aspect apart."""
    return tuple(
        OperatorResult(
            aspect,
            name,
            _label(name, selected[0].case.kind),
            len({item.case.id for item in selected}),
            accuracy(selected),
            findings[aspect.value, name],
        )
        for aspect, mine in _by_aspect(judgements).items()
        for name, selected in _by_operator(mine).items()
    )


def _label(operator: str, kind: PairKind | None) -> str:
    """Return a name for an operator; the paper's are called like their aspects."""
    if kind is PairKind.PROMPT:
        done = CHANGES[operator]["done"] if operator in CHANGES else operator
        return f"false prompts ({done})"
    if operator not in registry.names("aspect"):
        return operator.replace("_", " ")
    available = registry.names("degradation")
    return (
        str(registry.entry("degradation", operator).info["summary"])
        if operator in available
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
    for aspect, selected in _by_aspect(judgements).items():
        apart = {name: by_film(mine) for name, mine in _by_operator(selected).items()}
        groups |= {(aspect.value, name): points for name, points in apart.items()}
        shown += [shown_interval(mine) for mine in _by_operator(selected).values()]
        if len(apart) > 1:
            groups[aspect.value, ""] = _mean_of(list(apart.values()))
            shown.append(shown_interval(selected))
    fair = _placebo_points(placebos, groups)
    unit = (
        "film"
        if any(judgement.case.kind is PairKind.DEGRADATION for judgement in judgements)
        else "prompt"
    )
    made = claims(list(groups.values()), fair, intervals=shown, unit=unit)
    result = dict(zip(groups, made, strict=True))
    for aspect, selected in _by_aspect(judgements).items():
        names = list(_by_operator(selected))
        whole = result.get((aspect.value, ""), result[aspect.value, names[0]])
        made_claims = {result[aspect.value, name].claim for name in names}
        if whole.claim is Claim.SEES and Claim.PREFERS_DEGRADED in made_claims:
            whole = replace(whole, claim=Claim.MIXED)
        result[aspect.value, ""] = whole
    return result


def shown_interval(judgements: Sequence[Judgement]) -> Interval | None:
    """Return the one that is shown beside the claim."""
    result = accuracy(judgements).value
    return result.interval if result is not None else None


def _placebo_points(
    placebos: Sequence[Judgement], groups: Mapping[tuple[str, str], Points]
) -> list[dict[str, dict[str, float | None]]]:
    """By kind, what each film's placebos got in the aspect of each group, or where they were put in
    others only, there; None where the judge failed. An operator with a control of its own is held
    against that alone, and a family of such operators against all of theirs together."""
    kinds = {
        name: _in_aspects(selected, {aspect for aspect, _ in groups})
        for name, selected in _by_operator(
            [placebo for placebo in placebos if placebo.case.is_harmless]
        ).items()
    }
    apart = grouped((item.case.control_of, item) for item in placebos if item.case.control_of)
    controls = {name: _put_by_film(selected) for name, selected in apart.items()}
    result = []
    for aspect, name in groups:
        members = {kind: points[aspect] for kind, points in kinds.items()}
        family = {other: points for (of, other), points in groups.items() if of == aspect and other}
        if name in controls:
            members = {"": controls[name]}
        elif not name and controls.keys() & family.keys():
            members[""] = _controls_of(family, controls)
        result.append(members)
    return result


def _controls_of(
    family: Mapping[str, Points], controls: Mapping[str, PlaceboPoints]
) -> dict[str, float | None]:
    """By film, the mean over the operators that the judge answered of what their controls got; None
    where one of these has no answer."""
    result: dict[str, float | None] = {}
    for film in sorted(set().union(*family.values())):
        got = [
            controls[name][film]
            for name, points in family.items()
            if film in points and film in controls.get(name, {})
        ]
        available = [item for item in got if item is not None]
        if got:
            result[film] = sum(available) / len(available) if len(available) == len(got) else None
    return result


def _in_aspects(
    judgements: Sequence[Judgement], aspects: Iterable[str]
) -> dict[str, dict[str, float | None]]:
    """Return the points of each film by aspect; in all aspects, where it has none in one."""
    overall = _put_by_film(judgements)
    apart = {
        aspect.value: _put_by_film(selected) for aspect, selected in _by_aspect(judgements).items()
    }
    return {aspect: {**overall, **apart.get(aspect, {})} for aspect in aspects}


def _put_by_film(judgements: Sequence[Judgement]) -> dict[str, float | None]:
    """Return the points of each film that the judge was put, None where it has no answer."""
    return {
        **dict.fromkeys(judgement.case.cluster for judgement in judgements),
        **by_film(judgements),
    }


def by_film(judgements: Sequence[Judgement]) -> dict[str, float]:
    """Return the mean points of each source film, every pair of it counting alike."""
    result = grouped((item.case.cluster, points) for item, points in by_pair(judgements).values())
    return {film: sum(points) / len(points) for film, points in result.items()}


def _mean_of(apart: Sequence[Mapping[str, float]]) -> dict[str, float]:
    films = sorted(set().union(*apart))
    return {
        film: sum(available) / len(available)
        for film in films
        if (available := [points[film] for points in apart if film in points])
    }


def duration_effect(judgements: Sequence[Judgement]) -> Outcome[Correlation]:
    """Correlate accuracy with duration, with one value per film."""
    pairs = list(by_pair(judgements).values())
    return source_trend(
        [item.case.duration for item, _ in pairs],
        [points for _, points in pairs],
        [item.case.cluster for item, _ in pairs],
    )


def trend(judgements: Sequence[Judgement]) -> Outcome[Trend]:
    """Accuracy in the paper's bins of duration: one value per pair, whichever film it is of.

    Bins of pairs of few films would say more than the films do: of those there is none.
    """
    pairs = by_pair(judgements).values()
    lengths = {item.case.cluster: item.case.duration for item, _ in pairs}
    few = too_few_durations(list(lengths.values())) if lengths else None
    durations, points = [item.case.duration for item, _ in pairs], [earned for _, earned in pairs]
    return few or duration_trend(durations, points)


def placebo_results(judgements: Sequence[Judgement]) -> tuple[PlaceboResult, ...]:
    """One result per placebo, each with whether it differs from fair."""
    selected = [judgement for judgement in judgements if judgement.case.kind is PairKind.PLACEBO]
    apart = dict(sorted(_by_operator(selected).items()))
    findings = claims([by_film(named) for named in apart.values()])
    results = []
    for (name, named), finding in zip(apart.items(), findings, strict=True):
        answers = [item.choice for item in named if item.choice is not None]
        ties = answers.count(Choice.TIE) / len(answers) if answers else 0.0
        pairs = len({item.case.id for item in named})
        results.append(PlaceboResult(name, pairs, accuracy(named), ties, finding))
    return tuple(results)


def margins_of(judgements: Sequence[Judgement], least: float = 0.0) -> dict[Aspect, PlaceboSpread]:
    """By aspect, the margin that a rating judge would have on a film that is not among these."""
    moved = [
        (judgement.case.aspect, judgement.case.cluster, verdict.first - verdict.second)
        for judgement in judgements
        if judgement.case.is_harmless
        and (verdict := judgement.verdict) is not None
        and verdict.first is not None
        and verdict.second is not None
    ]
    learnt = PlaceboSpreads.learnt(moved)
    return {aspect: learnt.of(aspect, least=least) for aspect in _by_aspect(judgements)}


def filter_result(judgements: Sequence[Judgement]) -> FilterResult | None:
    """Accuracies before and after people's filter; None where nobody filtered."""
    filtered = [judgement for judgement in judgements if judgement.case.kept is not None]
    if not filtered:
        return None
    kept = [item for item in filtered if item.case.kept]
    return FilterResult(
        pairs=len({item.place for item in filtered}),
        kept=len({item.place for item in kept}),
        overall=accuracy(kept),
        aspects={aspect: accuracy(selected) for aspect, selected in _by_aspect(kept).items()},
        before={aspect: accuracy(selected) for aspect, selected in _by_aspect(filtered).items()},
    )


def filter_agreement(certificates: Sequence[Certificate]) -> dict[Aspect, Outcome[Correlation]]:
    """By aspect, Pearson's r over judges between their accuracies before and after the filter.

    As the SLVMEval paper has it: high where the filter leaves the order of the judges as it was.
    """
    both = grouped(
        (aspect, (before.value.value, after.value.value))
        for certificate in certificates
        if certificate.filtered is not None
        for aspect, after in certificate.filtered.aspects.items()
        if (before := certificate.filtered.before[aspect]).value is not None
        and after.value is not None
    )
    return {
        aspect: pearson([item for item, _ in both[aspect]], [two for _, two in both[aspect]])
        for aspect in all_aspects()
        if aspect in both
    }


def _by_operator(judgements: Sequence[Judgement]) -> dict[str, list[Judgement]]:
    return grouped((judgement.case.name, judgement) for judgement in judgements)


def _by_aspect(judgements: Sequence[Judgement]) -> dict[Aspect, list[Judgement]]:
    result: dict[Aspect, list[Judgement]] = {aspect: [] for aspect in all_aspects()}
    for judgement in judgements:
        result.setdefault(judgement.case.aspect, []).append(judgement)
    return {aspect: selected for aspect, selected in result.items() if selected}
