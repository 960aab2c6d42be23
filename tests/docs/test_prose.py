"""The pages are short, and so are their paragraphs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
GENERATED = ("requests/", "reference/operators.md")
"""Scripts of docs/ write these whole."""
EVIDENCE = "evidence/"
"""Measured tables: long, and no prose to read in one go."""
MOST_WORDS = 45_000
LONGEST_PARAGRAPH = 90


def pages() -> dict[str, str]:
    """The text of each page that is not generated, by its name."""
    found = {path.relative_to(DOCS).as_posix(): path for path in sorted(DOCS.rglob("*.md"))}
    return {
        name: path.read_text(encoding="utf-8")
        for name, path in found.items()
        if not name.startswith(GENERATED)
    }


def paragraphs(text: str) -> Iterator[str]:
    """Paragraphs and entries of lists; no code, tables, headings or comments."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    lines: list[str] = []
    for line in [*text.splitlines(), ""]:
        apart = not line.strip() or line.startswith(("#", "|"))
        if apart or re.match(r"\s*([-*]|\d+\.) ", line):
            if lines:
                yield " ".join(lines)
            lines = []
        if not apart:
            lines.append(line.strip())


def words(paragraph: str) -> int:
    """The number of words, without the addresses of links."""
    return len(re.sub(r"\]\([^)]*\)", "]", paragraph).split())


def test_the_pages_have_few_words() -> None:
    written = {name: text for name, text in pages().items() if not name.startswith(EVIDENCE)}
    assert sum(len(text.split()) for text in written.values()) <= MOST_WORDS


def documents() -> dict[str, str]:
    """The pages, and the documents beside them."""
    beside = [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("design/*.md"))]
    return pages() | {
        path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in beside
    }


@pytest.mark.parametrize(("name", "text"), documents().items(), ids=list(documents()))
def test_no_paragraph_is_long(name: str, text: str) -> None:
    long = [one for one in paragraphs(text) if words(one) > LONGEST_PARAGRAPH]
    assert not long, f"{name}: {[one[:60] for one in long]}"


@pytest.mark.parametrize("name", [name for name in pages() if name.startswith(EVIDENCE)])
def test_evidence_names_the_command_that_measured_it(name: str) -> None:
    command = r"python (-m )?(bench|docs|tests)[/.]|make [a-z]+|^\$ screentest "
    assert re.search(command, pages()[name], re.MULTILINE)


def test_paragraphs_end_where_they_should() -> None:
    text = "One\ntwo.\n- three\n  four\n- [five](six.md)\n\n```\ncode\n```\n| a |\n\nSeven.\n"
    found = list(paragraphs(text))
    assert found == ["One two.", "- three four", "- [five](six.md)", "Seven."]
    assert [words(one) for one in found] == [2, 3, 2, 1]
