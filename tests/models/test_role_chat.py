"""Every chat backend keeps the role's contract, against one fake model or its recording."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from pydantic import BaseModel, Field

from screentest.core import Outcome, Reason, registry
from screentest.models.chat.messages import ChatAnswer, ChatRequest, Encoding, Text, encode
from screentest.models.roles import Chat
from screentest.testing.chat_answers import Act, Answer, Asked
from screentest.testing.chat_server import FakeChatServer


class Verdict(BaseModel):
    reason: str
    score: int = Field(ge=1, le=10)


PICTURE = encode(np.full((48, 64, 3), 120, np.uint8), Encoding())
REQUESTS = [
    ChatRequest((Text("Say something."),)),
    ChatRequest(
        (Text("Judge this film."), PICTURE, Text("[1.00 second]"), PICTURE), schema=Verdict
    ),
    ChatRequest((Text("Decline, please."),)),
    ChatRequest((Text("Talk without end."),), system="You talk.", schema=Verdict),
    ChatRequest((Text("Answer off the point."),), schema=Verdict, max_repairs=0),
]


def model(asked: Asked) -> Act:
    told = " ".join(asked.texts)
    if "Decline" in told:
        return Answer(None, refusal="I would rather not.")
    if "without end" in told:
        return Answer("on and on", finish="length")
    if "off the point" in told:
        return Answer("It is raining.")
    return Answer('{"reason": "sharp", "score": 7}' if asked.schema else "Something.")


@pytest.fixture(params=["openai", "replay"])
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Chat]:
    recording = tmp_path / "recording.jsonl"
    with FakeChatServer(model) as server:
        options = {"model": "judge", "base_url": server.url, "record": str(recording)}
        chat = registry.build("chat", "openai", **options).thing
        if request.param == "replay":
            chat.ask(REQUESTS)
            chat.close()
            yield registry.build("chat", "replay", model=str(recording)).thing
        else:
            yield chat
            chat.close()


def test_answers_in_order_with_typed_reasons(backend: Chat) -> None:
    outcomes: list[Outcome[ChatAnswer]] = backend.ask(REQUESTS)
    assert outcomes[0].unwrap().text == "Something."
    assert outcomes[0].unwrap().value is None
    assert outcomes[1].unwrap().value == Verdict(reason="sharp", score=7)
    reasons = [outcome.failure.reason for outcome in outcomes[2:]]
    assert reasons == [Reason.REFUSED, Reason.TRUNCATED, Reason.UNPARSABLE]


def test_the_same_again(backend: Chat) -> None:
    def told(outcomes: list[Outcome[ChatAnswer]]) -> list[object]:
        return [
            outcome.failure.reason if outcome.failure else outcome.value.text
            for outcome in outcomes
        ]

    assert told(backend.ask(REQUESTS)) == told(backend.ask(REQUESTS))
    assert told(backend.ask(REQUESTS[::-1])) == told(backend.ask(REQUESTS))[::-1]


def test_answers_know_their_request(backend: Chat) -> None:
    answer = backend.ask(REQUESTS[:1])[0].unwrap()
    assert answer.model == "judge"


def test_nothing_asked_nothing_answered(backend: Chat) -> None:
    assert backend.ask([]) == []


def test_identity_is_plain_text(backend: Chat) -> None:
    assert backend.identity
    assert all(isinstance(k, str) and isinstance(v, str) for k, v in backend.identity.items())
