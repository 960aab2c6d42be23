"""How many calls to one endpoint run at once, when all of them wait, and which are one call."""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from screentest.models.chat.faults import Clock


@dataclass(slots=True)
class Place:
    """A call's place at an endpoint, and what came of the call."""

    again: bool = False
    """Whether somebody else asked the same meanwhile."""
    well: bool = False
    pause: float | None = None
    """Seconds for which the server, which had too many calls, wants none."""


# A pause can be extended while someone waits for it; after so many extensions they go anyway,
# and a server that still objects counts as one of their bounded attempts.
_MOST_PAUSES = 20


class Limiter:
    """The number of calls at once: grows while all is well, halves when the server says too many.

    Additive increase, multiplicative decrease, as networks do it. A server's wish to be left alone
    holds for everyone: nobody starts before it has passed, and then not all at once. Lives in one
    event loop.
    """

    def __init__(self, most: int, clock: Clock, rng: random.Random) -> None:
        self.most = most
        self._limit = float(most)
        self._clock = clock
        self._rng = rng
        self._active = 0
        self._queue: deque[asyncio.Future[None]] = deque()
        self._under_way: dict[Hashable, asyncio.Event] = {}
        """Requests that have a place, or wait for one."""
        self._closed_until = 0.0
        self._last_cut = float("-inf")

    @property
    def limit(self) -> int:
        """The number of calls that may run now."""
        return max(1, min(self.most, int(self._limit)))

    @asynccontextmanager
    async def slot(self, request: Hashable = None) -> AsyncIterator[Place]:
        """Wait for a place and for the end of any pause; the place is ours inside.

        Of those who ask the same ``request`` one has a place at a time.
        """
        place = Place()
        while request is not None and (other := self._under_way.get(request)) is not None:
            place.again = True
            await other.wait()
        ended = self._under_way[request] = asyncio.Event()
        try:
            await self._enter()
            try:
                await self._wait_out_pause()
                started = self._clock.monotonic()
                yield place
                if place.well:
                    self.succeeded()
                elif place.pause is not None:
                    self.congested(started, place.pause)
            finally:
                self._active -= 1
                self._admit()
        finally:
            self._under_way.pop(request, None)
            ended.set()

    def succeeded(self) -> None:
        """Note a call that went well: a little more is allowed."""
        self._limit = min(float(self.most), self._limit + 1 / self._limit)
        self._admit()

    def congested(self, started: float, wait: float) -> None:
        """Note "too many" for a call begun at ``started``; nobody asks for ``wait`` seconds.

        Of all calls that were under way together only the first cuts the limit, or one burst
        of refusals would cut it to nothing.
        """
        now = self._clock.monotonic()
        if started > self._last_cut:
            self._limit = max(1.0, self._limit / 2)
            self._last_cut = now
        self._closed_until = max(self._closed_until, now + wait)

    async def _enter(self) -> None:
        if self._active < self.limit and not self._queue:
            self._active += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # admitted and cancelled at once
                self._active -= 1
                self._admit()
            raise  # a cancelled turn still in the queue is passed over by _admit

    def _admit(self) -> None:
        while self._queue and self._active < self.limit:
            turn = self._queue.popleft()
            if not turn.done():
                self._active += 1
                turn.set_result(None)

    async def _wait_out_pause(self) -> None:
        for _ in range(_MOST_PAUSES):
            rest = self._closed_until - self._clock.monotonic()
            if rest <= 0:
                return
            # Spread the return over a quarter of the pause.
            await self._clock.sleep(rest + self._rng.uniform(0, rest / 4))
