"""A certificate on the terminal: the table of aspects, then everything else in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from screentest.certificates.certificate import Accuracy, Certificate
    from screentest.core import Outcome


def print_certificate(certificate: Certificate) -> None:
    """All of it, in 80 columns."""
    from screentest.certificates.certificate import facts, percent
    from screentest.cli.console import out
    from screentest.cli.tables import print_facts, print_heading, print_indented, table
    from screentest.core.signature import short_signature

    print_heading(f"{certificate.judge} on {', '.join(certificate.testbeds)}")
    rows = [
        (
            one.aspect.value,
            *_cells(one.accuracy),
            "" if one.human is None else percent(one.human),
            f"{one.sources:,}",
        )
        for one in certificate.aspects
    ]
    rows.append(("all pairs", *_cells(certificate.overall), "", ""))
    columns = ["Aspect", ">Right %", ">95% interval", ">Ties", ">Judged", ">People", ">Sources"]
    out().print(table(columns, rows))
    print_facts(facts(certificate))
    print_indented(short_signature(certificate.signature))


def _cells(outcome: Outcome[Accuracy]) -> tuple[str, str, str, str]:
    from screentest.certificates.certificate import percent

    found = outcome.value
    if found is None:
        assert outcome.failure is not None
        return ("–", outcome.failure.reason.value, "", "0")
    interval = found.clustered or found.wilson
    return (
        percent(found.value),
        f"{100 * interval.low:.0f}–{100 * interval.high:.0f}",
        f"{found.ties:,}",
        f"{found.judgements:,}/{found.total:,}",
    )
