"""Score: what a metric says of one item. Summary: what it says of many.

>>> print(Summary(0.71, 0.68, 0.74, scored=483, total=500, signature="aesthetics|v:1"))
0.71 ± 0.03 (483/500 scored)  aesthetics|v1|#ce4d90
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from screentest.core.signature import short_signature
from screentest.core.timing import Span

if TYPE_CHECKING:
    Json: TypeAlias = str | int | float | bool | list["Json"] | dict[str, "Json"] | None
else:
    # A type that contains itself is more than the JSON reader needs to know.
    Json: TypeAlias = Any
Details: TypeAlias = Mapping[str, Json]
"""What else was measured, as JSON: question lists, faults, parts of a score."""


@dataclass(frozen=True, slots=True)
class Point:
    """One place on the curve of a score over time, with a word on why."""

    span: Span
    value: float
    note: str = ""

    def __post_init__(self) -> None:
        _must_be_finite(self.value)


@dataclass(frozen=True, slots=True)
class Score:
    """A finite number, the curve it was aggregated from, and what else was measured."""

    value: float
    curve: tuple[Point, ...] = ()
    details: Details = field(default_factory=dict)

    def __post_init__(self) -> None:
        _must_be_finite(self.value)
        for name, detail in self.details.items():
            _must_hold_finite(detail, name)


@dataclass(frozen=True, slots=True)
class Summary:
    """An aggregate with its interval and its coverage; one value alone has no interval."""

    value: float
    low: float | None
    high: float | None
    scored: int
    total: int
    signature: str

    def __post_init__(self) -> None:
        _must_be_finite(self.value)
        if (self.low is None) != (self.high is None):
            raise ValueError("an interval has two ends or none")
        if self.low is not None and self.high is not None:
            _must_be_finite(self.low)
            _must_be_finite(self.high)
            if not self.low <= self.value <= self.high:
                raise ValueError(f"{self.value} is outside its interval [{self.low}, {self.high}]")
        if not 0 < self.scored <= self.total:
            raise ValueError(f"invalid coverage: {self.scored} of {self.total} scored")

    @property
    def coverage(self) -> float:
        """The share of items that have a score."""
        return self.scored / self.total

    def __str__(self) -> str:
        margin = ""
        if self.low is not None and self.high is not None:
            margin = f" ± {max(self.high - self.value, self.value - self.low):.2f}"
        coverage = f"({self.scored}/{self.total} scored)"
        return f"{self.value:.2f}{margin} {coverage}  {short_signature(self.signature)}".rstrip()


def _must_hold_finite(detail: Json, name: str) -> None:
    if isinstance(detail, float):
        _must_be_finite(detail, name)
    elif isinstance(detail, list | dict):
        for inner in detail.values() if isinstance(detail, dict) else detail:
            _must_hold_finite(inner, name)


def _must_be_finite(number: float, what: str = "score") -> None:
    if not math.isfinite(number):
        raise ValueError(
            f"invalid {what} {number}: must be finite; use Outcome.failed with a reason"
        )
