"""What results have in common: a short repr, tables in a notebook, data frames."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from screentest._util.text import escaped
from screentest.core.errors import UserError
from screentest.core.table import Cell, Table
from screentest.present.text import aligned, shortened

if TYPE_CHECKING:
    from screentest.present.screens import Screen

Records: TypeAlias = Sequence[Mapping[str, Cell]]
LIBRARIES = ("pandas", "polars")
MOST_LINES = 10
"""Of a ``repr``: what was typed stays on the screen."""
_WIDTH = 80
_MOST_ROWS = 20


class Shown:
    """A result with a short ``repr``, and tables in a notebook."""

    __slots__ = ()

    def _headline(self) -> str:
        """One line about it; below its first screen, where it has one."""
        raise NotImplementedError

    def _shown(self) -> list[Table]:
        """Its tables, the main one first."""
        raise NotImplementedError

    def _screen(self) -> Screen | None:
        """Its first screen, where it has one."""
        return None

    def __repr__(self) -> str:
        if (screen := self._screen()) is not None:
            return "\n".join(filter(None, [str(screen), self._headline()]))
        tables = [item for item in self._shown() if item.rows]
        return short_text(self._headline(), tables[0] if tables else None)

    def _repr_html_(self) -> str:
        return html_page(self._headline(), self._shown(), self._screen())


class Tabular(Shown):
    """A result that is, first of all, one table."""

    __slots__ = ()

    @property
    def table(self) -> Table:
        raise NotImplementedError

    def _shown(self) -> list[Table]:
        return [self.table]

    def records(self) -> list[dict[str, Cell]]:
        """Return the rows of its table as plain dictionaries."""
        return self.table.records()

    def frame(self, library: str = "") -> Any:
        """Its table as a frame of pandas or polars, whichever is installed."""
        return data_frame(self.records(), library)


@dataclass(frozen=True, slots=True)
class Page(PathLike[str]):
    """A report: one page, and the files of its tables where they were asked for."""

    page: Path
    tables: tuple[Path, ...] = ()

    def __fspath__(self) -> str:
        return str(self.page)

    def __str__(self) -> str:
        return str(self.page)


def data_frame(rows: Records, library: str = "") -> Any:
    """Return records as a data frame; missing cells are the library's own, never NaN."""
    if library and library not in LIBRARIES:
        raise UserError(f"invalid library {library!r}: must be pandas or polars")
    for name in [library] if library else LIBRARIES:
        try:
            module = importlib.import_module(name)
        except ModuleNotFoundError:
            continue
        if name == "polars":
            return module.DataFrame(rows, infer_schema_length=None)
        return module.DataFrame(rows).astype(_nullable(rows))
    raise UserError(
        f"{library} is not installed" if library else "neither pandas nor polars is installed",
        advice="pip install pandas, or polars; .records() gives plain dictionaries.",
    )


def _nullable(rows: Records) -> dict[str, str]:
    """Return the types of pandas that can be missing, for the columns of numbers."""
    types: dict[str, str] = {}
    for row in rows:
        for name, value in row.items():
            if isinstance(value, float):
                types[name] = "Float64"
            elif isinstance(value, int):
                types.setdefault(name, "Int64")
    return types


def short_text(headline: str, table: Table | None, most: int = MOST_LINES) -> str:
    """Return a headline and the first rows of a table, in ``most`` lines.

    >>> table = Table("t", "T", ("name", "value"), [("flicker", 0.5), ("noise", 1.25), ("x", 2.0)])
    >>> print(short_text("Scores of one video", table, 3))
    Scores of one video
      flicker  0.500
      and 2 more
    """
    lines = [shortened(escaped(line), _WIDTH) for line in headline.splitlines()]
    brief = table.short() if table is not None else None
    if brief is None or not brief.rows:
        return "\n".join(lines)
    room = most - len(lines)
    if len(brief.rows) > room:
        room -= 1
    texts = [[escaped(cell) for cell in row] for row in islice(brief.texts(), room)]
    lines += [shortened(f"  {line}", _WIDTH) for line in aligned(texts, brief.alignments())]
    if len(brief.rows) > room:
        lines.append(f"  and {len(brief.rows) - room:,} more")
    return "\n".join(lines)


def html_page(headline: str, tables: Sequence[Table], screen: Screen | None = None) -> str:
    """Return headline, first rows of tables, and a screen's lines and notes as escaped HTML."""
    given = headline.splitlines()
    first, *rest = given if screen is None else [screen.headline]
    notes = [] if screen is None else [*screen.notes, *given]
    parts = [f"<div><strong>{escape(escaped(first))}</strong>"]
    parts += [f"<br>{escape(escaped(line))}" for line in rest]
    if screen is not None and screen.lines:
        cell = '<td style="text-align:left;vertical-align:top;padding:0 .8em 0 0">'
        rows = (
            "".join(f"{cell}{escape(escaped(text))}</td>" for text in x) for x in screen.labelled
        )
        parts.append(f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>")
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
                f'<td style="text-align:{side}">'
                f"{'–' if cell is None else escape(escaped(text))}</td>"
                for text, cell, side in zip(row, cells, sides, strict=True)
            )
            + "</tr>"
            for row, cells in islice(zip(brief.texts(), brief.rows, strict=True), _MOST_ROWS)
        )
        if len(tables) > 1:
            parts.append(f"<p>{escape(escaped(brief.title))}</p>")
        parts.append(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")
        if len(brief.rows) > _MOST_ROWS:
            parts.append(f"<p>and {len(brief.rows) - _MOST_ROWS:,} more rows</p>")
        if brief.note:
            parts.append(f"<p><small>{escape(escaped(brief.note))}</small></p>")
    parts += [f"<small>{escape(escaped(note))}</small><br>" for note in notes]
    return "".join([*parts, "</div>"])
