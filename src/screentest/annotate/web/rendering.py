"""Rendering: templates with every value escaped."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined

from screentest.annotate.language import Language
from screentest.annotate.web.visitor import Visitor, language_of, site_of


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("screentest.annotate.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["clock"] = clock
    environment.filters["moment"] = moment
    environment.filters["json"] = lambda value: json.dumps(value, ensure_ascii=False)
    return environment


def page(
    request: Request, name: str, visitor: Visitor | None, *, status: int = 200, **values: object
) -> HTMLResponse:
    """A page in the visitor's language."""
    site = site_of(request)
    language = language_of(site, request, visitor)
    text = render(
        name,
        language,
        languages=site.languages.values(),
        csrf=visitor.csrf if visitor is not None else "",
        signed_in=visitor is not None,
        **values,
    )
    return HTMLResponse(text, status)


def render(name: str, language: Language, **values: object) -> str:
    """A template filled, in a language."""
    template = _environment().get_template(name)
    return template.render(t=language.text, language=language, **values)


def clock(seconds: float) -> str:
    """Minutes and seconds for people.

    >>> clock(75.4), clock(3723)
    ('1:15', '1:02:03')
    """
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def moment(at: float) -> str:
    """A stored moment for people, in UTC."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M UTC")


@cache
def static_files() -> dict[str, bytes]:
    """Every file that pages may ask for, in memory: nothing else can be reached."""
    folder = files("screentest.annotate.web") / "static"
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}
