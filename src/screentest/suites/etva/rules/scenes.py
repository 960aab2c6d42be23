"""Where things are ("a cat on a mat"), what they have, and how a prompt says that it is filmed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

from screentest.english.chunks import Chunk, Clauses
from screentest.english.lexicon import Tag
from screentest.suites.etva.graph import TERMS, Category, terms
from screentest.suites.etva.rules.phrases import PLACES, RESTING, Draft, be, is_entity, is_many, the

_FARTHEST = 8
_SIDES = terms("sides")


@dataclass(frozen=True, slots=True)
class Phrase:
    """The words that lead from a verb or noun to the next noun, and that noun."""

    words: str
    noun: Chunk

    @property
    def first(self) -> str:
        """The first word; empty where the noun follows at once."""
        return self.words.partition(" ")[0]

    @property
    def beside(self) -> bool:
        """Return whether it says on which side."""
        return not {"left", "right", "next"}.isdisjoint(self.words.split())


def following_phrase(clauses: Clauses, at: int) -> Phrase | None:
    """Return the noun that begins here, or that prepositions and sides lead to from here."""
    words: list[str] = []
    for chunk in clauses.chunks[at : at + _FARTHEST]:
        if chunk.is_noun and not _is_side(chunk):
            return None if chunk.negated else Phrase(" ".join(words), chunk)
        if chunk.tag in (Tag.PREP, Tag.DET, Tag.DIRECTION, Tag.ADJECTIVE) or _is_side(chunk):
            words += [word.low for word in chunk.words]
        else:
            return None
    return None


def places(draft: Draft, clauses: Clauses) -> None:
    """Every place that a noun phrase or a resting or moving subject is said to be at."""
    for at, chunk in enumerate(clauses.chunks):
        if chunk.tag is not Tag.PREP or chunk.low not in PLACES:
            continue
        if at and clauses.chunks[at - 1].tag is Tag.PREP:
            continue
        phrase = following_phrase(clauses, at)
        if phrase is None or not is_entity(phrase.noun):
            continue
        for holder in _holders(clauses, at, beside=phrase.beside):
            if is_entity(holder) and holder is not phrase.noun:
                asked = f"{be(holder)} {the(holder)} {phrase.words} {the(phrase.noun)}?"
                subject, other = draft.entity(holder), draft.entity(phrase.noun)
                draft.relation(subject, phrase.words, other, asked, Category.SPATIAL)


def belongings(draft: Draft, clauses: Clauses) -> None:
    """Add what something has: a mountain with an eye, a child with a caring look."""
    for at, chunk in enumerate(clauses.chunks[:-1]):
        if chunk.low != "with" or chunk.tag is not Tag.PREP:
            continue
        had = clauses.chunks[at + 1]
        if not had.is_noun or had.negated or had.words[0].low not in ("a", "an"):
            continue
        before = clauses.before(at)
        near = clauses.chunks[before] if before >= 0 else None
        holders = [near] if near is not None and near.is_noun else clauses.subject_before(at)
        for holder in holders[:1]:
            if is_entity(holder):
                _have(draft, holder, had)


def _have(draft: Draft, holder: Chunk, had: Chunk) -> None:
    what = " ".join(word.text for word in had.words)
    asked = f"{'Do' if is_many(holder) else 'Does'} {the(holder)} have {what}?"
    if is_entity(had):
        subject, other = draft.entity(holder), draft.entity(had)
        draft.relation(subject, "with", other, asked, Category.EXISTENCE)
    else:
        draft.attribute(draft.entity(holder), f"with {what}", asked, Category.OTHER)


def _holders(clauses: Clauses, at: int, *, beside: bool) -> list[Chunk]:
    """Return what is at a place: the noun right before, or who rests there or stands beside."""
    before = clauses.before(at)
    if before < 0:
        return []
    chunk = clauses.chunks[before]
    if chunk.is_noun:
        return [chunk]
    verb = chunk.words[0].verb
    rests = verb is not None and verb.base in RESTING
    if chunk.tag is Tag.COPULA or (chunk.tag is Tag.VERB and (rests or beside)):
        return chunk.agents
    return []


def _is_side(chunk: Chunk) -> bool:
    return chunk.low in _SIDES


@dataclass(frozen=True, slots=True)
class Filmed:
    """A quality of the whole film: what it is, and the question after it."""

    value: str
    question: str
    category: Category


_MOVES: Mapping[str, str] = TERMS["camera"]["moves"]
_WAYS: Mapping[str, str] = TERMS["camera"]["ways"]
_MOVE = "|".join(f"{base[:-1] if base.endswith('e') else base}\\w*" for base in _MOVES)
_WAY = "|".join(_WAYS)
_CAMERA = re.compile(
    rf"\b(?:the\s+)?camera\s+(?:(?:is|slowly|gently|quickly|steadily)\s+)*(?P<move>{_MOVE})"
    rf"(?:\s+(?:to\s+the\s+)?(?P<way>{_WAY})\b)?(?:\s+(?:the|her|him|it)\b)?",
    re.IGNORECASE,
)
_BARE = re.compile(
    rf"(?<=,)\s*(?P<move>pan|tilt|zoom|dolly|push|pull)(?:s|ning|ing|ming)?\s+(?P<way>{_WAY})\b",
    re.IGNORECASE,
)
_PHRASES = {name: re.compile(pattern) for name, pattern in TERMS["phrases"].items()}


def read_filming(prompt: str) -> tuple[str, list[Filmed]]:
    """Return the prompt without such phrases (blanks in their place), and the phrases.

    Such phrases are cut out of the text, so that "camera push in" is not read as a push.

    >>> rest, asked = read_filming("A girl walks, camera pull out, in watercolour style.")
    >>> rest.split()
    ['A', 'girl', 'walks', '.']
    >>> [one.question for one in asked]
    ['Is the camera pulling out, away from the subject?', 'Is the video in watercolour style?']
    """
    result: list[tuple[int, Filmed]] = []
    for pattern, read in _readers():
        result += [(match.start(), read(match)) for match in pattern.finditer(prompt)]
        prompt = pattern.sub(_blanks, prompt)
    prompt = re.sub(r"[,\s]+(?=[.]|$)", _blanks, prompt)
    kept: dict[str, Filmed] = {}
    for _, filmed in sorted(result, key=lambda pair: pair[0]):
        kept.setdefault(filmed.question, filmed)
    return prompt, list(kept.values())


def _blanks(match: re.Match[str]) -> str:
    return " " * len(match[0])


_Reader: TypeAlias = Callable[[re.Match[str]], Filmed]


@cache
def _readers() -> list[tuple[re.Pattern[str], _Reader]]:
    """Return what is looked for, in this order, and how it is read."""
    style_of = _worded("style of {}", "Is the video in the style of {}?")
    monochrome = _worded("black and white", "Is the video in black and white?", Category.COLOR)
    techniques = [
        (re.compile(rf"\b{words}\b", re.IGNORECASE), _worded(value, question, Category.CAMERA))
        for words, value, question in TERMS["camera"]["techniques"]
    ]
    return [
        *((_PHRASES["quoted"], _written_words), (_CAMERA, _camera), (_BARE, _camera), *techniques),
        *((_PHRASES["view"], _view), (_PHRASES["by"], style_of), (_PHRASES["style_of"], style_of)),
        (_PHRASES["style"], _worded("{} style", "Is the video in {} style?")),
        *((_PHRASES["art_of"], _art), (_PHRASES["art"], _art)),
        (_PHRASES["monochrome"], monochrome),
    ]


def _worded(value: str, question: str, category: Category = Category.OTHER) -> _Reader:
    """Return a reader that fills in the name where the pattern has one."""

    def read(match: re.Match[str]) -> Filmed:
        name = match.groupdict().get("name", "").strip()
        return Filmed(value.format(name), question.format(name), category)

    return read


def _camera(match: re.Match[str]) -> Filmed:
    answer = match["move"].lower()
    move = next(
        moving
        for base, moving in _MOVES.items()
        if answer.startswith(base[:-1] if base.endswith("e") else base)
    )
    way = (match["way"] or "").lower()
    tail = f" {_WAYS[way]}" if way else " the subject" if move == "following" else ""
    return Filmed(f"{answer} {way}".strip(), f"Is the camera {move}{tail}?", Category.CAMERA)


def _view(match: re.Match[str]) -> Filmed:
    name = f"{match['side'].lower()} {match['kind'].lower()}"
    which = "an" if name[0] in "aeiou" else "a"
    return Filmed(name, f"Is the scene shown in {which} {name}?", Category.CAMERA)


def _art(match: re.Match[str]) -> Filmed:
    name = match["name"].strip()
    counted = name.lower().endswith(("painting", "drawing", "sketch", "illustration", "collage"))
    counted |= name.lower().endswith(("cartoon", "engraving", "mosaic", "fresco", "photograph"))
    which = "an " if name[0].lower() in "aeiou" else "a "
    name += " ".join(["", *(match.groupdict().get("maker") or "").split()])
    return Filmed(name, f"Does the video look like {which * counted}{name}?", Category.OTHER)


def _written_words(match: re.Match[str]) -> Filmed:
    words = " ".join(match["words"].split())
    question = f'Can the words "{words}" be read in the video?'
    return Filmed(f'the words "{words}"', question, Category.OTHER)
