"""Certificates as cards: how often a judge is right, and all else that was measured of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from screentest.certify.certificate import Accuracy, Certificate
from screentest.core import Outcome
from screentest.stats.dose import DoseResponse


@dataclass(frozen=True, slots=True)
class CardRow:
    """One aspect, as it is shown; with ``failed`` there is nothing else."""

    name: str
    failed: str = ""
    value: str = ""
    interval: str = ""
    people: str = ""
    ties: int = 0
    judged: int = 0
    asked: int = 0


@dataclass(frozen=True, slots=True)
class Card:
    """One certificate."""

    judge: str
    summary: str
    testbeds: str
    rows: tuple[CardRow, ...]
    facts: tuple[tuple[str, str], ...]


def card(certificate: Certificate) -> Card:
    """The certificate, ready to be shown."""
    rows = [
        _row(one.aspect.value.replace("_", " "), one.accuracy, one.human)
        for one in certificate.aspects
    ]
    rows.append(_row("all pairs", certificate.overall, None))
    return Card(
        certificate.judge,
        certificate.summary,
        ", ".join(certificate.testbeds),
        tuple(rows),
        tuple(_facts(certificate)),
    )


def _row(name: str, outcome: Outcome[Accuracy], people: float | None) -> CardRow:
    found = outcome.value
    if found is None:
        return CardRow(name, failed=_why(outcome))
    interval = found.clustered or found.wilson
    return CardRow(
        name,
        value=f"{100 * found.value:.1f}",
        interval=f"{100 * interval.low:.0f}–{100 * interval.high:.0f}",
        people="" if people is None else f"{100 * people:.1f}",
        ties=found.ties,
        judged=found.judgements,
        asked=found.total,
    )


def _why(outcome: Outcome[Accuracy]) -> str:
    """Why there is no accuracy; where the detail repeats the reason, it will do."""
    failure = outcome.failure
    assert failure is not None
    detail = failure.detail
    return detail if detail.startswith(failure.reason.value) else str(failure)


def _facts(certificate: Certificate) -> Iterator[tuple[str, str]]:
    order = certificate.order.value
    if order is not None:
        yield (
            "Order of presentation",
            f"{100 * order.consistent_share:.0f}% judged alike in both orders, "
            f"{100 * order.first_share:.0f}% of answers for the first video",
        )
    if certificate.trend.value is not None:
        yield "With duration", f"ρ = {certificate.trend.value.correlation}"
    yield from _doses("Severity", certificate.severities)
    yield from _doses("Harmed clips", certificate.clip_counts)
    for placebo in certificate.placebos:
        found = placebo.false_alarms.value
        words = str(placebo.false_alarms.failure)
        if found is not None:
            words = (
                f"untouched copy preferred {100 * found.value:.0f}% "
                f"(fair: 50), ties {100 * placebo.tie_share:.0f}%"
            )
        yield f"Placebo {placebo.name.replace('_', ' ')}", words
    for prompt in certificate.prompts:
        yield (
            f"Prompt {prompt.change}, {prompt.aspect.value.replace('_', ' ')}",
            f"{100 * prompt.changed_share:.0f}% of answers change",
        )
    cost = certificate.cost
    words = f"{cost.seconds:.2f} s per judgement"
    if cost.calls:
        words += f", {cost.calls:,} calls, {cost.tokens_in + cost.tokens_out:,} tokens"
    if cost.cost is not None:
        words += f", cost {cost.cost}"
    yield "Cost", words
    yield "Signature", certificate.signature


def _doses(what: str, responses: Mapping[str, DoseResponse]) -> Iterator[tuple[str, str]]:
    for aspect, response in responses.items():
        steps = ", ".join(f"{one.severity:g}: {100 * one.accuracy:.0f}%" for one in response.doses)
        yield f"{what}, {aspect.replace('_', ' ')}", steps
