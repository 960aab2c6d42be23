"""Results where they are looked at: a few lines for a prompt, a table for a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import islice

from screentest._util.text import escaped
from screentest.core.table import Table

MOST_LINES = 10
"""Of a ``repr``: what was typed stays on the screen."""
_WIDTH = 80
_MOST_ROWS = 20


def short_text(headline: str, table: Table | None, most: int = MOST_LINES, more: str = "") -> str:
    """Return a headline and the first rows of a table, in ``most`` lines; ``more`` says where the
    rest is.

    >>> table = Table("t", "T", ("name", "value"), [("flicker", 0.5), ("noise", 1.25), ("x", 2.0)])
    >>> print(short_text("Scores of one video", table, 3, more="records()"))
    Scores of one video
      flicker  0.500
      and 2 more: records()
    """
    lines = [_cut(escaped(line)) for line in headline.splitlines()]
    brief = table.short() if table is not None else None
    if brief is None or not brief.rows:
        return "\n".join(lines)
    room = most - len(lines)
    if len(brief.rows) > room:
        room -= 1
    texts = [[escaped(cell) for cell in row] for row in islice(brief.texts(), room)]
    widths = [max(len(row[place]) for row in texts) for place in range(len(brief.columns))]
    for row in texts:
        cells = [
            text.rjust(width) if side == "right" else text.ljust(width)
            for text, width, side in zip(row, widths, brief.alignments(), strict=True)
        ]
        lines.append(_cut("  " + "  ".join(cells).rstrip()))
    if len(brief.rows) > room:
        rest = f"and {len(brief.rows) - room:,} more"
        lines.append(f"  {rest}: {more}" if more else f"  {rest}")
    return "\n".join(lines)


def _cut(line: str) -> str:
    return line if len(line) <= _WIDTH else f"{line[: _WIDTH - 1]}…"


def html_page(headline: str, tables: Sequence[Table], most: int = _MOST_ROWS) -> str:
    """Return a headline and tables for a notebook, the first rows of each; all text is escaped."""
    first, *rest = headline.splitlines()
    parts = [f"<div><strong>{escape(escaped(first))}</strong>"]
    parts += [f"<br>{escape(escaped(line))}" for line in rest]
    for table in tables:
        brief = table.short()
        if not brief.rows:
            continue
        sides = brief.alignments()
        head = "".join(
            f'<th style="text-align:{side}">{escape(column.heading)}</th>'
            for column, side in zip(brief.columns, sides, strict=True)
        )
        body = "".join(
            "<tr>"
            + "".join(
                f'<td style="text-align:{side}">{escape(escaped(cell)) or "–"}</td>'
                for cell, side in zip(row, sides, strict=True)
            )
            + "</tr>"
            for row in islice(brief.texts(), most)
        )
        if len(tables) > 1:
            parts.append(f"<p>{escape(escaped(brief.title))}</p>")
        parts.append(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")
        if len(brief.rows) > most:
            parts.append(f"<p>and {len(brief.rows) - most:,} more rows</p>")
        if brief.note:
            parts.append(f"<p><small>{escape(escaped(brief.note))}</small></p>")
    return "".join([*parts, "</div>"])
