"""A chat server that misbehaves on script: real HTTP on this machine, no model behind it.

>>> from screentest.testing import Answer, FakeChatServer, Status
>>> with FakeChatServer([Status(503), Answer("yes")]) as server:
...     server.url.startswith("http://127.0.0.1:")
True

The script is a list of acts, one per request in order of arrival, the last one for all that
follow; or a function from the request to an act. Without one, answers are made up that fit.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingTCPServer
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

_JSON: Mapping[str, str] = {"Content-Type": "application/json"}


class _Server(ThreadingTCPServer):
    """Listens on this machine; each client has a thread."""

    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 1024

    def __init__(self, port: int, fake: FakeChatServer) -> None:
        self.fake = fake
        self.clients: set[socket.socket] = set()
        super().__init__(("127.0.0.1", port), _Client)

    def shutdown_request(self, request: Any) -> None:
        """Close without a farewell, which would come before the reset of a broken connection."""
        self.clients.discard(request)
        self.close_request(request)


class _Client(BaseHTTPRequestHandler):
    """One client, with some of HTTP/1.1 that a good server must not do."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def handle(self) -> None:
        self.server.clients.add(self.connection)
        with suppress(ConnectionError):  # the client is gone, or the server is closing
            super().handle()

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", "0"))
        body = self.rfile.read(length)
        if len(body) < length:
            raise ConnectionAbortedError
        if self.path.endswith("/chat/completions"):
            headers = {name.lower(): value for name, value in self.headers.items()}
            self.server.fake.answer(self, Asked(self.path, headers, body))
        elif self.path.endswith("/models"):
            self.send_json(200, {"object": "list", "data": []})
        else:
            self.send_json(404, {})

    do_GET = do_POST  # noqa: N815 - the name that http.server looks for

    def log_message(self, *_: object) -> None:
        """Nobody reads it."""

    def send_json(self, code: int, content: Any, headers: Mapping[str, str] = _JSON) -> None:
        """Send an ordinary response."""
        self.send(code, json.dumps(content).encode(), {**_JSON, **headers})

    def send(self, code: int, body: bytes, headers: Mapping[str, str]) -> None:
        """Send these very bytes."""
        self._send_head(code, len(body), headers)
        self.wfile.write(body)

    def drip(self, body: bytes, size: int, pause: float) -> None:
        """Send the body a few bytes at a time."""
        self._send_head(200, len(body), _JSON)
        for start in range(0, len(body), size):
            self.wfile.write(body[start : start + size])
            self.server.fake.pause(pause)

    def reset(self, after: int | None, body: bytes) -> None:
        """Break the connection hard, before the response or within its body."""
        if after is not None:
            self._send_head(200, len(body), _JSON)
            self.wfile.write(body[:after])
            time.sleep(0.01)  # or the bytes before the break would be lost with it
        # Linger 0 makes closing send a reset instead of a farewell.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True

    def _send_head(self, code: int, length: int, headers: Mapping[str, str]) -> None:
        self.send_response_only(code, self.responses.get(code, ("Scripted", ""))[0])
        # A script may lie about the length.
        for name, value in {"Content-Length": str(length), **headers}.items():
            self.send_header(name, value)
        self.end_headers()


Script: TypeAlias = Sequence[Act] | Callable[[Asked], Act]


class FakeChatServer:
    """Serves from a thread of its own while its ``with`` block lasts."""

    def __init__(self, script: Script = plausible, *, latency: float = 0.0, port: int = 0) -> None:
        if not callable(script) and not script:
            raise ValueError("a script needs at least one act")
        self._script = script
        self._latency = latency
        self._port = port
        self._server: _Server | None = None
        self._closing = threading.Event()
        self._turn = threading.Lock()
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
        server = self._listen()
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.close()
        if error is None and self._script_errors:
            raise self._script_errors[0]

    def close(self) -> None:
        """Hang up on everybody and serve no more."""
        server, self._server = self._server, None
        if server is None:
            return
        self._closing.set()
        server.shutdown()
        for client in list(server.clients):
            with suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)
        server.server_close()

    def serve(self, announce: Callable[[str], None]) -> None:
        """Serve in this thread until interrupted; ``announce`` gets the address."""
        server = self._listen()
        announce(self.url)
        server.serve_forever()

    def _listen(self) -> _Server:
        self._server = _Server(self._port, self)
        self._port = self._server.server_address[1]
        return self._server

    def pause(self, seconds: float) -> None:
        """Wait; whoever waits when the server is closed is hung up on."""
        if self._closing.wait(max(0.0, seconds)):
            raise ConnectionAbortedError

    def answer(self, client: _Client, asked: Asked) -> None:
        arrived = time.monotonic()
        with self._turn:
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            with self._turn:  # scripts need not be safe in threads
                self.asked.append(asked)
                act = self._next_act(asked)
                answer = act.answer if isinstance(act, Drip) else act
                completion = self._completion(asked, answer) if isinstance(answer, Answer) else {}
            # The latency is counted from the arrival: what the server itself takes is in it.
            self.pause(arrived + self._latency + act.delay - time.monotonic())
            if isinstance(act, Answer):
                client.send_json(200, completion)
            elif isinstance(act, Status):
                client.send_json(act.code, error_body(act), act.headers)
            elif isinstance(act, Raw):
                headers = {"Content-Type": act.content_type, **act.headers}
                client.send(act.code, act.body, headers)
            elif isinstance(act, Drip):
                client.drip(json.dumps(completion).encode(), act.size, act.pause)
            else:
                client.reset(act.after, b'{"choices": [{"message": {"content": "lost"}}]}')
        finally:
            with self._turn:
                self.at_once -= 1

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
