"""Colours with the objects that have them."""

from __future__ import annotations

from collections.abc import Iterator

from screentest.degrade.captions.facts import Coloured
from screentest.language.chunks import Chunk
from screentest.language.clauses import Clauses
from screentest.language.words import Tag, Word

_LINKING = frozenset(
    (
        *("glow", "turn", "become", "look", "appear", "paint", "dye"),
        *("seem", "remain", "shine", "color", "colour"),
    )
)
_PASSED = (Tag.ADVERB, Tag.ADJECTIVE, Tag.DET, Tag.PREP)


def colours(clauses: Clauses) -> Iterator[Coloured]:
    """Every colour that an object is said to have."""
    for number, chunk in enumerate(clauses.chunks):
        if chunk.negated or not chunk.colours:
            continue
        if chunk.is_noun:
            for word in chunk.colours:
                yield from _of(word, chunk)
        else:
            yield from _said_of(clauses, number)


def _of(word: Word, owner: Chunk) -> Iterator[Coloured]:
    if word.colour_of:
        yield from (Coloured(colour, word.colour_of) for colour in word.colours)
    elif owner.kind not in ("film-term", "abstract"):
        yield from (Coloured(colour, owner.name) for colour in word.colours)


def _said_of(clauses: Clauses, number: int) -> Iterator[Coloured]:
    """A colour after a verb: the car is red, the door is painted a rich brown."""
    chunks = clauses.chunks
    at, negated = number - 1, False
    while at >= 0 and chunks[at].tag in (*_PASSED, Tag.NEGATIVE):
        if chunks[at].tag is Tag.PREP and chunks[at].low != "in":
            return
        negated |= chunks[at].tag is Tag.NEGATIVE
        at -= 1
    if at < 0 or not _links(chunks[at]):
        return
    words = chunks[number].words
    if negated:  # "not blue but white"
        instead = [place for place, word in enumerate(words) if word.low == "but"]
        words = words[instead[0] :] if instead else []
    for agent in chunks[at].agents:
        if not agent.negated:
            for word in words:
                yield from _of(word, agent)


def _links(chunk: Chunk) -> bool:
    if chunk.tag is Tag.COPULA:
        return True
    verb = chunk.words[0].verb
    return chunk.tag in (Tag.VERB, Tag.PASSIVE) and verb is not None and verb.base in _LINKING
