"""A certificate on the terminal: the table of aspects, then everything else in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from screentest.certify.certificate import (
        Accuracy,
        Certificate,
        Cost,
        FilterResult,
        PlaceboResult,
        PromptResult,
    )
    from screentest.core import Outcome
    from screentest.stats import DoseResponse


def print_certificate(certificate: Certificate) -> None:
    """All of it, in 80 columns."""
    from screentest.cli._console import out
    from screentest.cli._tables import print_facts, print_heading, print_indented, table

    print_heading(f"{certificate.judge} on {', '.join(certificate.testbeds)}")
    rows = [
        (
            one.aspect.value,
            *_cells(one.accuracy),
            "" if one.human is None else _percent(one.human),
            f"{one.sources:,}",
        )
        for one in certificate.aspects
    ]
    rows.append(("all pairs", *_cells(certificate.overall), "", ""))
    columns = ["Aspect", ">Right %", ">95% interval", ">Ties", ">Judged", ">People", ">Sources"]
    out().print(table(columns, rows))
    print_facts(_facts(certificate))
    print_indented(certificate.signature)


def _facts(certificate: Certificate) -> Iterator[tuple[str, str]]:
    mean = certificate.mean_over_aspects
    if mean is not None:
        yield "Mean over aspects", f"{_percent(mean)}% (chance {_percent(certificate.chance)})"
    for name, found in certificate.by_testbed.items():
        yield f"On {name}", _right(found)
    order = certificate.order.value
    if order is not None:
        yield (
            "Order",
            f"{_percent(order.consistent_share)}% of pairs judged alike in both orders; "
            f"{_percent(order.first_share)}% of answers for the first video",
        )
    if certificate.trend.value is not None:
        yield "With duration", f"ρ = {certificate.trend.value.correlation}"
    if certificate.filtered is not None:
        yield "Kept by people", _filtered(certificate.filtered)
    yield from _doses("Severity", certificate.severities)
    yield from _doses("Clips", certificate.clip_counts)
    for placebo in certificate.placebos:
        yield _placebo(placebo)
    for prompt in certificate.prompts:
        yield f"Prompt {prompt.change}, {prompt.aspect.value}", _prompt(prompt)
    yield "Cost", _cost(certificate.cost)


def _doses(what: str, responses: Mapping[str, DoseResponse]) -> Iterator[tuple[str, str]]:
    for aspect, dose in responses.items():
        steps = ", ".join(f"{one.severity:g}: {100 * one.accuracy:.0f}%" for one in dose.doses)
        passes = dose.threshold.value
        words = "75% not reached" if dose.doses[-1].fitted < 0.75 else "75% from the first step on"
        if passes is not None:
            words = f"75% at {passes:.2g}"
        falls = "" if dose.monotone else f"; falls by {100 * dose.worst_fall:.0f} in between"
        yield f"{what}, {aspect}", f"{steps}; {words}{falls}"


def _placebo(placebo: PlaceboResult) -> tuple[str, str]:
    from screentest.certify.certificate import INSTRUCTION

    name, found = f"Placebo {placebo.name}", placebo.false_alarms.value
    if found is None:
        return name, str(placebo.false_alarms.failure)
    ties = f"ties {100 * placebo.tie_share:.0f}%"
    if placebo.name == INSTRUCTION:
        words = f"painted instruction followed {_percent(1 - found.value)}% (fair: 50), {ties}"
    else:
        words = f"untouched copy preferred {_percent(found.value)}% (fair: 50), {ties}"
    return name, words


def _prompt(prompt: PromptResult) -> str:
    ought = "should matter" if prompt.should_matter else "should not matter"
    moved = f"{100 * prompt.changed_share:.0f}% of answers change ({ought})"
    return f"{moved}; {_right(prompt.accuracy)}"


def _filtered(found: FilterResult) -> str:
    words = f"{found.kept:,} of {found.pairs:,} pairs, {_right(found.overall)}"
    agreement = found.agreement.value
    return words if agreement is None else f"{words}; before and after, Pearson r = {agreement}"


def _cost(cost: Cost) -> str:
    count = max(1, cost.judgements)
    words = f"{cost.seconds:.2f} s per judgement"
    if cost.calls:
        words += (
            f", {cost.calls / count:.2f} calls, {cost.tokens_in / count:,.0f} tokens in, "
            f"{cost.tokens_out / count:,.0f} out; {cost.calls:,} calls in all"
        )
    if cost.cost is not None:
        words += f", cost {cost.cost.normalize():f}"
    if cost.measured_with:
        words += f"; seconds shared with {', '.join(cost.measured_with)}"
    return words


def _right(outcome: Outcome[Accuracy]) -> str:
    found = outcome.value
    if found is None:
        return str(outcome.failure)
    return f"right {_percent(found.value)}% of {found.judgements:,}"


def _cells(outcome: Outcome[Accuracy]) -> tuple[str, str, str, str]:
    found = outcome.value
    if found is None:
        assert outcome.failure is not None
        return ("–", outcome.failure.reason.value, "", "0")
    interval = found.clustered or found.wilson
    return (
        _percent(found.value),
        f"{100 * interval.low:.0f}–{100 * interval.high:.0f}",
        f"{found.ties:,}",
        f"{found.judgements:,}/{found.total:,}",
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"
