"""What a chat model is asked, and what it answered.

>>> request = ChatRequest((Text("Is the sky blue? Answer yes or no."),), use="example")
>>> request.key == ChatRequest(request.parts, use="other").key
True
>>> request.key == ChatRequest(request.parts, repeat=1).key
False
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, TypeAlias

from screentest.models.chat.schemas import json_schema

if TYPE_CHECKING:
    from pydantic import BaseModel

    from screentest.core.frames import Image


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of text between pictures, or all there is."""

    text: str


@dataclass(frozen=True, slots=True, repr=False)
class Picture:
    """An encoded picture. Equal bytes are the same picture, wherever they came from."""

    data: bytes
    media_type: str
    width: int
    height: int
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "digest", hashlib.sha256(self.data).hexdigest())

    def __repr__(self) -> str:
        return f"Picture({self.summary})"

    @property
    def summary(self) -> str:
        """Kind, size and bytes, for people."""
        size = f"{self.width}×{self.height}, {len(self.data)} bytes"
        return f"{self.media_type} {size}, sha256 {self.digest[:12]}"

    def pixels(self) -> Image:
        """Decoded to RGB, so that a local model sees what a remote one is sent."""
        import cv2
        import numpy as np

        decoded = cv2.imdecode(np.frombuffer(self.data, np.uint8), cv2.IMREAD_COLOR_RGB)
        if decoded is None:
            raise ValueError(f"{self!r} is not a picture")
        return decoded.astype(np.uint8, copy=False)


Part: TypeAlias = Text | Picture


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the model draws its tokens. None leaves a setting to the server."""

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    repetition_penalty: float | None = None
    max_tokens: int = 4096
    """Always set: an answer without a limit has a cost without a limit."""
    min_tokens: int | None = None
    seed: int | None = None
    """Repeat r is asked with seed + r, so that repeats differ and each can be had again."""
    stop: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.max_tokens < 1:
            raise ValueError(f"max_tokens is at least 1, not {self.max_tokens}")

    @property
    def given(self) -> dict[str, Any]:
        """The settings that are set, by name."""
        settings = ((field.name, getattr(self, field.name)) for field in fields(self))
        return {name: value for name, value in settings if value not in (None, ())}


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One question: a system text, then text and pictures in order."""

    parts: tuple[Part, ...]
    system: str = ""
    schema: type[BaseModel] | None = None
    """The answer is to be an object of this class; every field must be required."""
    sampling: Sampling = field(default_factory=Sampling)
    use: str = ""
    """What it is for, such as ``etva.answer``; stands in the ledger."""
    repeat: int = 0
    """Which of several equal questions it is. Answers are never shared between repeats."""
    max_repairs: int = 1
    """How often an answer that does not fit the schema is sent back."""

    def __post_init__(self) -> None:
        if not self.parts:
            raise ValueError("a request needs at least one part")
        if self.max_repairs < 0 or self.repeat < 0:
            raise ValueError("max_repairs and repeat are not below zero")
        if self.schema is not None:
            json_schema(self.schema)  # refuses a schema with defaults now, not after paying

    @property
    def pictures(self) -> list[Picture]:
        """Its pictures, in order."""
        return [part for part in self.parts if isinstance(part, Picture)]

    @property
    def key(self) -> str:
        """sha256 of all that can change the answer, the model itself apart."""
        content = {
            "system": self.system,
            "parts": [
                ["text", part.text] if isinstance(part, Text) else ["picture", part.digest]
                for part in self.parts
            ],
            "schema": json_schema(self.schema) if self.schema is not None else None,
            "sampling": self.sampling.given,
            "repeat": self.repeat,
        }
        text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        # A lone surrogate cannot be sent either; here it must only not break the key.
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the server counted them; None where it did not say."""

    input_tokens: int | None = None
    output_tokens: int | None = None

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            _sum(self.input_tokens, other.input_tokens),
            _sum(self.output_tokens, other.output_tokens),
        )


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model sent back, as it is: nothing parsed yet."""

    text: str
    finish: str = "stop"
    refusal: str = ""
    model: str = ""
    """The name under which the server says it answered."""
    fingerprint: str = ""
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class ChatAnswer:
    """An answer that holds by the stated rules, and what it took to get it."""

    text: str
    value: BaseModel | None = None
    """The object, where the request has a schema."""
    model: str = ""
    fingerprint: str = ""
    drifted: bool = False
    """The server answered under another name than was asked for."""
    usage: Usage = field(default_factory=Usage)
    """Of all attempts together."""
    cost: float | None = None
    """Of all attempts together, in the currency of the price list; None without a price."""
    attempts: int = 1
    repairs: int = 0
    request_key: str = ""


def _sum(first: int | None, second: int | None) -> int | None:
    return None if first is None or second is None else first + second
