"""Table: a result as rows and columns, built once and written everywhere.

The terminal prints it, ``--json`` prints its records, the report and its files write it.

>>> means = Table("means", "Means", ("metric", Column("mean", digits=2)), [("flicker", 0.125)])
>>> means.records()
[{'metric': 'flicker', 'mean': 0.125}]
>>> means.texts()
[('flicker', '0.12')]
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from typing import Any, Literal, TypeAlias

Cell: TypeAlias = str | int | float | bool | list[Any] | dict[str, Any] | None
"""A value of JSON; lists and objects are for columns that are details."""
Align: TypeAlias = Literal["left", "right"]
Better: TypeAlias = Literal["higher", "lower", ""]

ARROWS: Mapping[str, str] = {"higher": "↑", "lower": "↓", "": ""}
FORMS: Mapping[str, Callable[[Any], str]] = {
    "count": "{:,}".format,
    "share": "{:.1%}".format,
    "percent": "{:.0%}".format,
}
"""How columns show numbers: 12,345; 45.2%; 45%."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its key in records and files, and how people see it."""

    name: str
    title: str = ""
    """What stands above it; the name where empty."""
    digits: int | None = None
    """Digits behind the point; None: three, and one from a thousand on."""
    better: Better = ""
    """Which direction is the good one, where there is one."""
    align: Align | None = None
    """None: numbers to the right, everything else to the left."""
    detail: bool = False
    """Whether only records and files have it: a terminal has no room for it."""
    derived: bool = False
    """Whether only people see it, since records have the same in other columns: 3/5, 0.1 to 0.2."""
    show: Callable[[Any], str] | None = None
    """How people see a value, where that is not how it is stored: a share, a time."""
    of: str | Callable[[Any], Any] = ""
    """Where ``Table.of`` finds it: a path of attributes, or a function; the name where empty."""

    @property
    def heading(self) -> str:
        """The title, with an arrow where one direction is better."""
        return f"{self.title or self.name} {ARROWS[self.better]}".rstrip()

    def text(self, cell: Cell) -> str:
        """Return a cell of this column as people read it."""
        if self.show is not None and cell is not None:
            return self.show(cell)
        return cell_text(cell, self.digits)

    def cell(self, thing: Any) -> Cell:
        """Return what a thing has for this column; None where it has nothing."""
        if callable(self.of):
            return _plain(self.of(thing))
        for part in (self.of or self.name).split("."):
            if isinstance(thing, Mapping):
                thing = thing.get(part)
            elif thing is not None:
                thing = getattr(thing, part)
        return _plain(thing)


def columns_of(
    declared: Mapping[str, Any],
    of: Mapping[str, Callable[[Any], Any]] | None = None,
    **shown: Callable[[Any], str],
) -> list[Column]:
    """Return the columns of a table as a TOML file declares them: a title, or fields of ``Column``.

    ``of`` and ``shown`` have functions by column: where a cell comes from, how people see it.
    """
    made = []
    for name, given in declared.items():
        fields_ = {"title": given} if isinstance(given, str) else dict(given)
        if name in (of or {}):
            fields_["of"] = (of or {})[name]
        form = FORMS.get(fields_.get("show", ""))
        made.append(Column(name, **fields_ | {"show": shown.get(name, form)}))
    return made


def _plain(value: Any) -> Cell:
    """Return a value as JSON has it; times, amounts and paths are text."""
    if isinstance(value, Enum):
        return _plain(value.value)
    if isinstance(value, Mapping):
        return {str(_plain(key)): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    return value if value is None or isinstance(value, str | int | float) else str(value)


def cell_text(cell: Cell, digits: int | None = None) -> str:
    """Return a cell as people read it; empty where there is no value.

    >>> cell_text(0.5), cell_text(45.25, digits=1), cell_text(None)
    ('0.500', '45.2', '')
    >>> cell_text(12345.678), cell_text(1024), cell_text(True)
    ('12,345.7', '1024', 'yes')
    """
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float):
        if digits is not None:
            return f"{cell:,.{digits}f}"
        return f"{cell:.3f}" if abs(cell) < 1000 else f"{cell:,.1f}"
    return json.dumps(cell, ensure_ascii=False) if isinstance(cell, list | dict) else str(cell)


