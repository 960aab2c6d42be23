"""Media: files that a browser plays and that say nothing of where they come from.

A file that is clean already is served as it is. Tags (title, comment, encoder, date) can name
the model that made a video, so a file with tags is copied without them, packet by packet; one
that no browser plays is encoded anew. Copies are kept beside the store.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import anyio
from sqlalchemy import Row
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from screentest._util.atomic import atomic_output
from screentest.core import Progress, Silent, UserError
from screentest.video.container import open_container, video_stream
from screentest.video.edit.normalize import normalize
from screentest.video.sandbox import supervised

if TYPE_CHECKING:
    from av.container import InputContainer


MP4: Final = "video/mp4"
_SAYS_NOTHING = {"major_brand", "minor_version", "compatible_brands", "language"}
_DEFAULTS = {"handler_name": {"VideoHandler", "SoundHandler"}, "vendor_id": {"[0][0][0][0]"}}
_IN_MP4 = {"h264", "vp9", "av1"}
_PIXELS = {"yuv420p", "yuvj420p"}
_SOUNDS = {"aac", "mp3", "opus"}


def prepare_all(
    paths: Iterable[Path], folder: Path, *, progress: Progress | None = None
) -> dict[Path, Path]:
    """Return each file as it is to be served; those that had to be copied are in ``folder``."""
    wanted = list(dict.fromkeys(paths))
    ready = {}
    with progress or Silent() as watched:
        watched.begin("looking at videos", len(wanted), "video")
        for path in wanted:
            ready[path] = supervised(prepare, path, folder).unwrap()
            watched.advance()
    return ready


def prepare(path: Path, folder: Path) -> Path:
    """One file; raises VideoError where it is none."""
    container = open_container(path)
    try:
        stream = video_stream(container)
        if stream is None:
            raise UserError(f"{path} has no video", advice="Check that it plays.")
        pixels = stream.codec_context.pix_fmt
        codec = stream.codec_context.name
        isom = "mp4" in container.format.name.split(",")
        playable = codec in _IN_MP4 and pixels in _PIXELS
        if playable and isom and not _tags(container):
            return path
        target = folder / f"{_digest(path)}.mp4"
        if target.is_file():
            return target
        folder.mkdir(parents=True, exist_ok=True)
        if playable:
            _copy(container, stream, target)
    finally:
        container.close()
    if not target.is_file():
        normalize(path, target)
    return target


def _tags(container: InputContainer) -> bool:
    """Return whether the file says anything of itself beyond what every file of its kind does."""
    for part in (container, *container.streams):
        for name, value in part.metadata.items():
            if name not in _SAYS_NOTHING and value not in _DEFAULTS.get(name, set()):
                return True
    kinds = [stream.type for stream in container.streams]
    attached = kinds.count("video") != 1 or bool(set(kinds) - {"video", "audio"})
    return attached or bool(container.chapters())


def _copy(container: InputContainer, stream: Any, target: Path) -> None:
    import av

    sounds = [item for item in container.streams.audio if item.codec_context.name in _SOUNDS]
    chosen = [stream, *sounds[:1]]
    with (
        atomic_output(target) as file,
        av.open(file, mode="w", format="mp4", container_options={"fflags": "+bitexact"}) as output,
    ):
        copies = {}
        for entry in chosen:
            copies[entry.index] = copy = output.add_stream_from_template(entry)
            copy.metadata.clear()
        for packet in container.demux(chosen):
            if packet.dts is None:
                continue
            packet.stream = copies[packet.stream.index]
            output.mux_one(packet)
            file.check()


def _digest(path: Path) -> str:
    status = path.stat()
    available = f"{path}\0{status.st_size}\0{status.st_mtime_ns}"
    return hashlib.sha256(available.encode("utf-8", "surrogateescape")).hexdigest()[:32]


_STEP: Final = 1 << 16
_HEADER: Final = 16
_WIDE: Final = 1 << 32


def served_length(sizes: Iterable[int]) -> int:
    """Return the length at which files of these sizes are all served."""
    least = max(sizes) + _HEADER
    return -(-least // _STEP) * _STEP


@dataclass(frozen=True, slots=True)
class Padding:
    r"""The bytes behind the last real one: both videos of a pair are served with one length.

    Else their sizes would tell them apart. What is added is an element that players skip: a
    ``free`` box at the end of an MP4.

    >>> served_length([1000, 70_000])
    131072
    >>> pad = Padding(real=70_000, length=131_072)
    >>> pad.read(0, 8)
    b'\x00\x00\xee\x90free'
    >>> len(pad.read(8, 10**9)) == 131_072 - 70_000 - 8
    True
    """

    real: int
    length: int

    @property
    def _head(self) -> bytes:
        size = self.length - self.real
        if size < _WIDE:
            return size.to_bytes(4, "big") + b"free"
        return (1).to_bytes(4, "big") + b"free" + size.to_bytes(8, "big")

    def read(self, offset: int, count: int) -> bytes:
        """At most ``count`` bytes from ``offset`` within the padding."""
        count = max(0, min(count, self.length - self.real - offset))
        head = self._head[offset : offset + count]
        return head + bytes(count - len(head))


# Range requests: which bytes a player asks for (RFC 9110, section 14).

_ONE_RANGE: Final = re.compile(r"bytes\s*=\s*(\d{0,19})\s*-\s*(\d{0,19})\s*", re.ASCII)


class Unsatisfiable(ValueError):
    """No byte of the file is in the range."""


def asked_range(header: str | None, length: int) -> tuple[int, int] | None:
    """Return the first and last byte asked for; None: all of it.

    A header that is not a range, or several ranges at once, is ignored, as the standard allows:
    players ask for one.

    >>> asked_range("bytes=0-", 10), asked_range("bytes=-3", 10), asked_range("bytes=5-4", 10)
    ((0, 9), (7, 9), None)
    """
    match = _ONE_RANGE.fullmatch(header) if header is not None else None
    if match is None or match.group(1) == match.group(2) == "":
        return None
    first, last = match.groups()
    if first == "":
        count = min(int(last), length)
        if count == 0:
            raise Unsatisfiable
        return length - count, length - 1
    begin, end = int(first), int(last) if last else length - 1
    if end < begin and last:
        return None
    if begin >= length:
        raise Unsatisfiable
    return begin, min(end, length - 1)


# MediaResponse: a video, or the part of it that was asked for, with flat memory.

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
            result = asked_range(asked, length)
        except Unsatisfiable:
            headers["Content-Range"] = f"bytes */{length}"
            self._begin, self._end, status = 0, -1, 416
        else:
            if result is not None:
                self._begin, self._end = result
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


def file_response(request: Request, row: Row[Any], length: int) -> MediaResponse:
    """Answer with a file of the store; 404 where it is no longer the one that was looked at."""
    path = Path(row.served)
    with suppress(OSError):
        status = path.lstat()
        if stat.S_ISREG(status.st_mode) and status.st_size == row.bytes:
            # With no validator to compare, a conditional range is answered with all of it.
            asked = None if "if-range" in request.headers else request.headers.get("range")
            return MediaResponse(path, row.bytes, length, row.kind, asked)
    raise HTTPException(404)


def _open(path: Path, real: int) -> int:
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    if os.fstat(descriptor).st_size != real:
        os.close(descriptor)
        raise OSError(f"{path} is not the file that was looked at")
    return descriptor
