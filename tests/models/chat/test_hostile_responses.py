"""Responses that are packed, ambiguous, cut short or never end are typed failures."""

from __future__ import annotations

import gzip
import json
import zlib
from pathlib import Path
from typing import Any

import pytest

from screentest.core import Reason, ServiceError
from screentest.models.chat.faults import CallFault, FaultKind
from screentest.models.chat.wire import read_reply
from screentest.testing.chat_answers import Answer, Drip, Raw, Reset
from tests.models.chat.kit import ledger_of, plain, serving

GOOD = {"choices": [{"message": {"content": "Yes."}, "finish_reason": "stop"}]}
BODY = json.dumps(GOOD).encode()
PACKED = {
    "gzip": gzip.compress(BODY),
    "gzip, gzip": gzip.compress(gzip.compress(BODY)),
    "deflate": zlib.compress(BODY),
    "br": BODY,
    "zstd": BODY,
    "x-unknown": BODY,
}


@pytest.mark.parametrize("code", [200, 500])
@pytest.mark.parametrize("encoding", PACKED)
def test_packed_responses_are_not_unpacked(encoding: str, code: int) -> None:
    act = Raw(PACKED[encoding], code, headers={"Content-Encoding": encoding})
    with serving([act], max_attempts=2) as (server, chat):
        (outcome,) = chat.ask([plain()])
    assert outcome.failure is not None
    assert outcome.failure.reason is Reason.SERVICE_FAILED
    assert "packed" in outcome.failure.detail
    assert all(asked.headers["accept-encoding"] == "identity" for asked in server.asked)


def test_identity_is_no_packing() -> None:
    with serving([Raw(BODY, headers={"Content-Encoding": "identity"})]) as (_, chat):
        assert chat.ask([plain()])[0].unwrap().text == "Yes."


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="needs Linux")
def test_a_bomb_takes_no_memory() -> None:
    size = 100_000_000
    bomb = gzip.compress(gzip.compress(bytes(size), 1), 1)
    acts = [Raw(bomb, code, headers={"Content-Encoding": "gzip, gzip"}) for code in (200, 500)]
    with serving(acts, max_attempts=1) as (_, chat):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # forget the peak so far
        before = _peak()
        for number in range(4):
            assert chat.ask([plain(number)])[0].failure is not None
        assert _peak() - before < size // 2


def _peak() -> int:
    """The most bytes that this process has held at once."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    (line,) = [line for line in status.splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) * 1024


ENVELOPES: dict[str, Any] = {
    "content twice": '{"choices": [{"message": {"content": "No.", "content": "Yes."}}]}',
    "choices twice": '{"choices": [], "choices": [{"message": {"content": "Yes."}}]}',
    "model twice": '{"model": "a", "model": "b", "choices": [{"message": {"content": "Yes."}}]}',
    "two choices": '{"choices": [{"message": {"content": "a"}}, {"message": {"content": "b"}}]}',
    "two ends": '{"choices": [{"message": {"content": "Yes."}, "finish_reason": "stop"},'
    ' {"message": {"content": "Yes."}, "finish_reason": "length"}]}',
}


@pytest.mark.parametrize("name", ENVELOPES)
def test_an_envelope_that_can_be_read_in_two_ways_is_not_read(name: str) -> None:
    with pytest.raises(CallFault) as caught:
        read_reply(ENVELOPES[name].encode())
    assert caught.value.kind is FaultKind.GARBLED
    with serving([Raw(ENVELOPES[name].encode())], max_attempts=1) as (_, chat):
        (outcome,) = chat.ask([plain()])
    assert outcome.failure is not None
    assert outcome.failure.reason is Reason.SERVICE_FAILED


def test_equal_choices_are_one_answer() -> None:
    twice = {"choices": GOOD["choices"] * 2}
    assert read_reply(json.dumps(twice).encode()).text == "Yes."


@pytest.mark.parametrize("after", [None, 0, 10, 40])
def test_a_connection_reset_in_mid_body_is_tried_again(after: int | None) -> None:
    with serving([Reset(after), Answer("Yes.")], max_attempts=2) as (server, chat):
        assert chat.ask([plain()])[0].unwrap().text == "Yes."
    assert len(server.asked) == 2


def test_resets_without_end_are_a_typed_failure_and_each_is_in_the_ledger() -> None:
    with serving([Reset(20)], max_attempts=3) as (_, chat):
        ledger = ledger_of(chat)
        (outcome,) = chat.ask([plain()])
    assert outcome.failure is not None
    assert outcome.failure.reason is Reason.SERVICE_FAILED
    assert len(ledger.intents) == len(ledger.receipts) == 3


def test_a_body_slower_than_the_timeout_is_given_up() -> None:
    """Each byte comes long before any silence would be noticed; the whole never does."""
    with serving([Drip(Answer("Yes."), size=1, pause=0.05)], max_attempts=1, timeout=0.6) as (
        _,
        chat,
    ):
        (outcome,) = chat.ask([plain()])
    assert outcome.failure is not None
    assert outcome.failure.reason is Reason.TIMED_OUT


@pytest.mark.parametrize("lie", [-20, +20])
def test_a_length_that_lies(lie: int) -> None:
    act = Raw(BODY, headers={"Content-Length": str(len(BODY) + lie)})
    with serving([act], max_attempts=1, timeout=0.6) as (_, chat):
        (outcome,) = chat.ask([plain()])
    assert outcome.failure is not None
    assert outcome.failure.reason in (Reason.SERVICE_FAILED, Reason.TIMED_OUT)


@pytest.mark.parametrize("place", ["http://169.254.169.254/", "http://127.0.0.1:1/", "file:///etc"])
def test_a_redirect_is_not_followed(place: str) -> None:
    with serving([Raw(b"", 307, headers={"Location": place})]) as (server, chat):
        with pytest.raises(ServiceError, match="points to another address"):
            chat.ask([plain()])
        assert len(server.asked) == 1
