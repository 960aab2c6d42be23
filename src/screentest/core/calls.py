"""Contracts of long work: paid calls are announced and settled, and progress is reported.

Whoever asks a model for money holds a ``LedgerClient``. The ledger behind it may be in this
process or in the one that writes the run; either way ``intend`` returns only when the intent
is on the disk, so that no call is ever made that a crash could hide.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from types import TracebackType
from typing import Protocol, Self


class CallStatus(StrEnum):
    """What came of one call. Stored in ledgers: members are added, never renamed."""

    ANSWERED = "answered"
    """The model answered; whether the answer is of use is not the ledger's business."""
    FAILED = "failed"
    """The service said no, or broke off."""
    TIMED_OUT = "timed_out"
    """No answer in time; it may be billed all the same."""
    UNREACHED = "unreached"
    """It never got to the service."""


@dataclass(frozen=True, slots=True)
class CallIntent:
    """A call about to be made."""

    request: str
    """A hash of all that is sent, the model and the number of the repeat included."""
    model: str
    attempt: int = 1
    purpose: str = ""
    """What it is for, such as ``slvm.judge``."""
    images: int = 0
    max_cost: Decimal | None = None
    """The most it can cost; None where no price is known."""


@dataclass(frozen=True, slots=True)
class CallReceipt:
    """What came of a call."""

    status: CallStatus
    model: str = ""
    """The name under which the service says it answered."""
    fingerprint: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: Decimal | None = None
    """What it cost; None where that cannot be known, and then it counts as its most."""
    latency: float = 0.0
    """Seconds."""
    detail: str = ""
    answer: str | None = None
    """The raw answer, kept so that it can be parsed again without paying again."""


NO_VALUE = "no value: "
"""How the detail of a receipt begins whose answer held none by the rules."""


class LedgerClient(Protocol):
    """Where paid calls are written down. Safe to use from several threads.

    From async code call it through ``asyncio.to_thread``: it waits for the disk.
    """

    def recall(self, request: str) -> CallReceipt | None:
        """Return the latest answer to this very request, where one was paid for already."""

    def intend(self, intent: CallIntent) -> str:
        """Write the intent down and return its id.

        Raises NoValue(OVER_BUDGET) where the call could go over the cost cap.
        """

    def settle(self, call: str, receipt: CallReceipt) -> None:
        """Write down what came of the call of that id."""


class Progress(Protocol):
    """One long job: who does it reports, who shows it decides how. Use as a context manager."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    def begin(self, what: str, total: float | None, unit: str, done: float = 0) -> None:
        """Name the job and its size; ``done`` is what an earlier start finished."""

    def advance(self, amount: float = 1, note: str = "") -> None:
        """Count some of the work as done."""


class Silent:
    """Progress that nobody watches."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...

    def begin(self, what: str, total: float | None, unit: str, done: float = 0) -> None: ...

    def advance(self, amount: float = 1, note: str = "") -> None: ...
