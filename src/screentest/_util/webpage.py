"""What the pages that we write have in common: colours, policy, data that cannot break out."""

from __future__ import annotations

import base64
import hashlib
import json
from importlib.resources import files
from typing import Any


def tokens() -> str:
    """Return the style sheet of colours and fonts that every page begins with."""
    return (files("screentest._util") / "colours.css").read_text(encoding="utf-8")


def policy(script: str, style: str, *, pictures: bool = False, embedded: bool = False) -> str:
    """Return a policy for a page that opens from disk: this script, this style, no connection
    anywhere.

    Videos are those beside the page, and with ``embedded`` those inside it; ``pictures`` are
    inside it.
    """
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src '{_hash(script)}'",
            f"style-src '{_hash(style)}'",
            *(["img-src data:"] if pictures else []),
            # 'self' is not enough where a page is opened from the disk.
            f"media-src 'self' file:{' data:' if embedded else ''}",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def embedded_json(data: Any) -> str:
    """JSON that can stand in a script element: no letter in it can end one.

    >>> embedded_json({"said": "</script>"})
    '{"said":"\\\\u003c/script\\\\u003e"}'
    """
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def data_address(kind: str, content: bytes) -> str:
    """Something inside a page, as an address.

    >>> data_address("text/plain", b"hi")
    'data:text/plain;base64,aGk='
    """
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"
