from __future__ import annotations

import pytest

from screentest.core import BadOption
from screentest.models.chat.messages import Sampling
from screentest.models.chat.wire import OPEN, OPENAI, PLAIN, REASONING, Dialect, dialect_for
from tests.models.chat.kit import QWEN3_VL

FULL = Sampling(0.7, 0.8, 20, 0.0, 1.2, 100, 10, 5, ("a", "b", "c", "d", "e"))


def test_open_servers_take_everything() -> None:
    assert OPEN.fields(FULL) == {
        "temperature": 0.7,
        "top_p": 0.8,
        "top_k": 20,
        "min_p": 0.0,
        "repetition_penalty": 1.2,
        "max_tokens": 100,
        "min_tokens": 10,
        "seed": 5,
        "stop": ["a", "b", "c", "d", "e"],
    }
    assert OPEN.unsaid(FULL) == []


def test_openai_takes_its_own() -> None:
    assert OPENAI.fields(FULL) == {
        "temperature": 0.7,
        "top_p": 0.8,
        "max_completion_tokens": 100,
        "seed": 5,
        "stop": ["a", "b", "c", "d"],
    }
    assert "top_k" in OPENAI.unsaid(FULL)
    assert "stop (beyond 4)" in OPENAI.unsaid(FULL)


def test_reasoning_models_take_only_a_limit() -> None:
    assert REASONING.fields(FULL) == {"max_completion_tokens": 100}


def test_plain() -> None:
    assert set(PLAIN.fields(FULL)) == {"temperature", "top_p", "max_tokens", "seed", "stop"}


@pytest.mark.parametrize("dialect", [OPEN, PLAIN, OPENAI, REASONING])
def test_every_dialect_limits_the_answer(dialect: Dialect) -> None:
    assert 8192 in dialect.fields(QWEN3_VL).values()


def test_repeats_draw_anew() -> None:
    assert [OPEN.fields(Sampling(seed=5), repeat)["seed"] for repeat in range(3)] == [5, 6, 7]
    assert "seed" not in OPEN.fields(Sampling(), 3)


@pytest.mark.parametrize(
    ("host", "model", "expected"),
    [
        ("api.openai.com", "gpt-4o", OPENAI),
        ("api.openai.com", "gpt-5-2025-08-07", REASONING),
        ("api.openai.com", "gpt-5-mini", REASONING),
        ("api.openai.com", "o3", REASONING),
        ("x.openai.azure.com", "gpt-4o", OPENAI),
        ("127.0.0.1", "Qwen/Qwen3-VL-8B", OPEN),
        ("notopenai.com", "gpt-4o", OPEN),
        ("127.0.0.1", "olmo", OPEN),
    ],
)
def test_auto(host: str, model: str, expected: Dialect) -> None:
    assert dialect_for("auto", host, model) is expected


def test_by_name() -> None:
    assert dialect_for("plain", "api.openai.com", "gpt-5") is PLAIN
    with pytest.raises(BadOption, match="unknown dialect 'plane'"):
        dialect_for("plane", "h", "m")
