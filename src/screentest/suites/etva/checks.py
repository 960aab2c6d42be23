"""What is wrong with an edge or a question that a model wrote, by rules that need no model.

Small models write "Is the grass grass?" and "Is the cat exists?". Such questions would be answered,
and would count; here they are recognised, so that the model is asked again for these alone.

>>> complaint("Is the cat exists?"), complaint("Is the cat black?")
("'Is' does not go with 'exists'", None)
>>> complaint("Is the captured moonlight captured in jars of captured moonlight?")
"it says 'captured' three times"
>>> complaint("Is the deer running – through – forest?")
'it copies the line it should ask about'
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from screentest.english.lexicon import lexicon
from screentest.suites.etva.graph import (
    Attribute,
    Category,
    Element,
    Entity,
    EntityKind,
    SceneGraph,
    terms,
)

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_OPENERS = terms("openers")
_BE = frozenset(("is", "are", "was", "were"))
_LEAD = re.compile(
    r"^(?:(?:in|during|at|on|throughout|by|after|before|when|once) [^?]{1,80}?,"
    r"|initially,|finally,|then,) ",
    re.IGNORECASE,
)
"""In the video, is …"""
_VERBS = frozenset(("exists", "exist", "has", "does", "is", "are", "seems", "becomes", "contains"))
_SHORT = 3
_NEAR = 6
"""So far from the start a second verb is looked for."""
_ARTICLES = frozenset(("a", "an", "the", "any", "some", "this", "that", "these", "those", "its"))
_JOINS = frozenset(("that", "which", "who", "as", "while", "when", "where", "if", "and", "or"))
"""After these a verb of its own may follow."""
_SMALL = frozenset(("is", "are", "in", "on", "at", "of", "to", "from", "with", "and", "by", "it"))
_NUMBERS = terms("quantities")
_CAMERA = terms("filming")


def words_in(text: str) -> list[str]:
    """Its words in lower case, without articles.

    >>> words_in("On the left side of a cactus.")
    ['on', 'left', 'side', 'of', 'cactus']
    """
    return [word for word in _WORD.findall(text.lower()) if word not in _ARTICLES]


def same_words(one: str, other: str) -> bool:
    """Return whether one of two texts says no more than the other: models add or drop a word."""
    first, second = set(words_in(one)), set(words_in(other))
    return bool(first) and bool(second) and (first <= second or second <= first)


def repeats(attribute: str, entity: str) -> bool:
    """Return whether an attribute is but the entity again: "grass" of "green grass".

    >>> repeats("grass", "the green grass"), repeats("green", "green grass")
    (True, False)
    """
    answer, name = _singular(attribute), _singular(entity)
    return bool(answer) and (answer == name or answer == name[-1:])


def not_a_place(background: str, entities: Iterable[str]) -> str | None:
    """Return which of the entities a background only repeats; None where it is a background.

    >>> not_a_place("a girl", ["girl"]), not_a_place("a beach", ["beach", "girl"])
    ('girl', None)
    """
    answer = _singular(background)
    if not answer or lexicon().kind(answer[-1]) == "scenes":
        return None
    return next((entity for entity in entities if _singular(entity) == answer), None)


def invented(said: str, prompt: str) -> bool:
    """Return whether no word of what a model names is in the prompt, in whatever form.

    Small models copy from worked examples: of two deer in a forest one wrote "turns from white to
    grey". They add what is nowhere: "the camera is stationary".

    >>> invented("the camera is stationary", "Merchants sell jars at a market.")
    True
    >>> invented("zooming out", "A market, zoom out."), invented("close-up", "Close up of a jar.")
    (False, False)
    >>> invented("paper", "Two deer graze."), invented("a child runs", "Children ran home.")
    (True, False)
    """
    if not is_latin(prompt):
        return False  # an agent names in English what it reads in another language
    reported = _parts(prompt)
    named = [word for word in _parts(said) if word not in _SMALL and word not in _NUMBERS]
    shared = (_near(item, other) for item in named for other in reported)
    return bool(named) and not _NUMBERS & set(_parts(said)) and not any(shared)


def is_latin(text: str) -> bool:
    """Return whether most letters of a text are those of English."""
    letters = [letter for letter in text if letter.isalpha()]
    return 2 * sum(map(str.isascii, letters)) >= len(letters)


def _parts(text: str) -> list[str]:
    return [part for word in words_in(text) for part in re.split(r"[\W_]+", word) if part]


def _near(one: str, other: str) -> bool:
    """Return whether two words may be forms of one."""
    available = lexicon()
    if one[:4] == other[:4] or available.singular(one) == available.singular(other):
        return True
    short, long = sorted((one, other), key=len)
    if len(short) == 3 and long.startswith(short):
        return True
    first, second = available.verbs.get(one), available.verbs.get(other)
    return first is not None and second is not None and first.base == second.base


def _singular(text: str) -> list[str]:
    return [lexicon().singular(word) for word in words_in(text)]


def complaint(question: str) -> str | None:
    """Return why a text is not a question for yes or no; None where it is one."""
    text = _LEAD.sub("", " ".join(question.split()))
    words = _WORD.findall(text.lower())
    if not text.endswith("?") or len(words) < 3:
        return "it is not a question"
    if " – " in text:
        return "it copies the line it should ask about"
    if words[0] not in _OPENERS:
        return "it cannot be answered with yes or no"
    if words[0] in _BE:
        if again := _said_twice(words):
            return f"it says {again!r} of itself"
        if verb := _second_verb(words):
            return f"{question.split()[0]!r} does not go with {verb!r}"
    often = Counter(word for word in words if len(word) > _SHORT).most_common(1)
    if often and often[0][1] > 2:  # none of the 12,198 released questions does that
        return f"it says {often[0][0]!r} three times"
    return None


def _said_twice(words: list[str]) -> str | None:
    """ "Is the grass grass?": the last word again, right after itself."""
    bare = [word for word in words[1:] if word not in _ARTICLES]
    half = len(bare) // 2
    if bare and len(bare) % 2 == 0 and bare[:half] == bare[half:]:
        return " ".join(bare[half:])
    return None


def _second_verb(words: list[str]) -> str | None:
    """ "Is the cat exists?": a verb of the third person where "is" has its own predicate."""
    for at, word in enumerate(words[1:_NEAR], start=1):
        if word in _JOINS:
            return None
        if at < 2 or words[at - 1] in _ARTICLES:
            continue
        verb = lexicon().verbs.get(word)
        # "finger snaps" is a noun: only somebody, or a verb that is never a noun, tells.
        somebody = lexicon().kind(words[at - 1]) in ("people", "animals")
        does = verb is not None and verb.form == "s" and not lexicon().kind(word)
        if word in _VERBS or (does and somebody):
            return word
    return None


def misses(question: str, element: Element) -> str | None:
    """Return the name of a thing that a question about its existence does not speak of.

    >>> misses("Is there a cat?", Entity("e1", "old mat")), misses("Any cats?", Entity("e1", "cat"))
    ('old mat', None)
    """
    if not isinstance(element, Entity) or element.kind is not EntityKind.THING:
        return None
    answer, name = set(_singular(question)), _singular(element.name)
    return None if not name or answer & set(name) else element.name


def fitting(category: Category, element: Element, graph: SceneGraph, text: str) -> Category:
    """Return the category of a question about an element; one that cannot be is set right.

    What exists is asked by "existence", what is filmed by "camera"; "number" and "color" need a
    number and a colour. A misfit is "other", unless the element says what it is.
    """
    words = set(words_in(text))
    if isinstance(element, Entity):
        return {
            EntityKind.CAMERA: Category.CAMERA,
            EntityKind.THING: Category.NUMBER
            if category is Category.NUMBER and words & _NUMBERS
            else Category.EXISTENCE,
        }.get(element.kind, category)
    about = graph.entity(element.entity).kind if isinstance(element, Attribute) else None
    if category is Category.NUMBER and not (words & _NUMBERS or re.search(r"\d", text)):
        return Category.OTHER
    if category is Category.COLOR and not _names_colour(words):
        return Category.OTHER
    if category is Category.CAMERA and about is not EntityKind.CAMERA and not words & _CAMERA:
        return Category.OTHER
    if category is Category.EXISTENCE and isinstance(element, Attribute):
        return Category.COLOR if _names_colour(set(words_in(element.value))) else Category.OTHER
    return category


def _names_colour(words: set[str]) -> bool:
    available = lexicon()
    spoken = {"color", "colour", "colors", "colours", "colored", "coloured", "monochrome", "hue"}
    return any(
        word in spoken or any(part in available.colours for part in word.split("-"))
        for word in words
    )
