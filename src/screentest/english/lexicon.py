"""The words that the rules go by: plain text files beside this one, read once."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

HOME = Path(__file__).parent / "words"
_VOWELS = "aeiou"
RULE_WORDS: Mapping[str, Any] = tomllib.loads((HOME / "rules.toml").read_text(encoding="utf-8"))
"""Lists of words that single rules go by."""
NUMBERS: Sequence[str] = RULE_WORDS["numbers"]


@dataclass(frozen=True, slots=True)
class Verb:
    """One form of a verb."""

    base: str
    form: str
    """base, s, ing or past."""
    motion: bool
    """Whether what does it visibly moves."""


@dataclass(frozen=True, slots=True)
class Lexicon:
    """All word lists, in lower case."""

    verbs: dict[str, Verb]
    nouns: dict[str, str]
    """Singular noun → people, animals, scenes, film-term, body, abstract."""
    plurals: dict[str, str]
    """Irregular plural → singular."""
    adjectives: frozenset[str]
    colours: frozenset[str]
    colour_nouns: frozenset[str]
    """Colours that are also things."""
    names: frozenset[tuple[str, str]]
    """Two words that are a name together."""
    things: frozenset[str] = frozenset()
    """Singular nouns for what can be seen and pointed at, people and animals apart."""
    own_things: frozenset[str] = frozenset()
    """Those of our own list: also names of products."""
    small: dict[str, str] = field(default_factory=dict)
    """Word of a closed class → its class."""
    digest: str = ""

    def singular(self, word: str) -> str:
        """Return the singular of a noun, by list or by its ending.

        >>> [lexicon().singular(word) for word in ("women", "boxes", "berries", "glass")]
        ['woman', 'box', 'berry', 'glass']
        """
        if word in self.plurals:
            return self.plurals[word]
        if word in ("species", "series", "lens"):
            return word
        if word.endswith("cti"):
            return word[:-1] + "us"  # cacti
        if word in self.nouns or not word.endswith("s") or word.endswith(("ss", "us", "is")):
            return word
        if word.endswith("ies") and len(word) > 4:
            return word[:-3] + "y"
        if word.endswith(("ches", "shes", "sses", "xes", "zes", "toes", "roes")):
            return word[:-2]
        return word[:-1]

    def kind(self, word: str) -> str:
        """Return what kind of noun it is; empty for a thing or an unknown word."""
        word = word.rsplit("-", 1)[-1] if word not in self.nouns else word
        single = self.singular(word)
        available = self.nouns.get(word) or self.nouns.get(single)
        return available or ("" if single in self.things else _by_ending(single))

    def concrete(self, word: str) -> bool:
        """Return whether a noun names what can be pointed at: a thing, a person or an animal.

        A word in no list is not one: most of them are names and abstractions.

        >>> [word for word in ("kettles", "daytime", "nurse", "Leon") if lexicon().concrete(word)]
        ['kettles', 'nurse']
        """
        kind = self.kind(word)
        if kind:
            return kind in ("people", "animals")
        word = word if word in self.things else word.rsplit("-", 1)[-1]
        return word in self.things or self.singular(word) in self.things


@cache
def lexicon() -> Lexicon:
    """Return the lexicon as packaged."""
    nouns, plurals = _nouns()
    colours = dict(_labelled("colours", default="colour"))
    things = [word.partition("/")[0] for word in _words("things")]
    wordnet = _wordnet({*nouns, *things, *_words("adjectives")})
    for kind in ("people", "animals", "body"):
        nouns.update(dict.fromkeys(wordnet[kind], kind))
    taken = {*nouns, *things, *wordnet["thing"], *wordnet["substance"], *_words("small_words")}
    return Lexicon(
        verbs=_verbs(wordnet["verb"], taken),
        nouns=nouns,
        plurals=plurals,
        adjectives=frozenset([*_words("adjectives"), *wordnet["adjective"]]),
        things=frozenset([*things, *wordnet["thing"], *wordnet["substance"]]),
        own_things=frozenset(things),
        colours=frozenset(colours),
        colour_nouns=frozenset(word for word, kind in colours.items() if kind == "noun"),
        names=frozenset(_pair(name) for name in _words("names")),
        small=dict(_labelled("small_words")),
        digest=_digest(),
    )


def _digest() -> str:
    whole = b"\0".join(
        path.name.encode() + path.read_bytes() for path in sorted(HOME.glob("*.txt"))
    )
    return hashlib.sha256(whole).hexdigest()[:12]


def _words(name: str) -> Iterator[str]:
    return (word for word, _ in _labelled(name))


def _labelled(name: str, default: str = "") -> Iterator[tuple[str, str]]:
    """Words with the label at the head of their line."""
    for line in (HOME / f"{name}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        label, colon, rest = line.partition(":")
        for word in (rest if colon else line).split():
            yield word, label if colon else default


def _pair(name: str) -> tuple[str, str]:
    first, _, second = name.partition("-")
    return first, second


def _nouns() -> tuple[dict[str, str], dict[str, str]]:
    nouns: dict[str, str] = {}
    plurals: dict[str, str] = {}
    # Later lists win: "figure" is a person first of all, "stream" a place.
    for name in ("other_nouns", "scenes", "animals", "people", "things"):
        for word, label in _labelled(name):
            single, *irregular = word.split("/")
            plurals.update(dict.fromkeys(irregular, single))
            if name != "things":
                nouns[single] = label or name
    return nouns, plurals


def _wordnet(known: set[str]) -> dict[str, list[str]]:
    """Words by kind; those that are in lists of ours are left to them."""
    result: dict[str, list[str]] = defaultdict(list)
    nouns = set(known)
    for word, kind in sorted(_labelled("wordnet"), key=lambda pair: pair[1] == "verb"):
        if kind not in ("adjective", "verb"):
            nouns.add(word)
        if word not in known and (kind != "verb" or word.partition("/")[0] not in nouns):
            result[kind].append(word)
    return result


def _verbs(more: list[str], taken: set[str]) -> dict[str, Verb]:
    """Those of our lists, and ``more`` that say nothing of movement and are not in other lists."""
    verbs: dict[str, Verb] = {}
    ours = [(word, name) for name in ("still", "motion") for word in _words(name)]
    for word, name in [*((word, "") for word in more), *ours]:
        base, *irregular = word.split("/")
        for form, written in _forms(base, irregular):
            if name or written not in taken:
                verbs[written] = Verb(base, form, name == "motion")
    return verbs


def _forms(base: str, irregular: list[str]) -> Iterator[tuple[str, str]]:
    yield from (("past", form) for form in irregular or [_past(base)])
    yield "ing", ing_form(base)
    yield "s", _third(base)
    yield "base", base


def forms_of(base: str) -> dict[str, str]:
    """Return a regular verb in all its forms.

    >>> forms_of("hug")
    {'past': 'hugged', 'ing': 'hugging', 's': 'hugs', 'base': 'hug'}
    """
    return dict(_forms(base, []))


def _third(base: str) -> str:
    if base.endswith(("s", "sh", "ch", "x", "z", "o")):
        return base + "es"
    return base[:-1] + "ies" if _consonant_y(base) else base + "s"


def _past(base: str) -> str:
    if base.endswith("e"):
        return base + "d"
    return base[:-1] + "ied" if _consonant_y(base) else _doubled(base) + "ed"


def ing_form(base: str) -> str:
    """Return the form in -ing.

    >>> [ing_form(base) for base in ("run", "make", "lie", "see")]
    ['running', 'making', 'lying', 'seeing']
    """
    if base.endswith("ie"):
        return base[:-2] + "ying"
    silent_e = base.endswith("e") and not base.endswith(("ee", "oe", "ye"))
    return (base[:-1] if silent_e and len(base) > 2 else _doubled(base)) + "ing"


def _consonant_y(base: str) -> bool:
    return base.endswith("y") and base[-2] not in _VOWELS


def _doubled(base: str) -> str:
    """With its last consonant twice, as in "running" but not "looking" or "listening"."""
    vowels = sum(letter in _VOWELS for letter in base)
    last, before = base[-1], base[-2]
    short = vowels == 1 and last not in f"{_VOWELS}wxy" and before in _VOWELS
    return base + last if short else base


_ABSTRACT_ENDINGS = ("ness", "tion", "sion", "ism", "hood", "ity", "ance", "ence", "ment", "ship")
_CONCRETE = frozenset(RULE_WORDS["concrete"])


def _by_ending(single: str) -> str:
    if single.endswith(("ologist", "woman", "sman", "person")):
        return "people"
    abstract = single.endswith(_ABSTRACT_ENDINGS) and len(single) > 5
    return "abstract" if abstract and single not in _CONCRETE else ""


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
    opens: bool = False
    """Whether it is the first word of a sentence."""

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def split_words(caption: str) -> list[Word]:
    """Return the words of a caption, not tagged yet."""
    words: list[Word] = []
    opens = True
    for result in _WORD.finditer(caption):
        low = result[0].lower().replace("’", "'")
        words.append(Word(result[0], result.start(), low, opens=opens))
        opens = low in ".!?:;" or (opens and not low[0].isalnum())
    return words
