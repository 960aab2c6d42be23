"""Outcome: either a value or a typed reason why there is none.

>>> Outcome.of(0.7).value
0.7
>>> lost = Outcome.failed(Reason.UNPARSABLE, "no score in the answer")
>>> lost.ok, str(lost.failure)
(False, 'unparsable: no score in the answer')

There is no third state: no default value, no NaN, no empty outcome.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

from screentest.core.errors import NoValue

T = TypeVar("T")
U = TypeVar("U")


class Reason(StrEnum):
    """Why there is no value. Stored in records: members are added, never renamed."""

    MISSING_FILE = "missing_file"
    """The file is not there, is empty, or may not be read."""
    UNSAFE = "unsafe"
    """Not a plain local video file: a playlist, pipe, device, reference to elsewhere."""
    TOO_LARGE = "too_large"
    """Beyond a limit on pixels, frames, duration or memory."""
    UNDECODABLE = "undecodable"
    """The decoder finds no picture in it."""
    DECODER_CRASHED = "decoder_crashed"
    """The process that decoded it died."""
    TIMED_OUT = "timed_out"
    """It took longer than allowed."""
    NOT_APPLICABLE = "not_applicable"
    """The question makes no sense for this item."""
    MISSING_MODEL = "missing_model"
    """A model or its weights are not installed."""
    REFUSED = "refused"
    """The model declined to answer, or a filter stopped it."""
    TRUNCATED = "truncated"
    """The answer was cut off at the token limit."""
    UNPARSABLE = "unparsable"
    """The answer holds no value by the stated rules."""
    SERVICE_FAILED = "service_failed"
    """The model's service failed after all retries."""
    OVER_BUDGET = "over_budget"
    """Asking would have gone over the cost cap."""
    CRASHED = "crashed"
    """An error in the metric or judge itself: a bug, with its traceback kept."""

    @property
    def transient(self) -> bool:
        """Whether it may be gone next time; else it stands until an input or signature changes."""
        return self in _TRANSIENT


_TRANSIENT = frozenset(
    {
        Reason.TIMED_OUT,
        Reason.SERVICE_FAILED,
        Reason.OVER_BUDGET,
        Reason.MISSING_MODEL,
        Reason.DECODER_CRASHED,
        Reason.CRASHED,
    }
)


@dataclass(frozen=True, slots=True)
class Failure:
    """A typed reason, what was seen, and what to do about it."""

    reason: Reason
    detail: str = ""
    advice: str = ""

    def __str__(self) -> str:
        return f"{self.reason.value}: {self.detail}" if self.detail else self.reason.value


@dataclass(frozen=True, slots=True)
class Outcome(Generic[T]):
    """A value or a failure; exactly one of the two."""

    value: T | None = None
    failure: Failure | None = None

    def __post_init__(self) -> None:
        if (self.value is None) == (self.failure is None):
            raise ValueError("an Outcome holds either a value or a failure")
        if isinstance(self.value, float) and not math.isfinite(self.value):
            raise ValueError(f"{self.value} is not a value: use Outcome.failed with a reason")

    @staticmethod
    def of(value: U) -> Outcome[U]:
        """The outcome of a measurement that succeeded."""
        return Outcome(value=value)

    @staticmethod
    def failed(reason: Reason, detail: str = "", advice: str = "") -> Outcome[U]:
        """The outcome of a measurement that has no value."""
        return Outcome(failure=Failure(reason, detail, advice))

    @property
    def ok(self) -> bool:
        """Whether there is a value."""
        return self.failure is None

    def unwrap(self) -> T:
        """The value; raises NoValue with the typed reason where there is none."""
        if self.failure is not None:
            failed = self.failure
            raise NoValue(failed.reason, failed.detail, advice=failed.advice)
        assert self.value is not None
        return self.value

    def map(self, change: Callable[[T], U]) -> Outcome[U]:
        """The outcome of ``change`` on the value; a failure stays what it is."""
        if self.failure is not None:
            return Outcome(failure=self.failure)
        return Outcome(value=change(self.unwrap()))


def attempt(work: Callable[[], T]) -> Outcome[T]:
    """Run ``work``; a NoValue it raises becomes the failed outcome it describes."""
    try:
        return Outcome.of(work())
    except NoValue as error:
        return Outcome(failure=error.failure)
