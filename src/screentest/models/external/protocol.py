"""What a worker and screentest say to each other: one JSON object per line.

The worker greets first:

    {"screentest": 1, "name": "dover++", "version": "1.0", "weights": "sha256 of its weights",
     "roles": ["technical"], "identity": {"torch": "2.4"}, "properties": {}}

Then each request gets one response:

    {"id": 1, "role": "technical", "method": "score", "arguments": {…}, "folder": "/…/1"}
    {"id": 1, "result": 0.71}
    {"id": 1, "error": {"reason": "not_applicable", "message": "fewer than 8 frames"}}

Lines that do not start with ``{`` are chatter of the worker's libraries and are passed over; one
that does must be a message. ``docs/external.md`` has it all.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from screentest.core import DecodeError, NoValue, Reason, from_object

PROTOCOL = 1
LONGEST_LINE = 1 << 20
"""Bytes in a line. Arrays travel as files, so an honest message is far shorter."""
_SHOWN = 200
_ADVICE = "Only messages may start with { on the worker's stdout; print all else to stderr."


@dataclass(frozen=True, slots=True)
class Hello:
    """How a worker introduces itself; all of it goes into signatures."""

    name: str
    version: str
    weights: str
    """The sha256 of its weights, or a word that says it has none."""
    roles: tuple[str, ...]
    identity: Mapping[str, str] = field(default_factory=dict)
    """What else its numbers depend on: versions of libraries, precision."""
    properties: Mapping[str, Any] = field(default_factory=dict)
    """What a role wants to know beforehand, such as ``scale`` or ``max_frames``."""

    @property
    def signed(self) -> dict[str, str]:
        """For signatures.

        >>> Hello("dover++", "1.0", "ab12", ("technical",), {"torch": "2.4"}).signed
        {'worker': 'dover++', 'worker version': '1.0', 'weights': 'ab12', 'torch': '2.4'}
        """
        own = {"worker": self.name, "worker version": self.version, "weights": self.weights}
        return own | dict(self.identity)


def read_message(line: bytes) -> dict[str, Any]:
    """One message; NoValue where the line is none.

    >>> read_message(b'{"id": 1, "result": 0.5}')["result"]
    0.5
    """
    try:
        message = json.loads(line.decode(), parse_constant=_no_constant)
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise unreadable(f"a line of the worker is no message ({error})", line) from None
    if not isinstance(message, dict):  # pragma: no cover - a line that starts with { is an object
        raise unreadable("a line of the worker is no message", line)
    return message


def read_hello(message: Mapping[str, Any]) -> Hello:
    """The greeting; NoValue where it is another kind of message or another protocol."""
    if "screentest" not in message:
        raise unreadable("the worker did not greet first", json.dumps(message).encode())
    if message["screentest"] != PROTOCOL:
        raise NoValue(
            Reason.MISSING_MODEL,
            f"the worker speaks protocol {message['screentest']!r}, and this is {PROTOCOL}",
            advice="Update the worker or screentest.",
        )
    if "error" in message:
        raise read_error(message["error"], otherwise=Reason.MISSING_MODEL)
    given = {key: value for key, value in message.items() if key != "screentest"}
    try:
        return from_object(Hello, given)
    except DecodeError as error:
        raise NoValue(
            Reason.UNPARSABLE, f"the worker's greeting cannot be read: {error}", advice=_ADVICE
        ) from None


def read_result(message: Mapping[str, Any], number: int) -> Any:
    """The result of request ``number``.

    A result that is another's means that the two are out of step: nothing it says can be
    trusted any more, so that is ``OutOfStep``, and not only no value.
    """
    if message.get("id") != number or isinstance(message.get("id"), bool):
        raise OutOfStep(f"the worker answered {message.get('id')!r} when asked {number}")
    if ("result" in message) == ("error" in message):
        raise OutOfStep("the worker's answer has neither result nor error, or both")
    if "error" in message:
        raise WorkerSaysNo(read_error(message["error"], otherwise=Reason.CRASHED))
    return message["result"]


def read_error(error: object, *, otherwise: Reason) -> NoValue:
    """The worker's own reason, where it names one of ours."""
    if not isinstance(error, dict):
        return NoValue(otherwise, f"the worker says: {str(error)[:2000]}")
    named = error.get("reason")
    reason = Reason(named) if named in set(Reason) else otherwise
    said = str(error.get("message", "no reason given"))[:2000]
    return NoValue(reason, f"the worker says: {said}", advice=str(error.get("advice", ""))[:500])


class OutOfStep(Exception):
    """The worker breaks the protocol."""


class WorkerSaysNo(Exception):
    """The worker, sound itself, has no value for this request."""

    def __init__(self, no_value: NoValue) -> None:
        super().__init__(str(no_value))
        self.no_value = no_value


def unreadable(what: str, line: bytes) -> NoValue:
    """A NoValue that shows the start of the line."""
    shown = line[:_SHOWN].decode(errors="replace")
    return NoValue(Reason.UNPARSABLE, f"{what}: {shown!r}", advice=_ADVICE)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")
