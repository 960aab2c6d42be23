"""The little of H.264 that splicing needs: units, parameter sets, the encoder's signature."""

from __future__ import annotations

from collections.abc import Iterator

_START = b"\x00\x00\x01"
_KIND = 0x1F
_SEI, _SPS, _PPS = 6, 7, 8
_X264_MARK = b"x264 - core"


def units(stream: bytes) -> Iterator[bytes]:
    """The units of a byte stream, which stand between start codes.

    >>> list(units(bytes.fromhex("00000001 6742 000001 68ce")))
    [b'gB', b'h\\xce']
    """
    place = stream.find(_START)
    while place >= 0:
        begin = place + len(_START)
        place = stream.find(_START, begin)
        # A unit never ends in a zero byte: what is there belongs to the next start code.
        unit = stream[begin : place if place >= 0 else len(stream)].rstrip(b"\x00")
        if unit:
            yield unit


def length_prefixed(stream: bytes) -> bytes:
    """The same units as MP4 stores them: each behind its length in four bytes."""
    return b"".join(len(unit).to_bytes(4, "big") + unit for unit in units(stream))


def parameter_sets(header: bytes) -> tuple[bytes, ...]:
    """The parameter sets in an encoder's header or in an MP4's decoder record (avcC).

    >>> parameter_sets(bytes.fromhex("0164001effe1 0002 6742 01 0002 68ce"))
    (b'gB', b'h\\xce')
    """
    if header[:1] != b"\x01":
        return tuple(unit for unit in units(header) if unit[0] & _KIND in (_SPS, _PPS))
    sets: list[bytes] = []
    place = 5
    for mask in (0x1F, 0xFF):  # the count of the first kind shares its byte with reserved bits
        count, place = header[place] & mask, place + 1
        for _ in range(count):
            size = int.from_bytes(header[place : place + 2], "big")
            sets.append(header[place + 2 : place + 2 + size])
            place += 2 + size
    return tuple(sets)


def encoder_note(stream: bytes) -> str:
    """What x264 says of itself and its options in the first packet it writes; else empty."""
    for unit in units(stream):
        begin = unit.find(_X264_MARK)
        if unit[0] & _KIND == _SEI and begin >= 0:
            return unit[begin:].split(b"\x00", 1)[0].decode("ascii", "replace")
    return ""
