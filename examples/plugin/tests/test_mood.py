"""A metric that asks a chat model, without one: screentest's chat server answers by script."""

import json
from pathlib import Path

import pytest

import screentest
from screentest.testing import Answer, FakeChatServer, check_metric
from screentest.testing.films import captioned_film


def test_contract() -> None:
    with FakeChatServer() as server:  # makes up answers that fit the form
        check_metric("mood", models=[f"chat=openai:fake,base_url={server.url}"])


def scored(answer: object, folder: Path) -> tuple[screentest.Outcome, FakeChatServer]:
    film = captioned_film(folder)
    with FakeChatServer([Answer(json.dumps(answer))]) as server:
        model = f"chat=openai:fake,base_url={server.url}"
        scores = screentest.score(film, metrics="mood", models=model, out=folder / "run")
    return scores.value(film.id, "mood").outcome, server


def test_score(tmp_path: Path) -> None:
    outcome, server = scored({"reason": "calm, as the text", "points": 4}, tmp_path)
    assert outcome.unwrap().value == pytest.approx(0.75)
    assert outcome.unwrap().details["reason"] == "calm, as the text"
    (request,) = server.asked
    assert len(request.picture_sizes) == 8


def test_an_answer_that_does_not_fit_is_no_score(tmp_path: Path) -> None:
    outcome, server = scored({"reason": "very calm", "points": 9}, tmp_path)
    assert outcome.failure.reason is screentest.Reason.UNPARSABLE
    assert len(server.asked) == 2  # the model was told what is wrong, once
