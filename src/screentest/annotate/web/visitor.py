"""Visitor: who is asking, by cookie; and the token that proves a form is ours."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, HTTPException, Request

from screentest.annotate.language import Language
from screentest.annotate.people import Worker, hashed, session_of
from screentest.annotate.web.site import Site


@dataclass(frozen=True, slots=True)
class Visitor:
    """Somebody with a session."""

    session: str
    worker: Worker | None
    operator: bool

    @property
    def csrf(self) -> str:
        """Only a page that we made for this session knows it. Good across restarts."""
        return hashed(f"csrf:{self.session}")


class SignedOut(Exception):
    """A page that needs a session was asked for without one."""


def site_of(request: Request) -> Site:
    """The site that a request came to."""
    site: Site = request.app.state.site
    return site


def visitor_of(request: Request) -> Visitor | None:
    """Who is asking, if we know."""
    site = site_of(request)
    session = request.cookies.get(site.cookie, "")
    if not session:
        return None
    with site.database.read() as connection:
        operator, worker = session_of(connection, session)
    return Visitor(session, worker, operator) if operator or worker else None


def need_worker(request: Request) -> Visitor:
    """A worker's session; SignedOut leads to the page that asks for the link."""
    visitor = visitor_of(request)
    if visitor is None or visitor.worker is None:
        raise SignedOut
    return visitor


def need_operator(request: Request) -> Visitor:
    """The operator's session."""
    visitor = visitor_of(request)
    if visitor is None or not visitor.operator:
        raise SignedOut
    return visitor


def check_csrf(visitor: Visitor, given: str | None) -> None:
    """Refuse what does not come from a page we made for this session."""
    if given is None or not hmac.compare_digest(given.encode(), visitor.csrf.encode()):
        raise HTTPException(403, "This page is out of date. Reload it.")


def language_of(site: Site, request: Request, visitor: Visitor | None) -> Language:
    """What they chose, else what their browser prefers, else the default."""
    if visitor is not None and visitor.worker is not None and visitor.worker.language:
        return site.language(visitor.worker.language)
    for wish in request.headers.get("accept-language", "").split(","):
        code = wish.partition(";")[0].strip().lower().partition("-")[0]
        if code in site.languages:
            return site.languages[code]
    return site.language("")


NeedWorker = Annotated[Visitor, Depends(need_worker)]
NeedOperator = Annotated[Visitor, Depends(need_operator)]
