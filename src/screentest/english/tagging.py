"""The part of speech of each word, by lexicon, ending and neighbours.

>>> [(word.text, word.tag.value) for word in tag_words("Green leaves fall.")]
[('Green', 'colour'), ('leaves', 'noun'), ('fall', 'verb'), ('.', 'stop')]
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from screentest.english.lexicon import RULE_WORDS, Lexicon, Tag, Verb, Word, lexicon, split_words

_MORE_CLASSES = {"determiner": "det", "possessive": "poss", "number": "num", "preposition": "prep"}
_NOUN_ING = frozenset(RULE_WORDS["ing_nouns"])
_NO_ADVERB = ("fly", "lly", "family", "lily", "july", "italy", "ply", "holy", "assembly")
_ADJECTIVE_ENDINGS = ("ful", "ous", "ish", "less", "able", "ible", "esque", "ical", "ive")
_ADJECTIVES_ONLY = frozenset(("early", "elderly", "friendly", "lively", "lonely", "lovely", "ugly"))
_BEFORE_NOUN = (Tag.DET, Tag.POSS, Tag.NUM, Tag.ADJECTIVE, Tag.COLOUR, Tag.PARTICIPLE)
_HEIGHTS = ("upper", "lower", "top", "bottom")
_NEVER_NOUNS = frozenset(("other", "same", "next", "upper", "lower", "far", "own", "first", "last"))
_THINGS = frozenset(RULE_WORDS["no_adjectives"])
_COMPARATIVES = frozenset(RULE_WORDS["comparatives"])
_SUBJECTS = (Tag.NOUN, Tag.PRONOUN, Tag.RELATIVE)
_AFTER_VERB = frozenset(RULE_WORDS["after_verb"])
_IN_COMPOUNDS = frozenset(RULE_WORDS["in_compounds"])
_NOT_A_SIDE = frozenset(RULE_WORDS["not_a_side"])
_STEMS: Mapping[str, str] = RULE_WORDS["stems"]


def tag_words(caption: str) -> list[Word]:
    """Return the words of a caption, tagged."""
    words = split_words(caption)
    tagger = _Tagger(words, lexicon())
    for number in range(len(words)):
        tagger.settle(number)
    return words


class _Tagger:
    """Settles tags one after another; looks one word ahead and at what is settled behind."""

    def __init__(self, words: list[Word], lex: Lexicon) -> None:
        self.words = words
        self.lex = lex
        self.finite: Word | None = None
        """The last finite verb of the sentence so far."""
        self.previous = Tag.STOP
        """The tag before, adverbs left out."""
        self.head = ""
        """The last noun, in lower case."""
        self.last = ""
        """The word that ``previous`` is the tag of."""
        self.joined = False
        """Whether "and" came since the last finite verb."""
        self.room = 1
        """How many finite verbs may still come: one, and one for each word that opens a clause."""

    def settle(self, number: int) -> None:
        word = self.words[number]
        word.tag = self._tag(number, word)
        if word.tag is Tag.STOP:
            self.finite = None
            self.joined = False
            self.room = 1
        elif word.tag in (Tag.AND, Tag.COMMA, Tag.SUBORDINATE, Tag.RELATIVE, Tag.PRONOUN):
            self.joined |= word.tag is Tag.AND
            self.room = max(self.room, 0) + 1
        elif word.tag is Tag.VERB:
            if word.verb is None or word.verb.form != "ing" or self.previous is Tag.COPULA:
                self.finite = word
                self.joined = False
                self.room -= 1
        elif word.tag is Tag.NOUN:
            self.head = word.low
        if word.tag is not Tag.ADVERB:
            self.previous = word.tag
            self.last = word.low

    def _tag(self, number: int, word: Word) -> Tag:
        low = word.low
        if not low[0].isalnum() and low != "'s":
            return Tag.COMMA if low in ",'\"“”‘" else Tag.AND if low == "&" else Tag.STOP
        if low == "'s":
            return Tag.POSS
        if self._named(number):
            return Tag.ADJECTIVE if self._first_of_name(number) else Tag.NOUN
        if low == "back" and self.previous is Tag.VERB:
            return Tag.ADVERB  # "leans back"
        small = self._small(number, word)
        if small is not None:
            return small
        if self._colour(number, word):
            return Tag.COLOUR
        if low[0].isdigit():
            return Tag.NUM
        word.verb = self.lex.verbs.get(low)
        if word.verb is None:
            word.verb = self._guessed(number, low)
        if low in _COMPARATIVES:
            return Tag.ADVERB
        if word.verb is not None:
            return self._verb(number, word, word.verb)
        tag = self._other(low)
        if tag is Tag.NOUN and "-" in low and not self.lex.concrete(low) and not self.lex.kind(low):
            return Tag.ADJECTIVE if self._begins_noun(self._next(number)) else tag  # "hard-shell"
        if tag is Tag.ADJECTIVE and self.previous is Tag.DET and low not in _NEVER_NOUNS:
            following = self._next(number)
            alone = following in ".;" or self.lex.small.get(following) in ("preposition", "copula")
            return Tag.NOUN if alone else tag  # "a remote on the table"
        return tag

    def _named(self, number: int) -> bool:
        return self._first_of_name(number) or (number > 0 and self._first_of_name(number - 1))

    def _first_of_name(self, number: int) -> bool:
        pair = self.words[number].low, self._next(number)
        return pair in self.lex.names

    def _next(self, number: int) -> str:
        return self.words[number + 1].low if number + 1 < len(self.words) else "."

    def _small(self, number: int, word: Word) -> Tag | None:
        name = self.lex.small.get(word.low)
        if name is None:
            return None
        following = self._next(number)
        if name == "direction":
            return self._side(number, word)
        if word.low == "her" and not self._begins_noun(following):
            return Tag.PRONOUN
        if word.low == "that" and self.previous in (Tag.STOP, Tag.PREP):
            return Tag.DET
        if word.low == "no":
            return Tag.DET
        if word.low == "what" and following in self.lex.verbs:
            return Tag.RELATIVE  # "what appears to be a hut"
        if word.low == "next" and self.previous is Tag.DET:
            return Tag.ADJECTIVE
        if word.low == "one" and not self._begins_noun(following):
            return Tag.NOUN
        return Tag(_MORE_CLASSES.get(name, name))

    def _side(self, number: int, word: Word) -> Tag:
        """Return whether left and right are sides; "has left" and "right away" are not."""
        following = self._next(number)
        if self.last in _HEIGHTS:
            return Tag.DIRECTION
        if word.low == "left":
            leaving = self.previous is Tag.AUXILIARY or (
                self.previous in (Tag.NOUN, Tag.PRONOUN, Tag.RELATIVE)
                and self.lex.small.get(following) in ("determiner", "possessive")
            )
            if leaving:
                word.verb = self.lex.verbs["left"]
                return Tag.VERB
            if following in ("behind", "over", "alone"):
                return Tag.ADVERB
        if word.low == "right":
            sure = self.previous in (Tag.PREP, Tag.DET, Tag.POSS, Tag.DIRECTION, Tag.AND)
            if self.previous is Tag.VERB:
                sure = following in (".", ",", ";", "and", "while")
            if number and self.words[number - 1].low == "far":
                sure = True
            if not sure:
                return Tag.ADVERB
            if self.previous in (Tag.DET, Tag.POSS) and following in _NOT_A_SIDE:
                return Tag.ADJECTIVE
        return Tag.DIRECTION

    def _begins_noun(self, low: str) -> bool:
        """Return whether a word can stand in a noun phrase."""
        return low[0].isalnum() and low not in self.lex.small

    def _colour(self, number: int, word: Word) -> bool:
        parts = re.split("[-–‑]", word.text)
        lows = [part.lower() for part in parts]
        following = self._next(number)
        if len(parts) == 1:
            if lows[0] not in self.lex.colours or self._is_a_thing(number, lows[0], following):
                return False
            if word.text[0].isupper() and not word.text.isupper() and self._title(number):
                return False
            word.colours = (word.text,)
            return True
        named = tuple(part for part in parts if part.lower() in self.lex.colours)
        if not named or lows[0] not in (*self.lex.colours, "light", "dark", "deep", "pale"):
            return False
        rest = [part for part in parts if part not in named and part.lower() not in _IN_COMPOUNDS]
        if named == ("black", "white") or lows == ["black", "and", "white"]:
            return False  # a film, hardly ever a thing of two colours
        word.colours = named
        word.colour_of = _stem(rest[-1]) if rest else ""
        return True

    def _is_a_thing(self, number: int, low: str, following: str) -> bool:
        """Return whether it is the fruit or the metal, not the colour."""
        noun_follows = self._begins_noun(following) and following not in ("is", "are")
        if low in self.lex.colour_nouns:
            listed = self.previous is Tag.AND and any(
                word.colours for word in self.words[max(0, number - 4) : number]
            )
            return not noun_follows and not listed
        if low == "orange":
            return self.previous in (Tag.DET, Tag.NUM, Tag.POSS) and not noun_follows
        return False

    def _title(self, number: int) -> bool:
        following = self.words[number + 1].text if number + 1 < len(self.words) else ""
        return following[:1].isupper()

    def _guessed(self, number: int, low: str) -> Verb | None:
        """Return a verb that is in no list, by its ending and what stands around it."""
        following = self._next(number)
        noun_known = bool(self.lex.kind(low)) or low in self.lex.adjectives
        if noun_known or not low.isalpha() or len(low) < 4:
            return None
        if low.endswith("ing") and low not in _NOUN_ING:
            return Verb(low, "ing", motion=False)
        if low.endswith("ed") and not low.endswith("eed"):
            return Verb(low, "past", motion=False)
        acting = self.lex.kind(self.head) in ("people", "animals", "film-term")
        third = low.endswith("s") and not low.endswith(("ss", "us"))
        # Only what can follow a verb may follow: "player dribbles past", not "woman doctors are".
        after = "adverb" if following.endswith("ly") else self.lex.small.get(following, "")
        single = self.previous is Tag.NOUN and not self.head.endswith("s")
        if acting and third and single and after in _AFTER_VERB:
            return Verb(low, "s", motion=False)
        return None

    def _verb(self, number: int, word: Word, verb: Verb) -> Tag:
        following = self._next(number)
        noun_follows = self._begins_noun(following) and (
            following not in self.lex.verbs or following in self.lex.things  # "of swirling sand"
        )
        match verb.form:
            case "ing":
                return self._ing(word.low, following, noun_follows)
            case "past":
                return self._past(verb, following, noun_follows)
            case "s":
                return self._third(number, word.low)
            case _:
                return self._base(word.low, self.lex.small.get(following, ""))

    def _ing(self, low: str, following: str, noun_follows: bool) -> Tag:
        after = self.lex.small.get(following, "")
        compound = self.previous is Tag.NOUN and after not in ("preposition", "determiner")
        if low == "setting" and following == "sun":
            return Tag.PARTICIPLE
        if low in _NOUN_ING and (compound or self.previous in (*_BEFORE_NOUN, Tag.PREP, Tag.AND)):
            return Tag.NOUN
        if self.previous is Tag.COPULA:
            return Tag.VERB
        if self.previous in _BEFORE_NOUN:
            return Tag.PARTICIPLE if self._begins_noun(following) else Tag.NOUN
        if self.previous is Tag.PREP:
            return Tag.PARTICIPLE if noun_follows else Tag.INFINITIVE
        if self.previous is Tag.STOP and noun_follows:
            return Tag.PARTICIPLE
        return Tag.VERB

    def _past(self, verb: Verb, following: str, noun_follows: bool) -> Tag:
        if self.previous is Tag.AUXILIARY:
            return Tag.VERB
        if self.previous is Tag.COPULA:
            return Tag.PASSIVE
        if self.previous in (*_BEFORE_NOUN, Tag.PREP, Tag.STOP):
            return Tag.ADJECTIVE if self._begins_noun(following) else Tag.PASSIVE
        if self.previous in (Tag.NOUN, Tag.COMMA, Tag.AND) and (
            self.lex.small.get(following) == "preposition" or following in ".,;"
        ):
            return Tag.PASSIVE
        if noun_follows and self.previous in (Tag.AND, Tag.COMMA):
            return Tag.ADJECTIVE
        return Tag.VERB if self.previous in _SUBJECTS else Tag.PASSIVE

    def _third(self, number: int, low: str) -> Tag:
        following = self._next(number)
        after = self.lex.small.get(following, "")
        if self.previous is Tag.ADJECTIVE and self.last in self.lex.nouns and self._may_be(after):
            return Tag.VERB  # "wrapped against the cold walks through"
        if self.last in ("another", "other", "one", "each") and after in _AFTER_VERB:
            return Tag.VERB  # "one after another walks in"
        if self.previous is Tag.COLOUR and self._may_be(after):
            of_clothes = number > 1 and self.words[number - 2].tag is Tag.PREP
            return Tag.VERB if of_clothes else Tag.NOUN  # "a player in red kicks the ball"
        if self.previous in (*_BEFORE_NOUN, Tag.PREP, Tag.COPULA, Tag.STOP, Tag.VERB):
            return Tag.NOUN
        if after == "copula" or (
            following in self.lex.verbs and after == "" and self.previous is not Tag.NOUN
        ):
            verb = self.lex.verbs.get(following)
            if after == "copula" or (verb is not None and verb.form in ("base", "past")):
                return Tag.NOUN
        if self.previous is Tag.NOUN and self.room < 1 and low not in ("is", "has"):
            return Tag.NOUN  # "he adjusts the shoulder straps"
        if self.previous is Tag.NOUN and self._plural(self.head):
            return Tag.VERB if after in _AFTER_VERB else Tag.NOUN  # "a man in jeans plays with"
        form = self._finite_form
        if self.previous is Tag.COMMA and self.head:
            listed = following in ("and", "or") and form == ""  # "trees, leaves and grass"
            return Tag.NOUN if form == "base" or listed or after == "copula" else Tag.VERB
        if self.previous in (Tag.AND, Tag.COMMA):
            return Tag.VERB if form in ("s", "past", "ing") else Tag.NOUN
        return Tag.VERB

    @property
    def _finite_form(self) -> str:
        return self.finite.verb.form if self.finite is not None and self.finite.verb else ""

    def _may_be(self, after: str) -> bool:
        """Return whether the clause's verb may stand here, before a word of class ``after``."""
        return self.finite is None and after in _AFTER_VERB

    def _base(self, low: str, after: str) -> Tag:
        before = self.previous
        if before is Tag.PREP and self.last == "to":
            return Tag.INFINITIVE
        if before is Tag.AUXILIARY:
            return Tag.VERB
        if before is Tag.RELATIVE or (before is Tag.NOUN and self._plural(self.head)):
            return Tag.VERB if low not in self.lex.nouns or before is Tag.NOUN else Tag.NOUN
        if before is Tag.PRONOUN and self.last in ("they", "we", "you", "i"):
            return Tag.VERB
        if before is Tag.AND and self._finite_form == "base":
            return Tag.VERB
        acting = before is Tag.NOUN and self.lex.kind(self.head) in ("people", "animals")
        if acting and (low not in self.lex.nouns or (self.joined and after in _AFTER_VERB)):
            return Tag.VERB  # "a crow and a hawk fly over it"
        return self._other(low)

    def _plural(self, low: str) -> bool:
        return self.lex.singular(low) != low or low in ("people", "cattle")

    def _other(self, low: str) -> Tag:
        if low in self.lex.adjectives or low in _ADJECTIVES_ONLY:
            return Tag.ADJECTIVE
        if low.endswith("ly") and len(low) > 4 and not low.endswith(_NO_ADVERB):
            return Tag.ADVERB
        if low.endswith(("ally", "fully")) and len(low) > 5:
            return Tag.ADVERB  # "gradually", "gracefully"; not "rally"
        by_ending = len(low) > 6 and low.endswith(_ADJECTIVE_ENDINGS) and low not in _THINGS
        if by_ending and not self.lex.kind(low):
            return Tag.ADJECTIVE
        if "-" in low and low.endswith("ed"):
            return Tag.ADJECTIVE
        return Tag.NOUN


def _stem(part: str) -> str:
    """Return the noun in "haired" or "tipped", as it stands in the word itself."""
    low = part.lower()
    if low in _STEMS:
        return part[: len(_STEMS[low])]
    if not low.endswith("ed") or len(low) < 5:
        return part
    bare = part[:-2]
    return bare[:-1] if bare[-1] == bare[-2] and bare[-1] not in "ls" else bare
