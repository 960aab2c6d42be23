"""Wholeness: does a file end where its own structure says it should?

MP4, Matroska and AVI say at their head how long their parts are. A file that was cut on the
way (a download that broke off, a full disk) decodes up to the cut without a word from the
demuxer; here the missing bytes are counted. Streams without such sizes pass as whole.
"""

from __future__ import annotations

import os
from pathlib import Path

from screentest.core.frames import Fault
from screentest.video.plainfile import PlainFile

_EBML, _SEGMENT = 0x1A45DFA3, 0x18538067
_BOXES = frozenset(
    b"ftyp moov mdat free skip wide pnot styp moof mfra sidx ssix emsg prft pdin meta uuid".split()
)
"""What stands at the top of an MP4 or QuickTime file. Anything else was appended to it."""
_MOST_PARTS = 100_000
"""A fragmented film of a day has about as many; more is not worth the walk."""


def cut_short(path: Path) -> Fault | None:
    """A fault that says how many bytes are missing at the end, or None where none are."""
    file = PlainFile(path)
    try:
        size = file.seek(0, os.SEEK_END)
        missing = _structure_end(file, size) - size
    finally:
        file.close()
    if missing <= 0:
        return None
    return Fault("cut_short", f"the file ends {missing:,} bytes before it should")


def _structure_end(file: PlainFile, size: int) -> int:
    head = _read(file, 0, 12)
    if head[4:8] in _BOXES:
        return _mp4_end(file, size)
    if head[:4] == b"RIFF" and head[8:] == b"AVI ":
        return _avi_end(file, size)
    if int.from_bytes(head[:4], "big") == _EBML:
        return _matroska_end(file)
    return 0


def _mp4_end(file: PlainFile, size: int) -> int:
    place = 0
    for _ in range(_MOST_PARTS):
        head = _read(file, place, 16)
        length = int.from_bytes(head[:4], "big")
        if len(head) < 8:
            return place + 8 if any(head) else place  # half a box, or padding
        if length == 0 or head[4:8] not in _BOXES:  # 0: it lasts to the end, wherever that is
            return place
        if length == 1:
            length = int.from_bytes(head[8:16], "big")
        if length < 8:
            return place
        place += length
        if place >= size:
            break
    return place


def _avi_end(file: PlainFile, size: int) -> int:
    place = 0
    for _ in range(_MOST_PARTS):  # films above a gigabyte are a row of RIFFs
        head = _read(file, place, 8)
        if head[:4] != b"RIFF" or len(head) < 8:
            return place
        length = int.from_bytes(head[4:], "little")
        if length == 0:  # never finished: its writer was stopped
            return place
        place += 8 + length
        if place >= size:
            break
    return place


def _matroska_end(file: PlainFile) -> int:
    place = 0
    for wanted in (_EBML, _SEGMENT):
        head = _read(file, place, 12)
        length = _matroska_length(head[4:])
        if int.from_bytes(head[:4], "big") != wanted or length is None:
            return 0
        width, value = length
        place += 4 + width + value
    return place


def _matroska_length(data: bytes) -> tuple[int, int] | None:
    """The width and value of a Matroska length; None where it is unknown, as in a live stream."""
    if not data or not data[0]:
        return None
    width = 9 - data[0].bit_length()
    bits = 7 * width
    value = int.from_bytes(data[:width], "big") & ((1 << bits) - 1)
    if len(data) < width or value == (1 << bits) - 1:
        return None
    return width, value


def _read(file: PlainFile, place: int, count: int) -> bytes:
    file.seek(place)
    return file.read(count)
