"""Range requests: which bytes a player asks for (RFC 9110, section 14)."""

from __future__ import annotations

import re
from typing import Final

_ONE_RANGE: Final = re.compile(r"bytes\s*=\s*(\d{0,19})\s*-\s*(\d{0,19})\s*", re.ASCII)


class Unsatisfiable(ValueError):
    """No byte of the file is in the range."""


def asked_range(header: str | None, length: int) -> tuple[int, int] | None:
    """The first and last byte asked for; None: all of it.

    A header that is no range, or several ranges at once, is ignored, as the standard allows:
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
