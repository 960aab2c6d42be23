"""What can be wrong with a manifest, each with its line and what to do about it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path


class Kind(StrEnum):
    """What is wrong, for machines. The order is the one reports use."""

    BAD_FILE = "bad_file"
    """The manifest as a whole cannot be read as one."""
    BAD_ROW = "bad_row"
    """A row that describes no item."""
    DUPLICATE_ID = "duplicate_id"
    """An id that an earlier row has."""
    DUPLICATE_VIDEO = "duplicate_video"
    """The same file as in an earlier row."""
    MISSING = "missing"
    """A row names a file that is not there."""
    UNREADABLE = "unreadable"
    """A row names a file that is there and does not open."""
    DAMAGED = "damaged"
    """A video that opens and does not decode in full."""
    MISMATCH = "mismatch"
    """The row and its video contradict each other."""
    UNLISTED = "unlisted"
    """A video that no row names."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong.

    >>> print(Problem(Kind.BAD_ROW, "no video", line=3, id="cat"))
    line 3 (cat): no video
    """

    kind: Kind
    message: str
    advice: str = ""
    line: int | None = None
    """Where the row begins in the manifest, from 1."""
    id: str = ""
    path: Path | None = None
    """The file it is about, where there is one."""

    def __str__(self) -> str:
        place = f"line {self.line}" if self.line is not None else ""
        if self.id:
            place = f"{place} ({self.id})" if place else self.id
        return f"{place}: {self.message}" if place else self.message


def listed(problems: Iterable[Problem]) -> str:
    """All problems as indented lines; advice that repeats is given once, at the end."""
    lines, advice = [], dict[str, None]()
    for problem in problems:
        lines.append(f"  {problem}")
        if problem.advice:
            advice[problem.advice] = None
    return "\n".join([*lines, *advice])
