"""Certificates as cards: how often a judge is right, and all else that was measured of it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from screentest.certificates.certificate import Accuracy, Certificate, facts
from screentest.core import Aspect, Outcome
from screentest.core.signature import short_signature, split_value_name, value_name


@dataclass(frozen=True, slots=True)
class CardRow:
    """One aspect or operator, as it is shown; with ``failed`` there is nothing else."""

    name: str
    operator: bool = False
    """It is one of the operators of the aspect above it."""
    failed: str = ""
    claim: str = ""
    value: str = ""
    interval: str = ""
    people: str = ""
    ties: int = 0
    judged: int = 0
    asked: int = 0


@dataclass(frozen=True, slots=True)
class Card:
    """One certificate, ready to be shown: all its numbers are text."""

    judge: str
    summary: str
    testbeds: str
    rows: tuple[CardRow, ...]
    facts: tuple[tuple[str, str], ...]


def card(certificate: Certificate) -> Card:
    """The certificate, ready to be shown."""
    rows = []
    for one in certificate.aspects:
        rows.append(_row(one.aspect.title, one.accuracy, one.human, one.finding.words))
        own = [other for other in certificate.operators if other.aspect is one.aspect]
        for other in own if len(own) > 1 else ():
            row = _row(other.label, other.accuracy, None, other.finding.words)
            rows.append(replace(row, operator=True))
    rows.append(_row("all pairs", certificate.overall, None, ""))
    return Card(
        certificate.title,
        certificate.summary,
        ", ".join(certificate.testbeds),
        tuple(rows),
        tuple(_facts(certificate)),
    )


def _row(name: str, outcome: Outcome[Accuracy], people: float | None, claim: str) -> CardRow:
    found = outcome.value
    if found is None:
        return CardRow(name, failed=_why(outcome))
    interval = found.interval
    return CardRow(
        name,
        claim=claim,
        value=f"{100 * found.value:.1f}",
        interval=f"{100 * interval.low:.0f}–{100 * interval.high:.0f}",
        people="" if people is None else f"{100 * people:.1f}",
        ties=found.ties,
        judged=found.judgements,
        asked=found.total,
    )


def _why(outcome: Outcome[Accuracy]) -> str:
    """Why there is no accuracy; a detail that repeats the reason is enough."""
    failure = outcome.failure
    assert failure is not None
    detail = failure.detail
    return detail if detail.startswith(failure.reason.value) else str(failure)


def _facts(certificate: Certificate) -> Iterator[tuple[str, str]]:
    for name, words in facts(certificate):
        yield name.replace("_", " "), words
    yield "Signature", short_signature(certificate.signature)


def certificates_of(
    value: str, certificates: Iterable[Certificate], names: Sequence[str]
) -> list[Certificate]:
    """The certificates about ``value``, each with the aspects in which it does.

    A judge made of a metric goes by one value of it: by the one that is named, or else, aspect by
    aspect, by the one named like the aspect, the one named like the metric, the first. Only that
    value was tested; the certificate says nothing of the metric's others.

    ``names`` are those of all values, in the order in which their metrics declare them.
    """
    found = []
    for one in certificates:
        if one.people and "|scores:" in one.signature:
            continue  # numbers from elsewhere, whatever they are called
        aspects = tuple(
            result for result in one.aspects if tested(one.judge, result.aspect, names) == value
        )
        if aspects:
            found.append(replace(one, aspects=aspects))
    return found


def tested(judge: str, aspect: Aspect, names: Sequence[str]) -> str:
    """The name of the value that a judge goes by; empty where none is known by that name.

    >>> names = ["contrast", "contrast.exposure", "seen.score", "seen.color", "noise:rate=2"]
    >>> tested("contrast", Aspect.COLOR, names), tested("contrast.exposure", Aspect.COLOR, names)
    ('contrast', 'contrast.exposure')
    >>> tested("seen", Aspect.COLOR, names), tested("seen", Aspect.AESTHETICS, names)
    ('seen.color', 'seen.score')
    >>> tested("noise:rate=2", Aspect.COLOR, names), tested("baseline", Aspect.COLOR, names)
    ('noise:rate=2', '')
    """
    if "." in judge.partition(":")[0]:
        return judge if judge in names else ""
    for name in (value_name(judge, aspect.value), judge):
        if name in names:
            return name
    return next((name for name in names if split_value_name(name)[0] == judge), "")


def is_of_other_settings(certificate: Certificate, signature: str) -> bool:
    """Whether the value was measured otherwise than where it was certified.

    A judge's signature holds the digest of its metric's.
    """
    parts = dict(part.split(":", 1) for part in certificate.signature.split("|")[1:])
    digests = [text for name, text in parts.items() if name.startswith("metric.")]
    mine = hashlib.sha256(signature.encode()).hexdigest()[:16]
    return bool(digests) and mine not in digests
