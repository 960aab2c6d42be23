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
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from screentest.core import DecodeError, Image, NoValue, Reason, from_object
from screentest.models.pictures import check_picture
from screentest.models.roles import Detection, Mask, Vectors

PROTOCOL = 1
LONGEST_LINE = 1 << 20
"""Bytes in a line. Arrays travel as files, so an honest message is far shorter."""
_SHOWN = 200
_ADVICE = "Only messages may start with { on the worker's stdout; print all else to stderr."


@dataclass(frozen=True, slots=True)
class Hello:
    """The greeting of a worker; all of it goes into signatures."""

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
        parts = {"worker": self.name, "worker version": self.version, "weights": self.weights}
        return parts | dict(self.identity)


def read_message(line: bytes) -> dict[str, Any]:
    """One message; NoValue where the line is none.

    >>> read_message(b'{"id": 1, "result": 0.5}')["result"]
    0.5
    """
    try:
        message = json.loads(
            line.decode(), parse_constant=_no_constant, object_pairs_hook=_no_key_twice
        )
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise unreadable(f"a line of the worker is not a message ({error})", line) from None
    if not isinstance(message, dict):  # pragma: no cover - a line that starts with { is an object
        raise unreadable("a line of the worker is not a message", line)
    return message


def read_hello(message: Mapping[str, Any]) -> Hello:
    """Read the greeting; NoValue where it is another kind of message or another protocol."""
    if "screentest" not in message:
        raise unreadable("the worker did not greet first", json.dumps(message).encode())
    if message["screentest"] != PROTOCOL or isinstance(message["screentest"], bool):
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
            Reason.UNPARSABLE, f"cannot read the worker's greeting: {error}", advice=_ADVICE
        ) from None


def read_result(message: Mapping[str, Any], number: int) -> Any:
    """Return the result of request ``number``.

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
    """Return the worker's own reason, where it names one of ours."""
    if not isinstance(error, dict):
        return NoValue(otherwise, f"the worker says: {str(error)[:2000]}")
    named = error.get("reason")
    reason = Reason(named) if isinstance(named, str) and named in set(Reason) else otherwise
    message = str(error.get("message", "no reason given"))[:2000]
    return NoValue(reason, f"the worker says: {message}", advice=str(error.get("advice", ""))[:500])


class OutOfStep(Exception):
    """The worker breaks the protocol."""


class WorkerSaysNo(Exception):
    """The worker, sound itself, has no value for this request."""

    def __init__(self, no_value: NoValue) -> None:
        super().__init__(str(no_value))
        self.no_value = no_value


def unreadable(what: str, line: bytes) -> NoValue:
    """Return a NoValue that shows the start of the line."""
    shown = line[:_SHOWN].decode(errors="replace")
    return NoValue(Reason.UNPARSABLE, f"{what}: {shown!r}", advice=_ADVICE)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("a key is given twice")
    return fields


def number(answer: object, low: float = -math.inf, high: float = math.inf) -> float:
    """Return a finite number in range.

    >>> number(0.5, 0, 1)
    0.5
    """
    if isinstance(answer, bool) or not isinstance(answer, (int, float)):
        raise unfit(answer, "a finite number")
    try:
        value = float(answer)
    except OverflowError:  # a whole number of hundreds of digits
        value = math.inf
    if not math.isfinite(value):
        raise unfit(answer, "a finite number")
    if not low <= value <= high:
        raise unfit(answer, f"a number from {low:g} to {high:g}")
    return value


def whole_number(answer: object) -> int:
    """Return a whole number that is not negative."""
    if isinstance(answer, bool) or not isinstance(answer, int) or answer < 0:
        raise unfit(answer, "a whole number")
    return answer


def several(answer: object, count: int) -> list[Any]:
    """Return a list of exactly that many."""
    if isinstance(answer, np.ndarray | tuple):
        answer = list(answer)
    if not isinstance(answer, list) or len(answer) != count:
        raise unfit(answer, f"a list of {count}")
    return answer


