"""A value or a reason; nothing in between."""

from __future__ import annotations

import math
import pickle

import pytest

from screentest.core import Failure, NoValue, Outcome, Point, Reason, Score, Span, Summary, attempt
from screentest.core import errors as tree
from screentest.core.item import Time

SPAN = Span(Time(0), Time(1))


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_no_number_that_is_none(number: float) -> None:
    with pytest.raises(ValueError, match=r"nan|inf"):
        Outcome.of(number)
    with pytest.raises(ValueError, match=r"nan|inf"):
        Score(number)
    with pytest.raises(ValueError, match=r"nan|inf"):
        Point(SPAN, number)
    with pytest.raises(ValueError, match=r"nan|inf"):
        Score(0.5, details={"also": number})
    with pytest.raises(ValueError, match=r"nan|inf"):
        Score(0.5, details={"listed": [1.0, {"inside": number}]})
    with pytest.raises(ValueError, match=r"nan|inf"):
        Summary(number, 0, 1, 1, 1, "x")


def test_exactly_one_of_both() -> None:
    with pytest.raises(ValueError, match="either"):
        Outcome()
    with pytest.raises(ValueError, match="either"):
        Outcome(value=1.0, failure=Failure(Reason.REFUSED))


def test_failure_passes_through() -> None:
    lost: Outcome[float] = Outcome.failed(Reason.REFUSED, "no", "ask again")
    assert lost.map(lambda value: value + 1) == lost
    with pytest.raises(NoValue) as caught:
        lost.unwrap()
    assert caught.value.failure == lost.failure
    assert Outcome.of(1.0).map(lambda value: value + 1).unwrap() == 2.0


def test_attempt_catches_only_what_is_meant() -> None:
    def refuse() -> float:
        raise NoValue(Reason.TIMED_OUT, "slow")

    assert attempt(refuse).failure == Failure(Reason.TIMED_OUT, "slow")
    with pytest.raises(ZeroDivisionError):
        attempt(lambda: 1 / 0)


def test_errors_survive_a_process_border() -> None:
    every = [
        kind
        for kind in vars(tree).values()
        if isinstance(kind, type) and issubclass(kind, tree.ScreentestError)
    ]
    assert len(every) > 10
    for kind in every:
        if issubclass(kind, NoValue):
            error: tree.ScreentestError = kind(Reason.UNSAFE, "what", advice="do")
        else:
            error = kind("what", advice="do")
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again), again.advice) == (kind, "what\ndo", "do")
        if isinstance(error, NoValue):
            assert again.reason is Reason.UNSAFE


def test_summary_refuses_what_cannot_be() -> None:
    with pytest.raises(ValueError, match="outside"):
        Summary(0.9, 0.1, 0.5, 1, 1, "x")
    with pytest.raises(ValueError, match="0 of 5"):
        Summary(0.5, 0.5, 0.5, 0, 5, "x")
    assert Summary(0.5, 0.4, 0.6, 1, 4, "x").coverage == 0.25
