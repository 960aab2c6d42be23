"""The container: how a video is opened, and what it must be to be accepted.

The demuxer gets the bytes of one plain file and never its name, so no name can be read as a
URL, an option or a pattern. Only the containers on the list below are demuxed, and whatever
they refer to is refused: nothing but the file itself is ever read.
"""

from __future__ import annotations

import errno
import re
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import av
import av.error
import av.logging
from av.stream import Disposition

from screentest._util.text import printable, shown_path
from screentest.core import Reason, VideoError
from screentest.video.limits import DEFAULT_LIMITS, Limits, PlainFile

if TYPE_CHECKING:
    from av.container import InputContainer
    from av.video.codeccontext import VideoCodecContext
    from av.video.stream import VideoStream

__all__ = ["CONTAINERS", "open_container", "video_stream"]

CONTAINERS = (
    *("mov", "mp4", "m4a", "3gp", "3g2", "mj2", "matroska", "webm", "avi", "mpegts", "mpeg"),
    *("ogg", "flv", "asf", "mxf", "nut", "ivf", "gif", "apng", "yuv4mpegpipe", "dv"),
    *("h264", "hevc", "mpegvideo", "m4v", "obu", "av1"),
)
"""FFmpeg's names of the demuxers that may run: no playlists, no picture series, no subtitles."""

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
# Titles need not be text. PyAV 19 and later take that as it comes.
_LENIENT: dict[str, Any] = (
    {"metadata_errors": "replace"} if int(av.__version__.split(".")[0]) < 19 else {}
)
_HEAD = 1024
_BUFFER = 1 << 16
_SIZE_REFUSED = re.compile(r"Picture size (\d+)x(\d+) ")
_TOO_MANY_STREAMS = "exceeds max_streams"
_NOT_LISTED = "Format not on whitelist"
_listening = threading.Lock()


def open_container(path: Path, limits: Limits = DEFAULT_LIMITS) -> InputContainer:
    """Open a plain local video file within ``limits``; raises VideoError with the reason.

    Its video track is set to refuse pictures above the limit, whatever the header said.
    The file is released together with the container.
    """
    file = PlainFile(path)
    try:
        limits.check_file(file.size)
        return _open_checked(path, file, limits)
    except BaseException:
        file.close()  # the traceback may keep it alive for long
        raise


def video_stream(container: InputContainer) -> VideoStream | None:
    """Return the first video track that is not a cover picture and has a decoder."""
    for stream in container.streams.video:
        decoder: VideoCodecContext | None = stream.codec_context
        if decoder is not None and not stream.disposition & Disposition.attached_pic:
            return stream
    return None


def _open_checked(path: Path, file: PlainFile, limits: Limits) -> InputContainer:
    asked: list[str] = []
    try:
        container = _demux(file, limits, asked)
    except (av.error.FFmpegError, OSError, MemoryError) as error:
        raise _refusal(path, file, limits, error, asked) from error
    try:
        if asked:
            raise _refers_elsewhere(path)
        _check_header(path, file, container, limits)
    except VideoError:
        container.close()
        raise
    return container


def _demux(file: PlainFile, limits: Limits, asked: list[str]) -> InputContainer:
    def refuse(url: str, flags: int, options: dict[str, str]) -> NoReturn:
        asked.append(url)
        raise PermissionError(errno.EPERM, "a video may not refer to other files")

    container: InputContainer = av.open(
        file,
        mode="r",
        buffer_size=_BUFFER,
        io_open=refuse,
        options={
            "format_whitelist": ",".join(CONTAINERS),
            "protocol_whitelist": "none",
            # One more than allowed: Matroska's demuxer stops there without a word.
            "max_streams": str(limits.streams + 1),
            "max_pixels": str(limits.pixels),
        },
        **_LENIENT,
    )
    return container


