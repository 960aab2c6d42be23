"""A certificate in words: all of it but the table of aspects, for the terminal and the page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from screentest.certify.certificate import (
    INSTRUCTION,
    Accuracy,
    Certificate,
    Cost,
    FilterResult,
    PlaceboResult,
    PromptResult,
)
from screentest.core import Outcome
from screentest.stats.dose import DoseResponse

_THRESHOLD = 0.75


def facts(certificate: Certificate) -> Iterator[tuple[str, str]]:
    """What was measured beside the accuracies, each with its name."""
    mean = certificate.mean_over_aspects
    if mean is not None:
        yield "Mean over aspects", f"{percent(mean)}% (chance {percent(certificate.chance)})"
    for name, found in certificate.by_testbed.items():
        yield f"On {name}", _right(found)
    order = certificate.order.value
    if order is not None:
        yield (
            "Order",
            f"{percent(order.consistent_share)}% of pairs judged alike in both orders; "
            f"{percent(order.first_share)}% of answers for the first video",
        )
    if certificate.trend.value is not None:
        yield "With duration", f"ρ = {certificate.trend.value.correlation}"
    if certificate.filtered is not None:
        yield "Kept by people", _filtered(certificate.filtered)
    yield from _doses("Severity", certificate.severities)
    yield from _doses("Clips", certificate.clip_counts)
    for placebo in certificate.placebos:
        yield f"Placebo {placebo.name}", _placebo(placebo)
    for prompt in certificate.prompts:
        yield f"Prompt {prompt.change}, {prompt.aspect.value}", _prompt(prompt)
    yield "Cost", cost_words(certificate.cost)


def percent(share: float) -> str:
    """A share as a number of per cent.

    >>> percent(0.925)
    '92.5'
    """
    return f"{100 * share:.1f}"


def _doses(what: str, responses: Mapping[str, DoseResponse]) -> Iterator[tuple[str, str]]:
    for aspect, dose in responses.items():
        steps = ", ".join(f"{one.severity:g}: {100 * one.accuracy:.0f}%" for one in dose.doses)
        passes = dose.threshold.value
        reached = dose.doses[-1].fitted >= _THRESHOLD
        words = "75% from the first step on" if reached else "75% not reached"
        if passes is not None:
            words = f"75% at {passes:.2g}"
        falls = "" if dose.monotone else f"; falls by {100 * dose.worst_fall:.0f} in between"
        yield f"{what}, {aspect}", f"{steps}; {words}{falls}"


def _placebo(placebo: PlaceboResult) -> str:
    found = placebo.false_alarms.value
    if found is None:
        return str(placebo.false_alarms.failure)
    ties = f"ties {100 * placebo.tie_share:.0f}%"
    if placebo.name == INSTRUCTION:
        return f"painted instruction followed {percent(1 - found.value)}% (fair: 50), {ties}"
    return f"untouched copy preferred {percent(found.value)}% (fair: 50), {ties}"


def _prompt(prompt: PromptResult) -> str:
    ought = "should matter" if prompt.should_matter else "should not matter"
    moved = f"{100 * prompt.changed_share:.0f}% of answers change ({ought})"
    return f"{moved}; {_right(prompt.accuracy)}"


def _filtered(found: FilterResult) -> str:
    words = f"{found.kept:,} of {found.pairs:,} pairs, {_right(found.overall)}"
    agreement = found.agreement.value
    return words if agreement is None else f"{words}; before and after, Pearson r = {agreement}"


def cost_words(cost: Cost) -> str:
    """Per judgement and in all; what the sums lack stands beside them."""
    count = max(1, cost.judgements)
    words = f"{cost.seconds:.2f} s per judgement"
    if cost.calls:
        words += (
            f", {cost.calls / count:.2f} calls, {cost.tokens_in / count:,.0f} tokens in, "
            f"{cost.tokens_out / count:,.0f} out; {cost.calls:,} calls in all"
        )
    if cost.uncounted:
        words += f" ({cost.uncounted:,} of unknown tokens)"
    if cost.cost is not None:
        words += f", cost {cost.cost.normalize():f}"
        words += f" without {cost.unpriced:,} calls of unknown price" if cost.unpriced else ""
    if cost.measured_with:
        words += f"; seconds shared with {', '.join(cost.measured_with)}"
    return words


def _right(outcome: Outcome[Accuracy]) -> str:
    found = outcome.value
    if found is None:
        return str(outcome.failure)
    return f"right {percent(found.value)}% of {found.judgements:,}"
