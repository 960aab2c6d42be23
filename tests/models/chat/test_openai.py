"""The client when all is well: what it sends, to whom, and from which thread or process."""

from __future__ import annotations

import json
import logging
import multiprocessing
import os
import pickle
import socket
import subprocess
import sys
import textwrap
import traceback
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from screentest.core import (
    BadOption,
    CallStatus,
    Reason,
    ServiceError,
    UnknownName,
    build,
    registry,
)
from screentest.models import ModelChoice, Models
from screentest.models.chat.calls import call_digest
from screentest.models.chat.costs import MemoryLedger
from screentest.models.chat.messages import ChatRequest, Encoding, Sampling, Text, encode
from screentest.models.chat.openai import OpenAIChat, openai_chat
from screentest.testing.chat_answers import Answer, Asked, Status
from screentest.testing.chat_server import FakeChatServer
from tests.models.chat.kit import (
    GOOD,
    KEY,
    QWEN3,
    QWEN3_VL,
    Rating,
    chat_at,
    ledger_of,
    plain,
    prices,
    rating,
    serving,
    statuses,
)


def picture(shade: int, width: int = 64, height: int = 48) -> Any:
    return encode(np.full((height, width, 3), shade, np.uint8), Encoding(quality=80))


def test_text_and_pictures_arrive_in_order() -> None:
    parts = (Text("[0.00 second]"), picture(10), Text("[1.00 second]"), picture(200, 32, 20))
    request = ChatRequest(parts, system="You judge.", use="slvm.judge")
    with serving([Answer("fine")]) as (server, chat):
        chat.ask([request])
    (asked,) = server.asked
    assert [message["role"] for message in asked.messages] == ["system", "user"]
    kinds = [part["type"] for part in asked.messages[1]["content"]]
    assert kinds == ["text", "image_url", "text", "image_url"]
    assert asked.texts == ["You judge.", "[0.00 second]", "[1.00 second]"]
    # The sizes are Pillow's reading of what arrived.
    assert asked.picture_sizes == [(64, 48), (32, 20)]
    assert asked.parts[2]["image_url"]["url"].startswith("data:image/jpeg;base64,/9j/")


def test_outcomes_come_in_the_order_of_requests() -> None:
    def later_first(asked: Asked) -> Answer:
        number = int(asked.texts[0].split()[2])
        return Answer(f"film {number}", delay=0.002 * (20 - number))

    with serving(later_first, concurrency=20) as (_, chat):
        outcomes = chat.ask([plain(number) for number in range(20)])
    assert [outcome.unwrap().text for outcome in outcomes] == [f"film {n}" for n in range(20)]


def test_no_more_at_once_than_allowed() -> None:
    # The first five wait for each other, so to speak: time enough for all of them to arrive.
    script = [Answer("yes", delay=1.0)] * 5 + [Answer("yes", delay=0.01)]
    with serving(script, concurrency=5) as (server, chat):
        chat.ask([plain(number) for number in range(40)])
        assert server.most_at_once == 5
    assert chat.ask([]) == []


def test_sampling_is_sent_as_the_dialect_says() -> None:
    with serving([Answer("yes")]) as (server, chat):
        chat.ask([plain(sampling=QWEN3)])
    body = server.asked[0].body
    sent = {name: body[name] for name in ("temperature", "top_p", "top_k", "min_p")}
    assert sent == {"temperature": 0.6, "top_p": 0.95, "top_k": 20, "min_p": 0.0}
    assert body["repetition_penalty"] == 1.2


