"""Checks: facts that decide how far the numbers of a report can be trusted, a line for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from screentest._util.collect import grouped
from screentest._util.text import plural
from screentest.analysis.evidence import Evidence, Standing
from screentest.analysis.models.coverage import bordered, unread_videos, value_coverage
from screentest.analysis.results import Results
from screentest.present.certificates import bias_words
from screentest.present.page.data import Report
from screentest.present.screens import borders_words, file_and_reason, unread_words
from screentest.present.tables import sees_words
from screentest.present.text import because, names, percent, say
from screentest.stats import Claim

Kind: TypeAlias = Literal["Problem", "Warning", "Note", "OK"]
_ORDER: Sequence[Kind] = ("Problem", "Warning", "Note", "OK")
_NAMED = 3
"""Names in a line; the rest is counted."""
_LISTED = 200
"""Lines behind a check."""


@dataclass(frozen=True, slots=True)
class Check:
    """One labelled line, with the list behind it."""

    kind: Kind
    label: str
    text: str
    more: tuple[str, ...] = ()


def checks(report: Report) -> list[Check]:
    """Return all checks that apply, problems first."""
    if not report.results.items:
        return []
    every = [
        *_unreadable(report.results),
        *_values(report.results),
        *_certified(report),
        *_heuristics(report),
        *_borders(report.results),
    ]
    return sorted(every, key=lambda check: _ORDER.index(check.kind))


def _unreadable(results: Results) -> Iterator[Check]:
    if unread := unread_videos(results):
        listed = [": ".join(file_and_reason(video))[:400] for video in unread[:_LISTED]]
        text = unread_words(unread, len(results.items))
        yield Check("Problem", "unreadable", text, (*listed, unread[0].advice))


def _values(results: Results) -> Iterator[Check]:
    coverage = value_coverage(results)
    if coverage.pending:
        text = say("resume", values=plural(coverage.pending, "value"))
        yield Check("Warning", "pending", text)
    if not coverage.planned:
        return
    apart = f"{coverage.inapplicable:,} not applicable" if coverage.inapplicable else ""
    reasons = [
        f"{reason.replace('_', ' ')} {count:,}" for reason, count in coverage.reasons.most_common()
    ]
    why = names([*reasons, *filter(None, [apart])])
    kind: Kind = "Warning" if reasons else "OK"
    count = coverage.missing if reasons else coverage.scored
    text = f"{count:,} of {plural(coverage.planned, 'value')}"
    yield Check(
        kind,
        "missing values" if reasons else "values",
        because(text, why),
        tuple(
            f"{names(sorted(items), _NAMED)}: {reason.replace('_', ' ')}: {detail}"[:400]
            for (reason, detail), items in list(coverage.failures.items())[:_LISTED]
        ),
    )


def _certified(report: Report) -> Iterator[Check]:
    """Yield the certificates of the metrics used, and the placebos on which they are biased."""
    values = {total.name: total.signature for total in report.totals if total.scored}
    if not values:
        return
    certificates = {name: made for name in values if (made := report.certificates_of(name))}
    label_of = report.labels
    evidence = {name: report.evidence.get(name) or Evidence(name) for name in values}
    sees = [name for name in values if evidence[name].having(Claim.SEES)]
    tested_here = {name for name in values if evidence[name].standing is Standing.MEASURED}
    kind: Kind = "OK" if len(sees) == len(values) else "Note" if sees else "Warning"
    text = say("certified", sees=len(sees), metrics=plural(len(values), "metric"))
    if others := [label_of[name] for name in values if name not in tested_here]:
        text += f"; not tested: {names(others, _NAMED)}"
    listed = [f"{label_of[name]}: {sees_words(evidence[name])}" for name in values]
    yield Check(kind, "certificates", text, tuple(listed))
    tests = [
        (name, placebo)
        for name, made in certificates.items()
        for certificate in made
        for placebo in certificate.placebos
    ]
    biases = [
        f"{label_of[name]} {bias_words(placebo.bias)}" for name, placebo in tests if placebo.bias
    ]
    edits = because("harmless edits", names(dict.fromkeys(placebo.name for _, placebo in tests)))
    sure = all(item.finding and item.finding.claim is not Claim.UNDECIDED for _, item in tests)
    if biases:
        failed = tuple(dict.fromkeys(biases))
        yield Check("Problem", "placebos", names(failed, _NAMED, last="; "), failed)
    elif tests and sure:
        yield Check("OK", "placebos", f"no bias on {edits}")
    elif tests:
        yield Check("Note", "placebos", f"{edits} may bias it: too few films to tell")


def _heuristics(report: Report) -> Iterator[Check]:
    """Yield the backends that answered in place of the model of a paper."""
    used = grouped(
        (backend, label)
        for name, label in report.labels.items()
        for backend in report.results.stand_ins_of(name)
    )
    if used:
        listed = tuple(f"{backend}: {names(metrics)}" for backend, metrics in used.items())
        yield Check("Warning", "heuristics", f"{names(used)} in place of a model", listed)


def _borders(results: Results) -> Iterator[Check]:
    if videos := bordered(results):
        listed = [f"{item}: {percent(selected.share)}" for item, selected in sorted(videos.items())]
        yield Check("Note", "borders", borders_words(results), tuple(listed[:_LISTED]))