def _check_header(path: Path, file: PlainFile, container: InputContainer, limits: Limits) -> None:
    limits.check_streams(len(container.streams))
    if container.duration is not None:
        limits.check_duration(container.duration / av.time_base)
    chosen = video_stream(container)
    if chosen is None:
        kinds = ", ".join(sorted({stream.type for stream in container.streams})) or "nothing"
        raise VideoError(
            Reason.UNDECODABLE,
            f"{shown_path(path)} has no video track that can be decoded; it holds {kinds}",
            advice="Give a file with a video track.",
        )
    decoder = chosen.codec_context
    decoder.options = {"max_pixels": str(limits.pixels)}
    limits.check_size(decoder.width, decoder.height)
    if decoder.width == 0:
        # FFmpeg drops a size it refuses, and then has none to show.
        _check_refused_sizes(_ffmpeg_says(file, limits), limits)


def _refusal(
    path: Path, file: PlainFile, limits: Limits, error: Exception, asked: list[str]
) -> VideoError:
    kind = _playlist_kind(file)
    if kind is not None:
        return VideoError(
            Reason.UNSAFE,
            f"{shown_path(path)} is {kind}, not a video file",
            advice="Give the video file itself; lists that point elsewhere are not followed.",
        )
    if asked:
        return _refers_elsewhere(path)
    messages = _ffmpeg_says(file, limits)
    _check_refused_sizes(messages, limits)
    if any(_TOO_MANY_STREAMS in message for _, message in messages):
        limits.check_streams(limits.streams + 1)
    if isinstance(error, MemoryError):
        return VideoError(
            Reason.TOO_LARGE,
            f"{shown_path(path)} asks for more memory than allowed",
            advice="Make a smaller copy of the video, or raise Limits.memory if you trust it.",
        )
    if any(_NOT_LISTED in message for _, message in messages):
        format_name = next(name for name, message in messages if _NOT_LISTED in message)
        return VideoError(
            Reason.UNDECODABLE,
            f"{shown_path(path)} is in no format read here (it looks like {format_name})",
            advice="Convert it: ffmpeg -i IN -map 0:v:0 OUT.mp4",
        )
    words = messages[-1][1] if messages else "no video format recognised"
    return VideoError(
        Reason.UNDECODABLE,
        f"{shown_path(path)} cannot be read as a video: {words}",
        advice="Check that it plays and was copied whole; render or download it again.",
    )


def _refers_elsewhere(path: Path) -> VideoError:
    return VideoError(
        Reason.UNSAFE,
        f"{shown_path(path)} refers to other files",
        advice="Make one file of it that holds its own pictures; references are not followed.",
    )


def _check_refused_sizes(said: list[tuple[str, str]], limits: Limits) -> None:
    for _, message in said:
        size = _SIZE_REFUSED.match(message)
        if size is not None:
            limits.check_size(int(size[1]), int(size[2]))


def _playlist_kind(file: PlainFile) -> str | None:
    file.seek(0)
    head = file.read(_HEAD)
    return next((name for mark, name in _PLAYLISTS.items() if mark in head), None)


def _ffmpeg_says(file: PlainFile, limits: Limits) -> list[tuple[str, str]]:
    """Open a doubtful file once more and listen: who complains, and of what.

    Only then: PyAV's log needs Python's lock, which decoder threads elsewhere in the process
    may have to wait for.
    """
    with _listening, av.logging.Capture(local=True) as log:
        level, skipping = av.logging.get_level(), av.logging.get_skip_repeated()
        place = file.tell()
        av.logging.set_level(av.logging.ERROR)
        av.logging.set_skip_repeated(False)  # the last bad file may have said the same
        try:
            file.seek(0)
            _demux(file, limits, []).close()
        except (av.error.FFmpegError, OSError, MemoryError):
            pass  # known by now: it is what we are asking about
        finally:
            av.logging.set_level(level)
            av.logging.set_skip_repeated(skipping)
            file.seek(place)
    return [(name, printable(message.strip(), "?")) for _, name, message in log]
