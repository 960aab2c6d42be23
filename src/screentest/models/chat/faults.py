"""What can go wrong with one call, and what follows: ask again, give up, or stop the run."""

from __future__ import annotations

import asyncio
import json
import math
import random
import socket
import ssl
import time
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from screentest.core import CallStatus, NoValue, Reason, ServiceError


class FaultKind(StrEnum):
    """Kinds of failure of one call."""

    RATE_LIMITED = "rate limited"
    OVERLOADED = "server error"
    BROKEN_OFF = "connection broken off"
    UNREACHED = "not reached"
    NO_SUCH_HOST = "host name not found"
    TLS = "no trusted connection"
    TIMED_OUT = "timed out"
    GARBLED = "unreadable response"
    TOO_LONG = "response too long"
    REJECTED = "rejected"
    TOO_LARGE = "request too large for the model"
    FILTERED = "filtered by the service"
    NO_SCHEMAS = "response_format not taken"
    NO_VIDEO = "video not taken"


_KINDS: dict[str, dict[str, Any]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)
_STATUSES: dict[str, str] = _KINDS.pop("statuses")


class CallFault(Exception):
    """One call that brought no answer. ``status`` is that of HTTP, where there was one."""

    def __init__(
        self,
        kind: FaultKind,
        detail: str,
        status: int | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(kind, detail)
        self.kind = kind
        self._known = _KINDS[kind]
        self.detail = detail
        self.status = status
        self.retry_after = retry_after

    def __str__(self) -> str:
        status = f"HTTP {self.status}: " if self.status is not None else ""
        return f"{self.kind.value}: {status}{self.detail}"

    @property
    def again(self) -> bool:
        """Tell whether the same call may do better later."""
        return bool(self._known.get("again"))

    @property
    def stops_the_run(self) -> bool:
        """Tell whether every other call would meet the same."""
        return bool(self._known.get("stops"))

    @property
    def call_status(self) -> CallStatus:
        if self._known.get("unsent"):
            return CallStatus.UNREACHED
        return CallStatus.TIMED_OUT if self.kind is FaultKind.TIMED_OUT else CallStatus.FAILED

    @property
    def perhaps_billed(self) -> bool:
        """Tell whether it may have cost money all the same."""
        return bool(self._known.get("billed"))

    def no_value(self, attempts: int) -> NoValue:
        """Return the typed reason, once there is nothing left to try."""
        times = f" ({attempts} attempts)" if attempts > 1 else ""
        reason = Reason(self._known.get("reason", Reason.SERVICE_FAILED))
        return NoValue(reason, f"{self}{times}", advice=self._known.get("given_up", ""))

    def service_error(self, host: str, model: str) -> ServiceError:
        """Return the one message for a fault that every call would meet."""
        by_status = _STATUSES.get(str(self.status), _STATUSES["other"])
        advice = self._known.get("stopped", by_status)
        return ServiceError(f"{host} turns calls to {model!r} away: {self}", advice=advice)


class Clock(Protocol):
    """Time as the client sees it, so that a test need not wait."""

    def monotonic(self) -> float:
        """Seconds that never run backwards."""

    async def sleep(self, seconds: float) -> None:
        """Wait."""


class SystemClock:
    """The clock of the machine."""

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


@dataclass(frozen=True, slots=True)
class Retries:
    """Bounds on asking again."""

    max_attempts: int = 6
    first_wait: float = 0.5
    """Seconds before the second attempt; doubles with each."""
    longest_wait: float = 120.0
    """No single wait is longer, whatever a server asks for."""

    @property
    def max_refusals(self) -> int:
        """Times that a server may say "too many" to one call: it costs nothing, so more often."""
        return 4 * self.max_attempts

    @property
    def most_calls(self) -> int:
        """Of both together, and one to find out that a server takes no schemas."""
        return self.max_attempts + self.max_refusals

    def wait(self, attempt: int, asked: float | None, rng: random.Random) -> float:
        """Seconds to wait after failed attempt number ``attempt``.

        ``asked`` is what the server asked for. Jitter keeps many clients from returning at
        the same instant; it never makes the wait shorter than what was asked.
        """
        if asked is not None:
            return min(asked + rng.uniform(0, self.first_wait), self.longest_wait)
        backoff = min(self.first_wait * 2.0 ** min(attempt - 1, 30), self.longest_wait)
        return backoff * rng.uniform(0.5, 1.0)


def parse_retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds until a server wants to be asked again; None where it does not sensibly say.

    >>> parse_retry_after({"retry-after": "3"}, now=0)
    3.0
    >>> parse_retry_after({"retry-after": "Thu, 01 Jan 1970 00:01:00 GMT"}, now=0)
    60.0
    >>> parse_retry_after({"retry-after": "soon"}, now=0) is None
    True
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    written = headers.get("retry-after")
    seconds = _number(written)
    if seconds is not None or written is None:
        return seconds
    try:
        return max(0.0, parsedate_to_datetime(written).timestamp() - now)
    except (ValueError, OverflowError, TypeError):
        return None


def _number(written: str | None) -> float | None:
    try:
        value = float(written or "")
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


_LONGEST_DETAIL = 300
_PASSING = {408, 409, 425}


def status_fault(status: int, headers: Mapping[str, str], body: str, now: float) -> CallFault:
    """Classify a response that is not an answer."""
    code, message = _error_of(body)
    words = f"{code} {message}".casefold()
    detail = message or code or "no explanation"
    if status == 429:
        if "insufficient_quota" in words or "billing" in words:
            return CallFault(FaultKind.REJECTED, detail, status)
        after = parse_retry_after(headers, now)
        return CallFault(FaultKind.RATE_LIMITED, detail, status, after)
    if status >= 500 or status in _PASSING:
        after = parse_retry_after(headers, now)
        return CallFault(FaultKind.OVERLOADED, detail, status, after)
    if status == 413:
        return CallFault(FaultKind.TOO_LARGE, detail, status)
    if status in (400, 422):
        for kind, known in _KINDS.items():
            if any(phrase in words for phrase in known.get("phrases", ())):
                return CallFault(FaultKind(kind), detail, status)
    if 300 <= status < 400:
        detail = f"it points to another address, {_line(headers.get('location', 'unnamed'))}"
    return CallFault(FaultKind.REJECTED, detail, status)


def connection_fault(error: BaseException) -> CallFault:
    """Classify a failed connection by the error behind the error."""
    chain = list(_causes(error))
    for cause in chain:
        if isinstance(cause, socket.gaierror):
            return CallFault(FaultKind.NO_SUCH_HOST, _line(str(cause)))
        if isinstance(cause, ssl.SSLError):
            return CallFault(FaultKind.TLS, _line(str(cause)))
    names = {type(cause).__name__ for cause in chain}
    texts = [_line(str(cause)) for cause in reversed(chain) if str(cause)]
    detail = texts[0] if texts else "no explanation"
    if names & {"ConnectError", "ConnectTimeout", "ConnectionRefusedError"}:
        return CallFault(FaultKind.UNREACHED, detail)
    if any("Timeout" in name for name in names):
        return CallFault(FaultKind.TIMED_OUT, detail)
    return CallFault(FaultKind.BROKEN_OFF, detail)


def _causes(error: BaseException) -> list[BaseException]:
    chain: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and current not in chain:
        chain.append(current)
        current = current.__cause__ or current.__context__
    return chain


def _error_of(body: str) -> tuple[str, str]:
    """Return the code and message in an error body, of whichever shape."""
    try:
        content: Any = json.loads(body)
    except (ValueError, RecursionError):
        return "", _line(body)
    error = content.get("error", content) if isinstance(content, dict) else content
    if not isinstance(error, dict):
        return "", _line(str(error))
    words = [str(error[key]) for key in ("code", "type", "param") if error.get(key)]
    message = error.get("message") or error.get("detail") or ""
    return _line(" ".join(words)), _line(str(message))


def _line(text: str) -> str:
    # A server's words go to a terminal: one line, and nothing a terminal would act on.
    flat = " ".join(text[: 4 * _LONGEST_DETAIL].split())
    return "".join(letter for letter in flat if letter.isprintable())[:_LONGEST_DETAIL]
