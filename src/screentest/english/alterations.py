"""Alterations: one word of a text for another, so that the text is no longer true.

Of what a text was written about, the altered text must be false for certain: another basic colour
that is not near the one that was said, at least twice the number, the other side, a thing of
another kind that the text does not mention, an action of another kind. The word is altered
wherever it stands for the same, so that the text does not contradict itself; ``a`` and ``an`` go
with it. Where no word is fit, there is no alteration.

>>> alter(["Two dogs sit under a red tree."], WordChange.NUMBER, lambda words: words[0]).captions
('Four dogs sit under a red tree.',)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from itertools import groupby, pairwise
from types import MappingProxyType

from screentest._util.collect import grouped
from screentest.english.chunks import Chunk, Clauses, chunks_of
from screentest.english.lexicon import (
    NUMBERS,
    RULE_WORDS,
    Tag,
    Word,
    forms_of,
    lexicon,
    split_words,
)

VERSION = 1


class WordChange(StrEnum):
    """What is said otherwise."""

    OBJECT = "object"
    COLOR = "color"
    NUMBER = "number"
    PLACE = "place"
    ACTION = "action"


@dataclass(frozen=True, slots=True)
class Alteration:
    """A text after the change."""

    captions: tuple[str, ...]
    words: Mapping[str, str]
    """What was said, as it was written → what is said instead."""


Pick = Callable[[Sequence[str]], str]
"""Chooses one of several words."""


def alter(captions: Sequence[str], change: WordChange, pick: Pick) -> Alteration | None:
    """Return the captions with one word altered; None where they have none that is fit for it.

    ``pick`` decides which word, and what stands instead.
    """
    answer = [Clauses(chunks_of(caption)) for caption in captions]
    sites = grouped(
        (site.key, site)
        for number, clauses in enumerate(answer)
        for site in _FINDERS[change](clauses, number)
    )
    mentioned = {_single(word.low) for caption in captions for word in split_words(caption)}
    choices = {
        key: options
        for key, (first, *_) in sites.items()
        if (options := [item for item in first.instead if first.mutual or item not in mentioned])
    }
    if not choices:
        return None
    key = pick(sorted(choices))
    chosen = choices[key][0] if sites[key][0].mutual else pick(choices[key])
    changed = list(captions)
    words: dict[str, str] = {}
    for number, selected in groupby(sites[key], lambda site: site.caption):
        # From the end on, so that the places of those before stay as they are.
        for site in reversed(list(selected)):
            new = _cased(site.written(chosen), site.word)
            words.setdefault(site.word.text, new)
            changed[number] = _put(changed[number], site.word, new)
    return Alteration(tuple(changed), MappingProxyType(words))


@dataclass(frozen=True, slots=True)
class _Site:
    """A word that may be altered."""

    caption: int
    word: Word
    key: str
    """What it says; all sites of one key are altered together."""
    instead: Sequence[str]
    written: Callable[[str], str] = str
    """The new word in the form that fits here."""
    mutual: bool = False
    """Left and right: each stands for the other, so both may be mentioned."""


def _single(word: str) -> str:
    return lexicon().singular(word)


def _cased(new: str, old: Word) -> str:
    return new.capitalize() if old.text[0].isupper() else new


def _put(caption: str, word: Word, new: str) -> str:
    """Return the new word in the place of the old one, with the article that goes with it."""
    before, after = caption[: word.start], caption[word.end :]
    head, space, article = before.rstrip().rpartition(" ")
    gap = before[len(before.rstrip()) :]
    if article.lower() in ("a", "an"):
        right = "an" if new[0].lower() in "aeiou" else "a"
        right = right.capitalize() if article[0].isupper() else right
        before = f"{head}{space}{right}{gap}"
    return f"{before}{new}{after}"


def _things(clauses: Clauses) -> Iterator[Chunk]:
    """Noun phrases that say what is there."""
    for chunk in clauses.chunks:
        if chunk.is_noun and not chunk.negated and not chunk.compared:
            yield chunk


# Colours: the eleven basic ones, each with those that nobody takes it for.

_OTHER_COLOURS: Mapping[str, Sequence[str]] = RULE_WORDS["other_colours"]


_OF_COLOUR = frozenset(RULE_WORDS["of_colour"])
"""Film terms and abstractions of which a colour is seen; of others it is a figure of speech."""


def _has_colour(chunk: Chunk) -> bool:
    """Return whether a colour can be seen; a text that gives an unlisted word one says so."""
    listed = chunk.concrete or chunk.kind in ("", "scenes", "body")
    return listed or _single(chunk.low) in _OF_COLOUR


def _colours(clauses: Clauses, number: int) -> Iterator[_Site]:
    before: Chunk | None = None
    for chunk in clauses.chunks:
        noun = chunk.is_noun and _has_colour(chunk)
        # "The car is red." Of people a colour says other things.
        answer = not chunk.is_noun and before is not None and before.tag is Tag.COPULA
        if (noun or answer) and chunk.kind != "people" and not (chunk.negated or chunk.compared):
            for word in chunk.words:
                if word.tag is Tag.COLOUR and word.low in _OTHER_COLOURS:
                    yield _Site(number, word, word.low, _OTHER_COLOURS[word.low])
        before = chunk


# Numbers: at least twice as many. Fewer would be true, too: who shows six shows two.


def _numbers(clauses: Clauses, number: int) -> Iterator[_Site]:
    for chunk in _things(clauses):
        if not (chunk.plural and chunk.concrete):
            continue
        for word in chunk.words:
            digits = word.low.isdecimal() and word.low.isascii()
            if digits and len(word.low) < 3:
                value = int(word.low)
            elif word.tag is Tag.NUM and word.low in NUMBERS:
                value = NUMBERS.index(word.low)
            else:
                continue
            if 2 <= value <= (len(NUMBERS) - 1) // 2:
                more = NUMBERS[2 * value :]
                written = (lambda word: str(NUMBERS.index(word))) if digits else str
                yield _Site(number, word, NUMBERS[value], more, written)


# Places: the opposite on the same axis, for all words of that axis.

_AXES: Mapping[str, Mapping[str, str]] = RULE_WORDS["axes"]


def _places(clauses: Clauses, number: int) -> Iterator[_Site]:
    chunks = clauses.chunks
    for place, chunk in enumerate(chunks):
        after = chunks[place + 1] if place + 1 < len(chunks) else None
        for word in chunk.words:
            axis = next((name for name, words in _AXES.items() if word.low in words), "")
            if axis and not chunk.negated and _is_place(word, chunk, after):
                other = _AXES[axis][word.low]
                yield _Site(number, word, axis, (other,), partial(_fixed, other), mutual=True)


def _fixed(word: str, chosen: str) -> str:
    """Of several words that are altered together, each has its own opposite."""
    return word


def _is_place(word: Word, chunk: Chunk, after: Chunk | None) -> bool:
    if word.tag is Tag.DIRECTION:
        # Which hand it is, is rarely seen.
        return "body" not in (chunk.kind, after.kind if after is not None else "")
    if word.low in ("indoors", "outdoors"):
        return True
    # "under a tree", not "under pressure"
    seen = after is not None and after.is_noun and (after.concrete or after.kind == "scenes")
    return word.tag is Tag.PREP and seen


# Objects: of another kind, and none that a text like this would mean by another word.

_OTHER_OBJECTS: Mapping[str, Sequence[str]] = RULE_WORDS["other_objects"]
_VAGUE = frozenset(RULE_WORDS["vague"])


def _objects(clauses: Clauses, number: int) -> Iterator[_Site]:
    for chunk in _things(clauses):
        *before, word = chunk.words
        single = _single(word.low)
        counted = chunk.plural or chunk.words[0].tag in (Tag.DET, Tag.POSS, Tag.NUM)
        alone = not before or before[-1].tag is not Tag.NOUN  # not the mug of "coffee mug"
        named = not word.opens and word.text[0].isupper()
        clear = chunk.kind in _OTHER_OBJECTS and single not in _VAGUE and word.low.isalpha()
        if chunk.concrete and counted and alone and not named and clear:
            several = word.low != single or (chunk.plural and word.low == "people")
            written = _plural if several else str
            yield _Site(number, word, single, _OTHER_OBJECTS[chunk.kind], written)


def _plural(word: str) -> str:
    return f"{word}es" if word.endswith("s") else f"{word}s"


# Actions: of another kind, with an object where the old one had one.

_ACTIONS: Mapping[str, Mapping[str, Sequence[str]]] = RULE_WORDS["actions"]
"""Each with the actions that it might be part of, or taken for."""
_ACTORS = frozenset(("people", "animals"))
_SAYS_LITTLE = frozenset(RULE_WORDS["says_little"])


def _actions(clauses: Clauses, number: int) -> Iterator[_Site]:
    chunks = clauses.chunks
    for place, chunk in enumerate(chunks):
        word = chunk.words[0]
        verb = word.verb
        if chunk.tag is not Tag.VERB or verb is None or chunk.negated or len(chunk.words) > 1:
            continue
        if verb.base in _SAYS_LITTLE or not {agent.kind for agent in chunk.agents} & _ACTORS:
            continue
        then = next((item for item in chunks[place + 1 :] if item.tag is not Tag.ADVERB), None)
        takes = then is not None and (then.is_noun or then.tag is Tag.PRONOUN)
        takes &= not (then is not None and then.kind == "scenes" and len(then.words) == 1)  # "home"
        table = _ACTIONS["with_object" if takes else "alone"]
        instead = [item for item, like in table.items() if verb.base not in (*like, item)]
        key = f"{verb.base} something" if takes else verb.base
        yield _Site(number, word, key, instead, partial(_in_form, verb.form))


def _in_form(form: str, base: str) -> str:
    return forms_of(base)[form]


_FINDERS: Mapping[WordChange, Callable[[Clauses, int], Iterator[_Site]]] = {
    WordChange.OBJECT: _objects,
    WordChange.COLOR: _colours,
    WordChange.NUMBER: _numbers,
    WordChange.PLACE: _places,
    WordChange.ACTION: _actions,
}


def earlier_and_later(text: str) -> Alteration | None:
    """Events in the other order: "before" for "after", where something is done before or after.

    >>> earlier_and_later("A man waves before leaving.").captions
    ('A man waves after leaving.',)
    """
    words = split_words(text)
    other = {"before": "after", "after": "before"}
    for word, then in reversed(list(pairwise(words))):
        verb = lexicon().verbs.get(then.low)
        if word.low in other and verb is not None and verb.form == "ing":
            new = _cased(other[word.low], word)
            return Alteration((_put(text, word, new),), MappingProxyType({word.text: new}))
    return None
