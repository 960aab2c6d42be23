"""Where requests go: one address, checked before any socket is opened, and its key.

The key comes from the environment alone. It is in no option, so it is in no signature, record
or file; ``Secret`` keeps it out of what is printed, and ``hide`` out of what servers send back.
"""

from __future__ import annotations

import ipaddress
import os
from dataclasses import dataclass
from urllib.parse import urlsplit

from screentest.core import BadOption, ServiceError

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
