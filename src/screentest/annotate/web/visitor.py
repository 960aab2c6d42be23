"""Visitor: who is asking, by cookie; and the token that proves a form is ours."""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import quote, urlsplit

from fastapi import Depends, Form, HTTPException, Request
from pydantic import AfterValidator

from screentest.annotate.assignment import Rules
from screentest.annotate.language import Language
from screentest.annotate.people import Annotator, hashed, participant_of, session_of
from screentest.annotate.store import Database
from screentest.core import BadOption

# Site: everything the pages need to know of where and for what they run.

_PLACEHOLDER = re.compile(r"\{[^{}]*\}")
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True, slots=True)
class Finish:
    """What a worker gets at the end, for the platform that sent them."""

    code: str = ""
    return_url: str = ""
    """May hold {participant} and {code}."""

    def __post_init__(self) -> None:
        parts = urlsplit(self.return_url)
        if self.return_url and (parts.scheme not in ("http", "https") or not parts.netloc):
            raise BadOption(
                f"{self.return_url!r} is not an address to return to",
                advice="Write https://app.prolific.com/submissions/complete?cc={code}",
            )
        unknown = set(_PLACEHOLDER.findall(self.return_url)) - {"{participant}", "{code}"}
        if unknown:
            raise BadOption(
                f"{min(unknown)} in the return address means nothing",
                advice="Use {participant} and {code}.",
            )
        if "{code}" in self.return_url and not self.code:
            raise BadOption("the return address has {code}, but there is no `code`")

    def link(self, label: str) -> str:
        """Return where a worker goes back to; empty where that is nowhere.

        >>> Finish("C0DE", "https://x.org/?p={participant}&cc={code}").link("p-5f a")
        'https://x.org/?p=5f%20a&cc=C0DE'
        """
        address = self.return_url.replace("{participant}", quote(participant_of(label), safe=""))
        return address.replace("{code}", quote(self.code, safe=""))


@dataclass(frozen=True, slots=True)
class Site:
    """What the pages of one running app share: store, rules, languages, addresses."""

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
    finish: Finish | None = None
    """None: workers are thanked, and that is all."""

    @property
    def hosts(self) -> frozenset[str]:
        return frozenset(urlsplit(origin).netloc for origin in self.origins)

    @property
    def secure(self) -> bool:
        return all(origin.startswith("https://") for origin in self.origins)

    def language(self, code: str) -> Language:
        return self.languages.get(code) or next(iter(self.languages.values()))

    def is_operator(self, token: str) -> bool:
        """Return whether it is the operator's token; comparing hashes leaks nothing."""
        return hmac.compare_digest(hashed(token), self.operator_hash)


def allowed_origins(host: str, port: int, public_url: str | None) -> frozenset[str]:
    """Return the origins under which an app on that address is reached.

    >>> sorted(allowed_origins("127.0.0.1", 8765, None))[0]
    'http://127.0.0.1:8765'
    """
    if public_url is not None:
        parts = urlsplit(public_url)
        if parts.scheme not in ("http", "https") or not parts.netloc or "@" in parts.netloc:
            raise BadOption(
                f"{public_url!r} is not the address of a site",
                advice="Write https://judge.example.org",
            )
        return frozenset({f"{parts.scheme}://{parts.netloc.lower()}"})
    if host in ("0.0.0.0", "::"):
        raise BadOption(
            f"{host} is every address of this machine: which one will people use?",
            advice="Add `public_url`, such as http://192.168.1.5:8765",
        )
    if is_loopback(host):
        return frozenset(f"http://{name}:{port}" for name in LOOPBACK)
    return frozenset({f"http://{f'[{host}]' if ':' in host else host}:{port}"})


def is_loopback(host: str) -> bool:
    """Return whether only this machine reaches it."""
    return host in ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True)
class Visitor:
    """Somebody with a session: a worker or the operator."""

    session: str
    worker: Annotator | None
    operator: bool

    @property
    def csrf(self) -> str:
        """Only a page that we made for this session knows it. Good across restarts."""
        return hashed(f"csrf:{self.session}")


class SignedOut(Exception):
    """A page that needs a session was asked for without one."""


def site_of(request: Request) -> Site:
    """Return the site that a request came to."""
    site: Site = request.app.state.site
    return site


def visitor_of(request: Request) -> Visitor | None:
    """Return who is asking, if we know."""
    site = site_of(request)
    session = request.cookies.get(site.cookie, "")
    if not session:
        return None
    with site.database.read() as connection:
        operator, worker = session_of(connection, session)
    return Visitor(session, worker, operator) if operator or worker else None


def need_worker(request: Request) -> Visitor:
    """Return a worker's session; SignedOut leads to the page that asks for the link."""
    visitor = visitor_of(request)
    if visitor is None or visitor.worker is None:
        raise SignedOut
    return visitor


def need_operator(request: Request) -> Visitor:
    """Return the operator's session."""
    visitor = visitor_of(request)
    if visitor is None or not visitor.operator:
        raise SignedOut
    return visitor


def check_csrf(visitor: Visitor, given: str | None) -> None:
    """Refuse what does not come from a page we made for this session."""
    if given is None or not hmac.compare_digest(given.encode(), visitor.csrf.encode()):
        raise HTTPException(403, "This page is out of date. Reload it.")


def language_of(site: Site, request: Request, visitor: Visitor | None) -> Language:
    """Return what they chose, else what their browser prefers, else the default."""
    if visitor is not None and visitor.worker is not None and visitor.worker.language:
        return site.language(visitor.worker.language)
    for wish in request.headers.get("accept-language", "").split(","):
        code = wish.partition(";")[0].strip().lower().partition("-")[0]
        if code in site.languages:
            return site.languages[code]
    return site.language("")


def _storable(text: str) -> str:
    """Refuse what no store keeps, before it is looked for in one."""
    if "\0" in text or (not text.isascii() and any("\ud800" <= item <= "\udfff" for item in text)):
        raise HTTPException(400, "The request is malformed.")
    return text


Name = Annotated[str, AfterValidator(_storable)]
"""A text that is compared with what is stored: no NUL, no half of a surrogate pair."""
FormName = Annotated[str, Form(), AfterValidator(_storable)]
NeedWorker = Annotated[Visitor, Depends(need_worker)]
NeedOperator = Annotated[Visitor, Depends(need_operator)]
