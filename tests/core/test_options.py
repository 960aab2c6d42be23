"""What is written is read back as it was: choices and specs travel to workers as text."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screentest.core import BadOption
from screentest.core.signature import parse, read_options, split_options, write_options
from screentest.models import ModelChoice

names = st.from_regex(r"[a-z][a-z_]{0,8}", fullmatch=True)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(names, values, max_size=4))
def test_options_come_back(options: dict[str, Any]) -> None:
    text = write_options(options)
    assert read_options(split_options(text), text) == options
    assert parse(f"name:{text}") == ("name", options)


@given(st.dictionaries(names, values, max_size=4))
def test_a_choice_comes_back(options: dict[str, Any]) -> None:
    choice = ModelChoice("chat", "openai", "gpt-5", options, "caption")
    assert ModelChoice.parse(str(choice)) == choice


def test_an_option_without_a_value_is_reported() -> None:
    with pytest.raises(BadOption, match="'fast' in 'name:fast'"):
        parse("name:fast")
