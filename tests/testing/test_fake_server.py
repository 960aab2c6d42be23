"""The fake server is what other tests stand on, so it is checked with a client that is not ours."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.error
import urllib.request
from typing import Any

import pytest
from pydantic import BaseModel, Field

from screentest.models.chat.messages import json_schema
from screentest.testing.chat_answers import Answer, Asked, Raw, Status, count_tokens, rate_limited
from screentest.testing.chat_server import FakeChatServer


def post(url: str, body: dict[str, Any]) -> Any:
    request = urllib.request.Request(
        f"{url}/chat/completions",
        json.dumps(body).encode(),
        {"Content-Type": "application/json", "Authorization": "Bearer x"},
    )
    with urllib.request.urlopen(request) as response:
        return json.loads(response.read())


def question(text: str = "Hello?", **more: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": text}], **more}


def test_a_script_in_order_the_last_for_all_that_follow() -> None:
    with FakeChatServer([Answer("one"), Answer("two", model="other")]) as server:
        replies = [post(server.url, question()) for _ in range(3)]
    assert [reply["choices"][0]["message"]["content"] for reply in replies] == ["one", "two", "two"]
    assert [reply["model"] for reply in replies] == ["m", "other", "other"]
    assert len(server.asked) == 3


def test_errors_and_headers() -> None:
    with FakeChatServer([rate_limited("7"), Status(503)]) as server:
        for code, after in ((429, "7"), (503, None)):
            with pytest.raises(urllib.error.HTTPError) as caught:
                post(server.url, question())
            assert caught.value.code == code
            assert caught.value.headers["Retry-After"] == after
            assert "error" in json.loads(caught.value.read())
            caught.value.close()


def test_what_was_asked_can_be_looked_at() -> None:
    with FakeChatServer([Answer("one two three")]) as server:
        reply = post(server.url, question("Four words are here."))
    (asked,) = server.asked
    assert asked.headers["authorization"] == "Bearer x"
    assert asked.texts == ["Four words are here."]
    assert reply["usage"]["prompt_tokens"] == asked.tokens == server.billed[0]
    assert reply["usage"]["completion_tokens"] == count_tokens("one two three") == 3


class Inner(BaseModel):
    kind: str
    weight: float = Field(ge=0.25, le=0.5)


class Shape(BaseModel):
    score: int = Field(ge=3, le=7)
    inner: list[Inner]
    note: str | None
    sure: bool


def test_made_up_answers_fit_the_schema_and_differ() -> None:
    form = {"type": "json_schema", "json_schema": {"name": "s", "schema": json_schema(Shape)}}
    with FakeChatServer() as server:
        replies = [
            post(server.url, question(f"film {number}", response_format=form))
            for number in range(20)
        ]
        again = post(server.url, question("film 0", response_format=form))
    texts = [reply["choices"][0]["message"]["content"] for reply in replies]
    assert all(Shape.model_validate_json(text, strict=True) for text in texts)
    assert len(set(texts)) > 5
    assert again["choices"][0]["message"]["content"] == texts[0]


def test_a_script_may_look_at_the_request_and_its_errors_surface() -> None:
    def wrong(asked: Asked) -> Answer:
        assert asked.texts == ["something else"]
        return Answer()

    with pytest.raises(AssertionError), FakeChatServer(wrong) as server:  # noqa: PT012
        with pytest.raises(urllib.error.HTTPError) as caught:
            post(server.url, question())
        caught.value.close()


def test_other_paths() -> None:
    with FakeChatServer() as server:
        with urllib.request.urlopen(f"{server.url}/models") as response:
            assert json.loads(response.read())["object"] == "list"
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(f"{server.url}/nowhere")
        assert caught.value.code == 404
        caught.value.close()
    assert not server.asked


def test_raw_bytes_and_closing_twice() -> None:
    with FakeChatServer([Raw(b'{"a": 1}', headers={"X-Test": "1"})]) as server:
        assert post(server.url, question()) == {"a": 1}
        server.close()
        with pytest.raises(urllib.error.URLError):
            post(server.url, question())


def test_an_empty_script() -> None:
    with pytest.raises(ValueError, match="at least one act"):
        FakeChatServer([])


def test_in_a_process_of_its_own() -> None:
    command = [sys.executable, "-m", "screentest.testing", "--latency=0.01"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        assert post(url, question())["choices"][0]["message"]["content"] in ("Yes.", "No.")
        server.terminate()
