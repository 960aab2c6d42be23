"""Chunks: noun phrases and the words between them, which the rules of each criterion go by.

>>> chunks = chunks_of("A man in a red jacket waves.")
>>> [chunk.name or chunk.tag.value for chunk in chunks]
['man', 'prep', 'jacket', 'verb', 'stop']
"""

from __future__ import annotations

from dataclasses import dataclass, field

from screentest.language.lexicon import lexicon
from screentest.language.tagging import tag_words
from screentest.language.words import Tag, Word

_OPENERS = (Tag.DET, Tag.POSS, Tag.NUM, Tag.ADJECTIVE, Tag.COLOUR, Tag.PARTICIPLE, Tag.NOUN)
_INSIDE = (Tag.ADJECTIVE, Tag.COLOUR, Tag.PARTICIPLE, Tag.ADVERB)
LONGEST = 30
"""A noun phrase has at most so many words: time stays linear in the text."""
_NOBODY = frozenset(("nobody", "nothing", "none", "neither"))


@dataclass(slots=True)
class Chunk:
    """A noun phrase, a run of colours that ends in no noun, or a single other word."""

    tag: Tag
    words: list[Word]
    name: str = ""
    """The noun with those before it, as written: "flower bud". Empty: no noun phrase."""
    kind: str = ""
    """What kind of noun its last word is; empty: a thing."""
    negated: bool = False
    """no cars, nothing."""
    owned: bool = False
    """his, her, the rabbit's."""
    owner: bool = False
    """What owns the next phrase."""
    plural: bool = False
    agents: list[Chunk] = field(default_factory=list)
    """Of a verb: who does it."""

    @property
    def low(self) -> str:
        """Its last word in lower case."""
        return self.words[-1].low

    @property
    def is_noun(self) -> bool:
        """Whether it is a noun phrase."""
        return bool(self.name)

    @property
    def colours(self) -> list[Word]:
        """Its words that name colours."""
        return [word for word in self.words if word.colours]

    @property
    def animate(self) -> bool:
        """Whether it can act by itself."""
        return self.kind in ("people", "animals", "body")


def chunks_of(caption: str) -> list[Chunk]:
    """The chunks of a caption in order."""
    words = tag_words(caption)
    chunks: list[Chunk] = []
    at = 0
    while at < len(words):
        end = _phrase_end(words, at)
        if end > at:
            chunks.append(_phrase(caption, words[at:end]))
        else:
            end = max(at + 1, _colours_end(words, at))
            word = words[at]
            negated = word.low in _NOBODY
            name = word.text if negated else ""
            kind = lexicon().nouns.get(word.low, "") if word.tag is Tag.ADVERB else ""
            chunks.append(Chunk(word.tag, words[at:end], name, kind, negated))
        if words[at].low == "'s" and len(chunks) > 1 and chunks[-2].is_noun:
            chunks[-2].owner = True
        at = end
    return [chunk for chunk in chunks if chunk.is_noun or chunk.low != "'s"]


def _phrase_end(words: list[Word], at: int) -> int:
    """Where the noun phrase that begins here ends; ``at`` where none does."""
    first = words[at]
    if first.tag not in _OPENERS and not (first.tag is Tag.ADVERB and _inside(words, at + 1)):
        return at
    noun = at
    here = at
    while here < len(words) and here - at < LONGEST:
        tag = words[here].tag
        if tag is Tag.NOUN:
            here += 1
            noun = here
            if here < len(words) and words[here].tag is not Tag.NOUN:
                break
        elif tag in _INSIDE or _continues(words, at, here):
            here += 1
        else:
            break
    return noun


def _continues(words: list[Word], at: int, here: int) -> bool:
    """Whether a word that is neither noun nor attribute goes on with the phrase begun at ``at``."""
    match words[here].tag:
        case Tag.DET | Tag.POSS | Tag.NUM:
            return here == at or (here - at < 3 and words[here].low != "'s")
        case Tag.DIRECTION:
            return here > at and _inside(words, here + 1)
        case Tag.COMMA | Tag.AND:
            return here > at and _joins(words, here)
    return False


def _inside(words: list[Word], at: int) -> bool:
    return at < len(words) and words[at].tag in (*_INSIDE, Tag.NOUN)


def _joins(words: list[Word], at: int) -> bool:
    """Whether a comma or "and" joins two attributes of one noun: red and white scarf."""
    attributes = (Tag.ADJECTIVE, Tag.COLOUR)
    if words[at - 1].tag not in attributes or at + 1 >= len(words):
        return False
    then = at + 1
    if words[at].tag is Tag.COMMA and words[then].tag is Tag.AND and then + 1 < len(words):
        then += 1
    return words[then].tag in (*attributes, Tag.AND)


def _colours_end(words: list[Word], at: int) -> int:
    """Where a list of colours ends that no noun follows: "is red, blue and yellow"."""
    end = at
    while end < len(words):
        joint = end > at and words[end].tag in (Tag.COMMA, Tag.AND) and _joins(words, end)
        if words[end].tag is not Tag.COLOUR and not joint:
            break
        end += 1
    return end


def _phrase(caption: str, words: list[Word]) -> Chunk:
    lex = lexicon()
    first = len(words) - 1
    while first > 0 and words[first - 1].tag is Tag.NOUN:
        first -= 1
    head = words[-1].low
    return Chunk(
        Tag.NOUN,
        words,
        name=caption[words[first].start : words[-1].end],
        kind="" if _is_thing(words) else lex.kind(head),
        negated=any(word.low == "no" for word in words),
        owned=words[0].tag is Tag.POSS,
        plural=_is_plural(head),
    )


def _is_plural(head: str) -> bool:
    ends = head.endswith("s") and not head.endswith(("ss", "us", "is"))
    return ends or lexicon().singular(head) != head or head in ("people", "cattle")


def _is_thing(words: list[Word]) -> bool:
    """A top of some colour is worn, a golden frame hangs, a traffic light stands."""
    head = words[-1].low
    before = words[-2] if len(words) > 1 else words[-1]
    if head in ("light", "lights"):
        return head == "lights" or before.low in ("traffic", "street")
    described = any(word.tag in (Tag.COLOUR, Tag.ADJECTIVE) for word in words)
    return (head == "top" and described) or (head == "frame" and bool(before.colours))
