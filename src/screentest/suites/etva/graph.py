"""The scene graph of a prompt: entities, their attributes, and relations between them.

>>> graph = SceneGraph(
...     (Entity("e1", "penguin"), Entity("e2", "cactus")),
...     (Attribute("a1", "e2", "green"),),
...     (Relation("r1", "e1", "left of", "e2"),),
... )
>>> [element.id for element in graph.walk()], graph.ends("r1")
(['e1', 'e2', 'a1', 'r1'], ('e1', 'e2'))
"""

from __future__ import annotations

import difflib
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from jinja2 import Environment, StrictUndefined
from pydantic import BaseModel, BeforeValidator, Field

from screentest._util.text import printable
from screentest.core import UserError

TERMS: Mapping[str, Any] = tomllib.loads(
    Path(__file__).with_name("terms.toml").read_text(encoding="utf-8")
)
"""What the rules know of words, and how categories and camera moves are put into words."""


def terms(name: str) -> frozenset[str]:
    """Return a list of words of ``terms.toml``."""
    return frozenset(TERMS[name])


class EntityKind(StrEnum):
    """What an entity is to the picture."""

    THING = "thing"
    """Somebody or something in it."""
    BACKGROUND = "background"
    """Where it takes place."""
    CAMERA = "camera"
    """Who looks at it, and how."""
    WHOLE = "whole"
    """The picture as a whole: what has its style, light, weather and time. Always there, so nobody
    asks whether it exists."""


@dataclass(frozen=True, slots=True)
class Entity:
    """A node: something the prompt names."""

    id: str
    name: str
    kind: EntityKind = EntityKind.THING


@dataclass(frozen=True, slots=True)
class Attribute:
    """An edge from an entity to a quality of it."""

    id: str
    entity: str
    value: str


@dataclass(frozen=True, slots=True)
class Relation:
    """An edge from one entity to another."""

    id: str
    subject: str
    name: str
    object: str


Element: TypeAlias = Entity | Attribute | Relation


class BadGraph(UserError):
    """A graph that contradicts itself."""


@dataclass(frozen=True, slots=True)
class SceneGraph:
    """What a prompt asks for, piece by piece. Every edge leads from and to a known entity."""

    entities: tuple[Entity, ...] = ()
    attributes: tuple[Attribute, ...] = ()
    relations: tuple[Relation, ...] = ()

    def __post_init__(self) -> None:
        seen: set[str] = set()
        for element in self.walk():
            if not element.id.strip() or element.id in seen:
                raise BadGraph(f"two elements of a scene graph have the id {element.id!r}")
            seen.add(element.id)
            if not words_of(element).strip():
                raise BadGraph(f"element {element.id!r} of a scene graph says nothing")
        entities = {entity.id for entity in self.entities}
        for element in self.walk():
            for end in self.ends(element.id):
                if end not in entities:
                    raise BadGraph(f"{element.id!r} hangs on {end!r}, which is not an entity")

    def walk(self) -> Iterator[Element]:
        """Yield every element in the order of questions: entities, attributes, relations."""
        yield from self.entities
        yield from self.attributes
        yield from self.relations

    def element(self, name: str) -> Element | None:
        return next((element for element in self.walk() if element.id == name), None)

    def ends(self, name: str) -> tuple[str, ...]:
        """Return the entities that an element hangs on; none for an entity itself."""
        match self.element(name):
            case Attribute(entity=entity):
                return (entity,)
            case Relation(subject=subject, object=other):
                return (subject,) if subject == other else (subject, other)
        return ()

    def entity(self, name: str) -> Entity:
        """Return the entity of that id, which must be there."""
        return next(entity for entity in self.entities if entity.id == name)


def words_of(element: Element) -> str:
    """Return what an element says by itself."""
    match element:
        case Entity(name=name) | Relation(name=name):
            return name
        case Attribute(value=value):
            return value


class Category(StrEnum):
    """What a question asks about. Stored in files: members are never renamed."""

    EXISTENCE = "existence"
    MOTION = "motion"
    MATERIAL = "material"
    SPATIAL = "spatial"
    NUMBER = "number"
    SHAPE = "shape"
    COLOR = "color"
    CAMERA = "camera"
    PHYSICS = "physics"
    OTHER = "other"
    ENVIRONMENT = "environment"
    """Only in the larger released benchmark: no published table has a column for it."""


MEANINGS: Mapping[Category, str] = {kind: TERMS["meanings"][kind] for kind in Category}
"""Which questions belong to each, for people and for models."""
ASKED = tuple(kind for kind in Category if kind is not Category.ENVIRONMENT)
"""The paper's ten, which writers choose from."""

