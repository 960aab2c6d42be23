"""The things that a prompt names, each with its number, its colours and its side.

>>> for one in named_things("Two brown dogs stand to the left of a red car."):
...     print(one.name, one.number, one.colours, one.side or "-", one.beside or "-")
dogs 2 ('brown',) left car
car None ('red',) - -
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from screentest.english.chunks import Chunk, chunks_of
from screentest.english.lexicon import NUMBERS, Tag, lexicon

SIDES = ("left", "right")
_FRAME = frozenset(("frame", "picture", "screen", "image", "scene", "shot", "video", "view"))
"""What is at the left of these is on the left."""
_NOT_THINGS = frozenset(("body", "film-term"))


@dataclass(frozen=True, slots=True)
class NamedThing:
    """One thing of a prompt; a thing that is named again is the same."""

    name: str
    """As it is written, with nouns before it: "flower bud"."""
    number: int | None = None
    """How many, where a numeral says so."""
    colours: tuple[str, ...] = ()
    """As they are written."""
    side: str = ""
    """``left`` or ``right``; empty where nothing is said."""
    beside: str = ""
    """The name of the thing that it is to the left or right of; empty: of the picture."""

    @property
    def key(self) -> str:
        """By what it is known: its last word, in the singular."""
        return lexicon().singular(self.name.casefold().split()[-1])


def named_things(text: str) -> list[NamedThing]:
    """Return the things and places that can be seen, in the order in which they are first named."""
    chunks = chunks_of(text)
    sides = dict(_sides(chunks))
    result: dict[str, NamedThing] = {}
    for place, chunk in enumerate(chunks):
        if not _is_thing(chunks, place):
            continue
        colours = tuple(name for word in chunk.colours for name in word.colours)
        side, beside = sides.get(place, ("", ""))
        named_thing = NamedThing(chunk.name, _number(chunk), colours, side, beside)
        before = result.get(named_thing.key)
        if before is not None:
            named_thing = replace(
                before,
                number=before.number or named_thing.number,
                colours=before.colours or named_thing.colours,
                side=before.side or named_thing.side,
                beside=before.beside if before.side else named_thing.beside,
            )
        result[named_thing.key] = named_thing
    return list(result.values())


def _is_thing(chunks: Sequence[Chunk], place: int) -> bool:
    chunk = chunks[place]
    absent = chunk.negated or (place > 0 and chunks[place - 1].tag is Tag.NEGATIVE)
    if not chunk.is_noun or absent or chunk.compared or chunk.kind in _NOT_THINGS:
        return False
    return (chunk.concrete or chunk.kind == "scenes") and chunk.low not in _FRAME


def _number(chunk: Chunk) -> int | None:
    """One to twelve."""
    for word in chunk.words[:-1]:
        if word.low.isdecimal() and word.low.isascii() and len(word.low) < 3:
            return int(word.low) if 0 < int(word.low) < len(NUMBERS) else None
        if word.tag is Tag.NUM and word.low in NUMBERS[1:]:
            return NUMBERS.index(word.low)
    return None


def _sides(chunks: Sequence[Chunk]) -> Iterator[tuple[int, tuple[str, str]]]:
    """For the places of some things, their side and what they are beside."""
    for place, chunk in enumerate(chunks):
        if chunk.low not in SIDES or chunk.is_noun or not _follows_place(chunks, place):
            continue
        after = chunks[place + 1] if place + 1 < len(chunks) else None
        other = ""
        if after is not None and after.low == "of" and place + 2 < len(chunks):
            named = chunks[place + 2]
            other = named.name if named.is_noun and named.low not in _FRAME else ""
        whose = _before(chunks, place)
        if whose is None:
            whose = next((n for n in range(place + 1, len(chunks)) if _is_thing(chunks, n)), None)
        if whose is not None:
            yield whose, (chunk.low, other)


def _follows_place(chunks: Sequence[Chunk], place: int) -> bool:
    """ "on the left", "to the left", "at left"."""
    back = [chunk.low for chunk in chunks[max(0, place - 2) : place]]
    return bool(back) and (back[-1] == "the" or back[-1] in ("on", "to", "at"))


def _before(chunks: Sequence[Chunk], place: int) -> int | None:
    """Return the thing that the words about the side follow, in the same sentence."""
    for number in range(place - 1, -1, -1):
        if chunks[number].tag is Tag.STOP:
            return None
        if _is_thing(chunks, number):
            return number
    return None
