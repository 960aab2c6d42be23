"""What results have in common: a short repr, tables in a notebook, data frames."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

from screentest._util.display import html_page, short_text
from screentest.core.errors import UserError
from screentest.core.table import Cell, Table

Records: TypeAlias = Sequence[Mapping[str, Cell]]
LIBRARIES = ("pandas", "polars")


class Shown:
    """A result with a short ``repr``, and tables in a notebook."""

    __slots__ = ()

    def _headline(self) -> str:
        """One line about it."""
        raise NotImplementedError

    def _shown(self) -> list[Table]:
        """Its tables, the main one first."""
        raise NotImplementedError

    def __repr__(self) -> str:
        tables = [item for item in self._shown() if item.rows]
        return short_text(self._headline(), tables[0] if tables else None)

    def _repr_html_(self) -> str:
        return html_page(self._headline(), self._shown())


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
    """Return records as a data frame. What is missing is the library's own missing value, never
    NaN."""
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
