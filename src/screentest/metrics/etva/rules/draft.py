"""A graph and its questions while they are being found."""

from __future__ import annotations

from screentest.language.chunks import Chunk
from screentest.language.lexicon import lexicon
from screentest.metrics.etva.categories import Category
from screentest.metrics.etva.graph import Attribute, Entity, Kind, Relation, SceneGraph
from screentest.metrics.etva.questions import Question, distinct, with_needs
from screentest.metrics.etva.rules.phrases import is_name, name_of, there_is

FILM = "film"
"""The entity that camera and style belong to. Nobody asks whether it exists."""


class Draft:
    """Collects elements; each comes with the question about it."""

    def __init__(self) -> None:
        self._entities: dict[str, Entity] = {}
        self._attributes: list[Attribute] = []
        self._relations: list[Relation] = []
        self._asked: dict[str, tuple[str, Category]] = {}
        self._said: set[tuple[str, ...]] = set()

    def film(self) -> str:
        """The film itself."""
        self._entities.setdefault(FILM, Entity(FILM, "camera", Kind.CAMERA))
        return FILM

    def entity(self, chunk: Chunk) -> str:
        """The entity that a noun phrase names; the same noun is the same entity."""
        single = lexicon().singular(chunk.low)
        known = self._entities.get(single)
        if known is None:
            place = Kind.BACKGROUND if chunk.kind == "scenes" else Kind.THING
            number = len([key for key in self._entities if key != FILM]) + 1
            known = Entity(f"e{number}", chunk.name if is_name(chunk) else name_of(chunk), place)
            self._entities[single] = known
            self._asked[known.id] = (f"{there_is(chunk)} shown in the video?", Category.EXISTENCE)
        return known.id

    def whole(self, text: str) -> None:
        """All of a prompt that no rule takes apart, as one thing to be seen."""
        known = Entity("e1", text, Kind.BACKGROUND)
        self._entities[text] = known
        self._asked[known.id] = (f"Does the video show {text}?", Category.EXISTENCE)

    @property
    def empty(self) -> bool:
        """Whether nothing was found so far."""
        return not self._entities

    def attribute(self, entity: str, value: str, question: str, category: Category) -> None:
        """A quality of an entity."""
        if self._is_new(entity, value.lower()):
            name = f"a{len(self._attributes) + 1}"
            self._attributes.append(Attribute(name, entity, value))
            self._asked[name] = (question, category)

    def relation(
        self, subject: str, name: str, other: str, question: str, category: Category
    ) -> None:
        """Something between two entities."""
        if subject != other and self._is_new(subject, name.lower(), other):
            number = f"r{len(self._relations) + 1}"
            self._relations.append(Relation(number, subject, name, other))
            self._asked[number] = (question, category)

    def finished(self) -> tuple[SceneGraph, list[Question]]:
        """The graph, and its questions in order, each once."""
        graph = SceneGraph(
            tuple(self._entities.values()), tuple(self._attributes), tuple(self._relations)
        )
        asked = [element.id for element in graph.walk() if element.id in self._asked]
        questions = [
            Question(f"q{number}", *self._asked[name], element=name)
            for number, name in enumerate(asked, start=1)
        ]
        return graph, distinct(with_needs(questions, graph))

    def _is_new(self, *words: str) -> bool:
        new = words not in self._said
        self._said.add(words)
        return new
