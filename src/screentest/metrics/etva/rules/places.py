"""Where things are: "a cat on a mat", "a dog on the left of a bicycle"."""

from __future__ import annotations

from dataclasses import dataclass

from screentest.language.chunks import Chunk
from screentest.language.clauses import Clauses
from screentest.language.words import Tag
from screentest.metrics.etva.categories import Category
from screentest.metrics.etva.rules.draft import Draft
from screentest.metrics.etva.rules.kinds import PLACES, RESTING
from screentest.metrics.etva.rules.phrases import be, is_entity, is_many, the

_FARTHEST = 8
_SIDES = ("left", "right", "top", "bottom", "front", "back", "side", "middle", "centre", "center")
_SURFACES = ("surface", "side", "edge", "peak", "top", "bottom", "middle", "centre", "center")


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
        """Whether it says on which side."""
        return not {"left", "right", "next"}.isdisjoint(self.words.split())


def following_phrase(clauses: Clauses, at: int) -> Phrase | None:
    """The noun that begins here, or that prepositions and sides lead to from here."""
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
    """What something has: a mountain with an eye, a child with a caring look."""
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
    """What is at a place: the noun right before, or who rests there or stands beside."""
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
    return chunk.low in _SIDES or chunk.low in _SURFACES
