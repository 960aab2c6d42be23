"""The tables of a report, for people and for other programs."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from screentest.certify.certificate import Accuracy, Certificate
from screentest.core import BadOption, Outcome
from screentest.report.data import Report
from screentest.report.leaderboard import leaderboard

Cell: TypeAlias = str | int | float | None
FORMATS = ("md", "tex", "csv", "parquet")


@dataclass(frozen=True, slots=True)
class Table:
    """A table with a name that serves as a file name."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


def tables(report: Report) -> list[Table]:
    """Every table of the report; those with nothing in them are left out."""
    found = [
        _summary(report),
        _leaderboard(report),
        _values(report),
        *(_certificate(one) for one in report.certificates),
        _signatures(report),
        _cost(report),
    ]
    return [table for table in found if table.rows]


def _summary(report: Report) -> Table:
    rows = []
    for total in report.totals:
        summary = total.summary
        rows.append(
            (
                total.name,
                summary.value if summary else None,
                summary.low if summary else None,
                summary.high if summary else None,
                total.scored,
                total.total,
                "higher" if total.info.higher_is_better else "lower",
                "; ".join(f"{reason.value} {count}" for reason, count in total.failures.items()),
            )
        )
    columns = ("metric", "mean", "low", "high", "scored", "total", "better", "not scored")
    return Table("summary", "Means with 95% intervals and coverage", columns, tuple(rows))


def _leaderboard(report: Report) -> Table:
    lines = leaderboard(report)
    rows = tuple(
        (line.value, line.system, line.mean, line.low, line.high, line.scored, line.total, tied)
        for line in lines
        for tied in [", ".join(line.tied_with)]
    )
    columns = ("metric", report.by, "mean", "low", "high", "scored", "total", "tied with")
    return Table("leaderboard", f"Means by {report.by}", columns, rows)


def _values(report: Report) -> Table:
    names = report.results.names
    by_item: dict[str, dict[str, Cell]] = {}
    for value in report.results.values:
        score = value.outcome.value
        failure = value.outcome.failure
        by_item.setdefault(value.item, {})[value.name] = (
            score.value if score is not None else f"{failure.reason.value}" if failure else None
        )
    rows = tuple(
        (item, *(by_item.get(item, {}).get(name) for name in names))
        for item in report.results.items
    )
    if not names:
        rows = ()
    return Table("values", "Every value of every video", ("item", *names), rows)


def _certificate(certificate: Certificate) -> Table:
    rows = [
        (one.aspect.value, *_accuracy(one.accuracy), one.pairs, one.sources)
        for one in certificate.aspects
    ]
    rows.append(("all pairs", *_accuracy(certificate.overall), None, None))
    columns = (
        *("aspect", "right", "wilson low", "wilson high", "wald low", "wald high"),
        *("source low", "source high", "ties", "judged", "asked", "pairs", "sources"),
    )
    name = "certificate_" + "".join(c if c.isalnum() else "_" for c in certificate.judge)
    return Table(name, f"Certificate of {certificate.judge}", columns, tuple(rows))


def _accuracy(outcome: Outcome[Accuracy]) -> tuple[Cell, ...]:
    found = outcome.value
    if found is None:
        assert outcome.failure is not None
        return (outcome.failure.reason.value, *[None] * 9)
    clustered = found.clustered
    return (
        found.value,
        *(found.wilson.low, found.wilson.high, found.wald.low, found.wald.high),
        clustered.low if clustered else None,
        clustered.high if clustered else None,
        *(found.ties, found.judgements, found.total),
    )


def _signatures(report: Report) -> Table:
    seen = {
        (note.kind, note.name, note.signature)
        for source in report.sources
        for note in source.evaluators
    }
    columns = ("kind", "name", "signature")
    return Table("signatures", "What every number depends on", columns, tuple(sorted(seen)))


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
    return Table("runs", "Runs and what they cost", columns, rows)


def write_tables(report: Report, folder: Path, formats: Sequence[str] = FORMATS) -> list[Path]:
    """Write every table in every format; returns the files."""
    for name in formats:
        if name not in FORMATS:
            raise BadOption(f"there is no format {name!r}", advice=f"One of {', '.join(FORMATS)}.")
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for table in tables(report):
        for name in formats:
            path = folder / f"{table.name}.{name}"
            if name == "parquet":
                _write_parquet(table, path)
            else:
                text = {"md": markdown, "tex": latex, "csv": as_csv}[name](table)
                path.write_text(text, encoding="utf-8")
            written.append(path)
    return written


def markdown(table: Table) -> str:
    """The table for a README or an issue.

    >>> print(markdown(Table("t", "T", ("a", "b"), (("x|y", 0.5),))))
    | a | b |
    | --- | ---: |
    | x\\|y | 0.500 |
    <BLANKLINE>
    """

    def cell(value: Cell) -> str:
        text = shown(value).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
        return " ".join(text.split())

    right = [_is_number_column(table, place) for place in range(len(table.columns))]
    lines = [
        [cell(name) for name in table.columns],
        ["---:" if number else "---" for number in right],
        *([cell(value) for value in row] for row in table.rows),
    ]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


_TEX = {
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
}


def latex(table: Table) -> str:
    """The table for a paper, with booktabs' rules."""

    def cell(value: Cell) -> str:
        return " ".join("".join(_TEX.get(letter, letter) for letter in shown(value)).split())

    numbers = range(len(table.columns))
    align = "".join("r" if _is_number_column(table, place) else "l" for place in numbers)
    lines = [
        f"% {table.title}: needs \\usepackage{{booktabs}}",
        f"\\begin{{tabular}}{{{align}}}",
        "\\toprule",
        " & ".join(cell(name) for name in table.columns) + r" \\",
        "\\midrule",
        *(" & ".join(cell(value) for value in row) + r" \\" for row in table.rows),
        "\\bottomrule",
        "\\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def as_csv(table: Table) -> str:
    """The table for a spreadsheet; a text that looks like a formula gets an apostrophe."""

    def cell(value: Cell) -> Cell:
        risky = isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r")
        return f"'{value}" if risky else value

    page = io.StringIO()
    writer = csv.writer(page, lineterminator="\n")
    writer.writerow([cell(name) for name in table.columns])
    writer.writerows([cell(value) for value in row] for row in table.rows)
    return page.getvalue()


def _write_parquet(table: Table, path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {}
    for place, name in enumerate(table.columns):
        cells = [row[place] for row in table.rows]
        if _is_number_column(table, place):
            columns[name] = pa.array(cells)
        else:
            columns[name] = pa.array([None if cell is None else str(cell) for cell in cells])
    pq.write_table(pa.table(columns), path)


def _is_number_column(table: Table, place: int) -> bool:
    cells = [row[place] for row in table.rows if row[place] is not None]
    return bool(cells) and all(isinstance(cell, int | float) for cell in cells)


def shown(value: Cell) -> str:
    """A cell as people read it."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.3f}" if abs(value) < 1000 else f"{value:,.1f}"
    return str(value)
