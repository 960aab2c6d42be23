"""Noun phrases and verbs as questions speak of them, collected in the draft of a graph."""

from __future__ import annotations

from screentest.english.chunks import Chunk
from screentest.english.lexicon import Tag, Word, ing_form, lexicon
from screentest.suites.etva.graph import (
    Attribute,
    Category,
    Entity,
    EntityKind,
    Relation,
    SceneGraph,
    terms,
)
from screentest.suites.etva.questions import PromptQuestion, distinct, with_needs

MATERIALS, TIMES = terms("materials"), terms("times")
_SHAPES, _PHYSICAL = terms("shapes"), terms("physical")
RESTING = terms("resting")
"""Verbs that say where something is rather than what it does."""
PLACES = terms("places")
UNSEEN = terms("unseen")
"""Nouns that nobody can point at."""


def kind_of_attribute(value: str) -> Category:
    """Return the category of an adjective.

    >>> [kind_of_attribute(word).value for word in ("dragon-shaped", "wooden", "sleepy")]
    ['shape', 'material', 'other']
    """
    low = value.lower()
    if low in MATERIALS:
        return Category.MATERIAL
    if low in _SHAPES or low.endswith("-shaped"):
        return Category.SHAPE
    if low.endswith(("-colored", "-coloured")):
        return Category.COLOR
    return Category.OTHER


def kind_of_action(base: str) -> Category:
    """Return the category of what somebody or something does."""
    return Category.PHYSICS if base in _PHYSICAL else Category.MOTION


def is_entity(chunk: Chunk) -> bool:
    """Return whether a noun phrase names something that can be seen."""
    low = chunk.low
    return (
        chunk.is_noun
        and chunk.tag is Tag.NOUN
        and not chunk.negated
        and chunk.kind not in ("film-term", "abstract")
        and low not in TIMES
        and not (low in UNSEEN and " " not in chunk.name)
        and chunk.words[-1].text[0].isalpha()
    )


def name_of(chunk: Chunk) -> str:
    """Its name as it stands within a sentence: a capital at the start of a prompt is not a name."""
    name = chunk.name
    first = chunk.words[-1 if " " not in name else -len(name.split())]
    available = first.low in lexicon().nouns or lexicon().singular(first.low) in lexicon().nouns
    return name[0].lower() + name[1:] if available and not name.isupper() else name


def is_name(chunk: Chunk) -> bool:
    """Return whether it is the name of one: Paris, the Eiffel Tower; a Corgi is one of many."""
    noun = chunk.words[-len(chunk.name.split()) :]
    capital = all(word.text[0].isupper() and not word.text.isupper() for word in noun)
    alone = len(noun) == 1 and noun[0].start == 0
    return capital and not alone and chunk.words[0].low not in ("a", "an") and not chunk.owned


def is_many(chunk: Chunk) -> bool:
    """Return whether there is more than one of it."""
    counted = any(word.tag is Tag.NUM and word.low not in ("one", "1") for word in chunk.words)
    return chunk.plural or counted


def the(chunk: Chunk) -> str:
    """Return a noun phrase spoken of again."""
    if is_name(chunk) and chunk.words[0].low != "the":
        return chunk.name
    return f"the {chunk.name if is_name(chunk) else name_of(chunk)}"


def be(chunk: Chunk, count: int = 1) -> str:
    """Is or Are."""
    return "Are" if is_many(chunk) or count > 1 else "Is"


_STUFF = terms("stuff")
"""What is not counted: "the snow" is asked for as any snow."""


def there_is(chunk: Chunk) -> str:
    """Return how one asks whether something exists."""
    name = name_of(chunk)
    if is_name(chunk):
        return f"Is {the(chunk)}"
    if is_many(chunk):
        return f"Are there any {name}"
    counted = any(word.low in ("a", "an", "one", "the", "another") for word in chunk.words)
    if name.split()[-1].lower() in _STUFF and chunk.words[0].low not in ("a", "an", "one"):
        return f"Is there any {name}"
    if counted or chunk.owned or chunk.kind in ("people", "animals", "body", "scenes"):
        return f"Is there {article(name)} {name}"
    return f"Is there any {name}"


