"""The operator's page: how far it is, how far people agree, and whom to look at."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Form, HTTPException, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from sqlalchemy import select

from screentest.annotate.people import exclude
from screentest.annotate.plan import progress_of
from screentest.annotate.quality import agreement, review, rules_for
from screentest.annotate.records import read_records
from screentest.annotate.store.schema import log, workers
from screentest.annotate.web.screens import page
from screentest.annotate.web.visitor import NeedOperator, check_csrf, site_of
from screentest.core import UserError
from screentest.judges.votes import VoteRecord

router = APIRouter()
Text = Annotated[str, Form()]
_LONGEST_REASON = 1000


@router.get("/operator")
def overview(request: Request, visitor: NeedOperator) -> HTMLResponse:
    """Everything at a glance."""
    site = site_of(request)
    task = site.rules.task
    with site.database.read() as connection:
        records = read_records(connection, task)
        people = review(connection, records, rules_for(task))
        progress = progress_of(connection, site.rules)
        happened = connection.execute(
            select(log, workers.c.label)
            .select_from(log.outerjoin(workers))
            .where(log.c.what != "consent")
            .order_by(log.c.id.desc())
            .limit(20)
        ).all()
    return page(
        request,
        "operator.html",
        visitor,
        task=task.value,
        votes=site.rules.votes,
        progress=progress,
        busiest=max(1, *progress.per_hour),
        agreement=agreement(records),
        people=people,
        log=happened,
    )


@router.get("/operator/worker/{label:path}")
def one_worker(request: Request, visitor: NeedOperator, label: str) -> HTMLResponse:
    """What somebody said, beside what the others said."""
    site = site_of(request)
    task = site.rules.task
    with site.database.read() as connection:
        records = read_records(connection, task)
        people = review(connection, records, rules_for(task))
    person = next((one for one in people if one.label == label), None)
    if person is None:
        raise HTTPException(404)
    mine = [record for record in records if record.worker == label]
    others: dict[str, list[str]] = {record.unit: [] for record in mine}
    for record in records:
        if record.worker != label and record.unit in others:
            others[record.unit].append(summary_of(record))
    return page(
        request,
        "operator_worker.html",
        visitor,
        person=person,
        mine=mine,
        others=others,
        summary_of=summary_of,
    )


@router.post("/operator/worker")
def decide(
    request: Request,
    visitor: NeedOperator,
    csrf: Text,
    label: Text,
    act: Text,
    reason: Text = "",
) -> Response:
    """Exclude somebody, or let them work again."""
    check_csrf(visitor, csrf)
    if act not in ("exclude", "restore") or len(reason) > _LONGEST_REASON:
        raise HTTPException(422, "That cannot be.")
    try:
        exclude(
            site_of(request).database,
            label,
            reason.replace("\x00", ""),
            excluded=act == "exclude",
        )
    except UserError as error:
        raise HTTPException(404, error.message) from None
    return RedirectResponse(f"/operator/worker/{quote(label)}", 303)


def summary_of(record: VoteRecord) -> str:
    """An answer in a word."""
    if record.answers is not None:
        return " ".join(f"{name}:{value}" for name, value in record.answers.items())
    if record.score is not None:
        return f"{record.score:g}"
    return " ".join(filter(None, (record.choice, record.rating, record.verdict)))
