"""Checks of meaning: an answer of the right form that makes no sense is sent back, once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from screentest.core import NoValue, Outcome, Reason
from screentest.models.ask import Query
from screentest.models.ask.templates import Prompts
from screentest.models.chat.messages import ChatAnswer, ChatRequest
from screentest.testing.chat_answers import Act, Answer
from screentest.testing.chat_server import FakeChatServer
from tests.models.chat.kit import GOOD, Rating, chat_at, plain, rating

LOW = '{"score": 1, "reason": "fine"}'


TOO_LOW = "a score of 1 is not to be given here"


def is_high(answer: Rating) -> None:
    if answer.score < 3:
        raise ValueError(TOO_LOW)


def says_dog(text: str) -> None:
    if "dog" not in text:
        raise ValueError("no dog is named")


def asked(request: ChatRequest, *acts: Act) -> tuple[Outcome[ChatAnswer], FakeChatServer]:
    with FakeChatServer(list(acts)) as server, chat_at(server.url) as chat:
        (outcome,) = chat.ask([request])
        return outcome, server


def test_an_object_that_makes_no_sense_is_sent_back_with_what_is_wrong() -> None:
    outcome, server = asked(rating(check=is_high), Answer(LOW), Answer(GOOD))
    assert outcome.unwrap().repairs == 1
    assert TOO_LOW in server.asked[1].texts[-1]
    assert server.asked[1].messages[-2] == {"role": "assistant", "content": LOW}


def test_a_text_that_makes_no_sense_is_sent_back_too() -> None:
    outcome, server = asked(plain(check=says_dog), Answer("A cat."), Answer("A dog."))
    assert outcome.unwrap().text == "A dog."
    told = server.asked[1].texts[-1]
    assert "no dog is named" in told
    assert "JSON" not in told


@pytest.mark.parametrize("request_", [rating(check=is_high), plain(check=says_dog)])
def test_once_and_no_more(request_: ChatRequest) -> None:
    outcome, server = asked(request_, Answer(LOW))
    assert outcome.failure is not None
    assert outcome.failure.reason is Reason.UNPARSABLE
    assert len(server.asked) == 2


def test_a_text_without_a_check_is_asked_for_once() -> None:
    outcome, server = asked(plain(), Answer(" "))
    assert outcome.failure is not None
    assert len(server.asked) == 1


def test_what_a_check_calls_a_refusal_is_not_sent_back() -> None:
    def refuses(answer: Rating) -> None:
        raise NoValue(Reason.REFUSED, "it declines")

    outcome, server = asked(rating(check=refuses), Answer(GOOD))
    assert outcome.failure is not None
    assert outcome.failure.reason is Reason.REFUSED
    assert len(server.asked) == 1


def test_a_check_changes_nothing_that_is_sent() -> None:
    assert rating().key == rating(check=is_high).key
    assert rating() == rating(check=is_high)


def test_a_query_checks_each_answer_against_its_own_slots() -> None:
    def has_all(slots: Mapping[str, Any], answer: Rating) -> None:
        if answer.score != len(slots["events"]):
            raise ValueError("another number")

    query = Query("locot2v/event_prompts", Rating, check=has_all)
    requests = [
        query.request(Prompts(), {"prompt": "A dog.", "events": ["It runs."] * count})
        for count in (4, 3)
    ]
    with FakeChatServer([Answer(GOOD)]) as server, chat_at(server.url) as chat:
        first, second = chat.ask(requests)
    assert first.ok
    assert second.failure is not None
    assert second.failure.detail.startswith("another number")
