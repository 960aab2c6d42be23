"""Server: from a testbed or manifest to a running app."""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from screentest.annotate.answers import Unit
from screentest.annotate.assignment import Rules
from screentest.annotate.language import Language, read_language
from screentest.annotate.material import read_units
from screentest.annotate.media import prepare_all
from screentest.annotate.people import hashed
from screentest.annotate.store import Database, default_store, open_database
from screentest.annotate.store.project import keep_units, measure_flashes
from screentest.annotate.web import api, operator, pages
from screentest.annotate.web.guard import Guard, Throttle
from screentest.annotate.web.visitor import (
    Finish,
    SignedOut,
    Site,
    allowed_origins,
    is_loopback,
)
from screentest.core import BadOption, Progress, UserError
from screentest.judges.votes import VoteTask

SHORTEST_TOKEN: Final = 16
DEFAULT_LANGUAGES: Final = ("en", "ja")


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
    """Return the database of a project with all units of the task in it, videos ready to be
    served."""
    units = read_units(place, task, questions=questions, gold=gold, by=by)
    videos = [video.path for unit in units for video in unit.videos]
    prepared = prepare_all(videos, media_folder(place), progress=progress)
    database = open_database(store, create=True)
    keep_units(database, task, units, prepared)
    measure_flashes(database, prepared, progress=progress)
    return database, units


def media_folder(place: Path) -> Path:
    """Return where copies of videos are that could not be served as they were."""
    return default_store(place).parent / "media"


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


def make_site(
    database: Database,
    rules: Rules,
    *,
    origins: frozenset[str],
    operator_token: str,
    languages: Sequence[Language] | None = None,
    consent: str = "",
    finish: Finish | None = None,
    port: int = 0,
) -> Site:
    """Return the site of a project."""
    read = languages or [read_language(name) for name in DEFAULT_LANGUAGES]
    return Site(
        database=database,
        rules=rules,
        languages={language.code: language for language in read},
        origins=origins,
        operator_hash=hashed(operator_token),
        # Cookies do not know ports: two apps on one machine would sign each other out.
        cookie=f"screentest-{port}",
        consent=consent,
        finish=finish,
    )


def bind(host: str, port: int) -> socket.socket:
    """Take the port; 0 takes any that is free."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=512)
    except OSError as error:
        raise UserError(
            f"{host}:{port} cannot be used: {error.strerror or error}",
            advice="Choose another with --port; 0 takes any that is free.",
        ) from None


def run(site: Site, listening: socket.socket, *, proxied: bool, ready: Callable[[], None]) -> None:
    """Serve until Ctrl-C."""
    import uvicorn

    config = uvicorn.Config(
        create_app(site),
        access_log=False,
        log_level="warning",
        server_header=False,
        proxy_headers=proxied,
        timeout_graceful_shutdown=5,
        lifespan="off",
        ws="none",
    )
    ready()
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listening])


# The app: routes behind the guard.


def create_app(site: Site) -> ASGIApp:
    """Return the ASGI app of a site."""
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False)
    app.state.site = site
    app.state.failures = Throttle(20, 60.0)
    app.state.busy = Throttle(1200, 60.0)
    app.include_router(pages.router)
    app.include_router(api.router)
    app.include_router(operator.router)
    app.add_exception_handler(SignedOut, _signed_out)
    app.add_exception_handler(RequestValidationError, _malformed)
    app.add_exception_handler(HTTPException, _refused)
    # Outside of everything, so that even the answer to a crash carries the headers.
    return Guard(app, hosts=site.hosts, origins=site.origins)


def _signed_out(request: Request, error: Exception) -> Response:
    if request.method == "GET":
        return RedirectResponse("/join", 303)
    return JSONResponse({"error": "signed_out", "message": "Open your personal link again."}, 401)


def _malformed(request: Request, error: Exception) -> Response:
    # What was sent is not repeated: it could be anything.
    return JSONResponse({"error": "malformed", "message": "The request is malformed."}, 422)


def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if request.url.path.startswith(("/api/", "/join")):
        content = {"error": "refused", "message": error.detail}
        return JSONResponse(content, error.status_code, headers=error.headers)
    return PlainTextResponse(f"{error.detail}\n", error.status_code, headers=error.headers)
