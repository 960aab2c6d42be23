"""A web server on this machine that misbehaves as it is told."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Behaviour = Callable[[BaseHTTPRequestHandler], None]


@contextmanager
def serving(behave: Behaviour) -> Iterator[tuple[int, list[str]]]:
    """A server that does as told; its port, and what it was asked."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *arguments: Any) -> None:
            pass

        def do_GET(self) -> None:
            asked.append(f"{self.command} {self.path}")
            assert self.headers["Accept-Encoding"] == "identity"
            with suppress(ConnectionError):  # whoever asked has had enough
                behave(self)

        do_HEAD = do_GET

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server.server_port, asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def answer(handler: BaseHTTPRequestHandler, body: bytes, code: int = 200, **headers: str) -> None:
    handler.send_response(code)
    every = {"Content-Length": str(len(body)), "ETag": '"1"'}
    every |= {name.replace("_", "-"): value for name, value in headers.items()}
    for name, value in every.items():
        handler.send_header(name, value)
    handler.end_headers()
    if handler.command == "GET":
        handler.wfile.write(body)


def reset(handler: BaseHTTPRequestHandler) -> None:
    """Break the connection hard: a real RST."""
    handler.wfile.flush()
    time.sleep(0.05)  # or the bytes before the break would be lost with it
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()
