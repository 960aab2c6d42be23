"""From an HTTP response or a failed connection to a Fault."""

from __future__ import annotations

import json
import socket
import ssl
from collections.abc import Mapping
from typing import Any

from screentest.models.chat.faults import Fault, FaultKind
from screentest.models.chat.retry import parse_retry_after

_LONGEST_DETAIL = 300
_PASSING = {408, 409, 425}
# Codes and phrases by which servers say that this one request is at fault, not the set-up.
_FILTERED = ("content_filter", "content_policy", "content_management_policy", "moderation")
_TOO_LARGE = (
    *("context_length", "context length", "context window", "maximum context"),
    *("string_above_max_length", "too many images", "image_too_large", "too many tokens"),
)
_NO_SCHEMAS = ("response_format", "json_schema", "guided_json", "structured output")


def status_fault(status: int, headers: Mapping[str, str], body: str, now: float) -> Fault:
    """What a response that is no answer means."""
    code, message = _error_of(body)
    said = f"{code} {message}".casefold()
    detail = message or code or "no explanation"
    if status == 429:
        if "insufficient_quota" in said or "billing" in said:
            return Fault(FaultKind.REJECTED, detail, status)
        after = parse_retry_after(headers, now)
        return Fault(FaultKind.RATE_LIMITED, detail, status, after)
    if status >= 500 or status in _PASSING:
        after = parse_retry_after(headers, now)
        return Fault(FaultKind.OVERLOADED, detail, status, after)
    if status == 413:
        return Fault(FaultKind.TOO_LARGE, detail, status)
    if status in (400, 422):
        for kind, phrases in (
            (FaultKind.FILTERED, _FILTERED),
            (FaultKind.NO_SCHEMAS, _NO_SCHEMAS),
            (FaultKind.TOO_LARGE, _TOO_LARGE),
        ):
            if any(phrase in said for phrase in phrases):
                return Fault(kind, detail, status)
    if 300 <= status < 400:
        detail = f"it points to another address, {_line(headers.get('location', 'unnamed'))}"
    return Fault(FaultKind.REJECTED, detail, status)


def connection_fault(error: BaseException) -> Fault:
    """What a failed connection means: the error behind the error tells."""
    chain = list(_causes(error))
    for cause in chain:
        if isinstance(cause, socket.gaierror):
            return Fault(FaultKind.NO_SUCH_HOST, _line(str(cause)))
        if isinstance(cause, ssl.SSLError):
            return Fault(FaultKind.TLS, _line(str(cause)))
    names = {type(cause).__name__ for cause in chain}
    texts = [_line(str(cause)) for cause in reversed(chain) if str(cause)]
    detail = texts[0] if texts else "no explanation"
    if names & {"ConnectError", "ConnectTimeout", "ConnectionRefusedError"}:
        return Fault(FaultKind.UNREACHED, detail)
    if any("Timeout" in name for name in names):
        return Fault(FaultKind.TIMED_OUT, detail)
    return Fault(FaultKind.BROKEN_OFF, detail)


def _causes(error: BaseException) -> list[BaseException]:
    chain: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and current not in chain:
        chain.append(current)
        current = current.__cause__ or current.__context__
    return chain


def _error_of(body: str) -> tuple[str, str]:
    """The code and message in an error body, of whichever shape."""
    try:
        content: Any = json.loads(body)
    except (ValueError, RecursionError):
        return "", _line(body)
    error = content.get("error", content) if isinstance(content, dict) else content
    if not isinstance(error, dict):
        return "", _line(str(error))
    words = [str(error[key]) for key in ("code", "type", "param") if error.get(key)]
    message = error.get("message") or error.get("detail") or ""
    return _line(" ".join(words)), _line(str(message))


def _line(text: str) -> str:
    # A server's words go to a terminal: one line, and nothing a terminal would act on.
    flat = " ".join(text[: 4 * _LONGEST_DETAIL].split())
    return "".join(letter for letter in flat if letter.isprintable())[:_LONGEST_DETAIL]
