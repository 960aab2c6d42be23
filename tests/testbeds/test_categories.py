"""Categories by a chat model, against the fake server over real HTTP."""

from __future__ import annotations

import json

import pytest

from screentest.core import BadOption, Reason, registry
from screentest.testbeds.chat import category_of
from screentest.testing.chat_answers import Act, Answer, Asked
from screentest.testing.chat_server import FakeChatServer

NAMES = ["Sports", "Food & drink", "Animals"]


def model(asked: Asked) -> Act:
    told = " ".join(asked.texts)
    if "refuse" in told:
        return Answer(None, refusal="No.")
    if "invent" in told:
        return Answer(json.dumps({"category": "Music"}))
    return Answer(json.dumps({"category": "Food & drink" if "soup" in told else "Animals"}))


def test_only_names_from_the_list_are_taken() -> None:
    texts = ["A cook stirs soup.", "A cat sleeps.", "Please refuse.", "Please invent one.", " "]
    with FakeChatServer(model) as server:
        built = registry.build("chat", "openai", model="reader", base_url=server.url)
        with built.thing as chat:
            outcomes = [category_of(text, NAMES, chat) for text in texts]
        told = server.asked[0]
    assert [outcome.value for outcome in outcomes[:2]] == ["Food & drink", "Animals"]
    reasons = [outcome.failure and outcome.failure.reason for outcome in outcomes[2:]]
    assert reasons == [Reason.REFUSED, Reason.UNPARSABLE, Reason.NOT_APPLICABLE]
    assert all(name in "\n".join(told.texts) for name in NAMES)


def test_one_category_is_no_choice() -> None:
    with pytest.raises(BadOption):
        category_of("A cat.", ["Sports", " Sports "], None)  # type: ignore[arg-type]
