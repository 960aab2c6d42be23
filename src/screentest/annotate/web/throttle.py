"""Throttle: how often somebody may try."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable


class Throttle:
    """At most ``limit`` events in ``window`` seconds for each name.

    >>> moments = iter([0.0, 1.0, 2.0, 61.0])
    >>> throttle = Throttle(2, 60.0, clock=lambda: next(moments))
    >>> [throttle.allows("x") for _ in range(4)]
    [True, True, False, True]
    """

    def __init__(
        self, limit: int, window: float, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._limit = limit
        self._window = window
        self._clock = clock
        self._events: dict[str, deque[float]] = {}
        self._turn = threading.Lock()

    def allows(self, name: str) -> bool:
        """Count one more event, if it may be."""
        with self._turn:
            now = self._clock()
            if len(self._events) > 10_000:
                self._forget(now)
            events = self._events.setdefault(name, deque())
            while events and events[0] <= now - self._window:
                events.popleft()
            if len(events) >= self._limit:
                return False
            events.append(now)
            return True

    def _forget(self, now: float) -> None:
        old = [name for name, when in self._events.items() if when[-1] <= now - self._window]
        for name in old:
            del self._events[name]
