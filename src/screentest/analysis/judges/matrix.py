"""Judges by degradations: certificates side by side.

Every cell is a certificate's own figure, at the strongest rung, with its claim.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from screentest.analysis.judges.certificate import Accuracy, Certificate
from screentest.core import Outcome
from screentest.stats import Claim, Interval

PLACEBO = "placebo "


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """Share of answers for the original in the pairs of one column."""

    share: float
    """A tie is a half: what never reacts has 0.5, what prefers the degraded has 0."""
    interval: Interval
    """Over films."""
    pairs: int
    claim: Claim | None = None
    """None of a placebo."""


@dataclass(frozen=True, slots=True)
class Matrix:
    """Cells by judge and column; a pair that was not judged has none."""

    columns: tuple[str, ...]
    """Aspects, ``aspect/degradation`` where an aspect has several, and ``placebo NAME``."""
    pairs: Mapping[str, int]
    """The pairs of each column."""
    rows: Mapping[str, Mapping[str, MatrixCell]]


def matrix(certificates: Sequence[Certificate]) -> Matrix:
    """Return the certificates of several judges on the same testbeds, side by side."""
    rows: dict[str, dict[str, MatrixCell]] = {}
    aspects: dict[str, dict[str, int]] = {}
    placebos: dict[str, int] = {}
    families = [
        Counter(other.aspect for other in certificate.operators) for certificate in certificates
    ]
    apart = {aspect for family in families for aspect, count in family.items() if count > 1}
    for item, family in zip(certificates, families, strict=True):
        row = rows.setdefault(item.title, {})
        for result in item.aspects:
            under = aspects.setdefault(result.aspect.value, {})
            under[result.aspect.value] = max(under.get(result.aspect.value, 0), result.pairs)
            # Where others were put a whole family, one operator is no judgement of the aspect.
            if result.aspect not in apart or family[result.aspect] > 1:
                _add(row, result.aspect.value, result.accuracy, result.finding.claim)
        for operator in item.operators:
            aspect = operator.aspect.value
            if operator.aspect in apart:
                name = f"{aspect}/{operator.name}"
                aspects[aspect][name] = max(aspects[aspect].get(name, 0), operator.pairs)
                _add(row, name, operator.accuracy, operator.finding.claim)
        for placebo in item.placebos:
            name = f"{PLACEBO}{placebo.name}"
            placebos[name] = max(placebos.get(name, 0), placebo.pairs)
            _add(row, name, placebo.false_alarms)
    columns = {name: count for under in aspects.values() for name, count in under.items()}
    columns |= placebos
    return Matrix(tuple(columns), columns, rows)


def _add(
    row: dict[str, MatrixCell], column: str, outcome: Outcome[Accuracy], claim: Claim | None = None
) -> None:
    result = outcome.value
    if result is not None:
        row[column] = MatrixCell(result.value, result.interval, result.pairs, claim)
