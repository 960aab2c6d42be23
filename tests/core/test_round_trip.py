"""Everything in the vocabulary survives the way through JSON, exactly."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screentest.core import (
    DecodeError,
    Item,
    Outcome,
    Score,
    Shot,
    Signature,
    Verdict,
    VideoInfo,
    from_json,
    to_json,
)
from tests.core import strategies as s

KINDS = [
    (Item, s.items),
    (Outcome[Score], s.outcomes),
    (Verdict, s.verdicts),
    (Shot, s.shots),
    (VideoInfo, s.infos),
    (Signature, s.signatures),
]


@given(st.data())
@pytest.mark.parametrize(("kind", "strategy"), KINDS)
def test_json(kind: Any, strategy: st.SearchStrategy[Any], data: st.DataObject) -> None:
    value = data.draw(strategy)
    text = to_json(value, kind)
    assert from_json(kind, text) == value
    assert to_json(from_json(kind, text), kind) == text
    # Strict JSON: Python's reader is told to choke on NaN and Infinity.
    json.loads(text, parse_constant=lambda name: pytest.fail(name))


@given(st.data())
@pytest.mark.parametrize(("kind", "strategy"), KINDS)
def test_pickle(kind: Any, strategy: st.SearchStrategy[Any], data: st.DataObject) -> None:
    value = data.draw(strategy)
    assert pickle.loads(pickle.dumps(value)) == value


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"id": "a"}', "video"),
        ('{"id": "a", "video": "v.mp4", "script": {"clips": [{"span": 3}]}}', "script.clips.0"),
        ('{"id": "", "video": "v.mp4"}', r"\bid\b"),
        ("[", "JSON"),
        ('{"value": 1}', "id"),
    ],
)
def test_wrong_json_says_where(text: str, said: str) -> None:
    with pytest.raises(DecodeError, match=said):
        from_json(Item, text)
