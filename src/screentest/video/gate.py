"""The gate: what a path must be before a demuxer may look at it, and how it is opened.

A video is a plain local file. It is opened here, once, by descriptor; the demuxer gets bytes
and never a name, so no name can be read as a URL, an option or a pattern. Only containers on
the list below are demuxed, and whatever a container refers to is refused: nothing but the
file itself is ever read.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import av
import av.error
from av.stream import Disposition

from screentest.core.errors import VideoError
from screentest.core.outcome import Reason
from screentest.video.limits import DEFAULT_LIMITS, Limits

if TYPE_CHECKING:
    from av.container import InputContainer
    from av.video.codeccontext import VideoCodecContext
    from av.video.stream import VideoStream

CONTAINERS = (
    *("mov", "mp4", "m4a", "3gp", "3g2", "mj2", "matroska", "webm", "avi", "mpegts", "mpeg"),
    *("ogg", "flv", "asf", "mxf", "nut", "ivf", "gif", "apng", "yuv4mpegpipe", "dv"),
    *("h264", "hevc", "mpegvideo", "m4v", "obu", "av1"),
)
"""FFmpeg's names of the demuxers that may run. No playlists, no image patterns, no subtitles."""

_PLAYLISTS = {
    b"#EXTM3U": "an HLS playlist",
    b"ffconcat": "a concat list",
    b"<MPD": "a DASH manifest",
    b"<SmoothStreamingMedia": "a Smooth Streaming manifest",
    b"[playlist]": "a playlist",
    b"<asx": "a playlist",
    b"<smil": "a playlist",
    b"v=0\r\n": "a session description",
    b"v=0\n": "a session description",
}
_BUFFER = 1 << 16
_READ_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)  # a pipe put in place of the file must not hang us
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_NOT_THE_FILE = (errno.EMFILE, errno.ENFILE, errno.ENOMEM)
_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def open_container(path: Path, limits: Limits = DEFAULT_LIMITS) -> InputContainer:
    """Open a plain local video file within ``limits``; raises VideoError with the reason.

    The descriptor is released with the container. Video streams are set to refuse pictures
    above the limit, whatever their header said.
    """
    file = PlainFile(path)
    asked: list[str] = []

    def refuse(url: str, flags: int, options: dict[str, str]) -> NoReturn:
        asked.append(url)
        raise PermissionError(errno.EPERM, "a video may not refer to other files")

    try:
        container = av.open(
            file,
            mode="r",
            buffer_size=_BUFFER,
            io_open=refuse,
            metadata_errors="replace",
            options={
                "format_whitelist": ",".join(CONTAINERS),
                "protocol_whitelist": "none",
                "max_streams": str(limits.streams),
                "max_pixels": str(limits.pixels),
            },
        )
    except (av.error.FFmpegError, OSError, MemoryError) as error:
        head = file.head()
        file.close()
        raise _refusal(path, error, head, asked) from error
    try:
        if asked:
            raise _refers_elsewhere(path)
        _check_header(path, container, limits)
    except VideoError:
        container.close()
        file.close()
        raise
    return container


def video_stream(container: InputContainer) -> VideoStream | None:
    """The first video track that is not a cover picture and has a decoder."""
    for stream in container.streams.video:
        decoder: VideoCodecContext | None = stream.codec_context
        if decoder is not None and not stream.disposition & Disposition.attached_pic:
            return stream
    return None


class PlainFile:
    """A regular file with bytes in it, as the demuxer reads it: no name, no way to write."""

    def __init__(self, path: Path) -> None:
        self._descriptor = _open_regular(path)

    def read(self, count: int) -> bytes:
        """The next ``count`` bytes, or fewer at the end."""
        return os.read(self._descriptor, count)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to a place in the file."""
        return os.lseek(self._descriptor, offset, whence)

    def tell(self) -> int:
        """Where the next byte is read."""
        return os.lseek(self._descriptor, 0, os.SEEK_CUR)

    def head(self) -> bytes:
        """The first bytes, to say what it is when it is no video."""
        try:
            self.seek(0)
            return self.read(1024)
        except OSError:
            return b""

    def close(self) -> None:
        """Give the descriptor back."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def __del__(self) -> None:
        if hasattr(self, "_descriptor"):
            self.close()


