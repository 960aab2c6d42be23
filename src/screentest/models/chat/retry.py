"""How long to wait before asking again, and how often to ask.

>>> parse_retry_after({"retry-after": "3"}, now=0)
3.0
>>> parse_retry_after({"retry-after": "Thu, 01 Jan 1970 00:01:00 GMT"}, now=0)
60.0
>>> parse_retry_after({"retry-after": "soon"}, now=0) is None
True
"""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Protocol


class Clock(Protocol):
    """Time as the client sees it, so that a test need not wait."""

    def monotonic(self) -> float:
        """Seconds that never run backwards."""

    def wall(self) -> float:
        """Seconds since 1970, to compare with a server's dates."""

    async def sleep(self, seconds: float) -> None:
        """Wait."""


class SystemClock:
    """The clock of the machine."""

    def monotonic(self) -> float:
        """Seconds that never run backwards."""
        return time.monotonic()

    def wall(self) -> float:
        """Seconds since 1970."""
        return time.time()

    async def sleep(self, seconds: float) -> None:
        """Wait."""
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
        """How often a server may say "too many" to one call: it costs nothing, so more often."""
        return 4 * self.max_attempts

    @property
    def most_calls(self) -> int:
        """Of both together, and one to find out that a server takes no schemas."""
        return self.max_attempts + self.max_refusals

    def wait(self, attempt: int, asked: float | None, dice: random.Random) -> float:
        """Seconds to wait after failed attempt number ``attempt``.

        ``asked`` is what the server asked for. Jitter keeps many clients from returning at
        the same instant; it never makes the wait shorter than what was asked.
        """
        if asked is not None:
            return min(asked + dice.uniform(0, self.first_wait), self.longest_wait)
        backoff = min(self.first_wait * 2.0 ** min(attempt - 1, 30), self.longest_wait)
        return backoff * dice.uniform(0.5, 1.0)


def parse_retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds until a server wants to be asked again; None where it does not sensibly say."""
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
