"""Whatever an untrusted file is called, what is shown of it steers no terminal."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screentest._util.text import (
    escaped,
    lines,
    one_line,
    plain_cell,
    printable,
    safe_cell,
    shown_path,
)

HOSTILE = ["new\nline", "escape\x1b[2J", "right\u202eto left", "bytes\udcff", "tab\t"]


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_shown_steers_no_terminal(name: str) -> None:
    for text in (shown_path(Path(name)), escaped(name), printable(name), one_line(name, 5)):
        assert text.isprintable()


def test_a_long_path_is_shown_by_its_ends() -> None:
    text = shown_path(Path("/" + "a" * 500 + "/film.mp4"))
    assert len(text) < 200
    assert text.endswith("film.mp4'")


def test_a_line_is_cut_only_where_it_is_too_long() -> None:
    assert one_line("12345", 5) == "12345"
    assert one_line("123456", 5) == "1234…"


@given(st.text() | st.text("=+-@\t\r\n' ＝＋－＠a1", max_size=6))
def test_safe_cells_come_back(text: str) -> None:
    """No spreadsheet takes a safe cell for a formula, and it can be read back."""
    assert plain_cell(safe_cell(text)) == text
    assert not safe_cell(text).lstrip(" ").startswith(tuple("=+-@\t\r\n＝＋－＠"))


@given(st.lists(st.text()), st.sampled_from(["\n", "\r\n", "\r"]))
def test_lines_are_those_that_were_written(texts: list[str], end: str) -> None:
    """U+2028, U+0085, form feeds and the like are part of a line."""
    written = [text.replace("\r", "").replace("\n", "") for text in texts]
    assert lines("".join(f"{text}{end}" for text in written)) == written
