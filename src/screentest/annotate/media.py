"""Media: files that a browser plays and that say nothing of where they come from.

A file that is clean already is not copied. Tags (title, comment, encoder, date) can name
the model that made a video, so a file with tags is copied without them, packet by packet; one
that no browser plays is encoded anew. Copies are kept beside the store.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

import av
import numpy as np
from av.container import InputContainer
from numpy.typing import NDArray
from sqlalchemy import Row
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from screentest._util.atomic import atomic_output
from screentest.core import Progress, Silent, UserError
from screentest.models.chat.messages import Encoding, encode
from screentest.models.pictures import limit_long_side, read_picture
from screentest.video.container import open_container, video_stream
from screentest.video.edit.normalize import normalize
from screentest.video.sandbox import supervised

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


@lru_cache(64)
def picture_address(path: str) -> str:
    """Return a reference picture as a data URL: without name or tags, no larger than a screen."""
    picture = encode(limit_long_side(read_picture(Path(path)), 1600), Encoding(quality=90))
    return f"data:{picture.media_type};base64,{base64.b64encode(picture.data).decode()}"


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
            with suppress(NoLayout):
                Layout(path, served_length([path.stat().st_size]), "")
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


# What is served: the samples of a file, arranged anew for every sitting.

_STEP: Final = 1 << 16
_INDEX: Final = 1 << 14
_BLOCK: Final = 1 << 16
_LEAST: Final = 24
_TYPE: Final = b"\0\0\0\x18ftypisom\0\0\2\0isomiso2"
_WITHIN: Final = {b"moov", b"trak", b"mdia", b"minf", b"stbl"}
Numbers = NDArray[np.int64]
Choices = NDArray[np.bool_]
_LEFT_OUT: Final = {b"udta", b"meta", b"free", b"skip", b"uuid"}


def served_length(sizes: Iterable[int]) -> int:
    """Return the length at which files of these sizes are all served.

    >>> served_length([1000, 70_000])
    131072
    """
    largest = max(sizes)
    return -(-(largest + largest // 16 + 2 * _INDEX) // _STEP) * _STEP


class NoLayout(ValueError):
    """The file is not an MP4 with one index of its samples."""


class _Track(NamedTuple):
    sizes: Numbers
    chunks: Numbers
    counts: Numbers
    """How many samples each chunk has."""
    takes_messages: bool


class Layout:
    """A video as one sitting gets it: the same pictures, in bytes that no other sitting has.

    The index comes first, then the samples. Each sample of H.264 begins with a message of random
    length and content that decoders skip (SEI, "user data unregistered"); with other codecs there
    are random bytes between the chunks. Nothing is encoded or stored: every range is put together
    from the file when it is asked for, and the same seed gives the same bytes.
    """

    def __init__(self, path: Path, length: int, seed: str) -> None:
        self.path, self.length = path, length
        self._key = int.from_bytes(hashlib.sha256(seed.encode()).digest()[:16])
        try:
            self._arrange()
        except (KeyError, IndexError, OverflowError, ValueError) as error:
            raise NoLayout(str(error)) from None

    def _arrange(self) -> None:
        with self.path.open("rb") as file:
            self.real = os.fstat(file.fileno()).st_size
            moov = _read_moov(file)
            tracks = [_track(part, self.real) for kind, part in _boxes(moov) if kind == b"trak"]
            sizes, chunks, counts = (np.concatenate([t[n] for t in tracks]) for n in range(3))
            first = np.repeat(np.cumsum(counts) - counts, counts)
            before = np.cumsum(sizes) - sizes
            offsets = np.repeat(chunks, counts) + before - before[first]
            if offsets.min() < 0 or (offsets + sizes).max() > self.real:
                raise ValueError("samples lie outside of the file")
            message = np.repeat([t.takes_messages for t in tracks], [len(t.sizes) for t in tracks])
            file.seek(int(offsets[np.argmax(message)]) + 4)
            # A delimiter (type 9) must stay the first unit: then bytes come between chunks only.
            message &= int.from_bytes(file.read(1)) & 31 != 9
        chance = np.random.default_rng(self._key)
        # Its length says nothing of how many scenes or references between pictures there are.
        least = len(self._head(moov, tracks, sizes, chunks, 0))
        index = -(-least // _INDEX) * _INDEX + int(chance.integers(_INDEX))
        room = self.length - index - int(sizes.sum())
        fill = _fills(room, message, message | (np.arange(len(sizes)) == first), chance)
        # Chunks keep their order in the file, whichever track they are of.
        order = np.argsort(np.repeat(np.argsort(np.argsort(chunks)), counts), kind="stable")
        widths, places = sizes + fill, np.empty_like(sizes)
        places[order] = index + np.cumsum(widths[order]) - widths[order]
        self._samples = np.stack([places, fill, sizes, offsets, message])[:, order]
        sizes, places = np.where(message, [widths, places], [sizes, places + fill])
        self._index = self._head(moov, tracks, sizes, places[np.unique(first)], index)

    def _head(
        self, moov: bytes, tracks: Sequence[_Track], sizes: Numbers, chunks: Numbers, length: int
    ) -> bytes:
        """Return what comes before the first sample, filled up to a length."""
        sizes_of = iter(np.split(sizes, np.cumsum([len(track.sizes) for track in tracks])))
        chunks_of = iter(np.split(chunks, np.cumsum([len(track.chunks) for track in tracks])))

        def rewritten(content: bytes) -> bytes:
            result = b""
            for kind, part in _boxes(content):
                if kind in _WITHIN:
                    result += _box(kind, rewritten(part))
                elif kind == b"stsz":
                    result += _box(kind, bytes(4) + _table(next(sizes_of), ">u4"))
                elif kind in (b"stco", b"co64"):
                    result += _box(b"co64", _table(next(chunks_of), ">u8"))
                elif kind not in _LEFT_OUT:
                    result += _box(kind, part)
            return result

        body = rewritten(moov)
        free = self._noise(0, max(0, length - len(_TYPE) - len(body) - 32))
        head = _TYPE + _box(b"moov", body + _box(b"free", free))
        return head + b"\0\0\0\1mdat" + (self.length - len(head)).to_bytes(8)

    def read(self, begin: int, count: int) -> bytes:
        """At most ``count`` bytes from ``begin``."""
        end = min(begin + count, self.length)
        body = bytearray(self._noise(begin, max(0, end - begin)))

        def put(place: int, content: bytes) -> None:
            low, high = max(begin, place), min(end, place + len(content))
            if low < high:
                body[low - begin : high - begin] = content[low - place : high - place]

        put(0, self._index)
        descriptor = os.open(self.path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        with os.fdopen(descriptor, "rb"):
            if os.fstat(descriptor).st_size != self.real:
                raise OSError(f"{self.path} is not the file that was looked at")
            first = max(0, int(np.searchsorted(self._samples[0], begin, "right")) - 1)
            last = int(np.searchsorted(self._samples[0], end, "left"))
            for place, fill, size, offset, message in self._samples[:, first:last].T.tolist():
                if message and fill:
                    put(place, _message_head(fill))
                    put(place + fill - 1, b"\x80")
                low, high = max(begin, place + fill), min(end, place + fill + size)
                if low < high:
                    put(low, os.pread(descriptor, high - low, offset + low - place - fill))
        return bytes(body)

    def _noise(self, begin: int, count: int) -> bytes:
        """Return random bytes, always the same at the same place."""
        skip, blocks = begin % _BLOCK, []
        for number in range(begin // _BLOCK, -(-(begin + count) // _BLOCK)):
            chance = np.random.Generator(np.random.Philox(key=self._key, counter=number << 128))
            # As entropy coding leaves them; sizes of messages are written as 255 as often as here.
            drawn = chance.integers(255, size=_BLOCK, dtype=np.uint8)
            drawn[0] |= 1
            # Two zeros in a row could begin something else (ITU-T H.264, 7.4.1.1).
            blocks.append(drawn.tobytes().replace(b"\0\0", b"\0\x55"))
        return b"".join(blocks)[skip : skip + count]


def _fills(room: int, message: Choices, allowed: Choices, chance: np.random.Generator) -> Numbers:
    """Return how many bytes come before each sample; what is left of the room comes last."""
    if room < 0:
        raise ValueError("the file is longer than the length")
    weights = np.where(allowed, chance.exponential(size=len(allowed)), 0.0)
    # As much as before a sample also comes behind the last one.
    total = weights.sum() + chance.exponential(weights[allowed].mean())
    least = allowed * (_LEAST if room > 2 * _LEAST * allowed.sum() else 0)
    fill: Numbers = least + np.floor((room - least.sum()) * weights / total).astype(np.int64)
    # A message of such a size cannot be written (see `_message_head`).
    fill[message & (fill % 256 == 7)] -= 1
    fill[message & (fill < _LEAST)] = 0
    return fill


def _message_head(length: int) -> bytes:
    """Return the beginning of a message of so many bytes; its last byte is 0x80.

    The size of the content is bytes of 255 and a rest that is less (ITU-T H.264, 7.3.2.3.1).
    """
    long, rest = divmod(length - 8, 256)
    return (length - 4).to_bytes(4) + b"\x06\x05" + b"\xff" * long + bytes([rest, 0x55])


def _table(values: Numbers, kind: str) -> bytes:
    return bytes(4) + len(values).to_bytes(4) + values.astype(kind).tobytes()


def _box(kind: bytes, content: bytes) -> bytes:
    return (len(content) + 8).to_bytes(4) + kind + content


def _boxes(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    while content:
        size = int.from_bytes(content[:4])
        if not 8 <= size <= len(content):
            raise ValueError("a box does not fit")
        yield content[4:8], content[8:size]
        content = content[size:]


def _read_moov(file: BinaryIO) -> bytes:
    place, kind, size, start = 0, b"", 0, 0
    while kind != b"moov":
        place += size
        file.seek(place)
        head = file.read(16)
        size, kind, start = int.from_bytes(head[:4]), head[4:8], 8
        if size == 1:
            size, start = int.from_bytes(head[8:]), 16
        if size < start:
            raise ValueError("there is no index")
    file.seek(place + start)
    return file.read(size - start)


def _track(content: bytes, most: int) -> _Track:
    for name in (b"mdia", b"minf", b"stbl"):
        content = dict(_boxes(content))[name]
    tables = dict(_boxes(content))
    about, box = tables[b"stsd"], tables[b"stsz"]
    fixed, number = int.from_bytes(box[4:8]), int.from_bytes(box[8:12])
    name, kind = (b"co64", ">i8") if b"co64" in tables else (b"stco", ">u4")
    chunks = np.frombuffer(tables[name], kind, -1, 8).astype(np.int64)
    runs = np.frombuffer(tables[b"stsc"], ">u4", -1, 8).reshape(-1, 3).astype(np.int64)
    edges = np.append(runs[:, 0], len(chunks) + 1)
    if number * max(fixed, 1) > most or edges[0] != 1 or np.diff(edges).min() < 0:
        raise ValueError("its tables disagree")
    sizes = np.full(number, fixed) if fixed else np.frombuffer(box, ">u4", number, 12)
    counts = np.repeat(runs[:, 1], np.diff(edges))
    if counts.min() < 1 or counts.sum() != number:
        raise ValueError("its tables disagree")
    # Units of H.264 have their length in front, in four bytes: then a message can be added.
    lengths = {about[found.end() + 4] & 3 for found in re.finditer(b"avcC", about)}
    return _Track(sizes.astype(np.int64), chunks, counts, lengths == {3})


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


# The answer: a video, or the part of it that was asked for, with flat memory.

CHUNK: Final = 256 * 1024


def fetch_ahead(paths: Iterable[str]) -> None:
    """Have files read from the disk before anybody asks for one: none is later than the other.

    The original is in more sittings, so it is more often in memory.
    """
    for path in paths if sys.platform == "linux" else ():
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        with suppress(OSError), os.fdopen(os.open(path, flags), "rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_WILLNEED)
            file.read(CHUNK)


@lru_cache(maxsize=32)
def _layout(path: Path, length: int, seed: str, _changed: int) -> Layout:
    return Layout(path, length, seed)


def file_response(request: Request, row: Row[Any], length: int, seed: str) -> Response:
    """Answer with a file of the store; 404 where it is no longer the one that was looked at.

    The answer tells no name, date or hash.
    """
    path = Path(row.served)
    with suppress(OSError, NoLayout):
        status = path.lstat()
        if stat.S_ISREG(status.st_mode) and status.st_size == row.bytes:
            # With no validator to compare, a conditional range is answered with all of it.
            asked = None if "if-range" in request.headers else request.headers.get("range")
            layout = _layout(path, length, seed, status.st_mtime_ns)
            return _part(layout, row.kind, asked, request.method)
    raise HTTPException(404)


def _part(layout: Layout, kind: str, asked: str | None, method: str) -> Response:
    headers = {
        "Accept-Ranges": "bytes",
        "Cache-Control": "private, max-age=86400",
        "Content-Disposition": "inline",
    }
    try:
        result = asked_range(asked, layout.length)
    except Unsatisfiable:
        headers["Content-Range"] = f"bytes */{layout.length}"
        return Response(status_code=416, headers=headers, media_type=kind)
    begin, end = result or (0, layout.length - 1)
    if result is not None:
        headers["Content-Range"] = f"bytes {begin}-{end}/{layout.length}"
    headers["Content-Length"] = str(end - begin + 1)
    # Each piece is read in a thread, and only when the one before it is on its way.
    places = range(begin, end + 1 if method == "GET" else begin, CHUNK)
    pieces = (layout.read(place, min(CHUNK, end + 1 - place)) for place in places)
    return StreamingResponse(pieces, 200 if result is None else 206, headers, kind)
