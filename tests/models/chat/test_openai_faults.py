"""The client against a server that misbehaves: waits, retries, reasons, and when to stop."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest
from pydantic import Field

from screentest.core import CallStatus, Reason, ServiceError
from screentest.testing.chat_answers import (
    MALFORMED,
    Act,
    Answer,
    Asked,
    Drip,
    Raw,
    Reset,
    Status,
    no_response_format,
    out_of_quota,
    rate_limited,
)
from tests.messages import names
from tests.models.chat.kit import (
    GOOD,
    FakeClock,
    Rating,
    chat_at,
    ledger_of,
    plain,
    rating,
    serving,
    statuses,
)

FAILED, ANSWERED = CallStatus.FAILED, CallStatus.ANSWERED


@pytest.mark.parametrize(
    ("header", "at_least", "at_most"),
    [
        ("3", 3.0, 3.6),
        (formatdate(4_000_000_000, usegmt=True), 120.0, 120.0),  # a date far off: the cap
        (formatdate(1_000_000_000, usegmt=True), 0.0, 0.6),  # a date gone by
        (None, 0.25, 0.5),
        ("99999999999", 120.0, 120.0),
        ("-5", 0.25, 0.5),
        ("soon", 0.25, 0.5),
    ],
    ids=["seconds", "far date", "past date", "absent", "absurd", "negative", "words"],
)
def test_waits_as_asked(header: str | None, at_least: float, at_most: float) -> None:
    clock = FakeClock()
    with serving([rate_limited(header), Answer("yes")], clock=clock) as (server, chat):
        ledger = ledger_of(chat)
        (outcome,) = chat.ask([plain()])
    assert outcome.unwrap().attempts == 2
    assert statuses(ledger) == [FAILED, ANSWERED]
    assert len(server.asked) == 2
    # The limiter adds up to a quarter, so that not everybody returns at the same moment.
    assert at_least <= sum(clock.sleeps) <= at_most * 1.25
    assert [ledger.intents[call].attempt for call in ledger.intents] == [1, 2]


def test_a_burst_of_refusals_slows_everybody_down_and_loses_nobody() -> None:
    refused = 0

    def crowded(asked: Asked) -> Act:
        nonlocal refused
        if server.at_once > 3 or refused == 0:
            refused += 1
            return rate_limited("1")
        return Answer("yes", delay=0.01)

    with serving(crowded, concurrency=16, max_attempts=12) as (server, chat):
        ledger = ledger_of(chat)
        outcomes = chat.ask([plain(number) for number in range(60)])
        assert all(outcome.ok for outcome in outcomes)
        assert refused
        # Every attempt, refused or not, stands in the ledger.
        assert len(ledger.intents) == len(ledger.receipts) == len(server.asked) == 60 + refused
        assert statuses(ledger).count(FAILED) == refused


@pytest.mark.parametrize(
    "act",
    [Status(500), Status(502), Status(503), Status(529), Status(408), Reset(), Reset(after=30)],
    ids=["500", "502", "503", "529", "408", "reset", "reset in the body"],
)
def test_passing_trouble_passes(act: Act) -> None:
    with serving([act, act, Answer("yes")]) as (_, chat):
        ledger = ledger_of(chat)
        (outcome,) = chat.ask([plain()])
    assert outcome.unwrap().attempts == 3
    assert statuses(ledger) == [FAILED, FAILED, ANSWERED]


@pytest.mark.parametrize(
    ("act", "reason"),
    [
        (Status(500), Reason.SERVICE_FAILED),
        (Reset(after=30), Reason.SERVICE_FAILED),
        (Raw(b"\xff\xfe"), Reason.SERVICE_FAILED),
    ],
)
def test_lasting_trouble_is_given_up(act: Act, reason: Reason) -> None:
    with serving([act], max_attempts=3) as (server, chat):
        ledger = ledger_of(chat)
        (outcome,) = chat.ask([plain()])
    assert outcome.failure is not None
    assert outcome.failure.reason is reason
    assert "3 attempts" in outcome.failure.detail
    assert len(server.asked) == len(ledger.receipts) == 3


def test_a_server_that_always_says_too_many_is_given_up() -> None:
    with serving([rate_limited("1")], max_attempts=2) as (server, chat):
        ledger = ledger_of(chat)
        (outcome,) = chat.ask([plain()])
    assert outcome.failure is not None
    assert outcome.failure.reason is Reason.SERVICE_FAILED
    # Being turned away costs nothing, so it is borne four times as often as a failure.
    assert len(server.asked) == len(ledger.receipts) == 4 * 2


def test_being_turned_away_does_not_use_up_the_attempts() -> None:
    script = [rate_limited()] * 3 + [Status(500)] + [rate_limited()] * 3 + [Answer("yes")]
    with serving(script, max_attempts=2) as (_, chat):
        assert chat.ask([plain()])[0].unwrap().attempts == 8


@pytest.mark.parametrize(
    "act", [Drip(pause=0.2), Answer("yes", delay=30)], ids=["slow body", "no answer"]
)
def test_slow_servers_time_out(act: Act) -> None:
    with serving([act], max_attempts=2, timeout=0.4) as (_, chat):
        ledger = ledger_of(chat)
        (outcome,) = chat.ask([plain()])
    assert outcome.failure is not None
    assert outcome.failure.reason is Reason.TIMED_OUT
    assert statuses(ledger) == [CallStatus.TIMED_OUT] * 2


def test_slow_but_steady_is_an_answer() -> None:
    with serving([Drip(Answer("yes"), size=50, pause=0.01)]) as (_, chat):
        assert chat.ask([plain()])[0].unwrap().text == "yes"


@pytest.mark.parametrize(
    ("act", "says"),
    [
        (Status(400, "no such field"), "dialect"),
        (Status(401, "wrong key"), "key"),
        (Status(403, "not yours"), "not allowed to use"),
        (Status(404, "no such model"), "model's name"),
        (out_of_quota(), "quota is used up"),
        (Raw(b"", code=307, headers={"Location": "http://127.0.0.1:1/v1"}), "another address"),
    ],
    ids=["400", "401", "403", "404", "quota", "redirect"],
)
def test_what_every_call_would_meet_stops_the_run_with_one_message(act: Act, says: str) -> None:
    with serving([act], concurrency=4) as (server, chat):
        ledger = ledger_of(chat)
        with pytest.raises(ServiceError) as caught:
            chat.ask([plain(number) for number in range(500)])
        assert says in str(caught.value)
        # At most those that were under way together; none was tried twice.
        assert len(server.asked) <= 4
        assert len(ledger.receipts) == len(server.asked)
        with pytest.raises(ServiceError):
            chat.ask([plain(1000)])
        assert len(server.asked) <= 4


def test_calls_under_way_are_finished_before_the_run_stops() -> None:
    def script(asked: Asked) -> Act:
        if "film 0" in asked.texts[0]:
            return Status(401)
        return Answer("yes", delay=60)

    with serving(script, concurrency=4) as (server, chat):
        ledger = ledger_of(chat)

        def pause(seconds: float) -> None:
            """Refuse when the others are under way; answer them when it has been noticed."""
            session = chat._session
            assert session is not None
            while len(server.asked) < 4 or (seconds > 1 and session._caller.stopped is None):
                time.sleep(0.01)

        server.pause = pause  # type: ignore[method-assign]
        with pytest.raises(ServiceError):
            chat.ask([plain(number) for number in range(100)])
    assert sorted(statuses(ledger)) == sorted([FAILED, ANSWERED, ANSWERED, ANSWERED])


def test_one_bad_request_harms_only_itself() -> None:
    def script(asked: Asked) -> Act:
        if "film 3" in asked.texts[0]:
            return Status(400, "too long", "context_length_exceeded")
        return Answer("yes")

    with serving(script) as (_, chat):
        outcomes = chat.ask([plain(number) for number in range(6)])
    assert [outcome.ok for outcome in outcomes] == [True, True, True, False, True, True]
    assert outcomes[3].failure.reason is Reason.TOO_LARGE


def test_nobody_there() -> None:
    with chat_at("http://127.0.0.1:9/v1", max_attempts=2) as chat:
        ledger = ledger_of(chat)
        with pytest.raises(ServiceError, match="Is the server running"):
            chat.ask([plain(number) for number in range(20)])
    assert set(statuses(ledger)) == {CallStatus.UNREACHED}


def test_a_long_wait_for_nobody_says_what_for(caplog: pytest.LogCaptureFixture) -> None:
    with (
        chat_at("http://127.0.0.1:9/v1", max_attempts=5) as chat,
        pytest.raises(ServiceError),
    ):
        chat.ask([plain(number) for number in range(3)])
    (said,) = [one.getMessage() for one in caplog.records]
    assert said.startswith("waiting for 127.0.0.1")
    assert "not reached" in said


@pytest.mark.parametrize("header", ["1e9", "nan", "-5", "inf", "1e999", "120"])
@pytest.mark.parametrize("before", [[], [Answer("yes")]], ids=["at first", "later"])
def test_a_long_wait_that_a_server_asks_for_is_said(
    header: str, before: list[Act], caplog: pytest.LogCaptureFixture
) -> None:
    """A number of seconds is waited for up to the cap of 120 s, and said; else the usual 0.5 s."""
    clock = FakeClock()
    script = [*before, rate_limited(header), rate_limited(header), Answer("yes")]
    with serving(script, clock=clock) as (_, chat):
        outcomes = [chat.ask([plain(number)])[0] for number in range(len(before) + 1)]
    assert all(outcome.ok for outcome in outcomes)
    number = float(header)
    assert sum(clock.sleeps) <= 2 * 120 * 1.25
    if 0 <= number < float("inf"):
        (said,) = [one.getMessage() for one in caplog.records]
        assert "in 120 s" in said
        assert clock.sleeps
    else:
        assert sum(clock.sleeps) <= 2 * 1.25
        assert not caplog.records


STALLS: dict[str, list[bytes]] = {
    "nothing": [],
    "half a status line": [b"HTTP/1.1 20"],
    "headers without end": [b"HTTP/1.1 200 OK\r\n", *[b"X-Slow: 1\r\n"] * 1000],
    "a header a byte at a time": [b"HTTP/1.1 200 OK\r\n", *[b"X"] * 1000],
    "interim answers without end": [b"HTTP/1.1 100 Continue\r\n\r\n"] * 1000,
    "no body": [b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"],
    "half a chunk": [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{"],
    "spaces": [b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n", *[b" "] * 1000],
    "a refusal without end": [b"HTTP/1.1 429 No\r\nContent-Length: 9999\r\n\r\n", *[b" "] * 1000],
}


@pytest.mark.parametrize("stall", STALLS)
def test_a_server_that_drips_or_stalls_is_given_up(stall: str) -> None:
    """Whatever part of an answer it is, no byte of which comes too late by itself."""
    over = threading.Event()

    def drip(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.recv(1 << 16)
            for part in STALLS[stall]:
                connection.sendall(part)
                if over.wait(0.05):
                    return
            over.wait(60)

    with socket.create_server(("127.0.0.1", 0)) as listener:

        def accept() -> None:
            with suppress(OSError):
                while not over.is_set():
                    connection, _ = listener.accept()
                    threading.Thread(target=drip, args=(connection,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        address = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        with chat_at(address, max_attempts=2, timeout=0.6) as chat:
            ledger = ledger_of(chat)
            (outcome,) = chat.ask([plain()])
        over.set()
    assert outcome.failure is not None
    assert outcome.failure.reason is Reason.TIMED_OUT
    assert statuses(ledger) == [CallStatus.TIMED_OUT] * 2


def test_a_name_that_does_not_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-nothing-there")
    with chat_at("http://no-such-host.invalid/v1", max_attempts=2) as chat:
        ledger = ledger_of(chat)
        with pytest.raises(ServiceError, match="host name not found"):
            chat.ask([plain()])
    assert statuses(ledger) == [CallStatus.UNREACHED] * 2


@pytest.fixture(params=["no TLS at all", "a certificate nobody signed"])
def untrusted(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[int]:
    """The port of a server that no TLS client should talk to."""
    context = None
    if request.param != "no TLS at all":
        openssl = shutil.which("openssl")
        if openssl is None:
            pytest.skip("openssl is not installed, so no certificate can be made")
        key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
        made = ["-subj", "/CN=127.0.0.1", "-days", "1", "-nodes", "-newkey", "rsa:2048"]
        command = [openssl, "req", "-x509", *made, "-keyout", str(key), "-out", str(certificate)]
        subprocess.run(command, check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    with connection, suppress(OSError):
                        if context is None:
                            connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                            connection.recv(4096)
                        else:
                            context.wrap_socket(connection, server_side=True).close()

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


@pytest.mark.parametrize("scheme", ["https", "HTTPS"])
def test_no_trust_no_retry(untrusted: int, scheme: str) -> None:
    with chat_at(f"{scheme}://127.0.0.1:{untrusted}/v1", max_attempts=5) as chat:
        ledger = ledger_of(chat)
        with pytest.raises(ServiceError, match="no trusted connection"):
            chat.ask([plain()])
    assert statuses(ledger) == [CallStatus.UNREACHED]


def test_a_server_that_goes_away_later_is_a_typed_failure() -> None:
    with serving([Answer("yes")], max_attempts=2) as (server, chat):
        assert chat.ask([plain(1)])[0].ok
        server.close()
        (outcome,) = chat.ask([plain(2)])
        assert outcome.failure.reason is Reason.SERVICE_FAILED


# What each way of spoiling an answer comes to; docs/chat.md states the rules.
VALUE = "value"
SPOILT: dict[str, str | Reason] = {
    "truncated": Reason.UNPARSABLE,
    "fenced": VALUE,
    "fenced with words": Reason.UNPARSABLE,
    "two objects": Reason.UNPARSABLE,
    "an example first": Reason.UNPARSABLE,
    "leading words": Reason.UNPARSABLE,
    "trailing words": Reason.UNPARSABLE,
    "thinking first": VALUE,
    "byte order mark": VALUE,
    "single quotes": Reason.UNPARSABLE,
    "trailing comma": Reason.UNPARSABLE,
    "comment": Reason.UNPARSABLE,
    "NaN": Reason.UNPARSABLE,
    "Infinity": Reason.UNPARSABLE,
    "number too large": Reason.UNPARSABLE,
    "number of 5000 digits": Reason.UNPARSABLE,
    "whole number as decimal": VALUE,
    "number as text": VALUE,
    "number out of five": Reason.UNPARSABLE,
    "number out of range": Reason.UNPARSABLE,
    "number below range": Reason.UNPARSABLE,
    "number as boolean": Reason.UNPARSABLE,
    "number null": Reason.UNPARSABLE,
    "key missing": Reason.UNPARSABLE,
    "key too many": VALUE,
    "key twice": Reason.UNPARSABLE,
    "nested": Reason.UNPARSABLE,
    "in a list": Reason.UNPARSABLE,
    "nested too deep": Reason.UNPARSABLE,
    "empty": Reason.UNPARSABLE,
    "null": Reason.UNPARSABLE,
    "whitespace": Reason.UNPARSABLE,
    "plain words": Reason.UNPARSABLE,
    "wrong language": Reason.UNPARSABLE,
    "refusal in words": Reason.REFUSED,
    "refusal": Reason.REFUSED,
    "cut off": Reason.TRUNCATED,
    "content filter": Reason.REFUSED,
    "tool call": Reason.UNPARSABLE,
    "not UTF-8": Reason.SERVICE_FAILED,
    "half a response": Reason.SERVICE_FAILED,
    "no choices": Reason.SERVICE_FAILED,
    "another shape": Reason.SERVICE_FAILED,
    "a web page": Reason.SERVICE_FAILED,
    "ten megabytes": Reason.UNPARSABLE,
}


def test_every_spoiler_has_its_rule() -> None:
    assert SPOILT.keys() == MALFORMED.keys()


@pytest.mark.parametrize("name", MALFORMED)
def test_spoilt_answers(name: str) -> None:
    act = MALFORMED[name]({"score": 4, "reason": "fine"})
    with serving([act], max_attempts=2) as (_, chat):
        (outcome,) = chat.ask([rating(max_repairs=0)])
    if SPOILT[name] is VALUE:
        assert outcome.unwrap().value == Rating(score=4, reason="fine")
    else:
        assert outcome.failure is not None
        assert outcome.failure.reason is SPOILT[name]


@pytest.mark.parametrize("repairs", [0, 1, 3])
def test_repairs_are_bounded_and_each_is_in_the_ledger(repairs: int) -> None:
    with serving([Answer("four, I think")]) as (server, chat):
        ledger = ledger_of(chat)
        (outcome,) = chat.ask([rating(max_repairs=repairs)])
    assert outcome.failure.reason is Reason.UNPARSABLE
    assert len(server.asked) == len(ledger.receipts) == 1 + repairs
    # Each repair is another request, so each answer can be found again.
    assert len({intent.request for intent in ledger.intents.values()}) == 1 + repairs


def test_a_repair_shows_the_model_its_answer_and_what_is_wrong() -> None:
    with serving([Answer('{"score": 9, "reason": "x"}'), Answer(GOOD)]) as (server, chat):
        answer = chat.ask([rating()])[0].unwrap()
    assert (answer.repairs, answer.attempts) == (1, 2)
    first, second = (asked.messages for asked in server.asked)
    assert second[: len(first)] == first
    assert [message["role"] for message in second[len(first) :]] == ["assistant", "user"]
    assert "score: Input should be" in second[-1]["content"]  # pydantic's words


@pytest.mark.parametrize(
    "act",
    [Answer(GOOD, finish="length"), Answer(None, refusal="No."), Answer(GOOD, "content_filter")],
)
def test_no_repair_where_asking_again_cannot_help(act: Answer) -> None:
    with serving([act]) as (server, chat):
        assert not chat.ask([rating(max_repairs=3)])[0].ok
    assert len(server.asked) == 1


SHOWN = '{"declined": null, "score": …, "reason": "…"}'
"""The object of ``rating`` as a model without schemas is shown it."""


def test_a_server_without_schemas_is_asked_in_words_from_then_on() -> None:
    def script(asked: Asked) -> Act:
        return no_response_format() if asked.schema else Answer(GOOD)

    with serving(script, max_attempts=1, concurrency=1) as (server, chat):
        outcomes = chat.ask([rating(number) for number in range(5)])
    assert all(outcome.ok for outcome in outcomes)
    assert [asked.schema is not None for asked in server.asked] == [True] + [False] * 5
    # The words were there all along; without a schema the object is shown as well.
    enforced, in_words = (asked.texts for asked in server.asked[:2])
    assert in_words[:-1] == enforced[:-1]
    assert in_words[-1].startswith(enforced[-1])
    assert in_words[-1].endswith(SHOWN)
    assert '"required":["declined","score","reason"]' in enforced[-1]


def test_a_schema_that_is_refused_is_dropped_alone_and_it_is_said(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Other(Rating):
        """One that the server takes."""

        reason: str = Field(description="Why.")

    def script(asked: Asked) -> Act:
        name = (asked.body.get("response_format") or {}).get("json_schema", {}).get("name")
        return no_response_format() if name == "Rating" else Answer(GOOD)

    with serving(script) as (server, chat):
        for number in range(3):
            assert chat.ask([rating(number)])[0].ok
            assert chat.ask([replace(rating(number), schema=Other)])[0].ok
    enforced = [asked.schema is not None for asked in server.asked]
    assert enforced == [True, False, True, False, True, False, True]
    said = [one.message for one in caplog.records if "does not enforce" in one.message]
    assert len(said) == 1
    assert "Rating" in said[0]


def test_where_the_user_insists_on_schemas_a_server_without_stops_the_run() -> None:
    with serving([no_response_format()], structured="schema") as (server, chat):
        with pytest.raises(ServiceError, match="structured=instructed"):
            chat.ask([rating(number) for number in range(50)])
        assert "JSON schema" not in server.asked[0].texts[-1]


def test_instructed_never_sends_a_schema() -> None:
    with serving([Answer(GOOD)], structured="instructed") as (server, chat):
        assert chat.ask([rating()])[0].ok
    assert server.asked[0].schema is None


@pytest.mark.parametrize(
    ("answer", "served"),
    [
        (Answer("yes", model="judge-2026-01-01"), "judge-2026-01-01"),
        (Answer("yes", fingerprint="fp_1"), "judge@fp_1"),
        (Answer("yes"), None),
    ],
)
def test_drift_is_recorded_and_part_of_the_identity(
    answer: Answer, served: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    with serving([answer]) as (_, chat):
        ledger = ledger_of(chat)
        before = dict(chat.identity)
        got = [outcome.unwrap() for outcome in chat.ask([plain(n) for n in range(5)])]
        assert chat.identity.get("served") == served
        assert (chat.identity == before) is (served is None)
    assert all(one.drifted is (answer.model != "") for one in got)
    assert all(one.fingerprint == answer.fingerprint for one in got)
    receipt = next(iter(ledger.receipts.values()))
    assert (receipt.model, receipt.fingerprint) == (answer.model or "judge", answer.fingerprint)
    warnings = [record for record in caplog.records if record.name == "screentest.chat"]
    assert len(warnings) == (1 if answer.model else 0)


def test_a_change_in_the_middle_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    script = [Answer("yes", fingerprint="fp_1"), Answer("yes", fingerprint="fp_2")]
    with serving(script, concurrency=1) as (_, chat):
        chat.ask([plain(1), plain(2), plain(3)])
        assert chat.identity["served"] == "judge@fp_1 judge@fp_2"
    (record,) = caplog.records
    assert names(record.getMessage(), "judge ", "judge@fp_2")


def test_answers_with_odd_letters_can_be_stored() -> None:
    body: dict[str, Any] = {"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}]}
    raw = repr(body).replace("'", '"').replace('"x"', r'"half \ud83d pair"').encode()
    with serving([Raw(raw)]) as (_, chat):
        text = chat.ask([plain()])[0].unwrap().text
    assert text.encode("utf-8") == "half � pair".encode()
