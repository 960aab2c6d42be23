"""What may be said at each step."""

from __future__ import annotations

import math
from typing import Any

import pytest

from screentest.annotate.answers import BadAnswer, Step, check_answer, check_comment, is_right


@pytest.mark.parametrize("score", [half / 2 for half in range(11)])
def test_scores_in_halves(score: float) -> None:
    assert check_answer(Step.RATE, {"score": score}) == {"score": score}


@pytest.mark.parametrize("score", [-0.5, 5.5, 0.25, 4.9, math.nan, math.inf, "3", None, True, [3]])
def test_no_other_scores(score: Any) -> None:
    with pytest.raises(BadAnswer):
        check_answer(Step.RATE, {"score": score})


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"1": 1},
        {"1": 1, "2": 2},
        {"1": 1, "2": True},
        {"1": 1, "2": "0"},
        {"1": 1, "2": 0, "3": 1},
        [1, 0],
        None,
    ],
)
def test_every_question_is_answered_with_1_or_0(given: Any) -> None:
    with pytest.raises(BadAnswer):
        check_answer(Step.ANSWERS, {"answers": given}, questions=["1", "2"])


def test_questions() -> None:
    answer = check_answer(Step.ANSWERS, {"answers": {"2": 0, "1": 1}}, questions=["1", "2"])
    assert answer == {"answers": {"1": 1, "2": 0}}


def test_a_correction_must_correct_something() -> None:
    prompt = "A cat.\nIt sleeps."
    assert check_answer(Step.REVIEW, {"verdict": "approve", "text": "x"}, prompt=prompt) == {
        "verdict": "approve"
    }
    right = {"verdict": "correct", "text": "A dog.\r\nIt sleeps."}
    assert check_answer(Step.REVIEW, right, prompt=prompt)["text"] == "A dog.\nIt sleeps."
    for text in ("A cat.\r\nIt sleeps. ", "", "  ", None, 5, "x" * 200_001):
        with pytest.raises(BadAnswer):
            check_answer(Step.REVIEW, {"verdict": "correct", "text": text}, prompt=prompt)


def test_texts_that_no_database_keeps() -> None:
    assert check_comment("a\x00b\ud800c") == "a�b?c"
    assert check_comment(None) == ""
    for remark in (5, ["x"], "x" * 100_001):
        with pytest.raises(BadAnswer):
            check_comment(remark)


def test_ties_only_where_they_are_allowed() -> None:
    assert check_answer(Step.CHOICE, {"choice": "same"}, ties=True) == {"choice": "same"}
    with pytest.raises(BadAnswer):
        check_answer(Step.CHOICE, {"choice": "same"})


def test_gold() -> None:
    assert is_right({"choice": "left", "picked": "first"}, {"picked": "first"})
    assert not is_right({"choice": "left", "picked": "second"}, {"picked": "first"})
    assert is_right({"score": 2.0}, {"low": 1.5, "high": 2.0})
    assert not is_right({"score": 2.5}, {"low": 1.5, "high": 2.0})
    assert is_right({"verdict": "correct", "text": "x"}, {"verdict": "correct"})
