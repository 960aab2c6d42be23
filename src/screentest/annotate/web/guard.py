"""Guard: what is turned away before any page sees it, and the headers all answers carry."""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Final

import anyio
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

BODY_LIMIT: Final = 1 << 21
"""A prompt of 200,000 characters, each written as an escape, with room to spare."""
BODY_SECONDS: Final = 60.0
"""In which all of a body must have come."""
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "media-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
HEADERS: Final = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # Not "no-referrer": browsers would then send our own forms with the origin "null".
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


class Guard:
    """Lets in what comes from our own pages, under our own name, at a sensible size."""

    def __init__(self, app: ASGIApp, *, hosts: frozenset[str], origins: frozenset[str]) -> None:
        self._app = app
        self._hosts = hosts
        self._origins = origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        request = Request(scope)

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        refusal = self._refusal(request)
        if refusal is not None:
            await refusal(scope, receive, send_guarded)
            return
        await self._app(scope, _limited(receive), send_guarded)

    def _refusal(self, request: Request) -> PlainTextResponse | None:
        hosts = request.headers.getlist("host")
        # A page of another site could be given our address by its own DNS: its name tells.
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return _say(421, "This address is not served here.")
        if request.method in ("GET", "HEAD"):
            return None
        if request.method != "POST":
            return _say(405, "Not here.")
        origins = request.headers.getlist("origin")
        if len(origins) != 1 or origins[0].lower() not in self._origins:
            return _say(403, "Requests come from our own pages only.")
        if request.headers.get("sec-fetch-site", "same-origin") != "same-origin":
            return _say(403, "Requests come from our own pages only.")
        length = request.headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > BODY_LIMIT:
            return _say(413, "That is too long.")
        return None


def _limited(receive: Receive) -> Receive:
    taken = 0
    late = anyio.current_time() + BODY_SECONDS

    async def receive_limited() -> Message:
        nonlocal taken, late
        try:
            with anyio.fail_after(late - anyio.current_time()):
                message = await receive()
        except TimeoutError:
            raise HTTPException(408, "That took too long.", {"Connection": "close"}) from None
        if not message.get("more_body", False):
            late = math.inf  # what comes now is the end of the connection, which may be far
        taken += len(message.get("body", b""))
        if taken > BODY_LIMIT:
            raise HTTPException(413, "That is too long.")
        return message

    return receive_limited


def _say(status: int, text: str) -> PlainTextResponse:
    return PlainTextResponse(f"{text}\n", status)


# Throttle: how often somebody may try.


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
        with self._turn:
            now = self._clock()
            if len(self._events) > 10_000:  # those of long ago are forgotten
                recent = now - self._window
                self._events = {who: at for who, at in self._events.items() if at[-1] > recent}
            events = self._events.setdefault(name, deque())
            while events and events[0] <= now - self._window:
                events.popleft()
            if len(events) >= self._limit:
                return False
            events.append(now)
            return True
