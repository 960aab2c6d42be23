"""Padding: both videos of a pair are served with one length, so that size tells nothing.

What is added is an element that players skip: a ``free`` box at the end of an MP4.

>>> served_length([1000, 70_000])
131072
>>> pad = Padding(real=70_000, length=131_072)
>>> pad.read(0, 8)
b'\\x00\\x00\\xee\\x90free'
>>> len(pad.read(8, 10**9)) == 131_072 - 70_000 - 8
True
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

_STEP: Final = 1 << 16
_HEADER: Final = 16
_WIDE: Final = 1 << 32


def served_length(sizes: Iterable[int]) -> int:
    """The length at which files of these sizes are all served."""
    least = max(sizes) + _HEADER
    return -(-least // _STEP) * _STEP


@dataclass(frozen=True, slots=True)
class Padding:
    """The bytes behind the last real one."""

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
