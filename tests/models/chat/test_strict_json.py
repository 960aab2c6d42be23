from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screentest.models.chat.parsing import NotOneObject, read_object
from screentest.models.chat.refusals import declines

READABLE: dict[str, dict[str, Any]] = {
    '{"a": 1}': {"a": 1},
    ' \n{"a": 1}\n ': {"a": 1},
    '```json\n{"a": 1}\n```': {"a": 1},
    '{"a": {"b": [1]}}': {"a": {"b": [1]}},
    '<think>x</think>```\n{"a": 1}\n```': {"a": 1},
    '<think>{"a": 0}</think>{"a": 1}': {"a": 1},
    '{"a": 4.0}': {"a": 4},
    '{"a": 1e3}': {"a": 1000},
    '{"a": 0.5}': {"a": 0.5},
    "{}": {},
    '{"a": "{not} [json]"}': {"a": "{not} [json]"},
}
UNREADABLE = {
    "": "empty",
    "   ": "empty",
    "four": "no JSON object",
    "[1, 2]": "no JSON object",
    '[{"a": 1}]': "a list",
    '{"a": 1} {"a": 2}': "more than one",
    '{"a": 1}\n```\n{"a": 2}\n```': "more than one",
    'Sure! {"a": 1}': "beside",
    '{"a": 1} Anything else?': "beside",
    '```json\n{"a": 1}\n```\nI made this up.': "beside",
    '```\nno\n```\n```json\n{"a": 1}\n```': "beside",
    '{"a": 1': "broken",
    '{"a": {"b": 1}': "broken",
    "{'a': 1}": "broken",
    '{"a": 1,}': "broken",
    '{"a": NaN}': "NaN is not a number",
    '{"a": -Infinity}': "-Infinity is not a number",
    '{"a": 1e999}': "too large",
    '{"a": ' + "9" * 5000 + "}": "too large",
    '{"a": 1, "a": 2}': "twice",
    '{"a":' * 100_000: "too deep",
    '{"a": "' + "x" * 1_000_000 + '"}': "longer",
    '{note} {"a": 1}': "broken",
}


@pytest.mark.parametrize("text", READABLE)
def test_readable(text: str) -> None:
    assert read_object(text) == READABLE[text]


@pytest.mark.parametrize("text", UNREADABLE, ids=lambda text: UNREADABLE[text] + text[:12])
def test_unreadable(text: str) -> None:
    with pytest.raises(NotOneObject, match=UNREADABLE[text]):
        read_object(text)


def test_whole_numbers_are_whole() -> None:
    assert type(read_object('{"a": 4.0}')["a"]) is int


objects = st.dictionaries(
    st.text(max_size=5),
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(2**53), 2**53)
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(max_size=10),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
        max_leaves=8,
    ),
    max_size=4,
)


@given(objects)
def test_every_object_comes_through(value: dict[str, Any]) -> None:
    assert read_object(json.dumps(value)) == value
    assert read_object(f"```json\n{json.dumps(value, indent=2)}\n```") == value


@given(st.text() | st.text(alphabet='{}[]":,0123456789.eE-NaInfity \n`'))
def test_any_text_gives_an_object_or_a_reason(text: str) -> None:
    try:
        found: object = read_object(text)
    except NotOneObject:
        found = {}
    assert isinstance(found, dict)


@pytest.mark.parametrize("sign", [" ", "\t", "\n", "[", "`", "a", "(", '"', "<think>", "i cannot "])
@pytest.mark.parametrize("start", ["", "```", "```json\n{", '{"a": "'])
def test_long_runs_of_one_sign_are_read_in_no_time(start: str, sign: str) -> None:
    """Thirty thousand spaces after a fence once took hours: every rest of them was tried."""
    text = start + (sign * 30_000)[:30_000] + "x"
    with pytest.raises(NotOneObject):
        read_object(text)
    declines(text)
