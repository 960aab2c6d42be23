"""Site: everything the pages need to know of where and for what they run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from screentest.annotate.assignment import Rules
from screentest.annotate.language import Language
from screentest.annotate.people import hashed
from screentest.annotate.store import Database
from screentest.core import BadOption

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True, slots=True)
class Site:
    """One running app."""

    database: Database
    rules: Rules
    languages: Mapping[str, Language]
    """By code; the first is the default."""
    origins: frozenset[str]
    """Under which addresses browsers may come: scheme, host and port."""
    operator_hash: str
    cookie: str = "screentest"
    consent: str = ""
    """Instead of the text that the language has."""

    @property
    def hosts(self) -> frozenset[str]:
        """What may stand in a Host header."""
        return frozenset(urlsplit(origin).netloc for origin in self.origins)

    @property
    def secure(self) -> bool:
        """Whether browsers only come by HTTPS."""
        return all(origin.startswith("https://") for origin in self.origins)

    def language(self, code: str) -> Language:
        """The language of that code, or the default."""
        return self.languages.get(code) or next(iter(self.languages.values()))

    def is_operator(self, token: str) -> bool:
        """Whether somebody has the operator's token; hashes, so the comparison leaks nothing."""
        import hmac

        return hmac.compare_digest(hashed(token), self.operator_hash)


def allowed_origins(host: str, port: int, public_url: str | None) -> frozenset[str]:
    """The origins under which an app on that address is reached.

    >>> sorted(allowed_origins("127.0.0.1", 8765, None))[0]
    'http://127.0.0.1:8765'
    """
    if public_url is not None:
        parts = urlsplit(public_url)
        if parts.scheme not in ("http", "https") or not parts.netloc or "@" in parts.netloc:
            raise BadOption(
                f"{public_url!r} is no address of a site",
                advice="Write https://judge.example.org",
            )
        return frozenset({f"{parts.scheme}://{parts.netloc.lower()}"})
    if host in ("0.0.0.0", "::"):
        raise BadOption(
            f"{host} is every address of this machine: which one will people use?",
            advice="Add --public-url, such as http://192.168.1.5:8765",
        )
    if is_loopback(host):
        return frozenset(f"http://{name}:{port}" for name in LOOPBACK)
    return frozenset({f"http://{f'[{host}]' if ':' in host else host}:{port}"})


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches it."""
    return host in ("127.0.0.1", "localhost", "::1")
