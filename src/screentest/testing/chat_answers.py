"""What the fake server can be made to do with one request: answer, fail, or spoil the answer."""

from __future__ import annotations

import base64
import binascii
import hashlib
import io
import json
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

from screentest.models.chat.messages import DECLINED, SEEN


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
    as_is: bool = False
    """Else an object says that the pictures were seen, where the schema asks: a server that
    enforces schemas lets no required field be left out."""


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
    """Answer 429, with a Retry-After header where one is given."""
    if retry_after is not None:
        headers["Retry-After"] = retry_after
    return Status(429, "slow down", "rate_limit_exceeded", headers)


def out_of_quota() -> Status:
    """Answer the 429 that no waiting helps against."""
    return Status(429, "You exceeded your current quota.", "insufficient_quota")


def no_response_format() -> Status:
    """Answer as a server that cannot enforce a schema."""
    return Status(400, "'response_format' of type 'json_schema' is not supported.")


def error_body(act: Status) -> dict[str, Any]:
    """Make the JSON that goes with a status."""
    return {"error": {"message": act.message, "type": "error", "code": act.kind or None}}


# Close to how real vocabularies cut: words whole or in two, digits by threes, other scripts
# by the sign.
_PIECES = re.compile(r"[A-Za-z]{1,8}|[\u00c0-\u052f]{1,4}|\d{1,3}|[^\W\d_]|[^\w\s]{1,3}|_+|\n+")
_PATCH = 28