def test_what_a_model_cannot_be_told_is_left_out_and_said(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with serving([Answer("yes")], model="gpt-5") as (server, chat):
        chat.ask([plain(number, sampling=QWEN3_VL) for number in range(3)])
        assert chat.identity["dialect"] == "reasoning"
    assert "temperature" not in server.asked[0].body
    assert server.asked[0].body["max_completion_tokens"] == 8192
    (warning,) = [record.getMessage() for record in caplog.records]
    assert "temperature" in warning


def test_the_users_own_sampling_goes_before_the_papers() -> None:
    with serving([Answer("yes")], sampling={"temperature": 0.2, "max_tokens": 9}) as (server, chat):
        assert chat.ask([plain(sampling=QWEN3_VL)])[0].ok
    body = server.asked[0].body
    assert (body["temperature"], body["max_tokens"], body["top_p"]) == (0.2, 9, 0.8)


def test_sampling_that_is_none() -> None:
    with pytest.raises(BadOption, match="'temprature'"):
        openai_chat(model="m", base_url="http://127.0.0.1/v1", sampling={"temprature": 1})
    with pytest.raises(BadOption):
        openai_chat(model="m", base_url="http://127.0.0.1/v1", sampling={"temperature": "hot"})


def test_fields_of_the_servers_own_are_sent_and_are_part_of_the_call() -> None:
    extra = {"chat_template_kwargs": {"enable_thinking": False}, "reasoning_effort": "low"}
    with serving([Answer("yes")], extra=extra) as (server, chat):
        chat.ask([plain()])
    body = server.asked[0].body
    assert {name: body[name] for name in extra} == extra
    bare = replace(chat.settings, extra={})
    assert call_digest(chat.settings, plain()) != call_digest(bare, plain())
    with pytest.raises(BadOption, match="messages"):
        openai_chat(model="m", base_url="http://127.0.0.1/v1", extra={"messages": []})


@pytest.mark.parametrize(
    ("said", "flag"),
    [
        # As vLLM 0.6 and 0.10 say it.
        ("At most 1 image(s) may be provided in one request.", "--limit-mm-per-prompt"),
        (
            "'max_tokens' is too large: 32768. This model's maximum context length is 32768 tokens",
            "max_tokens",
        ),
    ],
)
def test_a_server_that_takes_less_is_told_apart_from_a_wrong_request(said: str, flag: str) -> None:
    with serving([Status(400, said)]) as (_, chat):
        (outcome,) = chat.ask([plain()])
    assert outcome.failure is not None
    assert outcome.failure.reason is Reason.TOO_LARGE
    assert flag in outcome.failure.advice


def test_repeats_are_never_collapsed() -> None:
    def script(asked: Asked) -> Answer:
        return Answer(f"answer {len(server.asked)}")

    with serving(script, concurrency=1) as (server, chat):
        requests = [plain(repeat=repeat, sampling=Sampling(seed=7)) for repeat in range(3)]
        first = [outcome.unwrap().text for outcome in chat.ask(requests)]
        again = [outcome.unwrap().text for outcome in chat.ask(requests)]
    assert first == ["answer 1", "answer 2", "answer 3"]
    assert again == first  # each repeat is served its own answer, and nothing is paid twice
    assert len(server.asked) == 3
    assert [asked.body["seed"] for asked in server.asked] == [7, 8, 9]


def test_by_name_with_options_and_in_the_signature() -> None:
    with FakeChatServer() as server:
        text = f"chat=openai:judge,base_url={server.url},concurrency=2,timeout=5"
        models = Models([ModelChoice.parse(text)])
        chat = models.role("chat")
        assert isinstance(chat, OpenAIChat)
        with chat:
            assert chat.ask([rating()])[0].ok
            # What cannot change a number is not in the signature: no port, no timeout.
            assert str(models.signature("chat")) == (
                "openai|v:1|dialect:open|endpoint:loopback|extra:null|model:judge|sampling:null"
                "|structured:auto"
                "|video:frames"
            )


def test_one_ledger_for_all_that_costs_money() -> None:
    with FakeChatServer() as server:
        choice = ModelChoice.parse(f"chat=openai:judge,base_url={server.url}")
        before, after = MemoryLedger(), MemoryLedger()
        models = Models([choice])
        models.attach(before, prices())  # before the backend is loaded
        with models.role("chat") as chat:
            chat.ask([plain(1)])
            models.attach(after)  # and while it is in use
            chat.ask([plain(2)])
    assert len(before.receipts) == len(after.receipts) == 1
    assert next(iter(before.receipts.values())).cost is not None
    assert next(iter(after.receipts.values())).cost is None


def test_what_can_change_a_number_changes_the_signature() -> None:
    base = "openai:model=judge,base_url=http://127.0.0.1:1/v1"
    plain_signature = build("chat", base).spec.signature
    for more in ("structured=schema", 'sampling={"temperature":0}', "dialect=plain", "video=file"):
        assert build("chat", f"{base},{more}").spec.signature != plain_signature
    for more in ("timeout=9", "concurrency=3", "key_env=MY_KEY", "video_limit=2"):
        assert build("chat", f"{base},{more}").spec.signature == plain_signature


@pytest.mark.parametrize(
    "option", [{"model": ""}, {"concurrency": 0}, {"timeout": 0}, {"max_attempts": 0}]
)
def test_options_that_cannot_be(option: dict[str, Any]) -> None:
    with pytest.raises(BadOption):
        openai_chat(**{"model": "m", "base_url": "http://127.0.0.1/v1"} | option)
    with pytest.raises(UnknownName):
        registry.entry("chat", "opnai")


def test_the_key_goes_to_the_server_and_nowhere_else(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    caplog.set_level(logging.DEBUG)
    seen: list[str] = []

    def echo(asked: Asked) -> Answer | Status:
        # A server that repeats the key wherever it can.
        if "film 1" in asked.texts[0]:
            return Status(500, f"key {KEY} is on fire")
        if "film 2" in asked.texts[0]:
            return Status(401, f"Incorrect API key provided: {KEY}")
        return Answer(f"your key is {KEY}", model=f"m-{KEY}", fingerprint=KEY)

    recording = tmp_path / "answers.jsonl"
    with FakeChatServer(echo) as server:
        chat = openai_chat(
            model="judge",
            base_url=server.url,
            key_env="MY_KEY",
            record=str(recording),
            max_attempts=1,
        )
        ledger = ledger_of(chat)  # type: ignore[arg-type]
        outcomes = chat.ask([plain(0), plain(1)])
        try:
            chat.ask([plain(2)])
        except ServiceError as error:
            seen += [str(error), repr(error), "".join(traceback.format_exception(error))]
        seen += [repr(outcomes), repr(chat), repr(vars(chat)), repr(chat.identity)]
        seen += [repr(ledger.intents), repr(ledger.receipts), repr(pickle.dumps(chat))]
        chat.close()
    assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"
    out, err = capfd.readouterr()
    seen += [out, err, caplog.text, recording.read_text()]
    assert len(seen) > 10
    for text in seen:
        assert KEY not in text
    assert "[key]" in outcomes[0].unwrap().text


def test_nothing_about_the_account_or_the_machine_goes_along(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-mine")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-mine")
    with serving([Answer("yes")]) as (server, chat):
        chat.ask([plain()])
    headers = server.asked[0].headers
    assert "mine" not in repr(headers)
    assert headers.keys() <= {
        *("host", "accept", "accept-encoding", "connection", "user-agent"),
        *("authorization", "content-type", "content-length"),
    }


def test_no_key_for_another_machine_is_said_before_any_socket(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_: pytest.fail("a name was looked up"))
    chat = chat_at("https://api.example.com/v1")
    with chat, pytest.raises(ServiceError, match="OPENAI_API_KEY is not set"):
        chat.ask([plain()])


def test_offline_is_said_before_any_socket(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr(socket.socket, "connect", lambda *_: pytest.fail("a socket was opened"))
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_: pytest.fail("a name was looked up"))
    with pytest.raises(BadOption, match="nothing may leave"):
        openai_chat(model="m", base_url="https://api.openai.com/v1", offline=True)
    monkeypatch.setenv("SCREENTEST_OFFLINE", "1")
    with pytest.raises(BadOption, match="nothing may leave"):
        Models([ModelChoice.parse("chat=openai:gpt-5")]).role("chat")


def test_frames_go_to_the_configured_host_only(monkeypatch: pytest.MonkeyPatch) -> None:
    # Neither a proxy in the environment nor a redirect gets to see them.
    with FakeChatServer([Answer("proxy")]) as other:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, other.url)
        redirect = Status(308, "gone", headers={"Location": f"{other.url}/chat/completions"})
        with serving([Answer("me"), redirect]) as (_, chat):
            assert chat.ask([plain(1)])[0].unwrap().text == "me"
            with pytest.raises(ServiceError, match="another address"):
                chat.ask([plain(2)])
        assert not other.asked


def test_from_many_threads_at_once() -> None:
    with serving([Answer("yes", delay=0.005)], concurrency=4) as (server, chat):
        with ThreadPoolExecutor(8) as threads:
            batches = list(
                threads.map(lambda n: chat.ask([plain(10 * n + k) for k in range(5)]), range(8))
            )
        assert server.most_at_once <= 4
    assert all(outcome.ok for batch in batches for outcome in batch)


def ask_in_child(chat: OpenAIChat, number: int) -> str:
    return chat.ask([plain(number)])[0].unwrap().text


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_from_worker_processes(method: str) -> None:
    with serving([Answer("yes")]) as (server, chat):
        assert chat.ask([plain(0)])[0].ok  # connections are open before the workers start
        context = multiprocessing.get_context(method)
        with ProcessPoolExecutor(2, mp_context=context) as pool:
            texts = list(pool.map(ask_in_child, [chat] * 4, range(1, 5)))
        assert texts == ["yes"] * 4
        assert len(server.asked) == 5
        assert chat.ask([plain(9)])[0].ok


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_after_a_fork() -> None:
    with serving([Answer("yes")]) as (server, chat):
        assert chat.ask([plain(0)])[0].ok
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:  # pragma: no cover - another process
            try:
                os.write(writing, ask_in_child(chat, 1).encode())
            finally:
                os._exit(0)
        os.close(writing)
        with os.fdopen(reading) as answer:
            assert answer.read() == "yes"
        os.waitpid(child, 0)
        assert chat.ask([plain(2)])[0].ok
        assert len(server.asked) == 3


CTRL_C = """
    import os, signal, sys, threading
    from screentest.models.chat.costs import MemoryLedger
    from tests.models.chat.kit import chat_at, plain, statuses
    from screentest.testing import Answer, FakeChatServer

    script = [Answer("yes", delay=3600)]
    with FakeChatServer(script) as server, chat_at(server.url, timeout=7200) as chat:
        ledger = MemoryLedger()
        chat.attach(ledger)

        def interrupt():
            while len(server.asked) < 8:
                threading.Event().wait(0.01)
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=interrupt).start()
        try:
            chat.ask([plain(number) for number in range(100)])
        except KeyboardInterrupt:
            print(len(server.asked), set(statuses(ledger)), len(ledger.receipts))
"""


def test_ctrl_c_ends_it_and_leaves_no_call_unaccounted_for() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(CTRL_C)],
        capture_output=True,
        text=True,
        timeout=300,  # the answers would come in an hour
        check=True,
        cwd=Path(__file__).parents[3],
    )
    assert done.stdout.strip() == "8 {<CallStatus.TIMED_OUT: 'timed_out'>} 8"
    assert not done.stderr


