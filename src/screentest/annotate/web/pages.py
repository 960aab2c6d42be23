"""The worker's pages, and what they send: votes and playheads.

Reading a page changes nothing; what changes something is a POST.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import asdict
from typing import Annotated, Any, Final

from fastapi import APIRouter, Header, HTTPException, Request
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from pydantic import BaseModel, Field
from sqlalchemy import select
from starlette.types import Receive, Scope, Send

from screentest.annotate import people
from screentest.annotate.answers import BadAnswer
from screentest.annotate.assignment import current_sitting, left_for, next_sitting, skip
from screentest.annotate.media import file_response
from screentest.annotate.schema import files, media, sittings, units
from screentest.annotate.sitting import Implausible, Refused, take_views, take_vote
from screentest.annotate.store import count
from screentest.annotate.web.guard import Throttle
from screentest.annotate.web.screens import page, screen_of, static_files
from screentest.annotate.web.visitor import (
    FormName,
    Name,
    NeedWorker,
    Site,
    Visitor,
    check_csrf,
    language_of,
    site_of,
    visitor_of,
)

router = APIRouter()
_KINDS = {"js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}
_MEDIA_ID: Final = re.compile(r"[A-Za-z0-9_-]{22}", re.ASCII)
MOST_VIDEOS: Final = 24
"""Videos for one worker at once; a browser asks for six from one address."""
CsrfHeader = Annotated[str | None, Header(alias="X-CSRF-Token")]


class Token(BaseModel):
    """What a personal link holds behind its #."""

    token: Name
    participant: Name = ""
    """The id that a platform added to an open link."""


@router.get("/")
def home() -> Response:
    """There is one way in."""
    return RedirectResponse("/work", 303)


@router.get("/static/{name}")
def static(name: str) -> Response:
    """Scripts and styles of the pages, by file name."""
    content = static_files().get(name)
    kind = _KINDS.get(name.rpartition(".")[2])
    if content is None or kind is None:
        raise HTTPException(404)
    return Response(content, media_type=kind, headers={"Cache-Control": "no-cache"})


@router.get("/join")
def join_page(request: Request) -> HTMLResponse:
    """Return where personal links lead; the token is behind the # and so in nobody's log."""
    return page(request, "join.html", None)


@router.post("/join")
def join(request: Request, given: Token) -> Response:
    """Change a link's token for a session."""
    site = site_of(request)
    failures: Throttle = request.app.state.failures
    client = request.client.host if request.client else ""
    operator = site.is_operator(given.token)
    session = (
        people.open_operator_session(site.database)
        if operator
        else people.open_session(site.database, given.token)
        or people.open_participant(site.database, given.token, given.participant)
    )
    if session is None:
        if not failures.allows(client):
            raise HTTPException(429, "Too many attempts. Wait a minute.")
        raise HTTPException(403, "This link is not valid.")
    answer = JSONResponse({"next": "/operator" if operator else "/work"})
    answer.set_cookie(
        site.cookie,
        session,
        max_age=int(people.SESSION_DAYS * people.DAY),
        httponly=True,
        samesite="strict",
        secure=site.secure,
        path="/",
    )
    return answer


@router.post("/leave")
def leave(request: Request, csrf: FormName) -> Response:
    """End the session, and forget its cookie."""
    site, visitor = site_of(request), visitor_of(request)
    answer = RedirectResponse("/join", 303)
    if visitor is not None:
        check_csrf(visitor, csrf)
        people.close_session(site.database, visitor.session)
        answer.delete_cookie(site.cookie, path="/", httponly=True, samesite="strict")
    return answer


@router.post("/language")
def choose_language(
    request: Request, visitor: NeedWorker, csrf: FormName, code: FormName
) -> Response:
    """Read in another language from now on."""
    site = site_of(request)
    check_csrf(visitor, csrf)
    if code not in site.languages or visitor.worker is None:
        raise HTTPException(422, "There is no such language.")
    people.choose_language(site.database, visitor.worker.id, code)
    return RedirectResponse("/work", 303)


@router.post("/consent")
def consent(request: Request, visitor: NeedWorker, csrf: FormName) -> Response:
    """Note that the worker agrees to take part."""
    check_csrf(visitor, csrf)
    assert visitor.worker is not None
    people.consent(site_of(request).database, visitor.worker.id)
    return RedirectResponse("/work", 303)


@router.post("/next")
def next_one(request: Request, visitor: NeedWorker, csrf: FormName) -> Response:
    """Take the next piece of work."""
    check_csrf(visitor, csrf)
    worker, site = visitor.worker, site_of(request)
    taken = None
    if worker is not None and worker.consented and not worker.excluded:
        taken = next_sitting(site.database, worker.id, site.rules)
    return RedirectResponse("/work" if taken is not None else "/work?none=1", 303)


@router.post("/skip")
def skip_one(request: Request, visitor: NeedWorker, csrf: FormName, sitting: FormName) -> Response:
    """Leave this one to others and take the next."""
    check_csrf(visitor, csrf)
    assert visitor.worker is not None
    skip(site_of(request).database, visitor.worker.id, sitting)
    return next_one(request, visitor, csrf)


