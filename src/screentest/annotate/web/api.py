"""Routes beside the worker's pages: votes, playheads, videos."""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Final

from fastapi import APIRouter, Header, HTTPException, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, Field
from sqlalchemy import select

from screentest.annotate.answers import BadAnswer
from screentest.annotate.assignment import next_sitting
from screentest.annotate.media import MediaResponse, is_whole
from screentest.annotate.sitting import Implausible, Refused, take_views, take_vote
from screentest.annotate.store.schema import files, media, sittings
from screentest.annotate.web.guard import Throttle
from screentest.annotate.web.visitor import (
    Name,
    NeedWorker,
    Visitor,
    check_csrf,
    site_of,
    visitor_of,
)

router = APIRouter()
CsrfHeader = Annotated[str | None, Header(alias="X-CSRF-Token")]
_MEDIA_ID: Final = re.compile(r"[A-Za-z0-9_-]{22}", re.ASCII)
_STATUS = {"unknown": 404}


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
        taken = take_vote(
            site.database,
            worker,
            site.rules,
            vote=sent.vote,
            sitting=sent.sitting,
            step=sent.step,
            answer=sent.answer,
            comment=sent.comment,
        )
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
    reports = {
        side: claims for side, claims in (("left", sent.left), ("right", sent.right)) if claims
    }
    try:
        watched = take_views(
            site.database,
            worker,
            site.rules,
            sitting=sent.sitting,
            step=sent.step,
            reports=reports,
        )
    except Refused as refused:
        return _refused(refused)
    except Implausible as error:
        return JSONResponse({"error": "implausible", "message": str(error)}, 422)
    return JSONResponse({"seen": watched.seen, "watched": watched.shares})


@router.api_route("/media/{name}", methods=["GET", "HEAD"])
def video(request: Request, name: str) -> Response:
    """Return a video of the visitor's own sitting, by its opaque id."""
    visitor = visitor_of(request)
    if visitor is None or not _MEDIA_ID.fullmatch(name):
        raise HTTPException(404)
    site = site_of(request)
    with site.database.read() as connection:
        row = connection.execute(
            select(
                files.c.served, files.c.bytes, files.c.kind, media.c.length, sittings.c.worker_id
            )
            .select_from(media.join(files).join(sittings, media.c.sitting_id == sittings.c.id))
            .where(media.c.id == name)
        ).first()
    allowed = row is not None and (
        visitor.operator or (visitor.worker is not None and visitor.worker.id == row.worker_id)
    )
    if row is None or not allowed or not is_whole(Path(row.served), row.bytes):
        raise HTTPException(404)
    # With no validator to compare, a conditional range is answered with all of it.
    asked = None if "if-range" in request.headers else request.headers.get("range")
    return MediaResponse(Path(row.served), row.bytes, row.length, row.kind, asked)


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
    return JSONResponse(content, _STATUS.get(refused.code, 409))
