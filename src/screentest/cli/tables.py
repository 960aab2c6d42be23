"""Tables that read well at 80 columns, on a terminal and in a pipe."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD, Box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from screentest.cli.console import out, print_json, shown
from screentest.core import table as core

if TYPE_CHECKING:  # most commands compare nothing
    from screentest.present.screens import Screen

COUNT = "{:,}".format
"""How a column shows counts: 12,345."""
SHARE = "{:.1%}".format
"""How a column shows shares: 45.2%."""

MOST_LINES = 20
_MARKS = {True: ("✓", "green"), False: ("✗", "red"), None: ("–", "dim")}


def show(*tables: core.Table, as_json: bool = False, **facts: Any) -> None:
    """Print tables, or one JSON document of their records.

    One table alone is a list of records; several, or one with ``facts``, are an object: the
    facts, then the records by name of the table. On a terminal an empty table is left out.
    """
    if as_json:
        if len(tables) == 1 and not facts:
            print_json(tables[0].records())
        else:
            print_json({**facts, **{table.name: table.records() for table in tables}})
        return
    filled = [table for table in tables if table.rows]
    for table in filled:
        if len(filled) > 1:
            print_heading(table.title)
        out().print(rendered(table))
        for line in table.note.splitlines():
            print_indented(line, indent=0, style="dim")


def rendered(given: core.Table, box: Box | None = SIMPLE_HEAD) -> Table:
    """Return a table for the terminal. A cell that is too wide goes on in the next line, between
    words where there is room for the longest of them."""
    brief = given.short()
    words = [
        max((len(word) for row in brief.texts() for word in shown(row[place]).split()), default=0)
        for place in range(len(brief.columns))
    ]
    gap = 1 if box or sum(words) + 2 * len(words) > out().width else 2
    room = sum(words) + gap * len(words) <= out().width
    result = Table(box=box, show_edge=False, padding=(0, gap, 0, 0), header_style="bold")
    for column, side, least in zip(brief.columns, brief.alignments(), words, strict=True):
        result.add_column(
            Text(shown(column.heading)),
            justify=side,
            overflow="fold",
            min_width=least if room else None,
        )
    for row, cells in zip(brief.texts(), brief.rows, strict=True):
        texts = ("–" if cell is None else text for text, cell in zip(row, cells, strict=True))
        result.add_row(*(Text(shown(text)) for text in texts))
    return result


def print_screen(screen: Screen) -> None:
    """Print a headline, labelled lines, a table and its notes."""
    print_indented(screen.headline, indent=0, style="bold")
    wide = max((len(name) for name, _ in screen.lines), default=0)
    for name, text in screen.labelled:
        room = max(20, out().width - wide - 4)
        for place, row in enumerate(Text(shown(text)).wrap(out(), room)):
            row.rstrip()
            out().print(Text(f"  {'' if place else name:<{wide}}  ") + row)
    table = screen.table
    if table is not None and table.rows:
        out().print()
        out().print(rendered(table, box=None))
        for line in table.note.splitlines():
            print_indented(line, indent=0, style="dim")
    for line in screen.notes:
        print_indented(line, indent=0, style="dim")


def print_record(given: core.Table) -> None:
    """Print the only row of a table, one column below the other.

    Columns without a title and cells without a text are left out.
    """
    (texts,) = given.texts()
    print_facts(
        (column.title, text)
        for column, text in zip(given.columns, texts, strict=True)
        if column.title and text
    )


def as_text(given: core.Table) -> str:
    """Return a table for a file: plain text, as wide as it needs to be."""
    page = io.StringIO()
    Console(file=page, width=200, color_system=None).print(rendered(given))
    return "".join(f"{line.rstrip()}\n" for line in page.getvalue().splitlines())


def print_heading(text: str) -> None:
    """Print a line in bold with an empty one above."""
    out().print()
    out().print(shown(text), style="bold")


def print_indented(text: str, *, indent: int = 2, style: str = "") -> None:
    """Print a paragraph; where it is too wide it goes on two columns further in."""
    console = out()
    first, *rest = Text(shown(text), style).wrap(console, max(20, console.width - indent - 2))
    for line, depth in [(first, indent), *((line, indent + 2) for line in rest)]:
        line.rstrip()
        console.print(Text(" " * depth) + line)


def print_lines(title: str, lines: Sequence[str]) -> None:
    """Print a list under a heading, cut after twenty; nothing where it is empty."""
    if lines:
        print_heading(f"{title}: {len(lines):,}")
    for line in lines[:MOST_LINES]:
        print_indented(line)
    if len(lines) > MOST_LINES:
        print_indented(f"and {len(lines) - MOST_LINES:,} more (--json lists all)")


def print_facts(facts: Iterable[tuple[str, str]]) -> None:
    """Names and values in two columns."""
    _print_grid([((shown(name), "bold"), (shown(value), "")) for name, value in facts])


def print_checks(checks: Iterable[tuple[bool | None, str, str, str]]) -> None:
    """Works, name, version, remark. None instead of a yes or no: it is absent, and may be."""
    _print_grid(
        [
            (_MARKS[works], (shown(name), ""), (shown(version), ""), (shown(remark), "dim"))
            for works, name, version, remark in checks
        ]
    )


def _print_grid(rows: Sequence[Sequence[tuple[str, str]]]) -> None:

    if not rows:
        return
    columns = [n for n in range(len(rows[0])) if any(row[n][0] for row in rows)]
    grid = Table.grid(padding=(0, 2))
    for n in columns:
        grid.add_column(no_wrap=n < columns[-1], overflow="fold")
    for row in rows:
        grid.add_row(*(Text(*row[n]) for n in columns))
    out().print(Padding(grid, (0, 0, 0, 2), expand=False))


def print_models(summary: str, spent: str = "") -> None:
    """Print which backends were used, and what chat models took; nothing where none were."""
    if summary:
        print_indented(summary, indent=0)
    if spent:
        print_indented(f"asked: {spent}", indent=0)


def print_lost(rows: Iterable[tuple[str, str, str]], title: str) -> None:
    """Print who, why and what to do: the same advice once, after all that it is for."""
    listed = list(rows)
    if listed:
        print_heading(title)
    for place, (who, why, advice) in enumerate(listed):
        again = any(advice == other for _, _, other in listed[place + 1 :])
        print_indented(f"{who}: {why}{f' → {advice}' if advice and not again else ''}")
