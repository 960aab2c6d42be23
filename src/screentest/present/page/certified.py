"""Certificates on the page: a card for each judge, the heat map, and the pairs behind its cells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from screentest.analysis.judges.certificate import Accuracy, Certificate, PlaceboResult
from screentest.analysis.judges.matrix import PLACEBO
from screentest.core import Outcome
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
from screentest.stats import Claim, Finding

_KINDS = {
    Claim.SEES: "sees",
    Claim.MIXED: "sees",
    Claim.PREFERS_DEGRADED: "prefers",
    Claim.CHANCE: "chance",
    Claim.CANNOT_TELL: "unknown",
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
class HeatGroup:
    """An aspect with its operators, or all placebos."""

    rows: tuple[HeatRow, ...]


@dataclass(frozen=True, slots=True)
class Certified:
    """What the page shows of all certificates."""

    cards: tuple[Card, ...]
    groups: tuple[HeatGroup, ...]


def certified(certificates: Sequence[Certificate]) -> Certified | None:
    """Everything but the pairs; None where nothing was certified."""
    if not certificates:
        return None
    return Certified(tuple(map(card, certificates)), tuple(_groups(certificates)))


def card(certificate: Certificate) -> Card:
    """The certificate, ready to be shown."""
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


def _groups(certificates: Sequence[Certificate]) -> Iterable[HeatGroup]:
    aspects = dict.fromkeys(one.aspect for cert in certificates for one in cert.aspects)
    for aspect in aspects:
        names = dict.fromkeys(
            one.name for cert in certificates for one in cert.operators if one.aspect is aspect
        )
        rows = []
        whole = [
            next((one for one in cert.aspects if one.aspect is aspect), None)
            for cert in certificates
        ]
        if len(names) != 1:
            cells = [None if one is None else _cell(one.accuracy, one.finding) for one in whole]
            pairs = max((one.pairs for one in whole if one), default=0)
            title = aspect.title.capitalize()
            rows.append(HeatRow(aspect.value, title, tuple(cells), pairs, head=True))
        for name in names:
            found = [
                next((o for o in cert.operators if o.aspect is aspect and o.name == name), None)
                for cert in certificates
            ]
            label = next(one.label for one in found if one)
            title = f"{aspect.title.capitalize()}: {label}" if len(names) == 1 else label
            cells = [None if one is None else _cell(one.accuracy, one.finding) for one in found]
            pairs = max(one.pairs for one in found if one)
            rows.append(
                HeatRow(f"{aspect.value}/{name}", title, tuple(cells), pairs, head=len(names) == 1)
            )
        yield HeatGroup(tuple(rows))
    yield from _placebos(certificates)


def _placebos(certificates: Sequence[Certificate]) -> Iterable[HeatGroup]:
    names = dict.fromkeys(one.name for cert in certificates for one in cert.placebos)
    rows = []
    for name in names:
        found = [
            next((one for one in cert.placebos if one.name == name), None) for cert in certificates
        ]
        cells = tuple(None if one is None else _fair(one) for one in found)
        pairs = max(one.pairs for one in found if one)
        rows.append(HeatRow(f"{PLACEBO}{name}", name.replace("_", " "), cells, pairs))
    if rows:
        title = "Placebos (fair: 50)"
        count = sum(row.pairs for row in rows)
        head = HeatRow("", title, (None,) * len(certificates), count, head=True)
        yield HeatGroup((head, *rows))


def _cell(outcome: Outcome[Accuracy], finding: Finding) -> Cell:
    found = outcome.value
    if found is None:
        return Cell("–", why_not(outcome), "unknown")
    interval = found.interval.percents.replace("–", " to ")
    words = (
        f"{claim_words(finding)}; {100 * found.value:.1f}% right (95%: {interval}), "
        f"{found.judgements:,} of {found.total:,} answers on {finding.films:,} {finding.unit}"
        f"{'' if finding.films == 1 else 's'}, {found.ties:,} ties"
    )
    kind = _KINDS[finding.claim]
    if kind == "unknown" and abs(found.value - 0.5) > 0.15:
        kind += " up" if found.value > 0.5 else " down"
    return Cell(f"{100 * found.value:.0f}", words, kind)


def _fair(placebo: PlaceboResult) -> Cell:
    found = placebo.false_alarms.value
    if found is None:
        return Cell("–", why_not(placebo.false_alarms), "unknown")
    words, bias = placebo_words(placebo), placebo.bias
    if bias is not None:
        words = f"{bias_words(bias)}; {words}"
    return Cell(f"{100 * found.value:.0f}", words, "fair" if bias is None else "fails")


# Pairs and verdicts, for the script.


def verdicts(report: Report, folder: Path) -> dict[str, Any]:
    """Every verdict, and the two videos it is about. Answers alike in both orders are one."""
    judges = {one.judge: place for place, one in enumerate(report.certificates)}
    pairs: dict[str, int] = {}
    listed: list[dict[str, Any]] = []
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for one in report.judged:
        if one.item not in pairs:
            pairs[one.item] = len(listed)
            listed.append(_pair(one, report, folder))
        place = judges.setdefault(one.judge, len(judges))
        verdict = _verdict(one, place, pairs[one.item])
        key = (place, one.item, one.aspect, one.repeat, verdict.get("points"), verdict["why"])
        if key in found:
            found[key]["order"] = "in both orders"
        else:
            found[key] = verdict
    titles = {one.judge: one.title for one in report.certificates}
    return {
        "judges": [titles.get(name, name) for name in judges],
        "pairs": listed,
        "verdicts": list(found.values()),
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
    found: dict[str, Any] = {
        "judge": judge,
        "pair": pair,
        "id": one.item,
        "aspect": one.aspect,
        "row": rows,
        "order": _ORDERS.get(one.order, one.order),
    }
    failure, verdict = one.outcome.failure, one.outcome.value
    if failure is not None:
        return found | {"failed": failure.reason.value, "why": failure.detail}
    assert verdict is not None
    return found | {"points": points_of(verdict, one.order), "why": verdict.rationale}
