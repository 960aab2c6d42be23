"""Tables as files: Markdown, LaTeX, CSV and Parquet."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from screentest._util.atomic import atomic_output
from screentest._util.optional import need, optional
from screentest._util.text import printable, safe_cell
from screentest.core import BadOption, Cell, Table
from screentest.present.page.data import Report
from screentest.present.page.tables import tables

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
_MARKS = frozenset("\\|`*[]!")
"""What Markdown would take for a picture, a link, or other marks of its own."""
FORMATS = ("md", "tex", "csv", "parquet")
DEFAULT_FORMATS = ("md", "tex", "csv")
"""Those that the base install can write."""


def must_be_formats(names: Iterable[str]) -> None:
    """Refuse a format that there is not, or that cannot be written here."""
    for name in names:
        if name not in FORMATS:
            raise BadOption.of("formats", name, f"one of {', '.join(FORMATS)}")
        if name == "parquet":
            need("pyarrow")


def write_tables(
    report: Report, folder: Path, formats: Sequence[str] = DEFAULT_FORMATS
) -> list[Path]:
    """Write every table in every format; returns the files."""
    must_be_formats(formats)
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for table in (item.whole() for item in tables(report)):
        for name in formats:
            path = folder / f"{table.name}.{name}"
            with atomic_output(path) as file:
                file.write(_WRITERS[name](table))
            written.append(path)
    return written


def markdown(table: Table) -> str:
    """Return the table for a README or an issue.

    >>> print(markdown(Table("t", "T", ("a", "b"), (("x|y", 0.5),))))
    | a | b |
    | --- | ---: |
    | x\\|y | 0.500 |
    <BLANKLINE>
    """

    def cell(text: str) -> str:
        text = "".join(f"\\{letter}" if letter in _MARKS else letter for letter in text)
        # A bare address or name becomes a link at GitHub: its sign is written as an entity.
        text = text.replace("&", "&amp;").replace("<", "&lt;").replace("@", "&#64;")
        text = text.replace("://", "&#58;//").replace("www.", "www&#46;")
        return " ".join(text.split())

    lines = [
        [cell(column.heading) for column in table.columns],
        ["---:" if side == "right" else "---" for side in table.alignments()],
        *([cell(text) for text in row] for row in table.texts()),
    ]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def latex(table: Table) -> str:
    """Return the table for a paper, with booktabs' rules."""

    def cell(text: str) -> str:
        return " ".join("".join(_TEX.get(letter, letter) for letter in printable(text)).split())

    def line(cells: Iterable[str]) -> str:
        # Without the braces a row that begins with [ or * is an option of the line before it.
        return "{}" + " & ".join(map(cell, cells)) + r" \\"

    align = "".join(side[0] for side in table.alignments())
    lines = [
        f"% {cell(table.title)}: needs \\usepackage{{booktabs}}",
        f"\\begin{{tabular}}{{{align}}}",
        "\\toprule",
        line(column.heading for column in table.columns),
        "\\midrule",
        *(line(row) for row in table.texts()),
        "\\bottomrule",
        "\\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def as_csv(table: Table) -> str:
    """Return the table for a spreadsheet; a text that looks like a formula gets an apostrophe."""

    def cell(value: Cell) -> Cell:
        return safe_cell(value) if isinstance(value, str) else value

    page = io.StringIO()
    writer = csv.writer(page, lineterminator="\n")
    writer.writerow([cell(column.name) for column in table.columns])
    writer.writerows([cell(value) for value in row] for row in table.rows)
    return page.getvalue()


def parquet(table: Table) -> bytes:
    """Return the table for a program: numbers are numbers, and what is missing is null."""
    pa, pq = optional("pyarrow"), optional("pyarrow.parquet")
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
