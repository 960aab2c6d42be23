"""The app: routes behind the guard."""

from __future__ import annotations

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from screentest.annotate.web import api, operator, pages
from screentest.annotate.web.guard import Guard
from screentest.annotate.web.site import Site
from screentest.annotate.web.throttle import Throttle
from screentest.annotate.web.visitor import SignedOut


def create_app(site: Site) -> ASGIApp:
    """The ASGI app of a site."""
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
    return JSONResponse({"error": "malformed", "message": "That cannot be read."}, 422)


def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if request.url.path.startswith(("/api/", "/join")):
        content = {"error": "refused", "message": error.detail}
        return JSONResponse(content, error.status_code, headers=error.headers)
    return PlainTextResponse(f"{error.detail}\n", error.status_code, headers=error.headers)
