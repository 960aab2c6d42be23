"""Outcome: either a value or a typed reason why there is none. Score and Summary: the values.

>>> Outcome.of(0.7).value
0.7
>>> lost = Outcome.failed(Reason.UNPARSABLE, "no score in the answer")
>>> lost.ok, str(lost.failure)
(False, 'unparsable: no score in the answer')

There is no third state: no default value, no NaN, no empty outcome.
"""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, Generic, TypeAlias, TypeVar

from screentest.core.errors import STOPPING, BadOption, NoValue
from screentest.core.item import Span
from screentest.core.signature import short_signature

T = TypeVar("T")
U = TypeVar("U")


class Reason(StrEnum):
    """Why there is no value. Stored in records: members are added, never renamed."""

    MISSING_FILE = "missing_file"
    """The file is not there, or may not be read."""
    EMPTY_FILE = "empty_file"
    """The file is there and holds nothing."""
    UNSAFE = "unsafe"
    """Not a plain local video file: a playlist, pipe, device, reference to elsewhere."""
    WRONG_FILE = "wrong_file"
    """Not the file that is listed: its size or its hash is another."""
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
    LOW_COVERAGE = "low_coverage"
    """Too little of what was asked could be answered."""
    MISSING_SCORE = "missing_score"
    """Scores that were made elsewhere have none for it, or one that is not a number."""
    MISSING_MODEL = "missing_model"
    """A model or its weights are not installed."""
    REFUSED = "refused"
    """The model declined to answer, or a filter stopped it."""
    UNSEEN = "unseen"
    """The model says that it could not see the pictures."""
    TRUNCATED = "truncated"
    """The answer was cut off at the token limit."""
    UNPARSABLE = "unparsable"
    """The answer holds no value by the stated rules."""
    SERVICE_FAILED = "service_failed"
    """The model's service failed after all retries."""
    OVER_BUDGET = "over_budget"
    """Asking would have gone over the cost cap."""
    CHECK_FAILED = "check_failed"
    """It was made, and a check of what came out says that it is not what it should be."""
    NO_CHANGE = "no_change"
    """It was made, and a check of what came out sees no change."""
    HARMS_LESS = "harms_less"
    """It was made, and a higher severity changed less than a lower one."""
    CRASHED = "crashed"
    """An error in the metric or judge itself: a bug, with its traceback kept."""

    @property
    def transient(self) -> bool:
        """Return whether it may be gone next time; others stand until an input changes."""
        return self in _TRANSIENT

    @property
    def of_file(self) -> bool:
        """Return whether it is the file that cannot be read, whatever is asked of it."""
        return self in _OF_FILE


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


_OF_FILE = frozenset(
    {
        Reason.MISSING_FILE,
        Reason.EMPTY_FILE,
        Reason.UNSAFE,
        Reason.WRONG_FILE,
        Reason.TOO_LARGE,
        Reason.UNDECODABLE,
        Reason.DECODER_CRASHED,
    }
)


def last_line(text: str) -> str:
    """Return the last line of a text; empty where there is none."""
    return "".join(text.strip().splitlines()[-1:])


@dataclass(frozen=True, slots=True)
class Failure:
    """A typed reason, what was seen, and what to do about it."""

    reason: Reason
    detail: str = ""
    advice: str = ""
    answer: str = field(default="", repr=False)
    """All that a model answered, where that could not be used; records keep it in details."""

    def __str__(self) -> str:
        return f"{self.reason.value}: {self.detail}" if self.detail else self.reason.value

    @property
    def brief(self) -> str:
        """The last line of the detail: of a traceback it says what happened."""
        return last_line(self.detail)


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
        """Return the outcome of a measurement that succeeded."""
        return Outcome(value=value)

    @staticmethod
    def failed(reason: Reason, detail: str = "", advice: str = "") -> Outcome[U]:
        """Return the outcome of a measurement that has no value."""
        return Outcome(failure=Failure(reason, detail, advice))

    @property
    def ok(self) -> bool:
        """Return whether there is a value."""
        return self.failure is None

    def unwrap(self) -> T:
        """Return the value; raises NoValue with the typed reason where there is none."""
        if self.failure is not None:
            failed = self.failure
            raise NoValue(failed.reason, failed.detail, advice=failed.advice, answer=failed.answer)
        assert self.value is not None
        return self.value

    def map(self, change: Callable[[T], U]) -> Outcome[U]:
        """Return the outcome of ``change`` on the value; a failure stays what it is."""
        if self.failure is not None:
            return Outcome(failure=self.failure)
        return Outcome(value=change(self.unwrap()))


def attempt(work: Callable[[], T]) -> Outcome[T]:
    """Run ``work``; a NoValue it raises becomes the failed outcome it describes."""
    try:
        return Outcome.of(work())
    except NoValue as error:
        return Outcome(failure=error.failure)


def guarded(step: Callable[[], T], whose: str) -> T | Failure:
    """Run a step of a ``whose`` (metric, judge); return its result or the failure.

    Errors that every further item would meet are raised: they end the run.
    """
    try:
        return step()
    except NoValue as error:
        return error.failure
    except STOPPING:
        raise
    except BadOption as error:
        return Failure(Reason.CRASHED, error.message, error.advice)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - untrusted code raises anything
        message = "".join(traceback.format_exception(error)).strip()
        return Failure(
            Reason.CRASHED, message, f"This is a fault in the {whose}, not in the video."
        )


if TYPE_CHECKING:
    Json: TypeAlias = str | int | float | bool | list["Json"] | dict[str, "Json"] | None
else:
    # A type that contains itself is more than the JSON reader needs to know.
    Json: TypeAlias = Any
Details: TypeAlias = Mapping[str, Json]
"""What else was measured, as JSON: question lists, faults, parts of a score."""
BORDERS: Final = "borders"
"""The detail of a score that was measured inside borders: left, top, right, bottom, width, height
in pixels."""
FRAME_RATE: Final = "frame_rate"
"""The detail of a score that depends on it: frames a second of the video."""
DURATION: Final = "duration"
"""The detail of the same scores: seconds of the video."""


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
    """An aggregate with its interval and its coverage; one value alone has no interval.

    >>> print(Summary(0.71, 0.68, 0.74, scored=483, total=500, signature="aesthetics|v:1"))
    0.71, 0.68 to 0.74 (483/500 scored)  aesthetics|v1|#ce4d90
    """

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
        interval = ""
        if self.low is not None and self.high is not None:
            interval = f", {self.low:.2f} to {self.high:.2f}"
        coverage = f"({self.scored}/{self.total} scored)"
        return f"{self.value:.2f}{interval} {coverage}  {short_signature(self.signature)}".rstrip()


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
