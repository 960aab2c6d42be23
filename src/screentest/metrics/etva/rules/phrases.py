"""Noun phrases and verbs as questions speak of them."""

from __future__ import annotations

from screentest.language.chunks import Chunk
from screentest.language.lexicon import ing_form, lexicon
from screentest.language.words import Tag, Word
from screentest.metrics.etva.rules.kinds import TIMES, UNSEEN


def is_entity(chunk: Chunk) -> bool:
    """Whether a noun phrase names something that can be seen."""
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
    """Its name as it stands within a sentence: a capital at the start of a prompt is no name."""
    name = chunk.name
    first = chunk.words[-1 if " " not in name else -len(name.split())]
    known = first.low in lexicon().nouns or lexicon().singular(first.low) in lexicon().nouns
    return name[0].lower() + name[1:] if known and not name.isupper() else name


def is_name(chunk: Chunk) -> bool:
    """Whether it is the name of one: Paris, the Eiffel Tower; a Corgi is one of many."""
    noun = chunk.words[-len(chunk.name.split()) :]
    capital = all(word.text[0].isupper() and not word.text.isupper() for word in noun)
    alone = len(noun) == 1 and noun[0].start == 0
    return capital and not alone and chunk.words[0].low not in ("a", "an") and not chunk.owned


def is_many(chunk: Chunk) -> bool:
    """Whether there is more than one of it."""
    counted = any(word.tag is Tag.NUM and word.low not in ("one", "1") for word in chunk.words)
    return chunk.plural or counted


def the(chunk: Chunk) -> str:
    """A noun phrase spoken of again."""
    if is_name(chunk) and chunk.words[0].low != "the":
        return chunk.name
    return f"the {chunk.name if is_name(chunk) else name_of(chunk)}"


def be(chunk: Chunk, count: int = 1) -> str:
    """Is or Are."""
    return "Are" if is_many(chunk) or count > 1 else "Is"


def there_is(chunk: Chunk) -> str:
    """How one asks whether something exists."""
    name = name_of(chunk)
    if is_name(chunk):
        return f"Is {the(chunk)}"
    if is_many(chunk):
        return f"Are there any {name}"
    counted = any(word.low in ("a", "an", "one", "the", "another") for word in chunk.words)
    if counted or chunk.owned or chunk.kind in ("people", "animals", "body", "scenes"):
        return f"Is there {article(name)} {name}"
    return f"Is there any {name}"


def article(name: str) -> str:
    """a or an.

    >>> article("owl"), article("unicorn"), article("hour")
    ('an', 'a', 'an')
    """
    low = name.lower()
    if low.startswith(("uni", "use", "usa", "eu", "one")):
        return "a"
    return "an" if low.startswith(("a", "e", "i", "o", "u", "hour", "honest")) else "a"


def doing(word: Word) -> str:
    """What somebody does, in -ing, also for verbs that no list has."""
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
