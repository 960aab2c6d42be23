"""Tables that read well at 80 columns, on a terminal and in a pipe."""

from __future__ import annotations

import io
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD, Box
from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from screentest._util.text import plural
from screentest.cli.console import out, print_json, shown
from screentest.core import table as core

if TYPE_CHECKING:  # most commands compare nothing
    from screentest.present.screens import Screen

MOST_LINES = 20
_PAGE = 200
_NARROWEST = 8
"""Letters that a column of names keeps beside many numbers."""
_MARKS = {True: ("✓", "green"), False: ("✗", "red"), None: ("–", "dim")}


def columns(
    table: str,
    of: Mapping[str, Callable[[Any], Any]] | None = None,
    module: str = __file__,
    /,
    **shown: Callable[[Any], str],
) -> list[core.Column]:
    """Return the columns of a table of the ``columns.toml`` beside a module."""
    return core.columns_of(_declared(Path(module).with_name("columns.toml"))[table], of, **shown)


@cache
def _declared(path: Path) -> Any:
    return tomllib.loads(path.read_text(encoding="utf-8"))


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
    filled = [table for table in tables if table.rows and table.short().columns]
    for table in filled:
        if len(filled) > 1:
            print_heading(table.title)
        out().print(rendered(table))
        for line in table.note.splitlines():
            print_indented(line, indent=0, style="dim")


def show_manifest(
    path: Path,
    items: int,
    of: str,
    missing: Iterable[str],
    problems: Iterable[object],
    *,
    as_json: bool,
) -> None:
    """Print which manifest was written, what is missing in it, and what is wrong."""
    lost = core.Table("missing", "Missing", ("result",), [(name,) for name in missing])
    wrong = core.Table("problems", "Problems", ("problem",), [(str(one),) for one in problems])
    show(lost, wrong, as_json=as_json, manifest=str(path), items=items)
    if not as_json:
        counts = f"{plural(items, 'item')} of {of}, {len(lost.rows):,} missing"
        out().print(f"{shown(str(path))}: {counts}", soft_wrap=True)


def rendered(
    given: core.Table, box: Box | None = SIMPLE_HEAD, *, across: int | None = None
) -> Table:
    """Return a table for the terminal. A cell that is too wide goes on in the next line, between
    words where there is room for the longest of them; names break before numbers and headings.
    ``across`` is the width of a page that is no terminal."""
    brief = given.short()
    sides = brief.alignments()
    heads = [shown(column.heading) for column in brief.columns]
    columns = [[shown(row[place]) for row in brief.texts()] for place in range(len(heads))]
    lines = [max(map(cell_len, column), default=0) for column in columns]
    words = [_longest(" ".join(column)) for column in columns]
    widths: Sequence[int | None] = [None] * len(words)
    both = list(map(max, words, map(_longest, heads)))
    pads = (1, 0) if box else (2, 1)  # a box puts a blank between columns itself
    for wanted, names, pad in product((both, words), (False, True), pads):
        room = (across or out().width) + bool(box) - (pad + bool(box)) * len(words)
        narrowed = _narrowed(wanted, sides, room) if names else wanted
        if sum(narrowed) <= room:
            for whole in (lines, list(map(max, lines, map(cell_len, heads)))):
                narrowed = _widened(narrowed, whole, room)
            widths = [width or None for width in narrowed]
            break
    else:
        pad = 1
    result = Table(box=box, show_edge=False, padding=(0, pad, 0, 0), header_style="bold")
    for head, side, width in zip(heads, sides, widths, strict=True):
        result.add_column(Text(head), justify=side, overflow="fold", width=width)
    for row, cells in zip(brief.texts(), brief.rows, strict=True):
        texts = ("–" if cell is None else text for text, cell in zip(row, cells, strict=True))
        result.add_row(*(Text(shown(text)) for text in texts))
    return result


def _longest(text: str) -> int:
    """Return the width of the longest word."""
    return max(map(cell_len, text.split()), default=0)


def _narrowed(widths: Sequence[int], sides: Sequence[str], room: int) -> list[int]:
    """Return widths with less for the widest column of text, as far as it can be read."""
    result = list(widths)
    texts = [place for place, side in enumerate(sides) if side == "left"]
    if texts:
        widest = max(texts, key=result.__getitem__)
        result[widest] -= min(max(0, sum(result) - room), max(0, result[widest] - _NARROWEST))
    return result


def _widened(widths: Sequence[int], whole: Sequence[int], room: int) -> list[int]:
    """Return widths with what is left of the room, the columns first that need least of it."""
    result = list(widths)
    left = room - sum(result)
    for place in sorted(range(len(result)), key=lambda place: whole[place] - result[place]):
        more = min(left, max(0, whole[place] - result[place]))
        result[place] += more
        left -= more
    return result


def print_screen(screen: Screen) -> None:
    """Print a headline, labelled lines, a table and its notes."""
    print_indented(screen.headline, indent=0, style="bold")
    for line in screen.text.removeprefix(screen.headline).split("\n")[1:]:
        out().print(Text(shown(line)))
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
    Console(file=page, width=_PAGE, color_system=None).print(rendered(given, across=_PAGE))
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


def print_lost(rows: Iterable[tuple[str, str, str]], title: str, most: int = MOST_LINES) -> None:
    """Print who, why and what to do: the same advice once, after all that it is for."""
    every = list(rows)
    listed = every[:most]
    if listed:
        print_heading(title)
    shared = {advice for advice, count in Counter(row[2] for row in listed).items() if count > 1}
    for place, (who, why, advice) in enumerate(listed):
        again = any(advice == other for _, _, other in listed[place + 1 :])
        alone = advice not in shared
        print_indented(f"{who}: {why}{f' → {advice}' if advice and alone else ''}")
        if advice and not alone and not again:
            print_indented(f"→ {advice}")
    if len(every) > most:
        print_indented(f"and {len(every) - most:,} more (--json lists all)")
