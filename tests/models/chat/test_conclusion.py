from __future__ import annotations

from enum import StrEnum

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from screentest.core import NoValue, Reason
from screentest.models.chat.messages import ChatRequest, ModelReply, Text, Usage
from screentest.models.chat.parsing import conclude
from tests.models.chat.kit import GOOD, Rating, plain, rating


def test_an_object_of_the_schema() -> None:
    reply = ModelReply(GOOD, model="m", fingerprint="f", usage=Usage(5, 6))
    answer = conclude(rating(), reply)
    assert answer.value == Rating(score=4, reason="fine")
    assert (answer.text, answer.model, answer.fingerprint, answer.usage) == (
        GOOD,
        "m",
        "f",
        Usage(5, 6),
    )


def test_a_text() -> None:
    assert conclude(plain(), ModelReply("A dog runs.")).text == "A dog runs."
    assert conclude(plain(), ModelReply("A dog runs.")).value is None


REASONS = [
    (ModelReply("", refusal="No."), Reason.REFUSED),
    (ModelReply(GOOD, finish="content_filter"), Reason.REFUSED),
    (ModelReply("I'm sorry, but I can't help with that."), Reason.REFUSED),
    (ModelReply("I cannot assist with this request."), Reason.REFUSED),
    (ModelReply("As an AI, I am unable to view videos."), Reason.REFUSED),
    (ModelReply("I’m sorry, but I can’t actually see the uploaded video."), Reason.REFUSED),
    (ModelReply("Unfortunately, I am unable to watch it, so: [NO]"), Reason.REFUSED),
    (ModelReply("I apologize, but I don't have the ability to view images."), Reason.REFUSED),
    (ModelReply("Sorry, I don't have access to the frames."), Reason.REFUSED),
    (ModelReply("I can't provide a description of this content."), Reason.REFUSED),
    (ModelReply("I won't answer that question."), Reason.REFUSED),
    (ModelReply(GOOD, finish="length"), Reason.TRUNCATED),
    (ModelReply(GOOD, finish="tool_calls"), Reason.UNPARSABLE),
    (ModelReply(""), Reason.UNPARSABLE),
    (ModelReply(" \n"), Reason.UNPARSABLE),
    (ModelReply("<think>long thoughts"), Reason.UNPARSABLE),
]


@pytest.mark.parametrize(("reply", "reason"), REASONS)
@pytest.mark.parametrize("request_", [plain(), rating()], ids=["text", "schema"])
def test_reasons(request_: ChatRequest, reply: ModelReply, reason: Reason) -> None:
    with pytest.raises(NoValue) as caught:
        conclude(request_, reply)
    assert caught.value.reason is reason


@pytest.mark.parametrize(
    "text",
    [
        "The character cannot see the door, and is sorry.",
        "Sorry business: a shopkeeper closes early.",
        "No dog is shown.",
        # What a model says when it looked and found nothing: a no, not a refusal.
        "I can't see any cat in the frames. [NO] No cat appears.",
        "I cannot see a dog, so the answer is [NO].",
        "Unfortunately, the pictures do not provide evidence of a red car. [NO]",
        "Unfortunately the man does not see the wall and falls. [YES]",
        "I cannot see the red car that the text asks for. [NO]",
        "Sorry to say, I can't find the second person. [NO]",
    ],
)
def test_descriptions_are_not_refusals(text: str) -> None:
    assert conclude(plain(), ModelReply(text)).text == text


def test_an_object_after_a_refusal_is_an_example_and_no_answer() -> None:
    reply = ModelReply(f"I am sorry, I cannot view the video. The format would be {GOOD}")
    with pytest.raises(NoValue) as caught:
        conclude(rating(), reply)
    assert caught.value.reason is Reason.REFUSED


class Side(StrEnum):
    FIRST = "first"
    SECOND = "second"


class Strict(BaseModel, extra="forbid"):
    side: Side
    weight: float = Field(ge=0, le=1)
    sure: bool


@pytest.mark.parametrize(
    "text",
    [
        '{"side": "third", "weight": 0.5, "sure": true}',
        '{"side": "first", "weight": 1.5, "sure": true}',
        '{"side": "first", "weight": "0.5x", "sure": true}',
        '{"side": "first", "weight": "1,5", "sure": true}',
        '{"side": "first", "weight": "half", "sure": true}',
        '{"side": "first", "weight": "NaN", "sure": true}',
        '{"side": "firs", "weight": 0.5, "sure": true}',
        '{"side": "first", "weight": "1.5", "sure": true}',
        '{"side": "first", "weight": 0.5, "sure": "yes"}',
        '{"side": "first", "weight": 0.5, "sure": 1}',
        '{"side": "first", "weight": 0.5}',
        '{"side": "first", "weight": 0.5, "sure": true, "note": ""}',
        '{"side": "first", "weight": true, "sure": true}',
        '{"side": "first", "weight": null, "sure": true}',
    ],
)
def test_nothing_is_bent_to_fit(text: str) -> None:
    with pytest.raises(NoValue) as caught:
        conclude(ChatRequest((Text("x"),), schema=Strict), ModelReply(text))
    assert caught.value.reason is Reason.UNPARSABLE


@pytest.mark.parametrize(
    "text",
    [
        '{"side": "FIRST", "weight": 0.5, "sure": true}',
        '{"side": " First ", "weight": "0.5", "sure": "True"}',
        '{"side": "first", "weight": " 0.50 ", "sure": "true"}',
    ],
)
def test_another_spelling_of_one_thing_is_read(text: str) -> None:
    answer = conclude(ChatRequest((Text("x"),), schema=Strict), ModelReply(text))
    assert answer.value == Strict(side=Side.FIRST, weight=0.5, sure=True)


def test_another_spelling_deep_inside_is_read() -> None:
    class Many(BaseModel):
        each: list[Strict]

    text = '{"each": [{"side": "Second", "weight": "1", "sure": false}]}'
    answer = conclude(ChatRequest((Text("x"),), schema=Many), ModelReply(text))
    assert answer.value == Many(each=[Strict(side=Side.SECOND, weight=1.0, sure=False)])


def test_a_whole_number_is_a_number() -> None:
    text = '{"side": "first", "weight": 1, "sure": false}'
    answer = conclude(ChatRequest((Text("x"),), schema=Strict), ModelReply(text))
    assert answer.value == Strict(side=Side.FIRST, weight=1.0, sure=False)


@given(st.text() | st.text(alphabet='{}":,score reason0123456789.-eNaInfity'))
def test_no_text_gives_a_rating_outside_its_range(text: str) -> None:
    for written in (text, f'{{"score": {text}, "reason": "x"}}'):
        try:
            answer = conclude(rating(), ModelReply(written))
        except NoValue as error:
            assert error.reason in (Reason.UNPARSABLE, Reason.REFUSED)  # noqa: PT017
        else:
            assert isinstance(answer.value, Rating)
            assert 1 <= answer.value.score <= 5
