"""What the fake server can be told to do with one request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias


@dataclass(frozen=True, slots=True)
class Answer:
    """A chat completion."""

    text: str | None = "Yes."
    finish: str = "stop"
    refusal: str | None = None
    model: str = ""
    """The name to answer under; that which was asked for where empty."""
    fingerprint: str = ""
    count_tokens: bool = True
    delay: float = 0.0


@dataclass(frozen=True, slots=True)
class Status:
    """An HTTP error with an error object."""

    code: int
    message: str = "as the script says"
    kind: str = ""
    """The error's code, such as ``insufficient_quota``."""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0


@dataclass(frozen=True, slots=True)
class Raw:
    """Exactly these bytes as the body."""

    body: bytes
    code: int = 200
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0


@dataclass(frozen=True, slots=True)
class Reset:
    """Break the connection: before anything is sent, or after some bytes of the body."""

    after: int | None = None
    delay: float = 0.0


@dataclass(frozen=True, slots=True)
class Drip:
    """The body of an answer, so many bytes at a time with a pause after each."""

    answer: Answer = field(default_factory=Answer)
    size: int = 1
    pause: float = 0.05
    delay: float = 0.0


Act: TypeAlias = Answer | Status | Raw | Reset | Drip


def rate_limited(retry_after: str | None = None, **headers: str) -> Status:
    """A 429, with a Retry-After header where one is given."""
    if retry_after is not None:
        headers["Retry-After"] = retry_after
    return Status(429, "slow down", "rate_limit_exceeded", headers)


def out_of_quota() -> Status:
    """The 429 that no waiting helps against."""
    return Status(429, "You exceeded your current quota.", "insufficient_quota")


def no_response_format() -> Status:
    """How a server says that it cannot enforce a schema."""
    return Status(400, "'response_format' of type 'json_schema' is not supported.")


def error_body(act: Status) -> dict[str, Any]:
    """The JSON that goes with a status."""
    return {"error": {"message": act.message, "type": "error", "code": act.kind or None}}
