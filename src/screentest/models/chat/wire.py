"""Where requests go, a request as the bytes of its HTTP body, a response's bytes as a ModelReply.

The body is put together from pieces of JSON: a picture's base64 text needs no escaping, so no
encoder has to look at its every letter.

An address is checked before any socket is opened. Its key comes from the environment alone. It is
in no option, so it is in no signature, record or file; ``Secret`` keeps it out of what is printed,
and ``hide`` out of what servers send back.
"""

from __future__ import annotations

import base64
import ipaddress
import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from screentest.core import BadOption, ServiceError
from screentest.models.chat.faults import CallFault, FaultKind
from screentest.models.chat.messages import (
    ChatRequest,
    Film,
    ModelReply,
    Picture,
    Sampling,
    Text,
    Usage,
)
from screentest.models.chat.videos import NativeVideo, with_films

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
    video: NativeVideo | None = None,
) -> bytes:
    """Return the JSON body. ``instructed`` puts the schema in words, ``enforced`` as
    response_format;
    ``video`` sends whole videos in the place of their frames."""
    head: dict[str, Any] = {"model": model, **sampling}
    if request.schema is not None and enforced:
        head["response_format"] = {
            "type": "json_schema",
            "json_schema": {
                "name": request.schema.__name__[:64],
                "strict": True,
                "schema": request.form,
            },
        }
    messages = []
    if request.system:
        messages.append(_message("system", _json(request.system)))
    if video is None:
        pieces = [_piece(part) for part in request.parts]
    else:
        shown = with_films(request)
        pieces = [video.piece(part) if isinstance(part, Film) else _piece(part) for part in shown]
    if request.schema is not None and instructed:
        pieces.append(_piece(Text(request.instructions(enforced=enforced))))
    messages.append(_message("user", b"[" + b",".join(pieces) + b"]"))
    messages += [_message(role, _json(text)) for role, text in turns]
    return _json(head)[:-1] + b',"messages":[' + b",".join(messages) + b"]}"


def read_reply(received: bytes) -> ModelReply:
    """Return the reply in a response's body; raises CallFault(GARBLED) where it holds none."""
    try:
        content: Any = json.loads(received.decode("utf-8"), object_pairs_hook=_unique)
        choice = content["choices"][0]
        message = choice["message"]
        for other in content["choices"][1:]:
            same = other["message"] == message
            if not same or other.get("finish_reason") != choice.get("finish_reason"):
                raise CallFault(FaultKind.GARBLED, "the response holds choices that differ")
        text = _text(message.get("content"))
        return ModelReply(
            text=_sound(text),
            finish=str(choice.get("finish_reason") or ""),
            refusal=_sound(_text(message.get("refusal"))),
            model=_sound(str(content.get("model") or ""))[:200],
            fingerprint=_sound(str(content.get("system_fingerprint") or ""))[:200],
            usage=_usage(content.get("usage")),
        )
    except UnicodeDecodeError:
        raise CallFault(FaultKind.GARBLED, "the response is not UTF-8") from None
    except (ValueError, RecursionError):
        raise CallFault(FaultKind.GARBLED, "the response is not JSON") from None
    except (KeyError, IndexError, TypeError, AttributeError):
        raise CallFault(FaultKind.GARBLED, "the response is not a chat completion") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise CallFault(FaultKind.GARBLED, "the response gives a key twice")
    return fields


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
    # A count that no context could hold is not a count, and no ledger could add it up.
    counts = [n if type(n) is int and 0 <= n <= _MOST_TOKENS else None for n in tokens]
    return Usage(*counts)


# Names of models that draw with fixed settings.
_REASONING_MODELS = re.compile(r"^(gpt-5|o[1-9])(?![a-z0-9])", re.IGNORECASE)
_HOSTED = ("openai.com", "azure.com")


@dataclass(frozen=True, slots=True)
class Dialect:
    """The settings one family of servers takes: our name to theirs.

    A server refuses or ignores what it does not know. What a dialect cannot say is left out and
    warned of once; the dialect stands in the signature, so the number still says how it was made.

    >>> REASONING.fields(Sampling(temperature=0.7, max_tokens=100))
    {'max_completion_tokens': 100}
    >>> REASONING.unsaid(Sampling(temperature=0.7))
    ['temperature']
    """

    name: str
    words: tuple[tuple[str, str], ...]
    most_stops: int = 16

    def fields(self, sampling: Sampling, repeat: int = 0) -> dict[str, Any]:
        given = sampling.given
        if "stop" in given:
            given["stop"] = list(given["stop"])[: self.most_stops]
        if "seed" in given:
            given["seed"] += repeat
        return {theirs: given[ours] for ours, theirs in self.words if ours in given}

    def unsaid(self, sampling: Sampling) -> list[str]:
        """Return the settings that are set but cannot be said here."""
        names = dict(self.words)
        left_out = [name for name in sampling.given if name not in names]
        if "stop" in names and len(sampling.stop) > self.most_stops:
            left_out.append(f"stop (beyond {self.most_stops})")
        return left_out


