"""The operator's pages: how far it is, how far people agree, whom to look at; units and links."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, urlsplit

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from sqlalchemy import Connection, case, func, select

from screentest.annotate.assignment import Rules
from screentest.annotate.media import file_response, served_length
from screentest.annotate.people import exclude, invite, invite_all
from screentest.annotate.quality import agreement, review, rules_for
from screentest.annotate.records import read_records
from screentest.annotate.schema import files, log, sittings, texts, units, workers
from screentest.annotate.store import count, first_of
from screentest.annotate.web.screens import page
from screentest.annotate.web.visitor import FormName, NeedOperator, check_csrf, site_of
from screentest.core import UserError
from screentest.judges.votes import VoteRecord, of_two, sides

HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class VoteCoverage:
    """Votes of an aspect, cast and wanted."""

    aspect: str
    units: int
    complete: int
    votes: int
    wanted: int


@dataclass(frozen=True, slots=True)
class CollectionProgress:
    """The state of a collection at one moment."""

    coverage: Sequence[VoteCoverage]
    per_hour: Sequence[int]
    """Finished units in each of the last 24 hours, the oldest first."""
    at_work: int
    invited: int
    excluded: int

    @property
    def votes(self) -> int:
        return sum(row.votes for row in self.coverage)

    @property
    def wanted(self) -> int:
        return sum(row.wanted for row in self.coverage)

    @property
    def hours_left(self) -> float | None:
        """At the pace of the hours with any work among the last three; None: no pace."""
        missing = sum(max(0, row.wanted - row.votes) for row in self.coverage)
        if not missing:
            return 0.0
        busy = [count for count in self.per_hour[-3:] if count]
        return missing / (sum(busy) / len(busy)) if busy else None


def progress_of(connection: Connection, rules: Rules) -> CollectionProgress:
    """Progress of the collection, from the votes in the store."""
    now = time.time()
    in_task = units.c.task == rules.task.value
    full = case((units.c.votes >= rules.votes, 1), else_=0)
    got = case((units.c.votes > rules.votes, rules.votes), else_=units.c.votes)
    rows = connection.execute(
        select(units.c.aspect, func.count(), func.sum(full), func.sum(got))
        .where(in_task, units.c.is_gold.is_(False), units.c.closed.is_(False))
        .group_by(units.c.aspect)
        .order_by(units.c.aspect)
    )
    coverage = [
        VoteCoverage(aspect or rules.task.value, total, complete, votes, total * rules.votes)
        for aspect, total, complete, votes in rows
    ]
    recent = (in_task, sittings.c.done_at > now - 24 * HOUR)
    finished = connection.scalars(select(sittings.c.done_at).join(units).where(*recent))
    hours = [0] * 24
    for moment in finished:
        hours[23 - min(23, int((now - moment) / HOUR))] += 1
    lively = (in_task, sittings.c.done_at.is_(None), sittings.c.expires_at > now)
    alive = count(connection, sittings.join(units), *lively)
    excluded = count(connection, workers, workers.c.excluded.is_(True))
    return CollectionProgress(coverage, hours, alive, count(connection, workers), excluded)


router = APIRouter()
_LONGEST_REASON: Final = 1000
_MOST_LINKS: Final = 500


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
    """Return what somebody said, beside what the others said."""
    site = site_of(request)
    task = site.rules.task
    with site.database.read() as connection:
        records = read_records(connection, task)
        people = review(connection, records, rules_for(task))
    person = next((item for item in people if item.label == label), None)
    if person is None:
        raise HTTPException(404)
    mine = [record for record in records if record.worker == label]
    others: dict[str, list[str]] = {record.unit: [] for record in mine}
    for record in records:
        if record.worker != label and record.unit in others:
            others[record.unit].append(summary_of(record))
    values = {"person": person, "mine": mine, "others": others, "summary_of": summary_of}
    return page(request, "operator_worker.html", visitor, **values)


@router.post("/operator/worker")
def decide(
    request: Request,
    visitor: NeedOperator,
    csrf: FormName,
    label: FormName,
    act: FormName,
    reason: FormName = "",
) -> Response:
    """Exclude somebody, or let them work again."""
    check_csrf(visitor, csrf)
    if act not in ("exclude", "restore") or len(reason) > _LONGEST_REASON:
        raise HTTPException(422, "The act must be exclude or restore, with a short reason.")
    try:
        exclude(site_of(request).database, label, reason, excluded=act == "exclude")
    except UserError as error:
        raise HTTPException(404, error.message) from None
    return RedirectResponse(f"/operator/worker/{quote(label)}", 303)


def summary_of(record: VoteRecord) -> str:
    """Return an answer in a word."""
    if record.answers is not None:
        return " ".join(f"{name}:{value}" for name, value in record.answers.items())
    if record.score is not None:
        return f"{record.score:g}"
    choice = record.model(record.choice)
    return " ".join(filter(None, (choice, record.rating, record.verdict)))


# Units: everything that is asked, as the operator may see it: with names.


@router.get("/operator/units")
def all_units(request: Request, visitor: NeedOperator) -> HTMLResponse:
    """Return every unit of the task, with how many votes it has."""
    site = site_of(request)
    with site.database.read() as connection:
        rows = connection.execute(
            select(units).where(units.c.task == site.rules.task.value).order_by(units.c.key)
        ).all()
    return page(request, "operator_units.html", visitor, units=rows, votes=site.rules.votes)


@router.get("/operator/unit/{number}")
def one_unit(request: Request, visitor: NeedOperator, number: int) -> HTMLResponse:
    """Return a unit with its videos, its text and what was said of it."""
    site = site_of(request)
    task = site.rules.task
    with site.database.read() as connection:
        unit = first_of(connection, units, id=number, task=task.value)
        if unit is None:
            raise HTTPException(404)
        text = connection.execute(select(texts).where(texts.c.id == unit.text_id)).one()
        records = [record for record in read_records(connection, task) if record.unit == unit.key]
        numbers = [item for item in (unit.first_file, unit.second_file) if item is not None]
        rows = connection.execute(select(files).where(files.c.id.in_(numbers)))
        result = {row.id: row for row in rows}
    names = unit.models or (sides(task) if of_two(task) else ("video", "original"))
    videos = [(name, result[item]) for name, item in zip(names, numbers, strict=False)]
    return page(
        request,
        "operator_unit.html",
        visitor,
        unit=unit,
        text=text,
        videos=videos,
        records=records,
        summary_of=summary_of,
    )


@router.api_route("/operator/file/{number}", methods=["GET", "HEAD"])
def one_file(request: Request, visitor: NeedOperator, number: int) -> Response:
    """Return a video, as it is served to workers."""
    with site_of(request).database.read() as connection:
        row = first_of(connection, files, id=number)
    if row is None:
        raise HTTPException(404)
    return file_response(request, row, served_length([row.bytes]), "")


@router.post("/operator/invite")
def make_links(
    request: Request, visitor: NeedOperator, csrf: FormName, kind: FormName, count: FormName = "1"
) -> HTMLResponse:
    """Personal links, or one for all participants of a platform; shown once."""
    check_csrf(visitor, csrf)
    if not count.isascii() or not count.isdecimal() or not 1 <= int(count) <= _MOST_LINKS:
        raise HTTPException(422, f"The number of links must be 1 to {_MOST_LINKS}.")
    site = site_of(request)
    host = request.headers["host"].lower()
    # The guard let this host through, so it is one of ours.
    origin = next(item for item in sorted(site.origins) if urlsplit(item).netloc == host)
    if kind == "platform":
        token = invite_all(site.database)
        made = [("everybody", f"{origin}/join?participant=ID#{token}")]
    elif kind == "personal":
        links = invite(site.database, int(count))
        made = [(link.label, f"{origin}/join#{link.token}") for link in links]
    else:
        raise HTTPException(422, "A link must be personal or for a platform.")
    return page(request, "operator_links.html", visitor, links=made, kind=kind)
