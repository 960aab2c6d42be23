"""A chat server that misbehaves on script: real HTTP on this machine, no model behind it.

>>> from screentest.testing import Answer, FakeChatServer, Status
>>> with FakeChatServer([Status(503), Answer("yes")]) as server:
...     server.url.startswith("http://127.0.0.1:")
True

The script is a list of acts, one per request in order of arrival, the last one for all that
follow; or a function from the request to an act. Without one, answers are made up that fit.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import threading
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from types import TracebackType
from typing import Any, TypeAlias

from screentest.testing.chat_answers import (
    Act,
    Answer,
    Asked,
    Drip,
    Raw,
    Status,
    as_enforced,
    count_tokens,
    error_body,
    plausible,
)

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
    """One client, with as much of HTTP/1.1 as a fake server needs, and some that a good one must
    not do.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self._writer = writer

    async def send_json(
        self, code: int, content: Any, headers: Mapping[str, str] | None = None
    ) -> None:
        """Send an ordinary response."""
        every = {"Content-Type": "application/json", **(headers or {})}
        await self.send(code, json.dumps(content).encode(), every)

    async def send(self, code: int, body: bytes, headers: Mapping[str, str]) -> None:
        """Send these very bytes."""
        self._writer.write(_head(code, len(body), headers) + body)
        await self._writer.drain()

    async def drip(self, body: bytes, size: int, pause: float) -> None:
        """Send the body a few bytes at a time."""
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
        self._writer.close()


def _head(code: int, length: int, headers: Mapping[str, str]) -> bytes:
    try:
        phrase = HTTPStatus(code).phrase
    except ValueError:
        phrase = "Scripted"
    lines = [f"HTTP/1.1 {code} {phrase}"]
    every = {"Content-Length": str(length), **headers}  # a script may lie about the length
    lines += [f"{name}: {value}" for name, value in every.items()]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


Script: TypeAlias = Sequence[Act] | Callable[[Asked], Act]


class FakeChatServer:
    """Serves from a thread of its own while its ``with`` block lasts."""

    def __init__(self, script: Script = plausible, *, latency: float = 0.0, port: int = 0) -> None:
        if not callable(script) and not script:
            raise ValueError("a script needs at least one act")
        self._script = script
        self._latency = latency
        self._port = port
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop = asyncio.Event()
        self._thread: threading.Thread | None = None
        self._script_errors: list[Exception] = []
        self._tokens_in = 0
        self._tokens_out = 0
        self.asked: list[Asked] = []
        """Every request for an answer, in order of arrival."""
        self.at_once = 0
        self.most_at_once = 0
        """How many requests were under way together at most."""

    @property
    def url(self) -> str:
        """The base address to give to a client."""
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def billed(self) -> tuple[int, int]:
        """Input and output tokens of all answers given."""
        return self._tokens_in, self._tokens_out

    def __enter__(self) -> FakeChatServer:
        self._thread = threading.Thread(target=self._run, name="fake-chat-server", daemon=True)
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
        if error is None and self._script_errors:
            raise self._script_errors[0]

    def close(self) -> None:
        """Hang up on everybody and serve no more."""
        if self._thread is not None and self._loop is not None:
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join()
            self._thread = None

    def serve(self, announce: Callable[[str], None]) -> None:
        """Serve in this thread until interrupted; ``announce`` gets the address."""
        asyncio.run(self._serve(lambda: announce(self.url)))

    def _run(self) -> None:
        asyncio.run(self._serve(self._ready.set))

    async def _serve(self, started: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        handlers: set[asyncio.Task[None]] = set()

        async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            handlers.add(task)
            try:
                await self._converse(Connection(reader, writer))
            finally:
                handlers.discard(task)

        server = await asyncio.start_server(
            accept, "127.0.0.1", self._port, limit=2**20, backlog=1024
        )
        self._port = server.sockets[0].getsockname()[1]
        started()
        try:
            await self._stop.wait()
        finally:
            server.close()
            for task in list(handlers):
                task.cancel()
            await asyncio.gather(*handlers, return_exceptions=True)

    async def _converse(self, connection: Connection) -> None:
        try:
            while (request := await read_request(connection.reader)) is not None:
                path, headers, body = request
                if not path.endswith("/chat/completions"):
                    listing = {"object": "list", "data": []} if path.endswith("/models") else None
                    await connection.send_json(404 if listing is None else 200, listing or {})
                    continue
                self.at_once += 1
                self.most_at_once = max(self.most_at_once, self.at_once)
                try:
                    await self._answer(connection, Asked(path, headers, body))
                finally:
                    self.at_once -= 1
        except (ConnectionError, asyncio.CancelledError):
            pass  # the client is gone, or the server is closing
        finally:
            connection.close()

    async def _answer(self, connection: Connection, asked: Asked) -> None:
        arrived = asyncio.get_running_loop().time()
        self.asked.append(asked)
        act = self._next_act(asked)
        answer = act.answer if isinstance(act, Drip) else act
        completion = self._completion(asked, answer) if isinstance(answer, Answer) else {}
        # The latency is counted from the arrival: what the server itself takes is in it.
        await _sleep_until(arrived + self._latency + act.delay)
        if isinstance(act, Answer):
            await connection.send_json(200, completion)
        elif isinstance(act, Status):
            await connection.send_json(act.code, error_body(act), act.headers)
        elif isinstance(act, Raw):
            headers = {"Content-Type": act.content_type, **act.headers}
            await connection.send(act.code, act.body, headers)
        elif isinstance(act, Drip):
            await connection.drip(json.dumps(completion).encode(), act.size, act.pause)
        else:
            await connection.reset(act.after, b'{"choices": [{"message": {"content": "lost"}}]}')

    def _next_act(self, asked: Asked) -> Act:
        if callable(self._script):
            try:
                return self._script(asked)
            except Exception as error:  # noqa: BLE001 - the script is the test's own code
                self._script_errors.append(error)  # raised where the server is closed
                return Status(500, "the script failed")
        return self._script[min(len(self.asked), len(self._script)) - 1]

    def _completion(self, asked: Asked, answer: Answer) -> dict[str, Any]:
        usage: Mapping[str, int] | None = None
        text = as_enforced(asked, answer)
        if answer.count_tokens:
            output = count_tokens(text or answer.refusal or "")
            usage = {
                "prompt_tokens": asked.tokens,
                "completion_tokens": output,
                "total_tokens": asked.tokens + output,
            }
            self._tokens_in += asked.tokens
            self._tokens_out += output
        message = {"role": "assistant", "content": text, "refusal": answer.refusal}
        return {
            "id": f"chatcmpl-{len(self.asked)}",
            "object": "chat.completion",
            "created": 0,
            "model": answer.model or asked.body.get("model", ""),
            "system_fingerprint": answer.fingerprint or None,
            "choices": [{"index": 0, "message": message, "finish_reason": answer.finish}],
            "usage": usage,
        }


async def _sleep_until(moment: float) -> None:
    rest = moment - asyncio.get_running_loop().time()
    if rest > 0:
        await asyncio.sleep(rest)