@router.get("/work")
def work(request: Request, visitor: NeedWorker) -> HTMLResponse:
    """Whatever is next: consent, the task at hand, the way to a new one, or thanks."""
    site, worker = site_of(request), visitor.worker
    assert worker is not None
    task = site.rules.task
    if not worker.consented:
        return page(request, "consent.html", visitor, own_text=site.consent)
    if worker.excluded:
        return page(request, "done.html", visitor, text="done.stopped", code="", link="")
    done, left = _progress(site, visitor)
    with site.database.read() as connection:
        current = current_sitting(connection, worker.id, task)
        if current is not None:
            code = language_of(site, request, visitor).code
            screen = screen_of(connection, current, code, site.rules.watch)
            values = {"s": screen, "ties": site.rules.ties, "done": done, "left": left}
            return page(request, "work.html", visitor, **values)
    if left == 0:
        # Who found nothing to do has not completed anything.
        finish = site.finish if done else None
        link = finish.link(worker.label) if finish is not None else ""
        code = finish.code if finish is not None else ""
        return page(request, "done.html", visitor, text="done.text", code=code, link=link)
    none = "none" in request.query_params
    return page(request, "start.html", visitor, task=task.value, done=done, left=left, none=none)


def _progress(site: Site, visitor: Visitor) -> tuple[int, int]:
    assert visitor.worker is not None
    worker = visitor.worker.id
    with site.database.read() as connection:
        done = count(
            connection,
            sittings.join(units),
            sittings.c.worker_id == worker,
            sittings.c.done_at.is_not(None),
            units.c.task == site.rules.task.value,
        )
        return done, left_for(connection, worker, site.rules)


# What the scripts of a page send: votes, playheads; and the videos it plays.


class VoteSent(BaseModel):
    """One click."""

    vote: Name
    sitting: Name
    step: Name
    answer: dict[str, Any]
    comment: str | None = None


class ViewsSent(BaseModel):
    """Where the playheads were since the last report."""

    sitting: Name
    step: Name
    left: list[Any] = Field(default_factory=list, max_length=500)
    right: list[Any] = Field(default_factory=list, max_length=500)


@router.post("/api/vote")
def vote(
    request: Request, visitor: NeedWorker, sent: VoteSent, csrf: CsrfHeader = None
) -> Response:
    """Take a vote. The same id again is answered the same way and stored once."""
    worker, site = _at_work(request, visitor, csrf), site_of(request)
    try:
        taken = take_vote(site.database, worker, site.rules, **sent.model_dump())
    except Refused as refused:
        return _refused(refused)
    except BadAnswer as error:
        return JSONResponse({"error": "answer", "message": str(error)}, 422)
    if taken.finished:
        next_sitting(site.database, worker, site.rules)
    answer: dict[str, Any] = {"repeated": taken.repeated, "finished": taken.finished}
    if taken.finished and taken.lesson is not None:
        answer["lesson"] = asdict(taken.lesson)
    return JSONResponse(answer)


@router.post("/api/view")
def view(
    request: Request, visitor: NeedWorker, sent: ViewsSent, csrf: CsrfHeader = None
) -> Response:
    """Take a report of what was played."""
    worker, site = _at_work(request, visitor, csrf), site_of(request)
    given = {"left": sent.left, "right": sent.right}
    reports = {side: claims for side, claims in given.items() if claims}
    try:
        seen, shares = take_views(
            site.database, worker, site.rules, sent.sitting, sent.step, reports
        )
    except Refused as refused:
        return _refused(refused)
    except Implausible as error:
        return JSONResponse({"error": "implausible", "message": str(error)}, 422)
    return JSONResponse({"seen": seen, "watched": shares})


@router.api_route("/media/{name}", methods=["GET", "HEAD"])
def video(request: Request, name: str) -> Response:
    """Return a video of the visitor's own sitting, by its opaque id."""
    visitor = visitor_of(request)
    if visitor is None or not _MEDIA_ID.fullmatch(name):
        raise HTTPException(404)
    site = site_of(request)
    with site.database.read() as connection:
        row = connection.execute(
            select(files, media.c.length, sittings.c.worker_id)
            .select_from(media.join(files).join(sittings, media.c.sitting_id == sittings.c.id))
            .where(media.c.id == name)
        ).first()
    allowed = row is not None and (
        visitor.operator or (visitor.worker is not None and visitor.worker.id == row.worker_id)
    )
    if row is None or not allowed:
        raise HTTPException(404)
    return _Counted(file_response(request, row, row.length, name), request, row.worker_id)


class _Counted(Response):
    """A video on its way, or 429 where too many for its worker are.

    A paused player reads nothing for as long as it likes, so each keeps a connection.
    """

    def __init__(self, video: Response, request: Request, worker: int) -> None:
        super().__init__()
        self._video, self._worker = video, worker
        self._under_way: Counter[int] = request.app.state.videos

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._under_way[self._worker] >= MOST_VIDEOS:
            self._video = Response(status_code=429, headers={"Retry-After": "5"})
        self._under_way[self._worker] += 1
        try:
            await self._video(scope, receive, send)
        finally:
            self._under_way[self._worker] -= 1


def _at_work(request: Request, visitor: Visitor, csrf: str | None) -> int:
    check_csrf(visitor, csrf)
    assert visitor.worker is not None
    busy: Throttle = request.app.state.busy
    if not busy.allows(visitor.worker.label):
        raise HTTPException(429, "Too fast. Wait a moment.", headers={"Retry-After": "5"})
    if not visitor.worker.consented or visitor.worker.excluded:
        raise HTTPException(403, "There is no work for you here.")
    return visitor.worker.id


def _refused(refused: Refused) -> JSONResponse:
    content = {"error": refused.code, "message": str(refused)}
    return JSONResponse(content, 404 if refused.code == "unknown" else 409)
