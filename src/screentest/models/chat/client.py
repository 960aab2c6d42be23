"""The openai SDK, restricted: no retries, no redirects, no proxy to this machine.

Imported on first use only: importing the SDK takes half a second.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from ssl import SSLContext
from typing import Any, cast

import httpx2
from openai import APIConnectionError, APIStatusError, AsyncOpenAI, Omit

from screentest.models.chat.faults import CallFault, FaultKind, connection_fault, status_fault
from screentest.models.chat.wire import Endpoint, Secret

MOST_BYTES = 8 * 2**20
"""Of a response. No verdict is longer."""

_CONNECT_TIMEOUT = 20.0
# What the SDK would tell every server about this machine, and any server about an OpenAI
# account. Nobody needs it, and each line of it costs time.
_ABOUT_US = (
    *("Lang", "Package-Version", "OS", "Arch", "Runtime", "Runtime-Version", "Async"),
    *("Retry-Count", "Read-Timeout"),
)
_UNSAID: dict[str, Any] = {f"X-Stainless-{name}": Omit() for name in _ABOUT_US}
_ACCOUNT: dict[str, Any] = {"OpenAI-Organization": Omit(), "OpenAI-Project": Omit()}
# A few kilobytes can unpack to gigabytes, so nothing packed is asked for, and none taken.
_HEADERS: dict[str, Any] = {
    "Content-Type": "application/json",
    "Accept-Encoding": "identity",
    **_UNSAID,
}
# A pool looks at every connection it has for each request, so several small ones are quicker.
_CONNECTIONS_PER_POOL = 4


class Refused(httpx2.ReadError):
    """A response that is not read on: beyond the limit, or to be unpacked."""

    def __init__(self, kind: FaultKind, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class _Bounded(httpx2.AsyncByteStream):
    """A response's bytes, up to the limit."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        total = 0
        async for chunk in self._stream:
            total += len(chunk)
            if total > MOST_BYTES:
                raise Refused(FaultKind.TOO_LONG, f"more than {MOST_BYTES} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _bound(response: httpx2.Response) -> None:
    packed = response.headers.get("Content-Encoding", "").strip()
    if packed.lower() not in ("", "identity"):
        why = f"the response is packed as {packed[:40]!r}, which was not asked for"
        raise Refused(FaultKind.GARBLED, why)
    response.stream = _Bounded(cast(httpx2.AsyncByteStream, response.stream))


class ChatClient:
    """Sends bodies to one endpoint. Lives in one event loop."""

    def __init__(self, endpoint: Endpoint, key: Secret, connections: int, timeout: float) -> None:
        self._key = key
        self._timeout = timeout
        pools = -(-connections // _CONNECTIONS_PER_POOL)
        # Reading the trusted certificates takes a while: once for all pools, not for plain HTTP.
        trust: SSLContext | bool = False
        if not endpoint.url.startswith("http:"):
            trust = httpx2.create_ssl_context(trust_env=not endpoint.loopback)
        self._all = [_sdk(endpoint, key, timeout, trust) for _ in range(pools)]
        self._idle = self._all * _CONNECTIONS_PER_POOL

    async def send(self, body: bytes) -> bytes:
        """Send one request; the body of the response, or a CallFault."""
        sdk = self._idle.pop()
        try:
            async with asyncio.timeout(self._timeout):
                response = await sdk.post(
                    "/chat/completions",
                    cast_to=httpx2.Response,
                    content=body,
                    options={"headers": _HEADERS},
                )
                return response.content
        except TimeoutError:
            fault = CallFault(FaultKind.TIMED_OUT, f"no answer in {self._timeout:g} s")
        except APIStatusError as error:
            text = self._key.hide(error.response.text)
            fault = status_fault(error.status_code, error.response.headers, text, time.time())
        except APIConnectionError as error:
            cause = error.__cause__
            if isinstance(cause, Refused):
                fault = CallFault(cause.kind, str(cause))
            else:
                fault = connection_fault(error)
        finally:
            self._idle.append(sdk)
        raise fault

    async def close(self) -> None:
        for sdk in self._all:
            await sdk.close()


def _sdk(endpoint: Endpoint, key: Secret, timeout: float, trust: SSLContext | bool) -> AsyncOpenAI:
    return AsyncOpenAI(
        api_key=key.reveal() or "none",
        base_url=endpoint.url,
        max_retries=0,
        timeout=httpx2.Timeout(timeout, connect=min(timeout, _CONNECT_TIMEOUT)),
        default_headers=None if endpoint.host == "api.openai.com" else _ACCOUNT,
        http_client=httpx2.AsyncClient(
            limits=httpx2.Limits(
                max_connections=_CONNECTIONS_PER_POOL,
                max_keepalive_connections=_CONNECTIONS_PER_POOL,
            ),
            verify=trust,
            follow_redirects=False,
            # Frames for a server on this machine must not travel through a proxy.
            trust_env=not endpoint.loopback,
            event_hooks={"response": [_bound]},
        ),
    )
