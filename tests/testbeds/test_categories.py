"""Categories by a chat model, against the fake server over real HTTP."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from screentest.core import BadOption, Clip, Item, Reason, Script, registry
from screentest.testbeds.chat import categorise
from screentest.testing.chat_answers import Act, Answer, Asked
from screentest.testing.chat_server import FakeChatServer

NAMES = ["Sports", "Food & drink", "Animals"]


def item(name: str, text: str, **groups: str) -> Item:
    return Item(name, Path(f"{name}.mp4"), script=Script((Clip(text),)), groups=groups)


def model(asked: Asked) -> Act:
    told = " ".join(asked.texts)
    if "refuse" in told:
        return Answer(None, refusal="No.")
    if "invent" in told:
        return Answer(json.dumps({"category": "Music"}))
    return Answer(json.dumps({"category": "Food & drink" if "soup" in told else "Animals"}))


def test_only_names_from_the_list_are_taken() -> None:
    items = [
        item("a", "A cook stirs soup."),
        item("b", "A cat sleeps.", model="x"),
        item("c", "Anything.", category="News"),
        item("d", "Please refuse."),
        item("e", "Please invent one."),
        item("f", " "),
    ]
    with FakeChatServer(model) as server:
        built = registry.build("chat", "openai", model="reader", base_url=server.url)
        with built.thing as chat:
            outcomes = categorise(items, NAMES, chat)
        told = server.asked[0]
    assert outcomes[0].unwrap().groups == {"category": "Food & drink"}
    assert outcomes[1].unwrap().groups == {"model": "x", "category": "Animals"}
    assert outcomes[2].unwrap() == items[2]  # its metadata has one: not asked
    reasons = [outcome.failure and outcome.failure.reason for outcome in outcomes[3:]]
    assert reasons == [Reason.REFUSED, Reason.UNPARSABLE, Reason.NOT_APPLICABLE]
    assert all(name in "\n".join(told.texts) for name in NAMES)
    assert all("News" not in text for text in told.texts)


def test_one_category_is_no_choice() -> None:
    with pytest.raises(BadOption):
        categorise([], ["Sports", " Sports "], None)  # type: ignore[arg-type]
