"""A request as the bytes of its HTTP body, and a response's bytes as a Reply.

The body is put together from pieces of JSON: a picture's base64 text needs no escaping, so no
encoder has to look at its every letter.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from screentest.models.chat.faults import Fault, FaultKind
from screentest.models.chat.messages import ChatRequest, Picture, Reply, Text, Usage
from screentest.models.chat.schemas import instructions, json_schema

# Pictures up to this size are kept as base64 for the next call that shows them.
_SMALL = 2**18

Turn = tuple[str, str]
"""(role, text): what was said after the request, in a repair."""


def body(
    request: ChatRequest,
    model: str,
    sampling: dict[str, Any],
    *,
    instructed: bool,
    enforced: bool,
    turns: Sequence[Turn] = (),
) -> bytes:
    """The JSON body. ``instructed`` puts the schema in words, ``enforced`` as response_format."""
    head: dict[str, Any] = {"model": model, **sampling}
    if request.schema is not None and enforced:
        head["response_format"] = {
            "type": "json_schema",
            "json_schema": {
                "name": request.schema.__name__[:64],
                "strict": True,
                "schema": json_schema(request.schema),
            },
        }
    messages = []
    if request.system:
        messages.append(_message("system", _json(request.system)))
    pieces = [_piece(part) for part in request.parts]
    if request.schema is not None and instructed:
        pieces.append(_piece(Text(instructions(request.schema))))
    messages.append(_message("user", b"[" + b",".join(pieces) + b"]"))
    messages += [_message(role, _json(text)) for role, text in turns]
    return _json(head)[:-1] + b',"messages":[' + b",".join(messages) + b"]}"


def read_reply(received: bytes) -> Reply:
    """The reply in a response's body; raises Fault(GARBLED) where it holds none."""
    try:
        content: Any = json.loads(received.decode("utf-8"))
        choice = content["choices"][0]
        message = choice["message"]
        text = _text(message.get("content"))
        return Reply(
            text=_sound(text),
            finish=str(choice.get("finish_reason") or ""),
            refusal=_sound(_text(message.get("refusal"))),
            model=_sound(str(content.get("model") or ""))[:200],
            fingerprint=_sound(str(content.get("system_fingerprint") or ""))[:200],
            usage=_usage(content.get("usage")),
        )
    except UnicodeDecodeError:
        raise Fault(FaultKind.GARBLED, "the response is not UTF-8") from None
    except (ValueError, RecursionError):
        raise Fault(FaultKind.GARBLED, "the response is not JSON") from None
    except (KeyError, IndexError, TypeError, AttributeError):
        raise Fault(FaultKind.GARBLED, "the response is not a chat completion") from None


_MOST_TOKENS = 10**9


def _message(role: str, content: bytes) -> bytes:
    return b'{"role":"' + role.encode() + b'","content":' + content + b"}"


def _piece(part: Text | Picture) -> bytes:
    if isinstance(part, Text):
        return b'{"type":"text","text":' + _json(part.text) + b"}"
    return _kept_piece(part) if len(part.data) <= _SMALL else _picture_piece(part)


def _picture_piece(picture: Picture) -> bytes:
    url = f"data:{picture.media_type};base64,".encode() + base64.b64encode(picture.data)
    return b'{"type":"image_url","image_url":{"url":"' + url + b'"}}'


_kept_piece = lru_cache(maxsize=256)(_picture_piece)


def _json(value: Any) -> bytes:
    # ASCII with escapes carries every string, even one with a lone surrogate.
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode("ascii")


def _text(content: Any) -> str:
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    # Some servers answer in parts as well.
    return "".join(str(part["text"]) for part in content if part.get("type") == "text")


def _sound(text: str) -> str:
    # Half of a surrogate pair can be written in JSON but nowhere else.
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _usage(counted: Any) -> Usage:
    if not isinstance(counted, dict):
        return Usage()
    tokens = [counted.get("prompt_tokens"), counted.get("completion_tokens")]
    # A count that no context could hold is no count, and no ledger could add it up.
    known = [n if type(n) is int and 0 <= n <= _MOST_TOKENS else None for n in tokens]
    return Usage(*known)
