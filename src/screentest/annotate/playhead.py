"""Playhead: where the playhead has been, as far as the server's own clock allows.

A page reports stretches that were played and moments at which the playhead rested. Nobody can
watch faster than the clock: what a page claims is held against the time that has passed here.

>>> seen = Viewing().with_play(2.0, 6.0, rate=2.0)
>>> seen.spent, seen.has_seen(5.0, 9.0), seen.has_seen(7.0, 9.0)
(2.0, True, False)
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

MAX_RATE: Final = 2.0
"""The fastest playback that the players offer and the server believes."""
ENOUGH_PLAYED: Final = 1.0
"""Seconds of an interval that must have been played; half of it where it is shorter."""
ENOUGH_REST: Final = 0.5
"""Seconds the playhead must have rested in it otherwise: a bar dragged across does not count."""
SLACK: Final = 1.0
"""Seconds by which a page may be ahead of the server's clock over a whole step."""
_MOST = 2000
_SAME_PLACE = 0.05


class Implausible(ValueError):
    """A report that is impossible."""


@dataclass(frozen=True, slots=True)
class Viewing:
    """What one player has shown in one step."""

    played: tuple[tuple[float, float], ...] = ()
    rests: tuple[tuple[float, float], ...] = ()
    """Where the playhead stood still, and for how many seconds."""
    spent: float = 0.0
    """Seconds of a person's time that all of it takes."""

    def with_play(self, start: float, end: float, rate: float) -> Viewing:
        """After a stretch was played."""
        if not 0 < rate <= MAX_RATE or not 0 <= start <= end:
            raise Implausible(f"nothing plays from {start} to {end} at {rate}")
        spent = self.spent + (end - start) / rate
        return Viewing(_merged([*self.played, (start, end)]), self.rests, spent)

    def with_rest(self, at: float, seconds: float) -> Viewing:
        """After the playhead stood at one place for a while."""
        if at < 0 or seconds < 0:
            raise Implausible(f"no playhead rests at {at} for {seconds} s")
        rests = list(self.rests)
        if rests and abs(rests[-1][0] - at) <= _SAME_PLACE:
            rests[-1] = (rests[-1][0], rests[-1][1] + seconds)
        else:
            rests.append((at, seconds))
        return Viewing(self.played, tuple(rests[-_MOST:]), self.spent + seconds)

    def has_seen(self, start: float, end: float) -> bool:
        """Return whether the playhead has been in an interval, not just crossed it."""
        shown = sum(max(0.0, min(end, stop) - max(start, begin)) for begin, stop in self.played)
        rested = sum(seconds for at, seconds in self.rests if start <= at < end)
        # Positions come as decimals; the last thousandth decides nothing.
        enough = min(ENOUGH_PLAYED, (end - start) / 2) - 1e-3
        return 0 < shown >= enough or rested >= ENOUGH_REST

    def share(self, duration: float) -> float:
        """Return how much of a video was played."""
        if duration <= 0:
            return 0.0
        shown = sum(max(0.0, min(stop, duration) - begin) for begin, stop in self.played)
        return min(1.0, max(0.0, shown) / duration)

    def as_object(self) -> dict[str, Any]:
        return {"played": self.played, "rests": self.rests, "spent": self.spent}

    @staticmethod
    def of(stored: Mapping[str, Any] | None) -> Viewing:
        """As the database gave it back."""
        if stored is None:
            return Viewing()
        return Viewing(
            tuple((begin, end) for begin, end in stored["played"]),
            tuple((at, seconds) for at, seconds in stored["rests"]),
            stored["spent"],
        )


def take_reports(before: Viewing, reports: Sequence[object], *, elapsed: float) -> Viewing:
    """Return what a page reports, added; raises Implausible where it contradicts the clock."""
    now = before
    for report in reports:
        now = _take(now, report)
    if now.spent > elapsed + SLACK:
        raise Implausible(f"{now.spent:.1f} s of viewing within {elapsed:.1f} s")
    return now


def _take(before: Viewing, report: object) -> Viewing:
    match report:
        case {"from": begin, "to": end, "rate": rate}:
            return before.with_play(_number(begin), _number(end), _number(rate))
        case {"at": at, "rest": seconds}:
            return before.with_rest(_number(at), _number(seconds))
    raise Implausible("a report is a stretch that was played, or a rest")


def _number(given: object) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float):
        raise Implausible(f"a time is a number, not {type(given).__name__}")
    try:
        number = float(given)
    except OverflowError:  # a whole number of hundreds of digits
        number = math.inf
    if not math.isfinite(number):
        raise Implausible("no time is that long")
    return number


def _merged(stretches: Sequence[tuple[float, float]]) -> tuple[tuple[float, float], ...]:
    merged: list[tuple[float, float]] = []
    for begin, end in sorted(stretches):
        if merged and begin <= merged[-1][1] + _SAME_PLACE:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((begin, end))
    return tuple(merged[:_MOST])
