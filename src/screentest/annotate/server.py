"""Server: from a testbed or manifest to a running app."""

from __future__ import annotations

import asyncio
import hashlib
import json
import socket
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import uvicorn
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from sqlalchemy import Connection, insert, select, update
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from screentest.annotate.answers import Unit
from screentest.annotate.flashes import measure_all
from screentest.annotate.material import read_units
from screentest.annotate.media import MP4, prepare_all
from screentest.annotate.schema import files, texts, units
from screentest.annotate.store import Database, default_store, first_of, open_database
from screentest.annotate.web import operator, pages
from screentest.annotate.web.guard import Guard, Throttle
from screentest.annotate.web.visitor import SignedOut, Site, allowed_origins, is_loopback
from screentest.core import BadOption, Progress, StorageError, UserError
from screentest.judges.votes import VoteTask

SHORTEST_TOKEN: Final = 16
HEAD_SECONDS: Final = 20.0
"""A connection that has sent no request for so long, or for twice as long, is closed."""
MOST_CONNECTIONS: Final = 800
"""Others are told to come again (503): each needs a descriptor, of which there are often 1,024."""


def open_project(
    place: Path,
    store: str | Path,
    task: VoteTask,
    *,
    questions: Path | None = None,
    gold: Path | None = None,
    by: str = "model",
    progress: Progress | None = None,
) -> tuple[Database, list[Unit]]:
    """Return the database of a project with all units of the task, videos ready to be served."""
    given = read_units(place, task, questions=questions, gold=gold, by=by)
    videos = [video.path for unit in given for video in unit.videos]
    prepared = prepare_all(videos, media_folder(place), progress=progress)
    with ExitStack() as stack:
        database = open_database(store, create=True)
        stack.callback(database.close)
        keep_units(database, task, given, prepared)
        measure_flashes(database, prepared, progress=progress)
        stack.pop_all()
    return database, given


def media_folder(place: Path) -> Path:
    """Return where copies of videos are that could not be served as they were."""
    return default_store(place).parent / "media"


def measure_flashes(
    database: Database, paths: Iterable[Path], *, progress: Progress | None = None
) -> None:
    """Measure each video that is not measured yet, and keep it: it takes as long as decoding.

    Each is kept as soon as it is known: who stops here does not begin again.
    """
    stamps = {path: _stamp(path) for path in paths}
    with database.read() as connection:
        rows = connection.execute(select(files.c.path, files.c.stamp))
        available = {row.path: row.stamp for row in rows}
    new = [path for path, stamp in stamps.items() if available.get(str(path)) != stamp]
    if not new:
        return
    for path, flashes in measure_all(new, progress=progress):
        row = {"flashes": flashes, "stamp": stamps[path]}
        with database.write() as connection:
            connection.execute(update(files).where(files.c.path == str(path)).values(row))


def _stamp(path: Path) -> str:
    status = path.stat()
    return f"{status.st_size}-{status.st_mtime_ns}"


def keep_units(
    database: Database, task: VoteTask, given: Sequence[Unit], prepared: Mapping[Path, Path]
) -> None:
    """Put the units of a task into the database.

    Started again with a testbed that has grown, the new ones are added; what is no longer
    there is closed, and its votes are kept.
    """
    with database.write() as connection:
        in_task = units.c.task == task.value
        rows = connection.execute(select(units.c.key, units.c.id).where(in_task))
        available = {row.key: row.id for row in rows}
        connection.execute(update(units).where(in_task).values(closed=True))
        numbers = _keep_files(connection, given, prepared)
        for unit in given:
            row = _row(unit, _keep_text(connection, unit), numbers) | {"closed": False}
            if unit.key not in available:
                new = {"place": _place(unit.key), "votes": 0}
                connection.execute(insert(units).values(row | new))
            else:
                where = units.c.id == available[unit.key]
                connection.execute(update(units).where(where).values(row))


_COPIED: Final = ("key", "source", "video", "name", "aspect", "severity", "clip_count", "seconds")


def _row(unit: Unit, text: str, numbers: Mapping[Path, int]) -> dict[str, Any]:
    paths = [video.path for video in unit.videos]
    return {name: getattr(unit, name) for name in _COPIED} | {
        "task": unit.task.value,
        "groups": dict(unit.groups),
        "models": list(unit.models) or None,
        "pictures": list(unit.pictures) or None,
        "text_id": text,
        "first_file": numbers[paths[0]],
        "second_file": numbers[paths[1]] if len(paths) > 1 else None,
        "marks": [asdict(mark) for mark in unit.marks],
        "questions": [asdict(question) for question in unit.questions],
        "is_gold": unit.gold is not None,
        "gold": dict(unit.gold) if unit.gold is not None else None,
    }


def _place(key: str) -> float:
    """Shuffled, so that what is finished at any time is a fair part of the whole."""
    return int.from_bytes(hashlib.sha256(key.encode("utf-8", "replace")).digest()[:6]) / 2**48


