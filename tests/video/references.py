"""Files that point at other files: each would make a trusting demuxer open its target.

They carry innocent suffixes. The targets are given by the test, which watches them.
"""

from __future__ import annotations

import struct
from pathlib import Path

from tests.video.hostile import film


def hls(path: Path, target: str) -> Path:
    path.write_text(
        "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:10\n#EXT-X-MEDIA-SEQUENCE:0\n"
        f"#EXTINF:10.0,\n{target}\n#EXT-X-ENDLIST\n"
    )
    return path


def concat_list(path: Path, target: str) -> Path:
    path.write_text(f"ffconcat version 1.0\nfile '{target}'\nduration 10\n")
    return path


def dash(path: Path, target: str) -> Path:
    path.write_text(
        '<?xml version="1.0"?>\n<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" '
        'mediaPresentationDuration="PT10S" profiles="urn:mpeg:dash:profile:isoff-on-demand:2011">'
        '<Period><AdaptationSet mimeType="video/mp4"><Representation id="1" bandwidth="1" '
        f'width="64" height="64"><BaseURL>{target}</BaseURL></Representation>'
        "</AdaptationSet></Period></MPD>\n"
    )
    return path


def session_description(path: Path, target: str) -> Path:
    path.write_text(
        "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\n"
        f"a=control:{target}\nm=video 5004 RTP/AVP 96\na=rtpmap:96 H264/90000\n"
    )
    return path


def quicktime_alias(path: Path, target: str) -> Path:
    """A QuickTime movie whose pictures are said to lie in another file."""
    data = film(path, "mov").read_bytes()
    old = data.index(b"dref") - 4
    size = int.from_bytes(data[old : old + 4], "big")
    name = target.removeprefix("file://").encode()
    alias = (
        bytes(10)
        + bytes([1])
        + b"x".ljust(27, b"\0")  # volume
        + bytes(12)
        + bytes([1])
        + b"x".ljust(63, b"\0")  # file name
        + bytes(16)
        + struct.pack(">hh", 1, 1)  # levels from and to the common folder
        + bytes(16)
        + struct.pack(">hH", 2, len(name))
        + name.ljust(len(name) + len(name) % 2, b"\0")
        + struct.pack(">hH", -1, 0)
    )
    entry = _box(b"alis", bytes(4) + alias)
    new = _box(b"dref", bytes(4) + struct.pack(">I", 1) + entry)
    grown = bytearray(data[:old] + new + data[old + size :])
    for parent in (b"dinf", b"minf", b"mdia", b"trak", b"moov"):
        place = grown.rindex(parent, 0, old) - 4 if parent != b"dinf" else old - 8
        length = int.from_bytes(grown[place : place + 4], "big") + len(new) - size
        grown[place : place + 4] = length.to_bytes(4, "big")
    path.write_bytes(grown)
    return path


def avi_subtitle(path: Path, target: str) -> Path:
    """An AVI with a subtitle track that is itself a playlist (the GAB2 attack of 2017)."""
    playlist = hls(path.with_suffix(".list"), target)
    text = playlist.read_bytes()
    playlist.unlink()
    subtitle = (
        b"GAB2\0" + struct.pack("<HI", 2, 2) + b"x\0" + struct.pack("<HI", 4, len(text)) + text
    )
    picture = bytes(SIDE_BYTES)
    video_header = struct.pack("<4s4sIHHIIIIIIIIHHHH", b"vids", b"I420", *_STREAM, 0, 0, 16, 16)
    video_format = struct.pack(
        "<IiiHH4sIiiII", 40, 16, 16, 1, 12, b"I420", len(picture), 0, 0, 0, 0
    )
    text_header = struct.pack("<4s4sIHHIIIIIIIIHHHH", b"txts", b"\0\0\0\0", *_STREAM, 0, 0, 0, 0)
    main = struct.pack("<14I", 40000, 0, 0, 0x10, 1, 0, 2, 0, 16, 16, 0, 0, 0, 0)
    header = _list(
        b"hdrl",
        _chunk(b"avih", main)
        + _list(b"strl", _chunk(b"strh", video_header) + _chunk(b"strf", video_format))
        + _list(b"strl", _chunk(b"strh", text_header) + _chunk(b"strf", b"")),
    )
    movie = _list(b"movi", _chunk(b"01tx", subtitle) + _chunk(b"00dc", picture))
    body = b"AVI " + header + movie
    path.write_bytes(b"RIFF" + struct.pack("<I", len(body)) + body)
    return path


SIDE_BYTES = 16 * 16 * 3 // 2
# flags, priority, language, initial frames, scale, rate, start, length, buffer, quality, size
_STREAM = (0, 0, 0, 0, 1, 25, 0, 1, 0, 0, 0)

ALL = (hls, concat_list, dash, session_description, quicktime_alias, avi_subtitle)


def _box(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content) + 8) + kind + content


def _chunk(kind: bytes, content: bytes) -> bytes:
    return kind + struct.pack("<I", len(content)) + content + b"\0" * (len(content) % 2)


def _list(kind: bytes, content: bytes) -> bytes:
    return _chunk(b"LIST", kind + content)
