"""The tables of a report, as the page shows them and files hold them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from screentest.analysis.judges.certificate import Certificate
from screentest.analysis.models.comparison import ModelComparison
from screentest.analysis.suites import suites_in
from screentest.core import Cell, Table
from screentest.core.signature import short_signature
from screentest.present.page.data import Report
from screentest.present.people import people_tables
from screentest.present.results.certificates import claims_table
from screentest.present.tables import suite_tables, summary_table


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
    note = f"Corrected by Holm over {comparison.comparisons:,} comparisons."
    yield Table("comparisons", f"Every two, by {comparison.by}", columns, pairs, note)


def _values(report: Report) -> Table:
    names = report.results.names
    scores: dict[tuple[str, str], float] = {
        (value.item, value.name): value.outcome.value.value
        for value in report.results.values
        if value.outcome.value is not None
    }
    rows = tuple(
        (item, *(scores.get((item, name)) for name in names)) for item in report.results.items
    )
    columns = ("item", *names)
    return Table("values", "Every value of every video", columns, rows if names else ())


def _missing(report: Report) -> Table:
    """Return why a cell of the values is empty."""
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
    rows = tuple(
        (
            str(source.folder),
            source.command,
            source.spending.calls,
            source.spending.tokens_in,
            source.spending.tokens_out,
            float(source.spending.cost),
            source.coverage.scored,
            source.coverage.total,
        )
        for source in report.sources
    )
    columns = (
        *("run", "command", "calls", "tokens in", "tokens out", "cost"),
        *("records", "planned"),
    )
    return Table("runs", "Runs and costs", columns, rows)
