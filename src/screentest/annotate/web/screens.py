"""Screens: templates with every value escaped."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files as resources
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined
from sqlalchemy import Connection, Row, select

from screentest._util.webpage import tokens
from screentest.annotate.answers import EXAMPLE, Step
from screentest.annotate.flashes import are_risky
from screentest.annotate.language import Language, passage_hash
from screentest.annotate.media import fetch_ahead, picture_address
from screentest.annotate.schema import files, media, texts, translations, units, votes
from screentest.annotate.sitting import seen_marks, side_of, watched_shares
from screentest.annotate.web.visitor import Visitor, language_of, site_of
from screentest.judges.votes import VoteTask, of_two


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


def page(request: Request, name: str, visitor: Visitor | None, **values: object) -> HTMLResponse:
    """Return a page in the visitor's language."""
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
    return HTMLResponse(text)


def render(name: str, language: Language, **values: object) -> str:
    """Return a template filled, in a language."""
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
    """Return a stored moment for people, in UTC."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M UTC")


_STYLE = "style.css"


@cache
def static_files() -> dict[str, bytes]:
    """Return every file that pages may ask for, in memory: nothing else can be reached."""
    folder = resources("screentest.annotate.web") / "static"
    result = {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}
    return {**result, _STYLE: tokens().encode() + result[_STYLE]}


# Showing: what a worker's page holds at each step, and nothing that it must not tell.


@dataclass(frozen=True, slots=True)
class Line:
    """A passage of the text, when it should be on the screen, and its translation."""

    text: str
    start: float | None = None
    end: float | None = None
    translated: str = ""


@dataclass(frozen=True, slots=True)
class MarkedPart:
    """A stretch that the worker is to look at."""

    number: int
    side: str
    start: float
    end: float
    gone: bool
    seen: bool


BRIEF = 300
"""Letters of a text that is read at a glance."""


@dataclass(frozen=True, slots=True)
class Screen:
    """One step of one sitting. Knows sides, never which video is which before it may."""

    sitting: str
    task: VoteTask
    step: Step
    aspect: str
    sides: Sequence[tuple[str, str]]
    """Side and opaque address of each video."""
    lines: Sequence[Line]
    prompt: str
    questions: Sequence[dict[str, str]]
    pictures: Sequence[str] = ()
    """Addresses of the references that the model was given."""
    harmed: str = ""
    """The side of the damaged video; empty while it must not be known."""
    chosen: str = ""
    parts: Sequence[MarkedPart] = ()
    watch: float = 0.0
    """The share of each video that must be played; 0 where that is not asked."""
    watched: Mapping[str, float] = field(default_factory=dict)
    """By side, what was played already."""
    example: bool = False
    """Whether the right answer is told afterwards."""
    flashing: bool = False
    """Whether one of the videos flashes so quickly that people must be warned; never which."""

    @property
    def brief(self) -> bool:
        """Return whether the text is read at a glance: it stands above and needs no search."""
        letters = sum(len(line.text) + len(line.translated) for line in self.lines)
        return len(self.lines) == 1 and self.lines[0].start is None and letters <= BRIEF

    @property
    def translated(self) -> bool:
        return any(line.translated for line in self.lines)

    @property
    def two(self) -> bool:
        return of_two(self.task)


def screen_of(
    connection: Connection, sitting: Row[Any], language: str, watch: float = 0.0
) -> Screen:
    """Return what to show for a sitting."""
    unit = connection.execute(select(units).where(units.c.id == sitting.unit_id)).one()
    text = connection.execute(select(texts).where(texts.c.id == unit.text_id)).one()
    step = Step(sitting.step)
    revealed = step is Step.CHECK
    # The captions' times are those of the intact video: beside both videos they tell which scenes
    # were moved or left out.
    lines = _lines(connection, text, language, timed=revealed or not of_two(VoteTask(unit.task)))
    sides = connection.execute(
        select(media.c.side, media.c.id, files.c.served)
        .select_from(media.join(files))
        .where(media.c.sitting_id == sitting.id)
        .order_by(media.c.side)
    ).all()
    fetch_ahead(row.served for row in sides)
    return Screen(
        sitting=sitting.id,
        task=VoteTask(unit.task),
        step=step,
        aspect=unit.aspect,
        sides=[(row.side, f"/media/{row.id}") for row in sides],
        lines=lines,
        prompt=text.prompt,
        questions=unit.questions,
        pictures=[picture_address(path) for path in unit.pictures or ()],
        harmed=side_of(1, sitting.left_video) if revealed else "",
        chosen=_chosen(connection, sitting) if revealed else "",
        parts=_parts(connection, sitting, unit) if revealed else [],
        watch=0.0 if revealed else watch,
        watched=watched_shares(connection, sitting),
        example=EXAMPLE in (unit.gold or {}),
        flashing=not revealed and _flashing(connection, unit),
    )


def _flashing(connection: Connection, unit: Row[Any]) -> bool:
    shown = [unit.first_file, unit.second_file]
    result = connection.execute(select(files.c.flashes).where(files.c.id.in_(shown))).scalars()
    return any(are_risky(flashes or 0) for flashes in result)


def _lines(connection: Connection, text: Row[Any], language: str, *, timed: bool) -> list[Line]:
    clips = text.clips or [[text.prompt]]
    query = select(translations.c.text, translations.c.body).where(
        translations.c.language == language,
        translations.c.text.in_([passage_hash(passage) for passage, *_ in clips]),
    )
    available = {row.text: row.body for row in connection.execute(query)}
    lines = []
    for passage, *times in clips:
        start, end = times if timed and times else (None, None)
        lines.append(Line(passage, start, end, available.get(passage_hash(passage), "")))
    return lines


def _parts(connection: Connection, sitting: Row[Any], unit: Row[Any]) -> list[MarkedPart]:
    seen = seen_marks(connection, sitting, unit)
    return [
        MarkedPart(
            number=number,
            side=side_of(mark["video"], sitting.left_video),
            start=mark["start"],
            end=mark["end"],
            gone=mark["video"] == 0,
            seen=looked,
        )
        for number, (mark, looked) in enumerate(zip(unit.marks, seen, strict=True), start=1)
    ]


def _chosen(connection: Connection, sitting: Row[Any]) -> str:
    answer = connection.execute(
        select(votes.c.answer).where(
            votes.c.sitting_id == sitting.id, votes.c.step == Step.CHOICE.value
        )
    ).scalar_one()
    return str(answer["choice"])
