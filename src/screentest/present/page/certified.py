"""Certificates on the page: a card for each judge, the heat map, and the pairs behind its cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from screentest._util.text import plural
from screentest.analysis.judges.certificate import (
    AspectResult,
    Certificate,
    OperatorResult,
    PlaceboResult,
)
from screentest.analysis.judges.matrix import PLACEBO
from screentest.core.signature import short_signature
from screentest.judges.cases import Order, points_of
from screentest.present.certificates import (
    Line,
    bias_words,
    claim_lines,
    claim_words,
    details,
    headline,
    placebo_words,
    why_not,
)
from screentest.present.page.data import Judged, Report
from screentest.present.page.media import address
from screentest.stats import Claim

_KINDS = {
    Claim.SEES: "sees",
    Claim.MIXED: "sees",
    Claim.PREFERS_DEGRADED: "prefers",
    Claim.CHANCE: "chance",
    Claim.UNDECIDED: "unknown",
}
_ORDERS = {Order.AS_GIVEN.value: "original first", Order.SWAPPED.value: "original second"}


@dataclass(frozen=True, slots=True)
class Card:
    """One certificate: headline and labelled lines; then the details."""

    judge: str
    headline: str
    summary: str
    testbeds: str
    lines: tuple[Line, ...]
    details: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Cell:
    """A judge on one degradation."""

    text: str
    words: str
    kind: str


@dataclass(frozen=True, slots=True)
class HeatRow:
    """One operator, aspect or placebo, with a cell for each judge; None where it was not asked."""

    key: str
    title: str
    cells: tuple[Cell | None, ...]
    pairs: int
    head: bool = False
    """Whether it is about all that follow in its group."""


@dataclass(frozen=True, slots=True)
class Certified:
    """All certificates on the page."""

    cards: tuple[Card, ...]
    groups: tuple[tuple[HeatRow, ...], ...]
    """The rows of each aspect, and of all placebos."""


def certified(certificates: Sequence[Certificate]) -> Certified | None:
    """Everything but the pairs; None where nothing was certified."""
    if not certificates:
        return None
    return Certified(tuple(map(card, certificates)), tuple(_groups(certificates)))


def card(certificate: Certificate) -> Card:
    """Return the certificate, ready to be shown."""
    return Card(
        certificate.title,
        headline(certificate),
        certificate.summary,
        ", ".join(certificate.testbeds),
        tuple(claim_lines(certificate)),
        (
            *((name.replace("_", " "), words) for name, words in details(certificate)),
            ("Signature", short_signature(certificate.signature)),
        ),
    )


# The heat map.


def _groups(certificates: Sequence[Certificate]) -> Iterator[tuple[HeatRow, ...]]:
    for aspect in dict.fromkeys(item.aspect for each in certificates for item in each.aspects):
        whole = [{item.aspect: item for item in each.aspects}.get(aspect) for each in certificates]
        families = [
            {operator.name: operator for operator in each.operators if operator.aspect is aspect}
            for each in certificates
        ]
        names = list(dict.fromkeys(name for family in families for name in family))
        title, alone = aspect.title.capitalize(), len(names) == 1
        rows = [] if alone else [_row(aspect.value, title, whole, head=True)]
        for name in names:
            column = [family.get(name) for family in families]
            label = next(item.label for item in column if item)
            words = f"{title}: {label}" if alone else label
            rows.append(_row(f"{aspect.value}/{name}", words, column, head=alone))
        yield tuple(rows)
    placebos = [{placebo.name: placebo for placebo in each.placebos} for each in certificates]
    rows = [
        _row(
            f"{PLACEBO}{name}", name.replace("_", " "), [placebo.get(name) for placebo in placebos]
        )
        for name in dict.fromkeys(name for placebo in placebos for name in placebo)
    ]
    if rows:
        head = _row("", "Placebos (fair: 50)", [None] * len(certificates), head=True)
        yield replace(head, pairs=sum(row.pairs for row in rows)), *rows


def _row(
    key: str,
    title: str,
    column: Sequence[AspectResult | OperatorResult | PlaceboResult | None],
    *,
    head: bool = False,
) -> HeatRow:
    cells = tuple(
        item if item is None else _fair(item) if isinstance(item, PlaceboResult) else _cell(item)
        for item in column
    )
    return HeatRow(key, title, cells, max((item.pairs for item in column if item), default=0), head)


def _cell(result: AspectResult | OperatorResult) -> Cell:
    matches, finding = result.accuracy.value, result.finding
    if matches is None:
        return Cell("–", why_not(result.accuracy), "unknown")
    interval = matches.interval.percents
    words = (
        f"{claim_words(finding)}; {100 * matches.value:.1f}% right (95%: {interval}), "
        f"{matches.judgements:,} of {matches.total:,} answers on"
        f" {plural(finding.films, finding.unit)}, {matches.ties:,} ties"
    )
    kind = _KINDS[finding.claim]
    if kind == "unknown" and abs(matches.value - 0.5) > 0.15:
        kind += " up" if matches.value > 0.5 else " down"
    return Cell(f"{100 * matches.value:.0f}", words, kind)


def _fair(placebo: PlaceboResult) -> Cell:
    result = placebo.false_alarms.value
    if result is None:
        return Cell("–", why_not(placebo.false_alarms), "unknown")
    words, bias = placebo_words(placebo), placebo.bias
    if bias is not None:
        words = f"{bias_words(bias)}; {words}"
    return Cell(f"{100 * result.value:.0f}", words, "fair" if bias is None else "fails")


# Pairs and verdicts, for the script.


def verdicts(report: Report, folder: Path) -> dict[str, Any]:
    """Return every verdict, and the two videos it is about. Answers alike in both orders are
    one."""
    judges = {certificate.judge: place for place, certificate in enumerate(report.certificates)}
    pairs: dict[str, int] = {}
    listed: list[dict[str, Any]] = []
    result: dict[tuple[Any, ...], dict[str, Any]] = {}
    for item in report.judged:
        if item.item not in pairs:
            pairs[item.item] = len(listed)
            listed.append(_pair(item, report, folder))
        place = judges.setdefault(item.judge, len(judges))
        verdict = _verdict(item, place, pairs[item.item])
        key = (place, item.item, item.aspect, item.repeat, verdict.get("points"), verdict["why"])
        if key in result:
            result[key]["order"] = "in both orders"
        else:
            result[key] = verdict
    titles = {certificate.judge: certificate.title for certificate in report.certificates}
    return {
        "judges": [titles.get(name, name) for name in judges],
        "pairs": listed,
        "verdicts": list(result.values()),
    }


def _pair(one: Judged, report: Report, folder: Path) -> dict[str, Any]:
    case: Mapping[str, Any] = one.case
    files = [report.judged_items.get(str(case.get(side))) for side in ("intact", "changed")]
    places = [address(item.video, folder) if item else "" for item in files]
    strength = [
        *([f"severity {case['severity']:g}"] if case.get("severity") is not None else []),
        *([f"{case['clips']} clips"] if case.get("clips") else []),
    ]
    return {
        "source": case.get("source") or one.item,
        "kind": case.get("kind") or "",
        "strength": ", ".join(strength),
        "intact": places[0],
        "changed": places[1],
        "harmed": case.get("harmed") or [],
        "middle": (case.get("duration") or 0) / 2,
    }


def _verdict(one: Judged, judge: int, pair: int) -> dict[str, Any]:
    name = str(one.case.get("name", ""))
    placebo = one.case.get("kind") == "placebo"
    rows = [f"{PLACEBO}{name}"] if placebo else [one.aspect, f"{one.aspect}/{name}"]
    if one.case.get("change"):  # a probe with other words is in no cell
        rows = []
    result: dict[str, Any] = {
        "judge": judge,
        "pair": pair,
        "id": one.item,
        "aspect": one.aspect,
        "row": rows,
        "order": _ORDERS.get(one.order, one.order),
    }
    failure, verdict = one.outcome.failure, one.outcome.value
    if failure is not None:
        return result | {"failed": failure.reason.value, "why": failure.detail}
    assert verdict is not None
    return result | {"points": points_of(verdict, one.order), "why": verdict.rationale}
