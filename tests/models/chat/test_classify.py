from __future__ import annotations

import json
import socket
import ssl
from itertools import pairwise

import pytest

from screentest.core import CallStatus, Reason
from screentest.models.chat.faults import (
    _KINDS,
    CallFault,
    FaultKind,
    connection_fault,
    status_fault,
)

NOW = 1000.0


def fault(status: int, message: str = "no", code: str = "", **headers: str) -> CallFault:
    body = json.dumps({"error": {"message": message, "code": code or None}})
    return status_fault(status, headers, body, NOW)


def test_the_table_has_every_kind() -> None:
    assert _KINDS.keys() == set(FaultKind)


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 405, 410, 422])
def test_what_stops_the_run(status: int) -> None:
    found = fault(status)
    assert found.kind is FaultKind.REJECTED
    assert found.stops_the_run
    assert not found.again
    assert not found.perhaps_billed
    assert found.service_error("host", "model").advice


@pytest.mark.parametrize("status", [408, 409, 425, 500, 502, 503, 504, 520, 529])
def test_what_passes(status: int) -> None:
    found = fault(status, **{"retry-after": "4"})
    assert found.again
    assert not found.stops_the_run
    assert found.retry_after == 4
    assert found.no_value(3).reason is Reason.SERVICE_FAILED


def test_too_many_is_not_out_of_quota() -> None:
    assert fault(429, "slow down").kind is FaultKind.RATE_LIMITED
    assert fault(429, "slow down").again
    assert fault(429, "You exceeded your quota", "insufficient_quota").stops_the_run


@pytest.mark.parametrize(
    ("status", "message", "code", "kind", "reason"),
    [
        # The wordings of OpenAI, Azure and vLLM.
        (400, "…", "context_length_exceeded", FaultKind.TOO_LARGE, Reason.TOO_LARGE),
        (
            400,
            "This model's maximum context length is 8192 tokens.",
            "",
            FaultKind.TOO_LARGE,
            Reason.TOO_LARGE,
        ),
        (413, "Payload Too Large", "", FaultKind.TOO_LARGE, Reason.TOO_LARGE),
        (400, "…", "content_policy_violation", FaultKind.FILTERED, Reason.REFUSED),
        (400, "…", "content_filter", FaultKind.FILTERED, Reason.REFUSED),
    ],
)
def test_one_request_at_fault_does_not_stop_the_others(
    status: int, message: str, code: str, kind: FaultKind, reason: Reason
) -> None:
    found = fault(status, message, code)
    assert found.kind is kind
    assert not found.stops_the_run
    assert not found.again
    assert found.no_value(1).reason is reason


@pytest.mark.parametrize(
    "message",
    [
        "Invalid parameter: 'response_format' of type 'json_schema' is not supported",
        "Extra inputs are not permitted: response_format",
    ],
)
def test_servers_without_schemas(message: str) -> None:
    assert fault(400, message).kind is FaultKind.NO_SCHEMAS
    assert fault(422, message).kind is FaultKind.NO_SCHEMAS


def test_a_redirect_is_not_followed_but_named() -> None:
    found = status_fault(307, {"location": "https://elsewhere/v1"}, "", NOW)
    assert found.stops_the_run
    assert "elsewhere" in str(found)


@pytest.mark.parametrize(
    "body",
    ["", "plain", '{"detail": "x"}', "[1]", '{"error": "x"}', '{"error": null}', "{" * 100_000],
)
def test_any_error_body(body: str) -> None:
    assert status_fault(500, {}, body, NOW).again


def test_a_servers_words_cannot_steer_a_terminal() -> None:
    said = str(fault(400, "bad\x1b[31m\nred\u202e" + "x" * 10_000))
    assert said.isprintable()
    assert len(said) < 500


def chained(*errors: BaseException) -> BaseException:
    for outer, inner in pairwise(errors):
        outer.__cause__ = inner
    return errors[0]


@pytest.mark.parametrize(
    ("error", "kind", "status"),
    [
        (
            chained(Exception("outer"), socket.gaierror(-2, "Name or service not known")),
            FaultKind.NO_SUCH_HOST,
            CallStatus.UNREACHED,
        ),
        (
            chained(Exception("outer"), ssl.SSLCertVerificationError("self-signed")),
            FaultKind.TLS,
            CallStatus.UNREACHED,
        ),
        (
            chained(Exception("outer"), ConnectionRefusedError("refused")),
            FaultKind.UNREACHED,
            CallStatus.UNREACHED,
        ),
        (
            chained(Exception("outer"), ConnectionResetError("reset")),
            FaultKind.BROKEN_OFF,
            CallStatus.FAILED,
        ),
    ],
)
def test_the_error_behind_the_error(
    error: BaseException, kind: FaultKind, status: CallStatus
) -> None:
    found = connection_fault(error)
    assert found.kind is kind
    assert found.call_status is status
    # Nothing that never arrived is billed; what broke off may be.
    assert found.perhaps_billed is (status is CallStatus.FAILED)


def test_only_untrusted_connections_stop_the_run_at_once() -> None:
    assert connection_fault(ssl.SSLError("x")).stops_the_run
    assert not connection_fault(socket.gaierror("x")).stops_the_run
