"""The time of day as records keep it."""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> str:
    """The moment in UTC, to the microsecond: sorts as text."""
    return datetime.now(UTC).isoformat(timespec="microseconds")
