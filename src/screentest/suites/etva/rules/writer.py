"""A prompt read by grammar rules: its scene graph, and a question per node and edge.

>>> written = write_by_rules("Two dogs run through a small forest, camera pan left.")
>>> for question in written.questions:
...     print(question.category.value, question.text)
existence Are there any dogs shown in the video?
existence Is there a forest shown in the video?
number Are there exactly two dogs in the video?
shape Is the forest small?
motion Are the dogs running?
camera Is the camera panning to the left?
motion Are the dogs running through the forest?
"""

from __future__ import annotations

import re

from screentest.core import Signature
from screentest.english.chunks import Chunk, Clauses, chunks_of
from screentest.english.lexicon import Tag, lexicon
from screentest.suites.etva.graph import Category
from screentest.suites.etva.questions import QuestionSet
from screentest.suites.etva.rules.actions import actions, changes, likenesses
from screentest.suites.etva.rules.phrases import (
    MATERIALS,
    TIMES,
    Draft,
    be,
    is_entity,
    is_name,
    kind_of_attribute,
    name_of,
    the,
)
from screentest.suites.etva.rules.scenes import belongings, places, read_filming

NAME = "rules"
VERSION = 2
_COUNTS = (
    *("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve"),
)
_SHORT = re.compile(r"[A-Za-z'-]+(?: [A-Za-z'-]+){0,4}")
"""A prompt of a few words, such as "industrial area"."""
_SUBJECT = re.compile(r"(?<=, )(?P<noun>[a-z]+s)(?= [a-z]+ing\b)")
"""What does something after a comma: a beach, waves lapping on sand."""
_MOST = 2_000
"""Characters that are read; a prompt is not a book."""


def rules_signature() -> Signature:
    """Return what questions by these rules depend on."""
    return Signature.of(f"etva_{NAME}", version=VERSION, lexicon=lexicon().digest)


def write_by_rules(prompt: str) -> QuestionSet:
    """Return the graph and questions of a prompt. English only; what no rule reads is not asked."""
    text, filmed = read_filming(prompt[:_MOST])
    text = _SUBJECT.sub(_as_subject, text)
    clauses = Clauses(chunks_of(text))
    draft = Draft()
    for chunk in clauses.chunks:
        if is_entity(chunk) and not chunk.compared:
            draft.entity(chunk)
    for chunk in clauses.chunks:
        if is_entity(chunk) and not chunk.compared:
            _qualities(draft, chunk)
        elif chunk.is_noun and chunk.low in TIMES:
            question = f"Does it take place {_when(chunk.low)}?"
            draft.attribute(draft.picture(), chunk.low, question, Category.OTHER)
    _said_of(draft, clauses)
    changes(draft, clauses)
    likenesses(draft, clauses)
    actions(draft, clauses)
    places(draft, clauses)
    belongings(draft, clauses)
    for item in filmed:
        holder = draft.film() if item.category is Category.CAMERA else draft.picture()
        draft.attribute(holder, item.value, item.question, item.category)
    if draft.empty and _SHORT.fullmatch(text.strip(" .")):
        draft.whole(text.strip(" ."))
    graph, questions = draft.finished()
    return QuestionSet(prompt, tuple(questions), graph, writer=NAME)


def _as_subject(match: re.Match[str]) -> str:
    noun, words = match["noun"], lexicon()
    verb = words.verbs.get(noun)
    single = words.singular(noun)
    available = single in words.things or single in words.nouns
    return f"the {noun}" if verb is not None and verb.form == "s" and available else noun


def _when(low: str) -> str:
    if low in ("morning", "afternoon", "evening", "daytime"):
        return f"in the {low}"
    seasons = ("spring", "summer", "autumn", "fall", "winter")
    return f"in {low}" if low in seasons else f"at {low}"


def _qualities(draft: Draft, chunk: Chunk) -> None:
    """Add what the words before a noun say of it: count, colour, adjectives, material."""
    entity, is_, it = draft.entity(chunk), be(chunk), the(chunk)
    for word in chunk.words[:-1]:
        low = word.low
        if word.tag is Tag.NUM and (low in _COUNTS or (low.isdecimal() and len(low) < 4)):
            exists = "Is" if low in ("one", "1") else "Are"
            asked = f"{exists} there exactly {low} {name_of(chunk)} in the video?"
            draft.attribute(entity, low, asked, Category.NUMBER)
        elif word.tag is Tag.COLOUR or word.colours:
            draft.attribute(entity, low, f"{is_} {it} {low}?", Category.COLOR)
        elif low.endswith("-shaped"):
            like = low.removesuffix("-shaped")
            draft.attribute(entity, low, f"{is_} {it} shaped like a {like}?", Category.SHAPE)
        elif word.tag in (Tag.ADJECTIVE, Tag.PARTICIPLE) or _is_made_of(low, chunk):
            made = low in MATERIALS and not low.endswith(("en", "y", "ic"))
            answer = f"made of {low}" if made else low
            draft.attribute(entity, low, f"{is_} {it} {answer}?", kind_of_attribute(low))


def _is_made_of(low: str, chunk: Chunk) -> bool:
    if is_name(chunk):
        return False  # nobody asks what Iron Man is made of
    return low in MATERIALS and (low, chunk.low) not in (("ice", "cream"), ("gold", "fish"))


def _said_of(draft: Draft, clauses: Clauses) -> None:
    """Add what a copula says of its subject: the sky is blue."""
    for at, chunk in enumerate(clauses.chunks):
        if chunk.tag is not Tag.COPULA or chunk.negated:
            continue
        answer = _predicate(clauses.chunks[at + 1 :])
        if not answer:
            continue
        words = " ".join(word.low for item in answer for word in item.words)
        colour = any(item.tag is Tag.COLOUR for item in answer)
        kind = Category.COLOR if colour else kind_of_attribute(answer[-1].low)
        for agent in chunk.agents:
            if is_entity(agent):
                asked = f"{be(agent)} {the(agent)} {words}?"
                draft.attribute(draft.entity(agent), words, asked, kind)


def _predicate(chunks: list[Chunk]) -> list[Chunk]:
    """Return the adjectives and colours right after a copula, adverbs left out."""
    answer: list[Chunk] = []
    for chunk in chunks:
        if chunk.tag in (Tag.ADJECTIVE, Tag.COLOUR) and not chunk.is_noun:
            answer.append(chunk)
        elif chunk.tag is not Tag.ADVERB or answer:
            break
    return answer
