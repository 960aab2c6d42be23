"""Words of a caption and what each is in its sentence."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from screentest.language.lexicon import Verb

# Letters of any script with inner hyphens and apostrophes; a possessive 's is a word of its own.
_WORD = re.compile(r"['’]s\b|[^\W_]+(?:[-–‑'’](?!s\b)[^\W_]+)*|[^\w\s]|_")


class Tag(StrEnum):
    """What a word is in its sentence."""

    DET = "det"
    POSS = "poss"
    NUM = "num"
    PREP = "prep"
    AND = "and"
    SUBORDINATE = "subordinate"
    RELATIVE = "relative"
    PRONOUN = "pronoun"
    COPULA = "copula"
    AUXILIARY = "auxiliary"
    NEGATIVE = "negative"
    ADVERB = "adverb"
    DIRECTION = "direction"
    ADJECTIVE = "adjective"
    PARTICIPLE = "participle"
    """A verb's -ing before a noun: a running man."""
    COLOUR = "colour"
    NOUN = "noun"
    VERB = "verb"
    PASSIVE = "passive"
    """A past participle that says what was done to something."""
    INFINITIVE = "infinitive"
    """A verb that is not said to happen: to grab, for walking."""
    COMMA = "comma"
    STOP = "stop"


@dataclass(slots=True)
class Word:
    """One word; ``tag`` is settled from left to right."""

    text: str
    start: int
    low: str
    tag: Tag = Tag.NOUN
    verb: Verb | None = None
    colours: tuple[str, ...] = ()
    """The colours in it, as written: two in "brown-and-white"."""
    colour_of: str = ""
    """What has the colour, where the word says it itself: the hair of "white-haired"."""

    @property
    def end(self) -> int:
        """Where it ends in the caption."""
        return self.start + len(self.text)


def split_words(caption: str) -> list[Word]:
    """The words of a caption, not tagged yet."""
    return [
        Word(found[0], found.start(), found[0].lower().replace("’", "'"))
        for found in _WORD.finditer(caption)
    ]
