"""Untrusted text where people read it: nothing in it steers a terminal or begins a line."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final


def printable(text: str, instead: str = " ") -> str:
    """Return the text with ``instead`` for every character that cannot be seen.

    >>> printable("film\\x1b[2J.mp4", "?")
    'film?[2J.mp4'
    """
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else instead for letter in text)


def escaped(text: str) -> str:
    """Return the text with every character that cannot be seen written as an escape.

    >>> print(escaped("film\\x1b[2J.mp4"))
    film\\x1b[2J.mp4
    """
    if text.isprintable():
        return text
    return "".join(
        letter
        if letter.isprintable()
        else letter.encode("unicode_escape", "surrogatepass").decode()
        for letter in text
    )


def one_line(text: str, longest: int) -> str:
    """Return the text on one line of at most ``longest`` letters; where it is cut, it says so.

    >>> one_line("a castle\\n  at dawn", 12)
    'a castle at…'
    """
    line = " ".join(printable(text).split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def plural(count: int, thing: str, things: str = "") -> str:
    """Return a count with its noun.

    >>> plural(1, "video"), plural(1200, "video")
    ('1 video', '1,200 videos')
    """
    return f"{count:,} {thing if count == 1 else things or thing + 's'}"


def shown_path(path: Path) -> str:
    """Return a path in quotes as it may stand in a message; the middle of a long one is left out.

    >>> print(shown_path(Path("new\\nline.mp4")))
    'new\\nline.mp4'
    """
    text = repr(str(path))
    return text if len(text) <= 160 else f"{text[:60]}…{text[-90:]}"


def lines(text: str) -> list[str]:
    r"""Return lines that end at ``\n``, ``\r\n`` and ``\r``; not, as ``splitlines``, at U+2028.

    >>> lines("one\r\ntwo\u2028still two\n")
    ['one', 'two\u2028still two']
    """
    *whole, rest = re.split(r"\r\n|\n|\r", text)
    return [*whole, rest] if rest else whole


def natural(name: str) -> list[tuple[str, int]]:
    """Return a key for sorting names that have numbers in them.

    >>> sorted(["step_10/a", "step_9/b"], key=natural), sorted(["1000", "200"], key=natural)
    (['step_9/b', 'step_10/a'], ['200', '1000'])
    """
    return [(text, int(number or 0)) for text, number in _NUMBERS.findall(name)]


_NUMBERS: Final = re.compile(r"(\D*)(\d*)")


# What makes Excel, LibreOffice or Google Sheets calculate, full-width forms included; and the
# apostrophe that keeps them from it, so that every cell can be read back.
_FORMULA: Final = frozenset("=+-@\t\r\n'\uff1d\uff0b\uff0d\uff20")


def safe_cell(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula. Numbers are written as they are.

    >>> safe_cell("=1+1"), safe_cell("fine"), plain_cell(safe_cell("=1+1"))
    ("'=1+1", 'fine', '=1+1')
    """
    return f"'{text}" if _is_formula(text) else text


def plain_cell(text: str) -> str:
    """Return the text that a safe cell stands for."""
    return text[1:] if text.startswith("'") and _is_formula(text[1:]) else text


def _is_formula(text: str) -> bool:
    return text.lstrip(" ")[:1] in _FORMULA
