"""Files that mean harm, and films to make them from. Built with PyAV and bytes alone."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np

# What every film below has, unless it says otherwise.
SIDE = 64
FRAMES = 50
RATE = 25

CODECS = {
    "mp4": ("libx264", {"preset": "ultrafast", "g": "12"}),
    "mov": ("libx264", {"preset": "ultrafast", "g": "12"}),
    "matroska": ("libx264", {"preset": "ultrafast", "g": "12"}),
    "mpegts": ("libx264", {"preset": "ultrafast", "g": "12"}),
    "webm": ("libvpx", {"deadline": "realtime", "cpu-used": "8", "g": "12"}),
    "avi": ("mpeg4", {"g": "12"}),
    "nut": ("ffv1", {}),
}


def film(
    path: Path,
    kind: str = "mp4",
    *,
    frames: int = FRAMES,
    side: int = SIDE,
    step: int = 1,
    options: dict[str, str] | None = None,
) -> Path:
    """A good video: a square that moves over noise. ``step`` is the time between frames."""
    with av.open(str(path), "w", format=kind, container_options=options) as out:
        stream = _add_video(out, kind, side)
        for frame in pictures(frames, side, step):
            out.mux(stream.encode(frame))
        out.mux(stream.encode(None))
    return path


def pictures(frames: int, side: int, step: int = 1) -> Iterator[av.VideoFrame]:
    noise = np.random.default_rng(7).integers(0, 255, (side, side, 3), dtype=np.uint8)
    for index in range(frames):
        image = noise.copy()
        place = index % max(1, side // 2)
        image[place : place + side // 4, place : place + side // 4] = (index * 5) % 255
        frame = av.VideoFrame.from_ndarray(image, format="rgb24")
        frame.pts = index * step
        frame.time_base = Fraction(1, RATE)
        yield frame


def _add_video(out: Any, kind: str, side: int = SIDE) -> Any:
    codec, options = CODECS[kind]
    stream = out.add_stream(codec, rate=RATE, options=options)
    stream.width = stream.height = side
    stream.pix_fmt = "yuv420p"
    stream.codec_context.thread_count = 1  # the same bytes on every machine
    return stream


def sound_only(path: Path) -> Path:
    with av.open(str(path), "w", format="mp4") as out:
        _mux_sound(out, _add_sound(out))
    return path


def sound_first(path: Path) -> Path:
    """The sound is track 0, the pictures are track 1."""
    with av.open(str(path), "w", format="matroska") as out:
        sound, video = _add_sound(out), _add_video(out, "matroska")
        _mux_sound(out, sound)
        for frame in pictures(FRAMES, SIDE):
            out.mux(video.encode(frame))
        out.mux(video.encode(None))
    return path


def two_videos(path: Path) -> Path:
    """Two video tracks; the second is half the size."""
    with av.open(str(path), "w", format="matroska") as out:
        tracks = [(_add_video(out, "matroska", side), side) for side in (SIDE, SIDE // 2)]
        for track, side in tracks:
            for frame in pictures(FRAMES, side):
                out.mux(track.encode(frame))
            out.mux(track.encode(None))
    return path


def cover_first(path: Path) -> Path:
    """A cover picture is track 0, as in bought music videos."""
    with av.open(str(path), "w", format="mp4") as out:
        cover = out.add_stream("mjpeg", rate=1)
        cover.width = cover.height = 32
        cover.pix_fmt = "yuvj420p"
        cover.disposition = av.stream.Disposition.attached_pic
        video = _add_video(out, "mp4")
        for frame in pictures(1, 32):
            out.mux(cover.encode(frame.reformat(format="yuvj420p")))
        out.mux(cover.encode(None))
        for frame in pictures(FRAMES, SIDE):
            out.mux(video.encode(frame))
        out.mux(video.encode(None))
    # The muxer writes the cover behind the tracks; players count it where it stands.
    data = path.read_bytes()
    start = data.rindex(b"moov") + 4
    boxes = dict(_boxes(data[start:]))
    order = sorted(boxes, key=_cover_before_tracks)
    path.write_bytes(data[:start] + b"".join(boxes[kind] for kind in order))
    return path


def _cover_before_tracks(kind: bytes) -> int:
    return (b"mvhd", b"udta", b"trak").index(kind)


def _boxes(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    while data:
        size = int.from_bytes(data[:4], "big")
        yield data[4:8], data[:size]
        data = data[size:]


def subtitles_only(path: Path) -> Path:
    """A Matroska file with a text track and nothing else."""
    text = b"WEBVTT\n\n00:00.000 --> 00:01.000\nhello\n"
    source = path.with_suffix(".vtt")
    source.write_bytes(text)
    with av.open(str(source)) as given, av.open(str(path), "w", format="matroska") as out:
        track = out.add_stream_from_template(given.streams.subtitles[0])
        for packet in given.demux():
            if packet.dts is not None:
                packet.stream = track
                out.mux(packet)
    source.unlink()
    return path


def many_tracks(path: Path, kind: str, count: int) -> Path:
    with av.open(str(path), "w", format=kind) as out:
        tracks = [out.add_stream("mpeg4", rate=RATE) for _ in range(count)]
        for track in tracks:
            track.width = track.height = 16
            track.pix_fmt = "yuv420p"
        for track in tracks:
            for frame in pictures(1, 16):
                out.mux(track.encode(frame))
            out.mux(track.encode(None))
    return path


def _add_sound(out: Any) -> Any:
    return out.add_stream("aac", rate=8000, layout="mono")


def _mux_sound(out: Any, stream: Any) -> None:
    for index in range(8):
        frame = av.AudioFrame.from_ndarray(
            np.zeros((1, 1024), dtype=np.float32), format="fltp", layout="mono"
        )
        frame.sample_rate = 8000
        frame.pts = index * 1024
        out.mux(stream.encode(frame))
    out.mux(stream.encode(None))


# --- too much ---


def huge_gif(path: Path) -> Path:
    """35 bytes that ask for a picture of 30000×30000."""
    screen = struct.pack("<HHBBB", 30000, 30000, 0x80, 0, 0) + bytes(6)
    picture = b"\x2c" + struct.pack("<HHHHB", 0, 0, 30000, 30000, 0) + b"\x02\x02\x44\x01\x00"
    path.write_bytes(b"GIF89a" + screen + picture + b";")
    return path


def huge_y4m(path: Path) -> Path:
    path.write_bytes(b"YUV4MPEG2 W30000 H30000 F25:1 Ip A1:1 C420jpeg\nFRAME\n" + bytes(5000))
    return path


def huge_avi(path: Path) -> Path:
    """A raw track whose header says 30000×30000; its data is one picture of 64×64."""
    with av.open(str(path), "w", format="avi") as out:
        stream = out.add_stream("rawvideo", rate=RATE)
        stream.width = stream.height = SIDE
        stream.pix_fmt = "yuv420p"
        for frame in pictures(1, SIDE):
            out.mux(stream.encode(frame))
    data = bytearray(path.read_bytes())
    place = data.index(b"strf") + 8
    data[place + 4 : place + 12] = struct.pack("<ii", 30000, 30000)
    path.write_bytes(data)
    return path


def huge_png_mov(path: Path) -> Path:
    """A track of PNG pictures; both the track and the pictures say 30000×30000."""
    with av.open(str(path), "w", format="mov") as out:
        stream = out.add_stream("png", rate=RATE)
        stream.width = stream.height = SIDE
        stream.pix_fmt = "rgb24"
        for frame in pictures(2, SIDE):
            out.mux(stream.encode(frame))
        out.mux(stream.encode(None))
    data = bytearray(path.read_bytes())
    place = -1
    while (place := data.find(b"IHDR", place + 1)) >= 0:
        data[place + 4 : place + 12] = struct.pack(">II", 30000, 30000)
        data[place + 17 : place + 21] = struct.pack(">I", zlib.crc32(data[place : place + 17]))
    entry = data.index(b"png ", data.index(b"stsd"))
    data[entry + 28 : entry + 32] = struct.pack(">HH", 30000, 30000)
    path.write_bytes(data)
    return path


def huge_h264(path: Path) -> Path:
    """A bare H.264 stream whose parameter set says 16000×16000; its slices are of 64×64."""
    small = film(path.with_suffix(".ts"), "mpegts", frames=5)
    with av.open(str(small)) as given:
        units = b"".join(bytes(packet) for packet in given.demux(video=0))
    small.unlink()
    start = units.index(b"\x00\x00\x01\x67")
    end = units.index(b"\x00\x00\x01", start + 4)
    path.write_bytes(units[:start] + b"\x00\x00\x01\x67" + _sps(1000) + units[end:])
    return path


def _sps(macroblocks: int) -> bytes:
    """An H.264 sequence parameter set, baseline profile, a square of so many macroblocks."""
    bits = "".join(
        (
            *("01000010", "11000000", "00110011"),  # profile 66, constraints, level 5.1
            *(_golomb(0), _golomb(0), _golomb(2), _golomb(1), "0"),  # ids, counters, references
            *(_golomb(macroblocks - 1), _golomb(macroblocks - 1)),
            *("1", "1", "0", "0", "1"),  # frames only, 8×8 inference, no crop, no VUI, stop bit
        )
    )
    bits += "0" * (-len(bits) % 8)
    return bytes(int(bits[place : place + 8], 2) for place in range(0, len(bits), 8))


def _golomb(number: int) -> str:
    code = f"{number + 1:b}"
    return "0" * (len(code) - 1) + code


def lying_about_size(path: Path) -> Path:
    """The MP4 header says 30000×30000, the pictures in it are of 64×64."""
    data = bytearray(film(path).read_bytes())
    entry = data.index(b"avc1", data.index(b"stsd"))
    data[entry + 28 : entry + 32] = struct.pack(">HH", 30000, 30000)
    path.write_bytes(data)
    return path


def no_text_in_its_title(path: Path) -> Path:
    """A title of bytes that are no UTF-8, for the film and for its track."""
    with av.open(str(path), "w", format="matroska") as out:
        out.metadata["title"] = "TITLE"
        stream = _add_video(out, "matroska")
        stream.metadata["title"] = "TITLE"
        for frame in pictures(FRAMES, SIDE):
            out.mux(stream.encode(frame))
        out.mux(stream.encode(None))
    data = path.read_bytes()
    assert data.count(b"TITLE") >= 2
    path.write_bytes(data.replace(b"TITLE", b"\xff\xfe\xc0\x80\xed"))
    return path


def endless(path: Path) -> Path:
    """Five frames, half a year apart."""
    return film(path, "matroska", frames=5, step=RATE * 86400 * 183)


def endless_in_secret(path: Path) -> Path:
    """The same, but its header says that it lasts a second."""
    data = bytearray(endless(path).read_bytes())
    place = data.index(b"\x44\x89\x88")  # Duration, eight bytes: milliseconds as a double
    data[place + 3 : place + 11] = struct.pack(">d", 1000.0)
    path.write_bytes(data)
    return path


def million_frames(path: Path) -> Path:
    """A million frames of one grey pixel, seven bytes each."""
    path.write_bytes(b"YUV4MPEG2 W1 H1 F25:1 Ip A1:1 Cmono\n" + b"FRAME\n\x80" * 1_000_000)
    return path


def sample_table_bomb(path: Path) -> Path:
    """An MP4 of three kilobytes that claims four hundred million frames of one byte."""
    data = bytearray(film(path).read_bytes())
    place = data.index(b"stsz") + 8
    data[place : place + 8] = struct.pack(">II", 1, 400_000_000)
    place = data.index(b"stts") + 8
    data[place : place + 12] = struct.pack(">III", 1, 400_000_000, 512)
    path.write_bytes(data)
    return path


def many_chapters(path: Path, count: int = 10_000) -> Path:
    with av.open(str(path), "w", format="matroska") as out:
        stream = _add_video(out, "matroska")
        out.set_chapters(
            [
                {
                    "id": number + 1,
                    "start": number,
                    "end": number + 1,
                    "time_base": Fraction(1, 1000),
                    "metadata": {"title": "x"},
                }
                for number in range(count)
            ]
        )
        for frame in pictures(FRAMES, SIDE):
            out.mux(stream.encode(frame))
        out.mux(stream.encode(None))
    return path
