"""Content clarity: equation 2, rounds that differ, answers that do not fit."""

from __future__ import annotations

from typing import Any

import pytest

from screentest.core import BadOption, Item, Reason, build
from screentest.testing.chat_answers import Asked
from tests.suites.locot2v.answering import KINDS, answering, chat
from tests.suites.locot2v.films import measured

NAME = "locot2v_content_clarity"
ASPECTS = sorted(KINDS["clarity"])


def marks(points: int) -> dict[str, Any]:
    return {name: {"reason": "seen", "score": points} for name in ASPECTS}


def test_equation_2_by_hand(story: Item) -> None:
    """Rounds of 4, 2 and 3 points: (4 + 2 + 3) / 12."""
    given = iter((4, 2, 3))
    with answering(clarity=lambda asked: marks(next(given))) as server:
        found = measured(NAME, story, chat(server))
    assert sorted(found) == ASPECTS
    for outcome in found.values():
        assert outcome.unwrap().value == pytest.approx(0.75)
        rounds = outcome.unwrap().details["rounds"]
        assert isinstance(rounds, list)
        assert len(rounds) == 3


def test_rounds_have_seeds_of_their_own(story: Item) -> None:
    with answering(clarity=marks(1)) as server:
        measured(f"{NAME}:rounds=4,temperature=0.9", story, chat(server))
        bodies = [asked.body for asked in server.asked]
    assert sorted(body["seed"] for body in bodies) == [1, 2, 3, 4]
    assert {body["temperature"] for body in bodies} == {0.9}


@pytest.mark.parametrize("points", [-1, 5, 2.5])
def test_points_outside_the_scale_are_no_score(points: float, story: Item) -> None:
    def spoilt(asked: Asked) -> Any:
        answer = marks(3)
        answer["logical_structure"]["score"] = points
        return answer

    with answering(clarity=spoilt) as server:
        found = measured(NAME, story, chat(server))
    for outcome in found.values():
        assert outcome.failure is not None
        assert outcome.failure.reason is Reason.UNPARSABLE


def test_no_rounds_cannot_be() -> None:
    with pytest.raises(BadOption):
        build("metric", f"{NAME}:rounds=0")
