from __future__ import annotations

import random
from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screentest.models.chat.faults import Retries, parse_retry_after

NOW = 1_700_000_000.0


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": " 7 "}, 7.0),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": formatdate(NOW + 42, usegmt=True)}, 42.0),
        ({"retry-after": formatdate(NOW - 42, usegmt=True)}, 0.0),
        ({"retry-after": "86400000"}, 86_400_000.0),
        ({}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "Mon, 99 Foo 2024"}, None),
        ({"retry-after-ms": "x", "retry-after": "2"}, 2.0),
    ],
)
def test_retry_after(headers: dict[str, str], expected: float | None) -> None:
    assert parse_retry_after(headers, NOW) == expected


@given(st.text())
def test_any_header_gives_a_sane_wait_or_none(written: str) -> None:
    found = parse_retry_after({"retry-after": written}, NOW)
    assert found is None or found >= 0


@given(
    st.integers(1, 10_000),
    st.none() | st.floats(0, 1e12),
    st.integers(0, 100),
)
def test_every_wait_is_bounded(attempt: int, asked: float | None, seed: int) -> None:
    retries = Retries(first_wait=0.5, longest_wait=60)
    wait = retries.wait(attempt, asked, random.Random(seed))
    assert 0 <= wait <= 60
    if asked is not None and asked <= 60:
        assert wait >= asked


def test_waits_double_and_differ() -> None:
    retries = Retries(first_wait=1.0, longest_wait=1000)
    for attempt in range(1, 6):
        waits = {retries.wait(attempt, None, random.Random(seed)) for seed in range(50)}
        assert len(waits) == 50
        assert all(2 ** (attempt - 1) / 2 <= wait <= 2 ** (attempt - 1) for wait in waits)