@dataclass(frozen=True, slots=True, init=False)
class Table:
    """Rows under columns. A missing value is None: no cell is ever NaN or infinite."""

    name: str
    """Serves as a key in JSON and as a file name."""
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str
    """What a reader must know to read it right."""

    def __init__(
        self,
        name: str,
        title: str,
        columns: Iterable[Column | str],
        rows: Iterable[Sequence[Cell]] = (),
        note: str = "",
    ) -> None:
        """Make columns of names that are given as text."""
        given = tuple(Column(item) if isinstance(item, str) else item for item in columns)
        cells = tuple(tuple(row) for row in rows)
        names = [column.name for column in given]
        if len(set(names)) < len(names):
            raise ValueError(f"table {name!r} has two columns of one name: {', '.join(names)}")
        for row in cells:
            if len(row) != len(given):
                raise ValueError(f"table {name!r}: a row of {len(row)} cells, not {len(given)}")
            for cell in row:
                if isinstance(cell, float) and not math.isfinite(cell):
                    raise ValueError(f"table {name!r}: invalid cell {cell}; use None")
        for field, value in (
            ("name", name),
            ("title", title),
            ("columns", given),
            ("rows", cells),
            ("note", note),
        ):
            object.__setattr__(self, field, value)

    @classmethod
    def of(
        cls,
        name: str,
        title: str,
        columns: Iterable[Column | str],
        things: Iterable[Any],
        note: str = "",
    ) -> Table:
        """Make a row of each thing: of its attributes, or of the entries of a mapping.

        >>> Table.of("ends", "Ends", (Column("end", of="imag"), "real"), [2 + 3j]).rows
        ((3.0, 2.0),)
        """
        given = [Column(item) if isinstance(item, str) else item for item in columns]
        rows = [[column.cell(thing) for column in given] for thing in things]
        return cls(name, title, given, rows, note)

    def records(self) -> list[dict[str, Cell]]:
        """One JSON-ready object per row, by name of the column; None where there is no value."""
        whole = self.whole()
        names = [column.name for column in whole.columns]
        return [dict(zip(names, row, strict=True)) for row in whole.rows]

    def column(self, name: str) -> list[Cell]:
        """Return the cells of one column."""
        place = [column.name for column in self.columns].index(name)
        return [row[place] for row in self.rows]

    def texts(self) -> list[tuple[str, ...]]:
        """Return every row as people read it."""
        return [
            tuple(column.text(cell) for column, cell in zip(self.columns, row, strict=True))
            for row in self.rows
        ]

    def alignments(self) -> tuple[Align, ...]:
        """To which side each column is aligned."""
        return tuple(
            column.align or ("right" if self.is_numeric(place) else "left")
            for place, column in enumerate(self.columns)
        )

    def is_numeric(self, place: int) -> bool:
        """Return whether a column has numbers and nothing else."""
        cells = [row[place] for row in self.rows if row[place] is not None]
        return bool(cells) and all(
            isinstance(cell, int | float) and not isinstance(cell, bool) for cell in cells
        )

    def short(self) -> Table:
        """Return the table as people see it, without the details of records and files."""
        return self._only([not column.detail for column in self.columns])

    def whole(self) -> Table:
        """Return the table as records and files have it, without what only people see."""
        return self._only([not column.derived for column in self.columns])

    def _only(self, kept: Sequence[bool]) -> Table:
        if all(kept):
            return self
        places = [place for place, keep in enumerate(kept) if keep]
        return Table(
            self.name,
            self.title,
            [self.columns[place] for place in places],
            [[row[place] for place in places] for row in self.rows],
            self.note,
        )


@dataclass(frozen=True, slots=True)
class Chart:
    """A picture as two SVG documents, for light and for dark pages, and in words."""

    title: str
    light: str
    dark: str
    words: str
    """What it shows, for those who cannot see it."""