def plane(answer: object, shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Return a finite array of that shape."""
    if not isinstance(answer, np.ndarray) or answer.shape != shape:
        raise unfit(answer, f"a finite array of shape {shape}")
    with np.errstate(over="ignore"):
        single = answer.astype(np.float32)
    # Looked at now: what is finite in more bits may be infinite in these.
    if not np.isfinite(single).all():
        raise unfit(answer, f"an array of shape {shape} whose numbers are finite in 32 bits")
    return single


def picture(answer: object, like: Image) -> Image:
    """Return an RGB picture of bytes, of the size of another."""
    if (
        not isinstance(answer, np.ndarray)
        or answer.dtype != np.uint8
        or answer.shape != check_picture(like).shape
    ):
        raise unfit(answer, f"a uint8 array of shape {like.shape}")
    return answer


def mask_over(answer: object, image: Image) -> Mask:
    """Return an array of 0–1 over a picture."""
    soft = plane(answer, image.shape[:2])
    if soft.min() < 0 or soft.max() > 1:
        raise unfit(answer, "an array of values from 0 to 1")
    return soft


def unit_rows(answer: object, count: int) -> Vectors:
    """Rows made length one; a row of zeros has no direction and is refused."""
    if not isinstance(answer, np.ndarray) or answer.ndim != 2 or len(answer) != count:
        raise unfit(answer, f"an array of {count} rows")
    rows = plane(answer, answer.shape)
    # In 64 bits, where the squares of no number of 32 bits are infinite or nothing.
    lengths = np.linalg.norm(rows.astype(np.float64), axis=1, keepdims=True)
    if not (lengths > 0).all():
        raise unfit(answer, "rows that are not all zeros")
    return np.asarray(rows / lengths, np.float32)


def detection(answer: object, phrases: Sequence[str]) -> Detection:
    """Something found, under one of the phrases."""
    if not isinstance(answer, dict) or answer.get("label") not in phrases:
        raise unfit(answer, "a detection whose label is one of the phrases")
    left, top, right, bottom = (number(side) for side in several(answer.get("box"), 4))
    return Detection(str(answer["label"]), number(answer.get("score")), (left, top, right, bottom))


def no_rows() -> Vectors:
    """Return the rows of no pictures or texts."""
    return np.zeros((0, 1), np.float32)


def unfit(answer: object, wanted: str) -> NoValue:
    """Says what came and what was wanted.

    An answer that fails a check is UNPARSABLE, never a value.
    """
    if isinstance(answer, np.ndarray):
        came = f"a {answer.dtype} array of shape {answer.shape}"
    else:
        came = repr(answer)[:200]
    return NoValue(
        Reason.UNPARSABLE,
        f"the worker's result is {came}, and not {wanted}",
        advice="docs/external.md says what each role's methods return.",
    )


KEY = "npy"
LARGEST_FILE = 4 << 30


class Exchange:
    """The arrays of one request, in its folder.

    In a message an array is ``{"npy": path}``. Only plain arrays of numbers are read, and only from
    the folder of the request they answer.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._written: dict[int, tuple[Path, Any]] = {}
        """By id; each array is kept, so that its id stays its own."""

    def write(self, value: Any) -> Any:
        """``value`` as JSON takes it; arrays become files, each array one, however often used."""
        if isinstance(value, np.ndarray):
            if id(value) not in self._written:
                path = self._folder / f"{len(self._written):06}.npy"
                np.save(path, np.ascontiguousarray(value), allow_pickle=False)
                self._written[id(value)] = path, value
            return {KEY: str(self._written[id(value)][0])}
        if isinstance(value, dict):
            return {key: self.write(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.write(item) for item in value]
        return value

    def read(self, value: Any) -> Any:
        """Return a worker's result with its arrays in place."""
        try:
            return self._read(value)
        except RecursionError:
            raise unfit("lists in lists without end", "a result that can be read") from None

    def _read(self, value: Any) -> Any:
        if isinstance(value, dict):
            if set(value) == {KEY}:
                return self._array(value[KEY])
            return {key: self._read(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._read(item) for item in value]
        return value

    def _array(self, name: object) -> np.ndarray[Any, Any]:
        try:
            path = (self._folder / str(name)).resolve(strict=True)
            if not path.is_relative_to(self._folder.resolve()) or not path.is_file():
                raise ValueError("it is not in the request's folder")
            if path.stat().st_size > LARGEST_FILE:
                raise ValueError(f"it is over {LARGEST_FILE} bytes")
            with path.open("rb") as file:
                array = np.load(file, allow_pickle=False)
            if not isinstance(array, np.ndarray) or array.dtype.kind not in "biuf":
                raise ValueError("it holds no array of numbers")
        # MemoryError: its header says terabytes; RuntimeError: a link that leads to itself.
        except (OSError, ValueError, EOFError, MemoryError, RuntimeError) as error:
            raise NoValue(
                Reason.UNPARSABLE,
                f"cannot read the worker's array {str(name)!r}: {error}",
                advice="Save arrays with numpy.save into the folder that the request names.",
            ) from None
        return array
