"""One token, or no answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screentest.core import Reason
from screentest.suites.etva.answers import Compat, read_answer


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Video Understanding: fine.\nConclusion: [YES] It does.", True),
        ("[NO]", False),
        ("so **[ yes ]**", True),
        ("[NO] and again [NO]", False),
        ("<think>[YES]? perhaps [NO]</think> [YES]", True),
        ("yes", None),
        ("Her eyes are shown.", None),
        ("[YES] on the one hand, [NO] on the other", None),
        ("[yesterday]", None),
        ("[Y E S]", None),
        ("YES]", None),
        ("", None),
    ],
)
def test_strict(text: str, expected: bool | None) -> None:
    outcome = read_answer(text)
    assert outcome.value is expected
    if expected is None:
        assert outcome.failure is not None
        assert outcome.failure.reason is Reason.UNPARSABLE


@pytest.mark.parametrize(
    ("text", "expected"),
    [("[YES] or [NO]", True), ("[yes]", False), ("", False), ("[NO]", False)],
)
def test_upstream_counts_all_but_its_own_token_as_no(text: str, expected: bool) -> None:
    assert read_answer(text, Compat.UPSTREAM).value is expected


@given(st.text())
def test_no_text_without_a_token_is_an_answer(text: str) -> None:
    if "[" not in text:
        assert not read_answer(text).ok