def shown(path: Path) -> str:
    """A path as it may stand in a message: on one line, with nothing that steers a terminal.

    >>> shown(Path("a\\nb.mp4"))
    "'a\\\\nb.mp4'"
    """
    text = repr(str(path))
    return text if len(text) <= 160 else f"{text[:60]}…{text[-90:]}"


def _open_regular(path: Path) -> int:
    try:
        # Looked at before it is opened: opening a pipe or device can have effects of its own.
        _check_kind(path, path.stat())
        descriptor = os.open(path, _READ_FLAGS)
    except OSError as error:
        if error.errno in _NOT_THE_FILE:
            raise
        raise _unreadable(path, error) from None
    except ValueError:  # NUL or lone surrogates: no file can have that name
        raise VideoError(
            Reason.MISSING_FILE,
            f"{shown(path)} cannot be the name of a file",
            advice="Check the path in the manifest.",
        ) from None
    try:
        _check_kind(path, os.fstat(descriptor))  # it may have been replaced in between
    except VideoError:
        os.close(descriptor)
        raise
    return descriptor


def _check_kind(path: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        kind = next((name for test, name in _KINDS if test(status.st_mode)), "no plain file")
        raise VideoError(
            Reason.UNSAFE,
            f"{shown(path)} is {kind}, not a video file",
            advice="Give the path of a video file on this machine.",
        )
    if status.st_size == 0:
        raise VideoError(
            Reason.MISSING_FILE,
            f"{shown(path)} is empty",
            advice="Copy, download or generate it again.",
        )


def _unreadable(path: Path, error: OSError) -> VideoError:
    if error.errno == errno.ENOENT:
        if path.is_symlink():
            detail, advice = "is a link to nothing", "Mend the link or give the file it meant."
        else:
            detail, advice = "is not there", "Check the path, or the folder it is relative to."
    elif error.errno == errno.ELOOP:
        detail, advice = "is a link that leads to itself", "Mend the link."
    elif error.errno in (errno.EACCES, errno.EPERM):
        detail, advice = "may not be read", "Give yourself permission to read it (chmod u+r)."
    else:
        detail = f"cannot be read: {os.strerror(error.errno or 0)}"
        advice = "Check the path and the disk it is on."
    return VideoError(Reason.MISSING_FILE, f"{shown(path)} {detail}", advice=advice)


def _check_header(path: Path, container: InputContainer, limits: Limits) -> None:
    limits.check_streams(len(container.streams))
    if container.duration is not None:
        limits.check_duration(container.duration / av.time_base)
    for stream in container.streams.video:
        context: VideoCodecContext | None = stream.codec_context
        if context is not None:  # None where there is no decoder for it
            limits.check_size(context.width, context.height)
            context.options = {"max_pixels": str(limits.pixels)}
    if video_stream(container) is None:
        kinds = ", ".join(sorted({stream.type for stream in container.streams}))
        raise VideoError(
            Reason.UNDECODABLE,
            f"{shown(path)} has no video track that can be decoded (it holds: {kinds or 'nothing'})",
            advice="Give a file with a video track.",
        )


def _refusal(path: Path, error: Exception, head: bytes, asked: list[str]) -> VideoError:
    kind = next((name for mark, name in _PLAYLISTS.items() if mark in head), None)
    if kind is not None:
        return VideoError(
            Reason.UNSAFE,
            f"{shown(path)} is {kind}, not a video file",
            advice="Give the video file itself; lists that point elsewhere are not followed.",
        )
    if asked:
        return _refers_elsewhere(path)
    if isinstance(error, MemoryError):
        return VideoError(
            Reason.TOO_LARGE,
            f"{shown(path)} needs more memory or tracks to open than allowed",
            advice="Re-encode it with its video track alone, or raise Limits if you trust it.",
        )
    if isinstance(error, av.error.ArgumentError):
        return VideoError(
            Reason.UNDECODABLE,
            f"{shown(path)} is in no video format that is read here",
            advice="Convert it: ffmpeg -i IN -map 0:v:0 OUT.mp4",
        )
    return VideoError(
        Reason.UNDECODABLE,
        f"{shown(path)} cannot be read as a video: {error.__class__.__name__}",
        advice="Check that it plays and was copied whole, or convert it with ffmpeg.",
    )


def _refers_elsewhere(path: Path) -> VideoError:
    return VideoError(
        Reason.UNSAFE,
        f"{shown(path)} refers to other files",
        advice="Make one file of it that holds its own pictures; references are not followed.",
    )
