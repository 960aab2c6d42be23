"""A request as the fake server received it."""

from __future__ import annotations

import base64
import binascii
import hashlib
import io
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

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
        """The JSON that was sent."""
        content: dict[str, Any] = json.loads(self.raw)
        return content

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The conversation."""
        found: list[dict[str, Any]] = self.body.get("messages", [])
        return found

    @property
    def parts(self) -> list[dict[str, Any]]:
        """All parts of all messages, in order; a plain text counts as one part."""
        found: list[dict[str, Any]] = []
        for message in self.messages:
            content = message.get("content")
            if isinstance(content, str):
                found.append({"type": "text", "text": content})
            elif isinstance(content, list):
                found.extend(content)
        return found

    @property
    def texts(self) -> list[str]:
        """The texts, in order."""
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
        raise ValueError(f"a picture cannot be read: {error}") from None


def count_tokens(text: str) -> int:
    """Tokens of a text: pieces of words, groups of digits, single signs."""
    return len(_PIECES.findall(text))