@dataclass(frozen=True)
class Asked:
    """Headers and body, and what stands in them."""

    path: str
    headers: Mapping[str, str]
    raw: bytes

    @cached_property
    def body(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads(self.raw)
        return content

    @property
    def messages(self) -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = self.body.get("messages", [])
        return messages

    @property
    def parts(self) -> list[dict[str, Any]]:
        """All parts of all messages, in order; a plain text counts as one part."""
        parts: list[dict[str, Any]] = []
        for message in self.messages:
            content = message.get("content")
            if isinstance(content, str):
                parts.append({"type": "text", "text": content})
            elif isinstance(content, list):
                parts.extend(content)
        return parts

    @property
    def texts(self) -> list[str]:
        return [part["text"] for part in self.parts if part["type"] == "text"]

    @property
    def picture_sizes(self) -> list[tuple[int, int]]:
        """Width and height of each picture, decoded from what was sent."""
        return [
            _size(part["image_url"]["url"]) for part in self.parts if part["type"] == "image_url"
        ]

    @property
    def schema(self) -> dict[str, Any] | None:
        """The JSON schema the answer must fit, where one was sent."""
        form = self.body.get("response_format") or {}
        schema = form.get("json_schema", {}).get("schema")
        return schema if isinstance(schema, dict) else None

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields of the form, without those that say whether it is an answer."""
        names = (self.schema or {}).get("properties", ())
        return tuple(name for name in names if name not in (SEEN, DECLINED))

    @cached_property
    def tokens(self) -> int:
        """The tokens of the request as this server counts them."""
        pictures = sum(
            max(1, round(width / _PATCH)) * max(1, round(height / _PATCH)) + 2
            for width, height in self.picture_sizes
        )
        texts = sum(count_tokens(text) for text in self.texts)
        return texts + pictures + 5 * len(self.messages) + 3

    @property
    def digest(self) -> str:
        """A hash of the body, for answers that differ and can be had again."""
        return hashlib.sha256(self.raw).hexdigest()


@lru_cache(maxsize=256)
def _size(url: str) -> tuple[int, int]:
    from PIL import Image

    data = url.partition(",")[2]
    try:
        with Image.open(io.BytesIO(base64.b64decode(data, validate=True))) as image:
            return image.size
    except (binascii.Error, OSError) as error:
        raise ValueError(f"cannot read a picture: {error}") from None


def count_tokens(text: str) -> int:
    """Tokens of a text: pieces of words, groups of digits, single signs."""
    return len(_PIECES.findall(text))


# ---- Ways in which a model or its server can spoil an answer.

Spoiler = Callable[[Mapping[str, Any]], Act]
"""Takes a valid object, and gives the act that spoils it."""


def _text(change: Callable[[str], str]) -> Spoiler:
    return lambda valid: Answer(change(json.dumps(valid)))


def _fields(change: Callable[[dict[str, Any]], Any]) -> Spoiler:
    return lambda valid: Answer(json.dumps(change(dict(valid))))


def _first_number(valid: Mapping[str, Any], value: object) -> dict[str, Any]:
    numbers = [name for name, old in valid.items() if type(old) in (int, float)]
    return {**valid, numbers[0]: value}


def _number(value: object) -> Spoiler:
    return _fields(lambda valid: _first_number(valid, value))


def _bare_number(written: str) -> Spoiler:
    def spoil(valid: Mapping[str, Any]) -> Act:
        marked = json.dumps(_first_number(valid, "@"))
        return Answer(marked.replace('"@"', written))

    return spoil


MALFORMED: dict[str, Spoiler] = {
    "truncated": _text(lambda text: text[: len(text) * 2 // 3]),
    "fenced": _text(lambda text: f"```json\n{text}\n```"),
    "fenced with words": _text(lambda text: f"Here it is:\n```\n{text}\n```\nI hope it helps."),
    "two objects": _text(lambda text: f"{text}\n{text}"),
    "an example first": _text(lambda text: f"For example {{}}. My answer: {text}"),
    "leading words": _text(lambda text: f"My answer: {text}"),
    "trailing words": _text(lambda text: f"{text} That is my view."),
    "thinking first": _text(lambda text: f'<think>{{"score": 1}}?</think>\n{text}'),
    "byte order mark": _text(lambda text: f"\ufeff{text}"),
    "single quotes": _text(lambda text: text.replace('"', "'")),
    "trailing comma": _text(lambda text: f"{text[:-1]},}}"),
    "comment": _text(lambda text: f"{text[:-1]} /* sure */}}"),
    "NaN": _bare_number("NaN"),
    "Infinity": _bare_number("Infinity"),
    "number too large": _bare_number("1e999"),
    "number of 5000 digits": _bare_number("9" * 5000),
    "whole number as decimal": _bare_number("4.0"),
    "number as text": _number("4"),
    "number out of five": _number("4/5"),
    "number out of range": _number(1_000_000),
    "number below range": _number(-1),
    "number as boolean": _number(True),
    "number null": _number(None),
    "key missing": _fields(lambda valid: dict(list(valid.items())[1:])),
    "key too many": _fields(lambda valid: {**valid, "confidence": 0.9}),
    "key twice": _text(lambda text: f"{text[:-1]}, {text[1:]}"),
    "nested": _fields(lambda valid: {"answer": valid}),
    "in a list": _fields(lambda valid: [valid]),
    "nested too deep": _text(lambda text: '{"a":' * 100_000),
    "empty": lambda valid: Answer(""),
    "null": lambda valid: Answer(None),
    "whitespace": lambda valid: Answer(" \n\t\u00a0 "),
    "plain words": lambda valid: Answer("The score is four."),
    "wrong language": lambda valid: Answer("Die Bewertung lautet vier von fünf Punkten."),
    "refusal in words": lambda valid: Answer("I'm sorry, but I can't assist with that request."),
    "refusal": lambda valid: Answer(None, refusal="I cannot judge this video."),
    "cut off": lambda valid: Answer(json.dumps(valid), finish="length"),
    "content filter": lambda valid: Answer(json.dumps(valid), finish="content_filter"),
    "tool call": lambda valid: Answer(None, finish="tool_calls"),
    "not UTF-8": lambda valid: Raw(b'{"choices":[{"message":{"content":"\xff\xfe"}}]}'),
    "half a response": lambda valid: Raw(b'{"choices":[{"message":{"cont'),
    "no choices": lambda valid: Raw(b'{"choices":[]}'),
    "another shape": lambda valid: Raw(b'["hello"]'),
    "a web page": lambda valid: Raw(b"<html>Welcome</html>", content_type="text/html"),
    "ten megabytes": lambda valid: Raw(b'{"pad":"' + b"x" * 10_000_000 + b'"}'),
}


_DEEPEST = 12


def plausible(asked: Asked) -> Answer:
    """Make up an answer that fits: an object where a schema was sent, else yes or no."""
    rng = random.Random(asked.digest)
    if asked.schema is None:
        return Answer(rng.choice(("Yes.", "No.")))
    value = _value(asked.schema, asked.schema.get("$defs", {}), rng, 0)
    if isinstance(value, dict):
        value |= {name: fits for name, fits in ((SEEN, True), (DECLINED, None)) if name in value}
    return Answer(json.dumps(value))


def as_enforced(asked: Asked, answer: Answer) -> str | None:
    """Give the text of an answer, with what it says of the pictures."""
    if answer.as_is or SEEN not in (asked.schema or {}).get("properties", ()):
        return answer.text
    try:
        value = json.loads(answer.text or "", parse_constant=str)
    except (ValueError, RecursionError):
        return answer.text
    if not isinstance(value, dict) or SEEN in value:
        return answer.text
    inside = (answer.text or "").strip()[1:]
    return f'{{"{SEEN}": true{"," if value else ""} {inside}'


def _value(schema: dict[str, Any], defs: dict[str, Any], rng: random.Random, depth: int) -> Any:
    if "$ref" in schema:
        schema = defs[schema["$ref"].rsplit("/", 1)[-1]]
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return rng.choice(schema["enum"])
    if "anyOf" in schema:
        options = schema["anyOf"] if depth < _DEEPEST else schema["anyOf"][-1:]
        return _value(rng.choice(options), defs, rng, depth + 1)
    kind = schema.get("type")
    if kind == "object":
        fields = schema.get("properties", {})
        return {name: _value(field, defs, rng, depth + 1) for name, field in fields.items()}
    if kind == "array":
        low, high = _bounds(schema, "minItems", "maxItems", " entries")
        fewest = int(low or 0)
        most = int(high or max(fewest, 0 if depth > _DEEPEST else 2))
        items = schema.get("items", {"type": "string"})
        count = rng.randint(fewest, max(fewest, min(most, fewest + 3)))
        return [_value(items, defs, rng, depth + 1) for _ in range(count)]
    if kind in ("integer", "number"):
        return _plausible_number(schema, kind == "integer", rng)
    if kind == "boolean":
        return rng.random() < 0.5
    return None if kind == "null" else rng.choice(("as described", "something else", "unclear"))


def _bounds(
    schema: dict[str, Any], lowest: str, highest: str, what: str = ""
) -> tuple[float | None, float | None]:
    """Read bounds from a JSON schema, or from its words where a service takes none."""
    text, number = schema.get("description", ""), r"(-?[\d.]*\d)"
    text = text.replace("Not empty", f"At least 1{what}")
    both = re.search(f"{number} to {number}{what}", text)
    exact = re.search(f"(?i)exactly {number}{what}", text)
    low = re.search(f"(?i)at least {number}{what}", text)
    high = re.search(f"(?i)at most {number}{what}", text)
    words = (both and both[1]) or next((m[1] for m in (exact, low) if m), None)
    limit = (both and both[2]) or next((m[1] for m in (exact, high) if m), None)
    least, most = schema.get(lowest, words), schema.get(highest, limit)
    return None if least is None else float(least), None if most is None else float(most)


def _plausible_number(schema: dict[str, Any], whole: bool, rng: random.Random) -> int | float:
    least, high = _bounds(schema, "minimum", "maximum")
    low = least or 0
    high = low + 10 if high is None else high
    return rng.randint(int(low), int(high)) if whole else round(rng.uniform(low, high), 3)
