"""What the page says at a glance: totals with trust beside them, systems, charts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from screentest.certificates.certificate import CHANCE, Certificate
from screentest.core import OutputInfo, Reason, Summary, Table
from screentest.core.table import Chart, cell_text
from screentest.reports.cards import is_of_other_settings
from screentest.reports.charts import (
    Range,
    certificate_chart,
    radar_chart,
    share,
    summary_chart,
)
from screentest.reports.data import Report
from screentest.reports.leaderboard import Line, leaderboard
from screentest.scores.results import Total
from screentest.scores.tables import why_missing
from screentest.suites.locot2v.report import is_of_locot2v, suite_charts
from screentest.suites.univ.report import is_of_univ, task_charts

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
    """In which aspects a judge is surely better than chance, in one line."""
    seen, judged = [], []
    for one in certificate.aspects:
        name, found = one.aspect.value.replace("_", " "), one.accuracy.value
        if found is not None:
            judged.append(name)
            if (found.clustered or found.wilson).low > CHANCE:
                seen.append(f"{name} {100 * found.value:.0f}% of {found.pairs:,} pairs")
    words = f"sees {', '.join(seen)}"
    if not judged:
        words = "could not be tested"
    elif not seen:
        words = f"not shown to beat chance on {judged[0] if len(judged) == 1 else 'any aspect'}"
    if signature and is_of_other_settings(certificate, signature):
        words += " (tested with other settings)"
    return words


@dataclass(frozen=True, slots=True)
class Section:
    """The tables of one suite, which say more than means side by side."""

    name: str
    title: str
    words: str
    tables: tuple[Table, ...]
    places: int
    """Digits behind the point."""


def suite_sections(tables: Sequence[Table]) -> list[Section]:
    """A section for each suite that has tables of its own."""
    known = (
        (
            "univ",
            "UniVBench",
            "In per cent: points out of ten times ten, shares of a checklist times a hundred. "
            "What a ground truth does not mention is empty and in no average.",
            1,
        ),
        (
            "locot2v",
            "LoCoT2V-Bench",
            "Unweighted means at every level, of what there is: a part without any value is "
            "empty and in no mean. The interval is that of the mean over videos.",
            3,
        ),
    )
    found = []
    for name, title, words, places in known:
        own = tuple(table for table in tables if table.name.split("_")[0] == name)
        if own:
            found.append(Section(name, title, words, own, places))
    return found


def system_rows(report: Report) -> list[tuple[str, list[Line]]]:
    """The leaderboard, one row per value with the systems in the order of its columns.

    A value that applies to no video has no row: the summary names it.
    """
    absent = {total.name for total in report.totals if _is_absent(total)}
    by_value: dict[str, list[Line]] = {}
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
        radar_chart([one for one in leaderboard(report) if not _drawn_apart(one.value)], ranges),
        *task_charts(report),
        *suite_charts(report),
    ]
    return [chart for chart in found if chart is not None]


def _drawn_apart(value: str) -> bool:
    return is_of_univ(value) or is_of_locot2v(value)


def known_range(info: OutputInfo) -> Range | None:
    """The range of a value, where it has two ends."""
    if math.isfinite(info.low) and math.isfinite(info.high) and info.high > info.low:
        return (info.low, info.high, info.higher_is_better)
    return None
