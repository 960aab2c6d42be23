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

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from screentest.core import UserError


class Kind(StrEnum):
    """What an entity is to the picture."""

    THING = "thing"
    """Somebody or something in it."""
    BACKGROUND = "background"
    """Where it takes place."""
    CAMERA = "camera"
    """Who looks at it, and how."""


@dataclass(frozen=True, slots=True)
class Entity:
    """A node: something the prompt names."""

    id: str
    name: str
    kind: Kind = Kind.THING


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
                    raise BadGraph(f"{element.id!r} hangs on {end!r}, which is no entity")

    def walk(self) -> Iterator[Element]:
        """Every element in the order of questions: entities, attributes, relations."""
        yield from self.entities
        yield from self.attributes
        yield from self.relations

    def element(self, name: str) -> Element | None:
        """The element of that id."""
        return next((element for element in self.walk() if element.id == name), None)

    def ends(self, name: str) -> tuple[str, ...]:
        """The entities that an element hangs on; none for an entity itself."""
        match self.element(name):
            case Attribute(entity=entity):
                return (entity,)
            case Relation(subject=subject, object=other):
                return (subject,) if subject == other else (subject, other)
        return ()

    def entity(self, name: str) -> Entity:
        """The entity of that id, which must be there."""
        return next(entity for entity in self.entities if entity.id == name)


def words_of(element: Element) -> str:
    """What an element says by itself."""
    match element:
        case Entity(name=name) | Relation(name=name):
            return name
        case Attribute(value=value):
            return value
