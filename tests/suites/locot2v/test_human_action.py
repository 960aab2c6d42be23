"""Human action: occurrence first, then three questions on smoothness."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from screentest.core import Item, Reason
from screentest.suites.locot2v.metrics.alignment import SMOOTHNESS
from screentest.testing.chat_answers import Answer, Asked
from tests.suites.locot2v.answering import answering, chat
from tests.suites.locot2v.films import failure, score

NAME = "locot2v_human_action"
ACTIONS = {
    "actions": [
        {"subject": "a man", "action": "waves"},
        {"subject": "a woman", "action": "jumps"},
    ]
}


def spoken(asked: Asked) -> str:
    return "\n".join(asked.texts)


def replies(asked: Asked) -> dict[str, Any]:
    """The man waves, continuously but stiffly; the woman does not jump."""
    text = spoken(asked)
    if "jumps" in text:
        return {"answer": "no"}
    return {"answer": "no" if SMOOTHNESS[1] in text else "yes"}


def test_by_hand(story: Item) -> None:
    """(2 of 3 for waving + 0 for jumping) / 2."""
    with answering(actions=ACTIONS, yes_no=replies) as server:
        found = score(NAME, story, chat(server))
        # Actions; two occurrences; three questions on the one that occurs.
        assert len(server.asked) == 1 + 2 + 3
    assert found.value == pytest.approx((2 / 3 + 0) / 2)
    assert found.details["actions"] == [
        {"action": "a man: waves", "occurs": True, "smooth": [True, False, True]},
        {"action": "a woman: jumps", "occurs": False, "smooth": []},
    ]


def test_actions_are_read_from_the_prompt_not_from_its_base(story: Item, tmp_path: Path) -> None:
    suite = tmp_path / "suite.json"
    record = {"prompt": "He strides purposefully.", "main_content": "A man walks."}
    suite.write_text(json.dumps({"life": {"story": record}}))
    with answering(actions=ACTIONS, yes_no={"answer": "no"}) as server:
        score(f"{NAME}:records={suite}", story, chat(server))
        first = spoken(server.asked[0])
    assert "strides purposefully" in first
    assert "A man walks" not in first


def test_nothing_occurs(story: Item) -> None:
    with answering(actions=ACTIONS, yes_no={"answer": "no"}) as server:
        assert score(NAME, story, chat(server)).value == 0.0


def test_the_suites_own_actions(story: Item, tmp_path: Path) -> None:
    suite = tmp_path / "suite.json"
    actions = ["a girl dances", {"subject": "a boy", "action": "sings"}]
    suite.write_text(json.dumps({"life": {"story": {"prompt": "x", "human_actions": actions}}}))
    with answering(yes_no={"answer": "yes"}) as server:
        found = score(f"{NAME}:records={suite}", story, chat(server))
        assert len(server.asked) == 2 + 6
    assert found.value == 1.0


@pytest.mark.parametrize("from_suite", [True, False])
def test_no_humans_is_not_applicable(from_suite: bool, story: Item, tmp_path: Path) -> None:
    suite = tmp_path / "suite.json"
    suite.write_text(json.dumps({"pets": {"story": {"prompt": "x", "human_actions": []}}}))
    spec = f"{NAME}:records={suite}" if from_suite else NAME
    with answering(actions={"actions": []}) as server:
        lost = failure(spec, story, chat(server)).failure
    assert lost is not None
    assert lost.reason is Reason.NOT_APPLICABLE


def test_a_lost_answer_is_not_a_no(story: Item) -> None:
    def failing(asked: Asked) -> Any:
        return Answer(None, refusal="no") if "jumps" in spoken(asked) else {"answer": "yes"}

    with answering(actions=ACTIONS, yes_no=failing) as server:
        lost = failure(NAME, story, chat(server)).failure
    assert lost is not None
    assert lost.reason is Reason.REFUSED
