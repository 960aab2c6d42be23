"""A report as files: the page, and its tables in Markdown, LaTeX, CSV and Parquet.

The page is one file that opens from disk with no network, and runs nothing but its own script.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from screentest._util.atomic import atomic_output
from screentest._util.version import VERSION
from screentest.core import BadOption, Cell, Progress, Table
from screentest.core.table import Chart, cell_text
from screentest.reports.cards import card
from screentest.reports.data import Report
from screentest.reports.drilldown import drilldown
from screentest.reports.sections import charts, sections, system_rows, total_rows
from screentest.reports.tables import tables

ASSETS = Path(__file__).parent / "assets"


@dataclass(frozen=True, slots=True)
class PageOptions:
    """What the page holds besides numbers."""

    title: str = "screentest report"
    thumbnails: int = 200
    """For how many videos the worst moments are shown in pictures; the lowest first."""
    embed: bool = False
    """Put the videos themselves into the page; it grows by their size."""


def write_html(
    report: Report,
    out: Path,
    options: PageOptions | None = None,
    *,
    progress: Progress | None = None,
) -> None:
    """Write the page, whole or not at all."""
    options = options or PageOptions()
    style = (ASSETS / "report.css").read_text(encoding="utf-8")
    script = (ASSETS / "report.js").read_text(encoding="utf-8")
    data = json.dumps(
        drilldown(
            report,
            out.absolute().parent,
            pictures=options.thumbnails,
            embed=options.embed,
            progress=progress,
        ),
        ensure_ascii=False,
        allow_nan=False,
        separators=(",", ":"),
    )
    every = tables(report)
    page = (
        _environment()
        .get_template("report.html.jinja")
        .render(
            title=options.title,
            version=VERSION,
            policy=_policy(style, script),
            style=style,
            script=script,
            # Nothing in the data can end the element it is in.
            data=data.replace("<", "\\u003c").replace("\u2028", "\\u2028"),
            report=report,
            totals=total_rows(report),
            lines=system_rows(report),
            systems=report.systems,
            charts=[_picture(chart) for chart in charts(report)],
            cards=[card(one) for one in report.certificates],
            sections=[(one, [_picture(chart) for chart in one.charts]) for one in sections(report)],
            tables=[table for table in every if table.name in ("signatures", "runs")],
            shown=cell_text,
        )
    )
    with atomic_output(out) as file:
        file.write(page.encode("utf-8", "backslashreplace"))


def _environment() -> Any:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(loader=FileSystemLoader(ASSETS), autoescape=True, undefined=StrictUndefined)


def _policy(style: str, script: str) -> str:
    """Only this style and this script; pictures and videos from the page and its folder."""

    def of(text: str) -> str:
        digest = hashlib.sha256(text.encode()).digest()
        return f"'sha256-{base64.b64encode(digest).decode()}'"

    return (
        f"default-src 'none'; script-src {of(script)}; style-src {of(style)}; "
        "img-src data:; media-src 'self' file: data:; base-uri 'none'; form-action 'none'"
    )


def _picture(chart: Chart) -> dict[str, str]:
    def address(svg: str) -> str:
        return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()

    return {
        "title": chart.title,
        "light": address(chart.light),
        "dark": address(chart.dark),
        "words": chart.words,
    }


FORMATS = ("md", "tex", "csv", "parquet")


def write_tables(report: Report, folder: Path, formats: Sequence[str] = FORMATS) -> list[Path]:
    """Write every table in every format; returns the files."""
    for name in formats:
        if name not in FORMATS:
            raise BadOption(f"there is no format {name!r}", advice=f"One of {', '.join(FORMATS)}.")
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for table in (one.whole() for one in tables(report)):
        for name in formats:
            path = folder / f"{table.name}.{name}"
            with atomic_output(path) as file:
                file.write(_WRITERS[name](table))
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

    def cell(text: str) -> str:
        text = text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
        return " ".join(text.split())

    lines = [
        [cell(column.heading) for column in table.columns],
        ["---:" if side == "right" else "---" for side in table.alignments()],
        *([cell(text) for text in row] for row in table.texts()),
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
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
}


def latex(table: Table) -> str:
    """The table for a paper, with booktabs' rules."""

    def cell(text: str) -> str:
        return " ".join("".join(_TEX.get(letter, letter) for letter in text).split())

    align = "".join(side[0] for side in table.alignments())
    lines = [
        f"% {table.title}: needs \\usepackage{{booktabs}}",
        f"\\begin{{tabular}}{{{align}}}",
        "\\toprule",
        " & ".join(cell(column.heading) for column in table.columns) + r" \\",
        "\\midrule",
        *(" & ".join(cell(text) for text in row) + r" \\" for row in table.texts()),
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
    writer.writerow([cell(column.name) for column in table.columns])
    writer.writerows([cell(value) for value in row] for row in table.rows)
    return page.getvalue()


def parquet(table: Table) -> bytes:
    """The table for a program: numbers are numbers, and what is missing is null."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = []
    for place in range(len(table.columns)):
        cells = [row[place] for row in table.rows]
        if not table.is_numeric(place):
            cells = [None if cell is None else str(cell) for cell in cells]
        elif any(isinstance(cell, float) for cell in cells):
            cells = [float(cell) if isinstance(cell, int | float) else None for cell in cells]
        columns.append(pa.array(cells))
    page = io.BytesIO()
    pq.write_table(pa.table(columns, names=[column.name for column in table.columns]), page)
    return page.getvalue()


def _encoded(writer: Callable[[Table], str]) -> Callable[[Table], bytes]:
    # A lone surrogate from a strange file name is written as an escape.
    return lambda table: writer(table).encode("utf-8", "backslashreplace")


_WRITERS: Mapping[str, Callable[[Table], bytes]] = {
    "md": _encoded(markdown),
    "tex": _encoded(latex),
    "csv": _encoded(as_csv),
    "parquet": parquet,
}
