"""MediaResponse: a video, or the part of it that was asked for, with flat memory."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

import anyio
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from screentest.annotate.media.padding import Padding
from screentest.annotate.media.ranges import Unsatisfiable, asked_range

CHUNK: Final = 256 * 1024


class MediaResponse(Response):
    """Bytes of a file and of the padding behind it. Tells no name, date or hash."""

    def __init__(self, path: Path, real: int, length: int, kind: str, asked: str | None) -> None:
        self._path = path
        self._padding = Padding(real, length)
        self._begin, self._end = 0, length - 1
        headers = {
            "Accept-Ranges": "bytes",
            "Cache-Control": "private, max-age=86400",
            "Content-Disposition": "inline",
        }
        status = 200
        try:
            found = asked_range(asked, length)
        except Unsatisfiable:
            headers["Content-Range"] = f"bytes */{length}"
            self._begin, self._end, status = 0, -1, 416
        else:
            if found is not None:
                self._begin, self._end = found
                headers["Content-Range"] = f"bytes {self._begin}-{self._end}/{length}"
                status = 206
        headers["Content-Length"] = str(self._end - self._begin + 1)
        super().__init__(status_code=status, headers=headers, media_type=kind)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it; stop as soon as nobody listens."""
        start = {
            "type": "http.response.start",
            "status": self.status_code,
            "headers": self.raw_headers,
        }
        if scope["method"] == "HEAD" or self._end < self._begin:
            await send(start)
            await send({"type": "http.response.body", "body": b""})
            return
        descriptor = await anyio.to_thread.run_sync(_open, self._path, self._padding.real)
        try:
            await send(start)
            async with anyio.create_task_group() as group:

                async def until_gone() -> None:
                    while (await receive())["type"] != "http.disconnect":
                        pass
                    group.cancel_scope.cancel()

                group.start_soon(until_gone)
                await self._send_all(descriptor, send)
                group.cancel_scope.cancel()
        finally:
            os.close(descriptor)

    async def _send_all(self, descriptor: int, send: Send) -> None:
        place = self._begin
        while place <= self._end:
            count = min(CHUNK, self._end - place + 1)
            if place < self._padding.real:
                count = min(count, self._padding.real - place)
                body = await anyio.to_thread.run_sync(os.pread, descriptor, count, place)
                if not body:
                    raise OSError(f"{self._path} became shorter while it was sent")
            else:
                body = self._padding.read(place - self._padding.real, count)
            place += len(body)
            more = place <= self._end
            await send({"type": "http.response.body", "body": body, "more_body": more})


def is_whole(path: Path, real: int) -> bool:
    """Whether the file is still the one that was looked at."""
    try:
        status = path.lstat()
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and status.st_size == real


def _open(path: Path, real: int) -> int:
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    if os.fstat(descriptor).st_size != real:
        os.close(descriptor)
        raise OSError(f"{path} is not the file that was looked at")
    return descriptor