# The larger benchmark writes "action" for motion.
_ALIASES = {"action": Category.MOTION, "colour": Category.COLOR, "counting": Category.NUMBER}


def read_category(label: str) -> Category:
    """Return the category of a label, in whatever case and by the aliases of released files.

    >>> read_category("Action")
    <Category.MOTION: 'motion'>
    """
    name = label.strip().lower()
    if name in _ALIASES:
        return _ALIASES[name]
    try:
        return Category(name)
    except ValueError:
        near = difflib.get_close_matches(name, [item.value for item in Category], n=1)
        available = ", ".join(item.value for item in Category)
        raise UserError(
            f"unknown category {label[:40]!r}",
            advice=f"Did you mean {near[0]}?" if near else f"Categories: {available}.",
        ) from None


# ---- Forms in which the agents answer: objects, every field required.

_MOST = 80
"""Far above any prompt's elements; a list without end is not an answer."""
_Words = Annotated[str, Field(max_length=300)]


class ElementsAnswer(BaseModel):
    """The first agent: what the text contains."""

    background: _Words | None
    camera: _Words | None
    entities: list[_Words] = Field(max_length=_MOST)
    attributes: list[_Words] = Field(max_length=_MOST)
    relations: list[_Words] = Field(max_length=_MOST)


class BoundAttribute(BaseModel):
    """An attribute with the number of its entity."""

    entity: int
    attribute: _Words


class BoundRelation(BaseModel):
    """A relation with the numbers of its ends."""

    subject: int
    relation: _Words
    object: int


class GraphAnswer(BaseModel):
    """The second agent: what hangs on what."""

    attributes: list[BoundAttribute] = Field(max_length=_MOST)
    relations: list[BoundRelation] = Field(max_length=_MOST)


def _category(label: object) -> object:
    """By the aliases of released files too, and in whatever case."""
    name = str(label).strip().lower()
    return _ALIASES.get(name, "other" if name == "environment" else name)


_Ten: TypeAlias = Literal[
    "existence",
    "motion",
    "material",
    "spatial",
    "number",
    "shape",
    "color",
    "camera",
    "physics",
    "other",
]
_Kind = Annotated[_Ten, BeforeValidator(_category)]


class WrittenQuestion(BaseModel):
    """A question about one element."""

    element: int
    question: _Words
    category: _Kind


class QuestionsAnswer(BaseModel):
    """The third agent: a question for each element."""

    questions: list[WrittenQuestion] = Field(max_length=3 * _MOST)


class PlainQuestion(BaseModel):
    """A question with its category, of a writer that has no graph."""

    question: _Words
    category: _Kind


class PlainQuestions(BaseModel):
    """All questions of a text at once."""

    questions: list[PlainQuestion] = Field(max_length=3 * _MOST)


class NumberedAnswer(BaseModel):
    """The answer to one of several questions."""

    number: int
    reasoning: str
    token: Literal["[YES]", "[NO]"]


class AnswersAnswer(BaseModel):
    """The answers to several questions about one video."""

    answers: list[NumberedAnswer] = Field(max_length=3 * _MOST)


_ROW, _BOX, _MARGIN = 34, 190, 24
_LEFT = 330
"""Where the column of entities begins; arcs and their words stand before it."""
_RIGHT = _LEFT + _BOX + 60
_COLOURS = {
    EntityKind.THING: "#dbe9f6",
    EntityKind.BACKGROUND: "#e2f0dc",
    EntityKind.CAMERA: "#f5e6cf",
    EntityKind.WHOLE: "#ece3f2",
}


def graph_svg(graph: SceneGraph, title: str = "") -> str:
    """Return the graph as an SVG document. Everything in it is text: nothing in a name is markup.

    The template ``graph.svg.jinja`` draws it. An entity has a row for each of its attributes, at
    least one.
    """
    rows = Counter(attribute.entity for attribute in graph.attributes)
    middles, end = {}, _MARGIN + (20 if title else 0)
    for entity in graph.entities:
        middles[entity.id] = end + _ROW // 2
        end += _ROW * max(1, rows[entity.id])
    drawing = Environment(autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True)
    drawing.filters["printable"] = printable
    template = Path(__file__).with_name("graph.svg.jinja").read_text(encoding="utf-8")
    return drawing.from_string(template).render(
        graph=graph,
        title=title,
        middles=middles,
        width=_RIGHT + 260,
        height=_MARGIN + (end if middles else end + _ROW),
        row=_ROW,
        box=_BOX,
        margin=_MARGIN,
        left=_LEFT,
        right=_RIGHT,
        colours=_COLOURS,
    )
