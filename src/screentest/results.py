"""What the jobs of the Python API return: the results themselves, as tables and as data frames."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from screentest.certificates.certificate import Certificate
from screentest.core import Cell, Table, UnknownName, UserError
from screentest.scores.results import Results, Total, Value
from screentest.scores.tables import missing_table, result_tables, values_table, why
from screentest.testbeds.testbed import Testbed

Records: TypeAlias = Sequence[Mapping[str, Cell]]
LIBRARIES = ("pandas", "polars")


class _Tabular:
    """A result that is, first of all, one table."""

    __slots__ = ()

    @property
    def table(self) -> Table:
        raise NotImplementedError

    def records(self) -> list[dict[str, Cell]]:
        """The rows of its table as plain dictionaries."""
        return self.table.records()

    def frame(self, library: str = "") -> Any:
        """Its table as a frame of pandas or polars, whichever is installed."""
        return data_frame(self.records(), library)


@dataclass(frozen=True, slots=True)
class Scores(_Tabular):
    """What videos got. ``print`` shows the means with their coverage."""

    run: Path
    results: Results

    @property
    def totals(self) -> list[Total]:
        """The mean of each value, with interval, coverage and why values are missing."""
        return self.results.totals()

    @property
    def table(self) -> Table:
        """A row for each value of each video; one that is missing has a reason."""
        return values_table(self.results, full=True)

    def tables(self, by: str = "", *, full: bool = False) -> list[Table]:
        """What each suite adds up to, and the mean of every value; by a group of the items.

        ``full`` writes whole signatures instead of their short form.
        """
        return result_tables(self.results, by, full=full)

    @property
    def not_scored(self) -> Table:
        """Why values are missing, and what to do; the same words once."""
        return missing_table(self.results)

    def value(self, item: str, name: str) -> Value:
        """One value of one video: its outcome is a score, or the reason why there is none."""
        found = self.results.of_item(item).get(name)
        if found is None:
            raise UnknownName(
                f"{self.run} has no {name!r} of {item!r}",
                advice=f"Values: {', '.join(self.results.names)}.",
            )
        return found

    def __str__(self) -> str:
        return "\n".join(
            f"{one.name}: {one.summary}"
            if one.summary
            else f"{one.name}: nothing scored (0/{one.total})"
            for one in self.totals
        )


@dataclass(frozen=True, slots=True)
class BuiltTestbed(_Tabular):
    """A testbed in its folder."""

    folder: Path
    testbed: Testbed
    remarks: tuple[str, ...] = ()
    """What there is to know: captions that could not be read, sources with faults."""

    @property
    def table(self) -> Table:
        """A row for each pair, and for each that could not be made, with the reason."""
        made = [
            (
                *(pair.source, pair.kind.value, pair.name, pair.severity, pair.clips),
                *(str(self.folder / pair.intact), str(self.folder / pair.changed.path)),
                *(None, None),
            )
            for pair in self.testbed.pairs
        ]
        skipped = [
            (
                *(skip.source, skip.kind.value, skip.name, skip.severity, skip.clips),
                *(None, None, skip.failure.reason.value, skip.failure.detail),
            )
            for skip in self.testbed.skips
        ]
        columns = ("source", "kind", "name", "severity", "clips", "intact", "changed")
        return Table("pairs", "Pairs", (*columns, "reason", "detail"), [*made, *skipped])


@dataclass(frozen=True, slots=True)
class Certificates(_Tabular):
    """What testbeds say of judges."""

    run: Path
    certificates: tuple[Certificate, ...]
    pending: int = 0
    """Judgements still to be made."""

    def of(self, judge: str) -> Certificate:
        """The certificate of one judge."""
        for one in self.certificates:
            if one.judge == judge:
                return one
        known = ", ".join(one.judge for one in self.certificates)
        raise UnknownName(f"{judge!r} was not certified", advice=f"Known: {known}.")

    @property
    def table(self) -> Table:
        """A row for each judge and aspect: the share of right answers with its interval."""
        rows = []
        for one in self.certificates:
            results = [(result.aspect.value, result.accuracy) for result in one.aspects]
            for aspect, outcome in (*results, ("all pairs", one.overall)):
                found = outcome.value
                interval = (found.clustered or found.wilson) if found else None
                rows.append(
                    (
                        *(one.judge, aspect, found.value if found else None),
                        interval.low if interval else None,
                        interval.high if interval else None,
                        found.ties if found else None,
                        found.judgements if found else 0,
                        found.total if found else None,
                        *why(outcome),
                    )
                )
        columns = ("judge", "aspect", "right", "low", "high", "ties", "judged", "asked")
        return Table("certificates", "Certificates", (*columns, "reason", "detail"), rows)


def data_frame(rows: Records, library: str = "") -> Any:
    """Records as a data frame. What is missing is the library's own missing value, never NaN."""
    if library and library not in LIBRARIES:
        raise UserError(f"there is no frame of {library!r}", advice="pandas or polars.")
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
    """The types of pandas that can be missing, for the columns of numbers."""
    types: dict[str, str] = {}
    for row in rows:
        for name, value in row.items():
            if isinstance(value, float):
                types[name] = "Float64"
            elif isinstance(value, int):
                types.setdefault(name, "Int64")
    return types
