"""As much of HTTP/1.1 as a fake server needs, and a little that a good one must not do."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

_LARGEST_BODY = 512 * 2**20


async def read_request(
    reader: asyncio.StreamReader,
) -> tuple[str, dict[str, str], bytes] | None:
    """Path, headers and body of the next request; None when the client is done."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        first, *rest = head.decode("latin-1").split("\r\n")
        headers = {}
        for line in rest:
            name, colon, value = line.partition(":")
            if colon:
                headers[name.strip().lower()] = value.strip()
        length = int(headers.get("content-length", "0"))
        if length > _LARGEST_BODY:
            return None
        body = await reader.readexactly(length)
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
        return None
    return first.split(" ")[1], headers, body


class Connection:
    """One client."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self._writer = writer

    async def send_json(
        self, code: int, content: Any, headers: Mapping[str, str] | None = None
    ) -> None:
        """An ordinary response."""
        every = {"Content-Type": "application/json", **(headers or {})}
        await self.send(code, json.dumps(content).encode(), every)

    async def send(self, code: int, body: bytes, headers: Mapping[str, str]) -> None:
        """These very bytes."""
        self._writer.write(_head(code, len(body), headers) + body)
        await self._writer.drain()

    async def drip(self, body: bytes, size: int, pause: float) -> None:
        """The body a few bytes at a time."""
        self._writer.write(_head(200, len(body), {"Content-Type": "application/json"}))
        for start in range(0, len(body), size):
            self._writer.write(body[start : start + size])
            await self._writer.drain()
            await asyncio.sleep(pause)

    async def reset(self, after: int | None, body: bytes) -> None:
        """Break the connection hard, before the response or within its body."""
        if after is not None:
            head = _head(200, len(body), {"Content-Type": "application/json"})
            self._writer.write(head + body[:after])
            await self._writer.drain()
            await asyncio.sleep(0.01)  # or the bytes before the break would be lost with it
        wire = self._writer.get_extra_info("socket")
        # Linger 0 makes closing send a reset instead of a farewell.
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()

    def close(self) -> None:
        """Hang up."""
        self._writer.close()


def _head(code: int, length: int, headers: Mapping[str, str]) -> bytes:
    try:
        phrase = HTTPStatus(code).phrase
    except ValueError:
        phrase = "Scripted"
    lines = [f"HTTP/1.1 {code} {phrase}", f"Content-Length: {length}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")
