"""The tables of a report, and the sections of the page that suites and plugins bring."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from screentest.analysis.judges.certificate import Certificate
from screentest.analysis.models.comparison import ModelComparison
from screentest.analysis.suites import Suite, suites_in
from screentest.core import Cell, Entry, Failure, MissingPackage, Table, registry
from screentest.core.outcome import guarded
from screentest.core.signature import short_signature
from screentest.core.table import Chart
from screentest.present.page.data import Report
from screentest.present.people import people_tables
from screentest.present.results.certificates import claims_table, paper_tables
from screentest.present.tables import suite_tables, summary_table
from screentest.present.text import columns, say


def tables(report: Report) -> list[Table]:
    """Return every table of the report; those with nothing in them are left out."""
    result = [
        *(_compared(report.comparison, report.results.short_names) if report.comparison else ()),
        *people_tables(report.people),
        summary_table(report.results, report.by, full=True, pool=report.pool),
        *(
            table
            for suite in suites_in(report.results)
            for table in suite_tables(report.results, suite, report.by)
        ),
        _values(report),
        _missing(report),
        *(_certificate(certificate) for certificate in report.certificates),
        *paper_tables(report.certificates),
        _signatures(report),
        _cost(report),
    ]
    return list(_apart(table for table in result if table.rows))


def _apart(found: Iterable[Table]) -> Iterator[Table]:
    """Two judges whose names differ only in signs have two files all the same."""
    seen: Counter[str] = Counter()
    for table in found:
        seen[table.name] += 1
        count = seen[table.name]
        yield table if count == 1 else replace(table, name=f"{table.name}_{count}")


def _compared(comparison: ModelComparison, short: Mapping[str, str]) -> Iterator[Table]:
    """Yield the comparison in numbers: every model in every metric, and every two models."""
    rows: list[tuple[Cell, ...]] = [
        (
            *(row.group, short[row.name], row.better, value.model, value.mean),
            *((value.interval.low, value.interval.high) if value.interval else (None, None)),
            *(value.scored, value.total, value.best),
        )
        for row in comparison.rows
        for value in row.values
    ]
    columns: tuple[str, ...] = (
        *("group", "metric", "better", "model", "mean", "low", "high", "scored", "total", "best"),
    )
    note = "Best: significantly better than another, and significantly worse than none."
    yield Table("models", f"Means over prompts by {comparison.by}", columns, rows, note)
    pairs: list[tuple[Cell, ...]] = [
        (
            *(short[row.name], pair.better, pair.worse, pair.difference),
            *((pair.interval.low, pair.interval.high) if pair.interval else (None, None)),
            *(pair.p_value, pair.adjusted_p, pair.ahead, pair.behind, pair.prompts, pair.needed),
        )
        for row in comparison.rows
        for pair in row.pairs
    ]
    columns = (
        *("metric", "better", "worse", "difference", "low", "high", "p", "p corrected"),
        *("ahead on", "behind on", "prompts", "prompts needed"),
    )
    note = f"Corrected for {comparison.comparisons:,} comparisons tested together."
    yield Table("comparisons", f"Every two, by {comparison.by}", columns, pairs, note)


def _values(report: Report) -> Table:
    names = report.results.names
    scores = {(value.item, value.name): value.number for value in report.results.values}
    rows = tuple(
        (item, *(scores.get((item, name)) for name in names)) for item in report.results.items
    )
    columns = ("item", *names)
    return Table("values", "Every value of every video", columns, rows if names else ())


def _missing(report: Report) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (value.item, value.name, failure.reason.value, failure.detail, failure.advice)
        for value in report.results.values
        if (failure := value.outcome.failure) is not None
    ]
    rows += [(item, name, "pending", "", "") for item, name in report.results.pending]
    columns = ("item", "metric", "reason", "detail", "advice")
    return Table("missing", "Missing values", columns, tuple(rows))


def _certificate(certificate: Certificate) -> Table:
    name = "certificate_" + "".join(c if c.isalnum() else "_" for c in certificate.judge)
    title = f"Certificate of {certificate.title}"
    return replace(claims_table([certificate]), name=name, title=title)


def _signatures(report: Report) -> Table:
    seen = {
        (note.kind, note.name, short_signature(note.signature), note.signature)
        for source in report.sources
        for note in source.evaluators
    }
    columns = ("kind", "name", "short", "signature")
    return Table("signatures", "Signatures", columns, tuple(sorted(seen)))


def _cost(report: Report) -> Table:
    shown = columns("sources", {"cost": lambda source: float(source.spending.cost)})
    return Table.of("runs", "Runs and costs", shown, report.sources)


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
    every = [_suite_section(report, suite) for suite in suites_in(report.results)]
    every += [_plugin_section(report, entry) for entry in registry.entries("section")]
    kept = [section for section in every if section.tables or section.charts or section.paragraphs]
    return [
        replace(section, name=f"section-{place}-{section.name}")
        for place, section in enumerate(kept, 1)
    ]


def _suite_section(report: Report, suite: Suite) -> Section:
    results = report.results
    held = tuple(suite_tables(results, suite, report.by))
    if not held:
        return Section(suite.name, suite.heading)
    try:
        drawn = tuple(suite.charts(results, report.by)) if suite.charts is not None else ()
    except MissingPackage as error:  # the tables have the same numbers
        left_out = say("left_out", part="charts", why=error.advice)
        return Section(suite.name, suite.heading, held, paragraphs=(left_out,))
    return Section(suite.name, suite.heading, held, drawn)


def _plugin_section(report: Report, entry: Entry) -> Section:
    title = str(entry.info.get("title", entry.name))
    parts = guarded(lambda: list(entry.factory(report)), "section")
    if isinstance(parts, Failure):  # a fault in a plugin costs its own section, not the report
        return Section(
            entry.name, title, paragraphs=(say("left_out", part="this section", why=parts),)
        )
    return Section(
        entry.name,
        title,
        tuple(part for part in parts if isinstance(part, Table)),
        tuple(part for part in parts if isinstance(part, Chart)),
        tuple(part for part in parts if isinstance(part, str)),
    )
