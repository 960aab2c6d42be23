"""The commands that the pages show, read out of them.

A block of code is an example where a line of it begins with ``screentest``, or with a prompt and
``screentest``. It is run, unless a comment stands above it: ``<!-- not run: why -->``. Then
its options are checked and nothing more. ``<!-- ends with 1 -->`` says how it must end.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "evidence").glob("*.md")),
]
TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
"""They are run whole, from a wheel: ``tests/docs/test_wheel.py``."""
BLOCK = re.compile(
    r"^(?:<!-- (?P<remark>[^\n]*) -->\n)?```(?P<language>\w*)\n(?P<body>.*?)^```$", re.M | re.S
)
LANGUAGES = ("", "console", "sh")


@dataclass(frozen=True, slots=True)
class Example:
    """One command as a page shows it."""

    page: Path
    line: int
    text: str
    not_run: str = ""
    """Why it is not run."""
    ends_with: int = 0

    @property
    def arguments(self) -> list[str]:
        """What follows ``screentest``; comments, redirections and pipes are the shell's."""
        words = shlex.split(self.text, comments=True)[1:]
        ends = [place for place, word in enumerate(words) if word in (">", "|")]
        return words[: min(ends, default=len(words))]

    def __str__(self) -> str:
        return f"{self.page.name}:{self.line}: {self.text}"


def examples(page: Path) -> Iterator[Example]:
    """The examples of a page in their order."""
    text = page.read_text(encoding="utf-8")
    for block in BLOCK.finditer(text):
        if block["language"] not in LANGUAGES:
            continue
        remark = block["remark"] or ""
        not_run = remark.removeprefix("not run: ") if remark.startswith("not run: ") else ""
        ends_with = int(remark.split()[-1]) if remark.startswith("ends with ") else 0
        first = text.count("\n", 0, block.start("body")) + 1
        for offset, command in _commands(block["body"]):
            yield Example(page, first + offset, command, not_run, ends_with)


def shown(page: Path) -> Iterator[str]:
    """The lines that a page says are printed, in their order.

    They follow a command, or fill a block of text. ``…`` alone stands for lines left out, at the
    end of a line for the rest of it. How wide a table is does not matter. ``<!-- not printed -->``
    stands above other text.
    """
    for block in BLOCK.finditer(page.read_text(encoding="utf-8")):
        if block["language"] not in ("console", "text") or (block["remark"] or "").startswith(
            "not "
        ):
            continue
        goes_on = False
        for line in block["body"].splitlines():
            command = goes_on or line.startswith("$ ")
            goes_on = command and line.endswith("\\")
            if not command and line.strip("…─ "):
                yield line


def must_be_printed(lines: Iterable[str], printed: str) -> None:
    """Check that the lines of a page are among those printed, in their order."""
    found = iter(printed.splitlines())
    for text in lines:
        assert any(_alike(text, line) for line in found), f"not printed, or earlier: {text}"


def _alike(text: str, line: str) -> bool:
    """Whether it is what the page shows: numbers may differ by a hundredth."""
    ours, theirs = text.removesuffix("…").split(), line.split()
    if text.endswith("…"):
        theirs = theirs[: len(ours)]
    return len(ours) == len(theirs) and all(map(_same_word, ours, theirs))


def _same_word(one: str, two: str) -> bool:
    try:
        return math.isclose(float(one.rstrip("*")), float(two.rstrip("*")), rel_tol=0.01)
    except ValueError:
        return one == two


def _commands(body: str) -> Iterator[tuple[int, str]]:
    lines = body.splitlines()
    for number, line in enumerate(lines):
        command = line.removeprefix("$ ")
        if not command.startswith("screentest "):
            continue
        follows = number
        while command.endswith("\\"):
            follows += 1
            command = command[:-1] + lines[follows].strip()
        if "…" not in command:  # a sketch, with something left out
            yield number, command


def help_examples(doc: str) -> list[str]:
    """The commands below ``Examples:`` in what ``--help`` shows."""
    _, _, below = doc.partition("Examples:\n")
    joined = re.sub(r"\\\n\s*", "", below)
    return [line.strip() for line in joined.splitlines() if line.strip().startswith("screentest ")]
