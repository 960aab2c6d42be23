"""The client against an inference server that is not ours: `transformers serve`, a tiny model."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from screentest.core import Reason, ServiceError
from screentest.models.chat.messages import ChatRequest, Encoding, Part, Sampling, Text, encode
from screentest.models.chat.openai import OpenAIChat
from tests.models import tiny
from tests.models.chat.kit import QWEN3, chat_at, ledger_of, rating, statuses

pytestmark = pytest.mark.models
ROOT = Path(__file__).parents[3]
GREEDY = Sampling(temperature=0.0, max_tokens=8)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("torch")
    for needed in ("transformers", "fastapi", "uvicorn"):
        pytest.importorskip(needed)
    from tests.models.torchvision_here import make_importable

    make_importable()
    return tiny.vision_language_model(tmp_path_factory.mktemp("model") / "tiny")


@pytest.fixture(scope="module")
def url(folder: Path) -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "tests.models.chat.serve_tiny", str(folder), str(port)]
    log = (folder.parent / "serve.log").open("w+")
    environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
    with (
        log,
        subprocess.Popen(
            command, cwd=ROOT, stdout=log, stderr=subprocess.STDOUT, env=environment
        ) as server,
    ):
        try:
            for _ in range(4500):
                if server.poll() is not None:
                    break
                try:
                    urllib.request.urlopen(f"http://127.0.0.1:{port}/health").close()
                    break
                except (urllib.error.URLError, ConnectionError):
                    time.sleep(0.2)
            else:
                pytest.fail("the server did not start in fifteen minutes")
            if server.poll() is not None:
                log.seek(0)
                pytest.fail(f"the server did not start: {log.read()[-2000:]}")
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.terminate()


@pytest.fixture
def chat(url: str, folder: Path) -> Iterator[OpenAIChat]:
    with chat_at(url, model=str(folder), dialect="plain", timeout=60) as made:
        yield made


def picture(seed: int) -> Part:
    pixels = np.random.default_rng(seed).integers(0, 255, (60, 80, 3)).astype(np.uint8)
    return encode(pixels, Encoding())


def test_pictures_with_text_between_them(chat: OpenAIChat) -> None:
    ledger = ledger_of(chat)
    words = (Text("the cat is on the left"), Text("is the dog red"))
    shown = (words[0], picture(1), words[1], picture(2))
    bare, seen = (
        outcome.unwrap()
        for outcome in chat.ask(
            [
                ChatRequest(words, system="good", sampling=GREEDY),
                ChatRequest(shown, system="good", sampling=GREEDY),
            ]
        )
    )
    assert bare.text
    assert seen.text
    # The server's own count of tokens has the pictures in it: at least one each.
    assert seen.usage.input_tokens >= bare.usage.input_tokens + 2
    assert all(
        receipt.tokens_in in (bare.usage.input_tokens, seen.usage.input_tokens)
        for receipt in ledger.receipts.values()
    )


def test_greedy_repeats_agree_and_each_is_its_own_call(chat: OpenAIChat) -> None:
    ledger = ledger_of(chat)
    parts = (Text("a red dog"), picture(3))
    requests = [ChatRequest(parts, sampling=GREEDY, repeat=repeat) for repeat in range(3)]
    texts = {outcome.unwrap().text for outcome in chat.ask(requests)}
    assert len(texts) == 1
    assert len(statuses(ledger)) == 3


def test_the_name_it_answers_under_is_noted(chat: OpenAIChat, folder: Path) -> None:
    answer = chat.ask([ChatRequest((Text("the sky is blue"),), sampling=GREEDY)])[0].unwrap()
    assert answer.drifted
    assert chat.identity["served"] == answer.model == f"{folder}@main"


def test_a_server_that_ignores_schemas_gives_no_value_by_chance(chat: OpenAIChat) -> None:
    ledger = ledger_of(chat)
    (outcome,) = chat.ask([rating(sampling=GREEDY, max_repairs=2)])
    # A random model writes no JSON, whatever it is told: three answers, and a typed reason.
    assert outcome.failure.reason in (Reason.UNPARSABLE, Reason.TRUNCATED)
    assert len(ledger.receipts) <= 3


def test_settings_it_does_not_know_are_refused_with_advice(url: str, folder: Path) -> None:
    request = ChatRequest((Text("hello"),), sampling=QWEN3)
    chat = chat_at(url, model=str(folder), dialect="open")
    with chat, pytest.raises(ServiceError, match="dialect=plain"):
        chat.ask([request])
