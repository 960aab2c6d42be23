"""Certificates as cards: how often a judge is right, and all else that was measured of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from screentest.certify.certificate import Accuracy, Certificate
from screentest.certify.words import facts
from screentest.core import Outcome


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
    for name, words in facts(certificate):
        yield name.replace("_", " "), words
    yield "Signature", certificate.signature
