"""Workers: personal links, consent, exclusion. No name, address or other personal data."""

from __future__ import annotations

import hashlib
import re
import secrets
import time
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from screentest.annotate.schema import links, log, open_links, sessions, sittings, units, workers
from screentest.annotate.store import Database, count, first_of
from screentest.core import UserError

DAY: Final = 86_400.0
LINK_DAYS: Final = 30.0
SESSION_DAYS: Final = 7.0
PARTICIPANT: Final = re.compile(r"[A-Za-z0-9_-]{1,38}", re.ASCII)
"""An id of a platform such as Prolific or MTurk."""
PARTICIPANT_LABEL: Final = "p-"


@dataclass(frozen=True, slots=True)
class Annotator:
    """Somebody who answers, known by a label only."""

    id: int
    label: str
    consented: bool
    excluded: bool
    language: str


@dataclass(frozen=True, slots=True)
class Invitation:
    """A worker's personal link; the token is shown once and only its hash is kept."""

    label: str
    token: str


def invite(database: Database, count: int, *, days: float = LINK_DAYS) -> list[Invitation]:
    """Make workers, each with a link of their own."""
    made = []
    with database.write() as connection:
        for _ in range(count):
            label = f"w-{secrets.token_hex(4)}"
            worker = _add(connection, label)
            made.append(Invitation(label, _link(connection, worker, days)))
    return made


def link_again(
    database: Database, label: str, *, days: float = LINK_DAYS, create: bool = False
) -> Invitation:
    """One more link for a worker."""
    with database.write() as connection:
        known = connection.scalar(select(workers.c.id).where(workers.c.label == label))
        if known is None and not create:
            raise UserError(f"there is no worker {label!r}")
        worker = imported_worker(connection, label)
        return Invitation(label, _link(connection, worker, days))


def invite_all(database: Database, *, days: float = LINK_DAYS) -> str:
    """Return the token of one link for all participants of a platform, who bring their ids."""
    token = secrets.token_urlsafe(24)
    row = {"token_hash": hashed(token), "expires_at": time.time() + days * DAY}
    with database.write() as connection:
        connection.execute(insert(open_links).values(row))
        note(connection, "open link", days=days)
    return token


def open_participant(database: Database, token: str, participant: str) -> str | None:
    """Return a session for a participant who came by an open link; None where it is not one.

    Whoever has the link can bring any id. So these workers have labels that no other worker has:
    an id never opens the page of somebody with a personal link.
    """
    if not PARTICIPANT.fullmatch(participant):
        return None
    now, label = time.time(), f"{PARTICIPANT_LABEL}{participant}"
    with database.write() as connection:
        valid = (open_links.c.token_hash == hashed(token), open_links.c.expires_at > now)
        if not count(connection, open_links, *valid):
            return None
        return _session(connection, imported_worker(connection, label), now)


def participant_of(label: str) -> str:
    """Return the id that a platform gave a participant; empty for everybody else."""
    return label.removeprefix(PARTICIPANT_LABEL) if label.startswith(PARTICIPANT_LABEL) else ""


def imported_worker(connection: Connection, label: str) -> int:
    """Return the worker of that label, made where there is none."""
    result = connection.scalar(select(workers.c.id).where(workers.c.label == label))
    return int(result) if result is not None else _add(connection, label)


def open_session(database: Database, token: str) -> str | None:
    """Return a session for whoever has this link; None where it is unknown or too old."""
    now = time.time()
    with database.write() as connection:
        valid = (links.c.token_hash == hashed(token), links.c.expires_at > now)
        result = connection.scalar(select(links.c.worker_id).where(*valid))
        return None if result is None else _session(connection, int(result), now)


def open_operator_session(database: Database) -> str:
    """Return a session for the operator."""
    with database.write() as connection:
        return _session(connection, None, time.time())


def close_session(database: Database, session: str) -> None:
    """End a session: its cookie is worth nothing from then on."""
    with database.write() as connection:
        connection.execute(delete(sessions).where(sessions.c.id_hash == hashed(session)))


def session_of(connection: Connection, session: str) -> tuple[bool, Annotator | None]:
    """Return whose session it is: the operator's, a worker's, or nobody's (False, None)."""
    row = connection.execute(
        select(sessions.c.worker_id, workers)
        .select_from(sessions.outerjoin(workers))
        .where(sessions.c.id_hash == hashed(session), sessions.c.expires_at > time.time())
    ).first()
    if row is None:
        return False, None
    if row.worker_id is None:
        return True, None
    consented = row.consented_at is not None
    return False, Annotator(row.id, row.label, consented, bool(row.excluded), row.language)


def consent(database: Database, worker: int) -> None:
    """Note that the worker has read what this is about, and agrees."""
    with database.write() as connection:
        connection.execute(
            update(workers)
            .where(workers.c.id == worker, workers.c.consented_at.is_(None))
            .values(consented_at=time.time())
        )
        note(connection, "consent", worker)


def choose_language(database: Database, worker: int, language: str) -> None:
    """Set the language that a worker reads."""
    with database.write() as connection:
        connection.execute(update(workers).where(workers.c.id == worker).values(language=language))


def exclude(database: Database, label: str, reason: str, *, excluded: bool = True) -> None:
    """Give somebody no more work, or work again. Votes stay as they are; the log keeps why.

    What an excluded worker finished is asked of another one.
    """
    with database.write() as connection:
        worker = first_of(connection, workers, label=label)
        if worker is None:
            raise UserError(f"there is no worker {label!r}")
        if bool(worker.excluded) == excluded:
            return
        connection.execute(
            update(workers).where(workers.c.id == worker.id).values(excluded=excluded)
        )
        done = (
            select(sittings.c.unit_id)
            .join(units)
            .where(
                sittings.c.worker_id == worker.id,
                sittings.c.done_at.is_not(None),
                units.c.is_gold.is_(False),
            )
        )
        more = units.c.votes + (-1 if excluded else 1)
        connection.execute(update(units).where(units.c.id.in_(done)).values(votes=more))
        note(connection, "exclude" if excluded else "restore", worker.id, reason=reason)


def note(connection: Connection, what: str, worker: int | None = None, **details: Any) -> None:
    """Write down that something happened."""
    connection.execute(
        insert(log).values(at=time.time(), what=what, worker_id=worker, details=details)
    )


def hashed(secret: str) -> str:
    """Return what is kept of a secret: enough to know it again, not enough to use it."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def _add(connection: Connection, label: str) -> int:
    row = {"label": label, "created_at": time.time(), "language": "", "excluded": False}
    try:
        added = connection.execute(insert(workers).values(row))
    except IntegrityError:
        raise UserError(f"there is already a worker {label!r}") from None
    return int(added.inserted_primary_key[0])  # type: ignore[index]


def _link(connection: Connection, worker: int, days: float) -> str:
    token = secrets.token_urlsafe(24)
    expires = time.time() + days * DAY
    connection.execute(
        insert(links).values(token_hash=hashed(token), worker_id=worker, expires_at=expires)
    )
    return token


def _session(connection: Connection, worker: int | None, now: float) -> str:
    session = secrets.token_urlsafe(24)
    connection.execute(
        insert(sessions).values(
            id_hash=hashed(session), worker_id=worker, expires_at=now + SESSION_DAYS * DAY
        )
    )
    return session
