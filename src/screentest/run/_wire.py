"""What crosses between a worker and the process that writes: JSON, never a pickle back.

A worker decodes strangers' files. Whatever becomes of it, its words are only ever read as data.
"""

from __future__ import annotations

import json
from multiprocessing.connection import Connection
from typing import Any

from screentest import core
from screentest.core import NoValue, Reason, ScreentestError, UserError


def send(connection: Connection, **message: Any) -> None:
    """One message."""
    connection.send_bytes(json.dumps(message, allow_nan=False).encode())


def receive(connection: Connection) -> dict[str, Any]:
    """The next message; EOFError where the other end is gone."""
    message: dict[str, Any] = json.loads(connection.recv_bytes())
    return message


def error_message(error: ScreentestError) -> dict[str, str]:
    """An error of ours as data."""
    message = {"kind": type(error).__name__, "message": error.message, "advice": error.advice}
    if isinstance(error, NoValue):
        message["reason"] = error.reason.value
    return message


def as_error(message: dict[str, str]) -> ScreentestError:
    """The error that a message describes, under its own name where core has it."""
    text, advice = message["message"], message["advice"]
    if "reason" in message:
        return NoValue(Reason(message["reason"]), text, advice=advice)
    kind = getattr(core, message["kind"], UserError)
    if not (isinstance(kind, type) and issubclass(kind, ScreentestError)):
        kind = UserError
    made: ScreentestError = kind(text, advice=advice)
    return made