def _keep_text(connection: Connection, unit: Unit) -> str:
    clips = [
        [clip.caption]
        if clip.span is None
        else [clip.caption, float(clip.span.start), float(clip.span.end)]
        for clip in unit.clips
    ]
    content = json.dumps([unit.prompt, clips]).encode()
    name = hashlib.sha256(content).hexdigest()
    if first_of(connection, texts, id=name) is None:
        connection.execute(insert(texts).values(id=name, prompt=unit.prompt, clips=clips))
    return name


def _keep_files(
    connection: Connection, given: Sequence[Unit], prepared: Mapping[Path, Path]
) -> dict[Path, int]:
    numbers = {}
    wanted = {video.path: video for unit in given for video in unit.videos}
    for path, video in wanted.items():
        row = {
            "served": str(prepared[path]),
            "bytes": prepared[path].stat().st_size,
            "seconds": float(video.duration),
            "kind": MP4,
        }
        number = connection.scalar(select(files.c.id).where(files.c.path == str(path)))
        if number is None:
            added = connection.execute(insert(files).values(path=str(path), **row))
            number = added.inserted_primary_key[0]  # type: ignore[index]
        else:
            connection.execute(update(files).where(files.c.id == number).values(row))
        numbers[path] = number
    return numbers


def check_address(host: str, port: int, public_url: str | None, token: str | None) -> None:
    """Refuse an address that others reach without a token, before anything is started."""
    if token is not None and len(token) < SHORTEST_TOKEN:
        raise BadOption(
            f"invalid operator's token: must have {SHORTEST_TOKEN} characters or more",
            advice='Make one: python -c "import secrets; print(secrets.token_urlsafe())"',
        )
    if token is None and not (is_loopback(host) and public_url is None):
        raise BadOption(
            f"{host} can be reached by others: that needs a token for the operator's page",
            advice="Set SCREENTEST_ANNOTATE_TOKEN, or stay on 127.0.0.1.",
        )
    allowed_origins(host, port, public_url)


def bind(host: str, port: int) -> socket.socket:
    """Take the port; 0 takes any that is free."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=512)
    except OSError as error:
        raise UserError(
            f"{host}:{port} cannot be used: {error.strerror or error}",
            advice="Choose another `port`; 0 takes any that is free.",
        ) from None


class _Connection(H11Protocol):
    """Closes what sends no whole request for a while, however often it sends a byte."""

    _seen: object = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.loop.call_later(HEAD_SECONDS, self._look)

    def _look(self) -> None:
        if self.transport.is_closing():
            return
        idle = getattr(self.cycle, "response_complete", True)
        if idle and self.cycle is self._seen:
            self.transport.abort()
            return
        self._seen = self.cycle
        self.loop.call_later(HEAD_SECONDS, self._look)


def server_of(site: Site, *, proxied: bool = False) -> uvicorn.Server:
    """Return the server of a site: it waits for nobody, and has room for so many."""
    config = uvicorn.Config(
        create_app(site),
        http=_Connection,
        limit_concurrency=MOST_CONNECTIONS,
        access_log=False,
        log_level="warning",
        server_header=False,
        proxy_headers=proxied,
        timeout_graceful_shutdown=5,
        lifespan="off",
        ws="none",
    )
    return uvicorn.Server(config)


def run(site: Site, listening: socket.socket, *, proxied: bool, ready: Callable[[], None]) -> None:
    """Serve until Ctrl-C."""
    server = server_of(site, proxied=proxied)
    ready()
    with suppress(KeyboardInterrupt):
        server.run(sockets=[listening])


# The app: routes behind the guard.


def create_app(site: Site) -> ASGIApp:
    """Return the ASGI app of a site."""
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False)
    app.state.site = site
    app.state.failures = Throttle(20, 60.0)
    app.state.busy = Throttle(1200, 60.0)
    app.state.videos = Counter()
    app.include_router(pages.router)
    app.include_router(operator.router)
    app.add_exception_handler(SignedOut, _signed_out)
    app.add_exception_handler(RequestValidationError, _malformed)
    app.add_exception_handler(HTTPException, _refused)
    app.add_exception_handler(StorageError, _unreachable)
    # Outside of everything, so that even the answer to a crash carries the headers.
    return Guard(app, hosts=site.hosts, origins=site.origins)


def _signed_out(request: Request, error: Exception) -> Response:
    if request.method == "GET":
        return RedirectResponse("/join", 303)
    return JSONResponse({"error": "signed_out", "message": "Open your personal link again."}, 401)


def _malformed(request: Request, error: Exception) -> Response:
    # What was sent is not repeated: it could be anything.
    return JSONResponse({"error": "malformed", "message": "The request is malformed."}, 422)


def _unreachable(request: Request, error: Exception) -> Response:
    """Answer when the store is gone: pages send the same vote again until it is back."""
    message = "The store cannot be reached. Try again."
    return _refused(request, HTTPException(503, message, {"Retry-After": "5"}))


def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if request.url.path.startswith(("/api/", "/join")):
        content = {"error": "refused", "message": error.detail}
        return JSONResponse(content, error.status_code, headers=error.headers)
    return PlainTextResponse(f"{error.detail}\n", error.status_code, headers=error.headers)
