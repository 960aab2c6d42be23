"""What the jobs give back: dataclasses, and the same as rows or as a data frame."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from screentest.certificates.certificate import Certificate
from screentest.core import Outcome, UnknownName, UserError
from screentest.scores.results import Results, Total, Value
from screentest.testbeds.testbed import Testbed

Row: TypeAlias = dict[str, str | int | float | None]
LIBRARIES = ("pandas", "polars")


@dataclass(frozen=True, slots=True)
class Scores:
    """What videos got. ``print`` shows the means with their coverage."""

    run: Path
    results: Results

    @property
    def totals(self) -> list[Total]:
        """The mean of each value, with interval, coverage and why values are missing."""
        return self.results.totals()

    def value(self, item: str, name: str) -> Value:
        """One value of one video: its outcome is a score, or the reason why there is none."""
        for one in self.results.values:
            if one.item == item and one.name == name:
                return one
        raise UnknownName(
            f"{self.run} has no {name!r} of {item!r}",
            advice=f"Values: {', '.join(self.results.names)}.",
        )

    def rows(self) -> list[Row]:
        """A row for each value of each video; one that is missing has a reason."""
        groups = dict.fromkeys(name for item in self.results.items.values() for name in item.groups)
        rows: list[Row] = []
        for one in self.results.values:
            item = self.results.items.get(one.item)
            of_item = item.groups if item else {}
            rows.append(
                {
                    "item": one.item,
                    "metric": one.name,
                    "score": one.outcome.value.value if one.outcome.value else None,
                    **_why(one.outcome),
                    "signature": one.signature,
                    **{f"group.{name}": of_item.get(name) for name in groups},
                }
            )
        return rows

    def frame(self, library: str = "") -> Any:
        """The rows as a frame of pandas or polars, whichever is installed."""
        return data_frame(self.rows(), library)

    def __str__(self) -> str:
        return "\n".join(
            f"{one.name}: {one.summary}"
            if one.summary
            else f"{one.name}: nothing scored (0/{one.total})"
            for one in self.totals
        )


@dataclass(frozen=True, slots=True)
class BuiltTestbed:
    """A testbed in its folder."""

    folder: Path
    testbed: Testbed
    remarks: tuple[str, ...] = ()
    """What there is to know: captions that could not be read, sources with faults."""

    def rows(self) -> list[Row]:
        """A row for each pair, and for each that could not be made, with the reason."""
        return [*self._made(), *self._skipped()]

    def frame(self, library: str = "") -> Any:
        """The rows as a frame of pandas or polars, whichever is installed."""
        return data_frame(self.rows(), library)

    def _made(self) -> Iterator[Row]:
        for pair in self.testbed.pairs:
            yield {
                "source": pair.source,
                "kind": pair.kind.value,
                "name": pair.name,
                "severity": pair.severity,
                "clips": pair.clips,
                "intact": str(self.folder / pair.intact),
                "changed": str(self.folder / pair.changed.path),
                "reason": None,
                "detail": None,
            }

    def _skipped(self) -> Iterator[Row]:
        for skip in self.testbed.skips:
            yield {
                "source": skip.source,
                "kind": skip.kind.value,
                "name": skip.name,
                "severity": skip.severity,
                "clips": skip.clips,
                "intact": None,
                "changed": None,
                "reason": skip.failure.reason.value,
                "detail": skip.failure.detail,
            }


@dataclass(frozen=True, slots=True)
class Certificates:
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

    def rows(self) -> list[Row]:
        """A row for each judge and aspect: the share of right answers with its interval."""
        return [
            _certified(one.judge, name, accuracy)
            for one in self.certificates
            for name, accuracy in (
                *((result.aspect.value, result.accuracy) for result in one.aspects),
                ("all pairs", one.overall),
            )
        ]

    def frame(self, library: str = "") -> Any:
        """The rows as a frame of pandas or polars, whichever is installed."""
        return data_frame(self.rows(), library)


def _certified(judge: str, aspect: str, accuracy: Outcome[Any]) -> Row:
    found = accuracy.value
    interval = (found.clustered or found.wilson) if found else None
    return {
        "judge": judge,
        "aspect": aspect,
        "right": found.value if found else None,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
        "ties": found.ties if found else None,
        "judged": found.judgements if found else 0,
        "asked": found.total if found else None,
        **_why(accuracy),
    }


def _why(outcome: Outcome[Any]) -> Row:
    failure = outcome.failure
    return {
        "reason": failure.reason.value if failure else None,
        "detail": failure.detail if failure else None,
    }


def data_frame(rows: Sequence[Row], library: str = "") -> Any:
    """Rows as a data frame. What is missing is the library's own missing value, never NaN."""
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
        advice="pip install pandas, or polars; .rows() gives plain dictionaries.",
    )


def _nullable(rows: Sequence[Row]) -> dict[str, str]:
    """The types of pandas that can be missing, for the columns of numbers."""
    types: dict[str, str] = {}
    for row in rows:
        for name, value in row.items():
            if isinstance(value, float):
                types[name] = "Float64"
            elif isinstance(value, int):
                types.setdefault(name, "Int64")
    return types