def test_closing_and_asking_again() -> None:
    with serving([Answer("yes")]) as (_, chat):
        assert chat.ask([plain(1)])[0].ok
        chat.close()
        chat.close()
        assert chat.ask([plain(2)])[0].ok


def test_importing_the_backend_loads_nothing_heavy() -> None:
    code = (
        "import screentest.models.chat.openai, screentest.models.chat.replay, sys;"
        "print([name for name in ('openai','httpx2','pydantic','cv2','numpy','jinja2')"
        " if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_request_is_json_whatever_is_in_it() -> None:
    text = 'quote " backslash \\ newline \n null \0 emoji 🎬 half \ud800 </script>'
    with serving([Answer("yes")]) as (server, chat):
        chat.ask([ChatRequest((Text(text),), system=text)])
    assert server.asked[0].texts == [text, text]
    assert json.loads(server.asked[0].raw)["messages"][0]["content"] == text


def test_usage_and_attempts_are_of_all_calls_together() -> None:
    with serving([Answer("four"), Answer(GOOD)]) as (server, chat):
        ledger = ledger_of(chat)
        answer = chat.ask([rating()])[0].unwrap()
    assert answer.value == Rating(score=4, reason="fine")
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == server.billed
    assert answer.cost is None
    assert statuses(ledger) == [CallStatus.ANSWERED] * 2
    assert sum(receipt.tokens_in for receipt in ledger.receipts.values()) == server.billed[0]
