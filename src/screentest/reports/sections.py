"""The parts of the page: totals with trust beside them, systems, charts, suites and plugins."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TypeAlias

from screentest.certificates.certificate import Certificate, verdict
from screentest.core import Entry, Failure, OutputInfo, Reason, Summary, Table, registry
from screentest.core.table import Chart, cell_text
from screentest.reports.cards import is_of_other_settings
from screentest.reports.charts import (
    Range,
    certificate_chart,
    radar_chart,
    share,
    standings_chart,
    summary_chart,
)
from screentest.reports.data import Report
from screentest.reports.leaderboard import SystemMean, leaderboard
from screentest.scores.measure import guarded
from screentest.scores.results import Total, plain_name
from screentest.scores.standings import standings
from screentest.scores.suite import Suite, suites_in
from screentest.scores.tables import suite_tables, why_missing

MOST_BARS = 40


@dataclass(frozen=True, slots=True)
class TotalRow:
    """One line of the summary, as it is shown."""

    name: str
    summary: str
    mean: str
    margin: str
    better: str
    scored: int
    total: int
    missing: tuple[str, ...]
    """Why values are missing, each reason with its count."""
    trust: str
    absent: bool = False
    """Whether it is applicable to none of the videos: nothing is wrong, and nothing to see."""


def total_rows(report: Report) -> list[TotalRow]:
    """One line per value; what was not scored is counted beside what was."""
    rows = []
    for total in report.totals:
        summary = total.summary
        rows.append(
            TotalRow(
                total.name,
                total.info.summary,
                cell_text(summary.value) if summary else "–",
                _interval(summary) if summary else "",
                "higher" if total.info.higher_is_better else "lower",
                total.scored,
                total.total,
                tuple(why_missing(total)),
                "; ".join(
                    trust(one, total.signature) for one in report.certificates_of(total.name)
                ),
                absent=_is_absent(total),
            )
        )
    return rows


def _is_absent(total: Total) -> bool:
    return total.failures == {Reason.NOT_APPLICABLE: total.total}


def _interval(summary: Summary) -> str:
    ends = (cell_text(summary.low), cell_text(summary.high))
    return "" if summary.low is None else " to ".join(ends)


def trust(certificate: Certificate, signature: str = "") -> str:
    """What may be said of a judge, in one line."""
    words = verdict(certificate)
    if certificate.models:
        words = f"{certificate.title}: {words}"
    if signature and is_of_other_settings(certificate, signature):
        words += " (tested with other settings)"
    return words


Part: TypeAlias = Table | Chart | str
"""What a section is made of: a table, a chart, or a paragraph of plain text."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page that a suite or a plugin brings."""

    name: str
    title: str
    tables: tuple[Table, ...] = ()
    charts: tuple[Chart, ...] = ()
    paragraphs: tuple[str, ...] = ()


def sections(report: Report) -> list[Section]:
    """One for each suite that a run was made with, then those that plugins registered.

    A plugin's section is a function of the report that returns tables, charts and text:

        @register("section", "notes", title="Notes")
        def notes(report): return ["Scored on Tuesday."]
    """
    found = [_suite_section(report, suite) for suite in suites_in(report.results)]
    found += [_plugin_section(report, entry) for entry in registry.entries("section")]
    kept = [one for one in found if one.tables or one.charts or one.paragraphs]
    return [replace(one, name=f"section-{place}-{one.name}") for place, one in enumerate(kept, 1)]


def _suite_section(report: Report, suite: Suite) -> Section:
    results = report.results
    tables = suite_tables(results, suite, report.by)
    if not tables:
        return Section(suite.name, suite.heading)
    if suite.charts is not None:
        drawn = tuple(suite.charts(results, report.by))
    else:
        chart = standings_chart(standings(results, suite, report.by), suite.heading)
        drawn = () if chart is None else (chart,)
    return Section(suite.name, suite.heading, tuple(tables), drawn)


def _plugin_section(report: Report, entry: Entry) -> Section:
    title = str(entry.info.get("title", entry.name))
    parts = guarded(lambda: list(entry.factory(report)), "section")
    if isinstance(parts, Failure):  # a fault in a plugin costs its own section, not the report
        return Section(entry.name, title, paragraphs=(f"This section failed: {parts}",))
    return Section(
        entry.name,
        title,
        tuple(one for one in parts if isinstance(one, Table)),
        tuple(one for one in parts if isinstance(one, Chart)),
        tuple(one for one in parts if isinstance(one, str)),
    )


def system_rows(report: Report) -> list[tuple[str, list[SystemMean]]]:
    """The leaderboard, one row per value with the systems in the order of its columns.

    A value that applies to no video has no row: the summary names it.
    """
    absent = {total.name for total in report.totals if _is_absent(total)}
    by_value: dict[str, list[SystemMean]] = {}
    for line in leaderboard(report):
        if line.value not in absent:
            by_value.setdefault(line.value, []).append(line)
    order = report.systems
    return [
        (name, sorted(lines, key=lambda line: order.index(line.system)))
        for name, lines in by_value.items()
    ]


def charts(report: Report) -> list[Chart]:
    """Those that there is something to draw for."""
    ranges = {
        name: known
        for name, info in report.results.outputs.items()
        if (known := known_range(info)) is not None
    }
    # What a suite adds up has a chart of its own.
    leaves = {plain_name(leaf) for suite in suites_in(report.results) for leaf in suite.leaves}
    apart = {name for name in report.results.names if plain_name(name) in leaves}
    lines = []
    for total in report.totals:
        if total.summary is not None and total.name in ranges:
            given, summary = ranges[total.name], total.summary
            mean = share(summary.value, given)
            low = summary.value if summary.low is None else summary.low
            high = summary.value if summary.high is None else summary.high
            ends = share(low, given), share(high, given)
            lines.append((total.name, mean, min(ends), max(ends)))
    found = [
        summary_chart(lines[:MOST_BARS]),
        certificate_chart(report.certificates),
        radar_chart([one for one in leaderboard(report) if one.value not in apart], ranges),
    ]
    return [chart for chart in found if chart is not None]


def known_range(info: OutputInfo) -> Range | None:
    """The range of a value, where it has two ends."""
    if math.isfinite(info.low) and math.isfinite(info.high) and info.high > info.low:
        return (info.low, info.high, info.higher_is_better)
    return None