def _same(*names: str) -> tuple[tuple[str, str], ...]:
    return tuple((name, name) for name in names)


OPEN = Dialect("open", _same(*(field.name for field in fields(Sampling))))
"""vLLM, SGLang and their like: everything."""

PLAIN = Dialect("plain", _same("temperature", "top_p", "max_tokens", "seed", "stop"))
"""The settings that nearly every server knows, such as `transformers serve` and Ollama."""

OPENAI = Dialect(
    "openai",
    (*_same("temperature", "top_p", "seed", "stop"), ("max_tokens", "max_completion_tokens")),
    most_stops=4,
)
"""OpenAI's own models with free sampling."""

REASONING = Dialect("reasoning", (("max_tokens", "max_completion_tokens"),))
"""GPT-5 and the o-series: temperature is 1 and cannot be set."""

DIALECTS = {dialect.name: dialect for dialect in (OPEN, PLAIN, OPENAI, REASONING)}


def dialect_for(name: str, host: str, model: str) -> Dialect:
    """Return the dialect of that name; ``auto`` goes by the host and the model's name."""
    if name in DIALECTS:
        return DIALECTS[name]
    if name != "auto":
        raise BadOption(
            f"unknown dialect {name!r}", advice=f"Dialects: auto, {', '.join(DIALECTS)}."
        )
    if _REASONING_MODELS.match(model):
        return REASONING
    hosted = any(host == domain or host.endswith(f".{domain}") for domain in _HOSTED)
    return OPENAI if hosted else OPEN


DEFAULT_URL = "https://api.openai.com/v1"
OFFLINE = "SCREENTEST_OFFLINE"


class Secret:
    """A text that does not print itself."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return "Secret(…)" if self._text else "Secret()"

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("a secret is not written anywhere; read it from the environment again")

    def reveal(self) -> str:
        """Return the text itself, to be handed to the one who needs it."""
        return self._text

    def hide(self, text: str) -> str:
        """``text`` with every occurrence of the secret blotted out."""
        return text.replace(self._text, "[key]") if len(self._text) >= 4 else text


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A checked address of an OpenAI-compatible server."""

    url: str
    host: str
    loopback: bool

    @classmethod
    def of(cls, url: str, *, offline: bool = False) -> Endpoint:
        """Check an address; empty means OPENAI_BASE_URL or OpenAI itself.

        With ``offline``, or SCREENTEST_OFFLINE=1 in the environment, only this very machine
        may be asked.
        """
        url = (url or os.environ.get("OPENAI_BASE_URL") or DEFAULT_URL).rstrip("/")
        try:
            split = urlsplit(url)
            host, _ = split.hostname or "", split.port  # a wrong port raises only when read
        except ValueError:
            raise BadOption(f"{url!r} is not an address") from None
        if split.scheme not in ("http", "https") or not host:
            raise BadOption(
                f"{url!r} is not an address of a server",
                advice="Write base_url=http://HOST:PORT/v1 or base_url=https://HOST/v1.",
            )
        if split.username or split.password or split.query or split.fragment:
            raise BadOption(
                f"the address of {host} carries more than a place",
                advice="Give keys in the environment (key_env=NAME), never in base_url.",
            )
        endpoint = cls(url, host, _is_loopback(host))
        if (offline or _flag(os.environ.get(OFFLINE, ""))) and not endpoint.loopback:
            raise BadOption(
                f"offline: {host} is another machine, and nothing may leave this one",
                advice=f"Use a server on 127.0.0.1, or unset offline and {OFFLINE}.",
            )
        return endpoint

    @property
    def label(self) -> str:
        """The place for a signature; a path can choose the model, as deployments do.

        A port on this machine says nothing about the model: it changes with every start.
        """
        path = urlsplit(self.url).path.rstrip("/").removesuffix("/v1")
        return f"{'loopback' if self.loopback else self.host}{path}"

    def key(self, variable: str) -> Secret:
        """Return the key in the environment variable; a server on this machine may need none."""
        key = os.environ.get(variable, "").strip()
        if not key.isascii() or not key.isprintable() or " " in key:
            # Sent as it is, it would break the request, and errors would quote it.
            raise ServiceError(
                f"the key in {variable} holds a line break, a space or a letter that no key has",
                advice=f"Set {variable} again: one key, without quotes.",
            )
        if not key and not self.loopback:
            raise ServiceError(
                f"{self.host} needs a key, and {variable} is not set",
                advice=f"export {variable}=…, or name another variable with key_env=.",
            )
        return Secret(key)


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _flag(text: str) -> bool:
    return text.strip().lower() not in ("", "0", "no", "false", "off")