def article(name: str) -> str:
    """Choose between a and an.

    >>> article("owl"), article("unicorn"), article("hour")
    ('an', 'a', 'an')
    """
    low = name.lower()
    if low.startswith(("uni", "use", "usa", "eu", "one")):
        return "a"
    return "an" if low.startswith(("a", "e", "i", "o", "u", "hour", "honest")) else "a"


def doing(word: Word) -> str:
    """Return what somebody does, in -ing, also for verbs that no list has."""
    low = word.low
    if low.endswith("ing"):
        return low
    verb = word.verb
    if verb is not None and verb.base != low:
        return ing_form(verb.base)
    if low.endswith("ed") and verb is not None and verb.form == "past":
        return f"{low[:-2]}ing"
    third = verb is not None and verb.form == "s" and low.endswith("s")
    return ing_form(lexicon().singular(low) if third else low)


FILM, WHOLE = "film", "whole"
"""The entities that camera and style belong to. Nobody asks whether they exist."""


class Draft:
    """Collects elements; each comes with the question about it."""

    def __init__(self) -> None:
        self._entities: dict[str, Entity] = {}
        self._attributes: list[Attribute] = []
        self._relations: list[Relation] = []
        self._asked: dict[str, tuple[str, Category]] = {}
        self._said: set[tuple[str, ...]] = set()

    def film(self) -> str:
        self._entities.setdefault(FILM, Entity(FILM, "camera", EntityKind.CAMERA))
        return FILM

    def picture(self) -> str:
        """Return the picture as a whole, which has its style and time."""
        name = "the picture as a whole"
        self._entities.setdefault(WHOLE, Entity(WHOLE, name, EntityKind.WHOLE))
        return WHOLE

    def entity(self, chunk: Chunk) -> str:
        """Return the entity that a noun phrase names; the same noun is the same entity."""
        single = lexicon().singular(chunk.low)
        entity = self._entities.get(single)
        if entity is None:
            place = EntityKind.BACKGROUND if chunk.kind == "scenes" else EntityKind.THING
            number = len([key for key in self._entities if key not in (FILM, WHOLE)]) + 1
            entity = Entity(f"e{number}", chunk.name if is_name(chunk) else name_of(chunk), place)
            self._entities[single] = entity
            self._asked[entity.id] = (f"{there_is(chunk)} shown in the video?", Category.EXISTENCE)
        return entity.id

    def whole(self, text: str) -> None:
        """All of a prompt that no rule takes apart, as one thing to be seen."""
        entity = Entity("e1", text, EntityKind.BACKGROUND)
        self._entities[text] = entity
        self._asked[entity.id] = (f"Does the video show {text}?", Category.EXISTENCE)

    @property
    def empty(self) -> bool:
        return not self._entities

    def attribute(self, entity: str, value: str, question: str, category: Category) -> None:
        if self._is_new(entity, value.lower()):
            name = f"a{len(self._attributes) + 1}"
            self._attributes.append(Attribute(name, entity, value))
            self._asked[name] = (question, category)

    def relation(
        self, subject: str, name: str, other: str, question: str, category: Category
    ) -> None:
        if subject != other and self._is_new(subject, name.lower(), other):
            number = f"r{len(self._relations) + 1}"
            self._relations.append(Relation(number, subject, name, other))
            self._asked[number] = (question, category)

    def finished(self) -> tuple[SceneGraph, list[PromptQuestion]]:
        """Return the graph, and its questions in order, each once."""
        graph = SceneGraph(
            tuple(self._entities.values()), tuple(self._attributes), tuple(self._relations)
        )
        asked = [element.id for element in graph.walk() if element.id in self._asked]
        questions = [
            PromptQuestion(f"q{number}", *self._asked[name], element=name)
            for number, name in enumerate(asked, start=1)
        ]
        return graph, distinct(with_needs(questions, graph))

    def _is_new(self, *words: str) -> bool:
        new = words not in self._said
        self._said.add(words)
        return new
