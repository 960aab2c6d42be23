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
from collections.abc import Sequence
from dataclasses import dataclass

from screentest.core import Outcome, Reason, Signature
from screentest.english.chunks import Chunk, Clauses, chunks_of
from screentest.english.lexicon import Tag, lexicon
from screentest.suites.etva.checks import is_latin
from screentest.suites.etva.graph import Category, terms
from screentest.suites.etva.questions import QuestionSet
from screentest.suites.etva.rules.phrases import (
    MATERIALS,
    PLACES,
    RESTING,
    TIMES,
    Draft,
    be,
    doing,
    is_entity,
    is_many,
    is_name,
    kind_of_action,
    kind_of_attribute,
    name_of,
    the,
)
from screentest.suites.etva.rules.scenes import (
    Phrase,
    belongings,
    following_phrase,
    places,
    read_filming,
)

_TURNING = terms("turning")
_TURNING_WORDS = ("changing", "turning", "shifting", "fading", "transitioning")
_FARTHEST = 12


def changes(draft: Draft, clauses: Clauses) -> None:
    """Every change of colour: from one to another, or to one."""
    for at, chunk in enumerate(clauses.chunks):
        agents = _turning(clauses, at)
        answer = _colours_after(clauses.chunks[at + 1 : at + 1 + _FARTHEST]) if agents else ""
        for agent in agents if answer else ():
            does = "Do" if is_many(agent) else "Does"
            verb = "change" if answer.startswith("from ") else _base(chunk)
            asked = f"{does} {the(agent)} {verb} {answer}?"
            draft.attribute(draft.entity(agent), f"{verb} {answer}", asked, Category.COLOR)


def spoken_for(clauses: Clauses, at: int) -> bool:
    """Return whether the verb at this place is asked about as a change of colour."""
    after = clauses.chunks[at + 1 : at + 1 + _FARTHEST]
    return bool(_turning(clauses, at)) and bool(_colours_after(after))


def likenesses(draft: Draft, clauses: Clauses) -> None:
    """Find shapes: a cloud shaped like a hand, a cup in the shape of a heart."""
    chunks = clauses.chunks
    for at in range(len(chunks)):
        held = clauses.before(at)
        holder = chunks[held] if held >= 0 else None
        if holder is None or not is_entity(holder):
            continue
        like = _like(chunks[at : at + 4])
        if like is not None:
            what = " ".join(word.text for word in like.words)
            asked = f"{be(holder)} {the(holder)} shaped like {what}?"
            draft.attribute(draft.entity(holder), f"shaped like {what}", asked, Category.SHAPE)


def _like(chunks: Sequence[Chunk]) -> Chunk | None:
    """Return the noun that a shape is compared with, where these chunks say so."""
    lows = [chunk.low for chunk in chunks]
    if lows[:1] == ["shaped"] and lows[1:2] in (["like"], ["as"]):
        result = chunks[2:3]
    elif lows[:3] in (["in", "shape", "of"], ["in", "form", "of"]):
        result = chunks[3:4]
    else:
        return None
    return result[0] if result and result[0].is_noun else None


def _turning(clauses: Clauses, at: int) -> list[Chunk]:
    """Return who changes, where the chunk says that somebody or something does."""
    chunk = clauses.chunks[at]
    verb = chunk.words[0].verb
    if chunk.tag is Tag.VERB and verb is not None and verb.base in _TURNING and not chunk.negated:
        return [agent for agent in chunk.agents if is_entity(agent)]
    # "a leaf changing color": the participle clings to the noun behind it.
    if chunk.is_noun and chunk.words[0].low in _TURNING_WORDS and chunk.low in ("color", "colour"):
        before = clauses.before(at)
        holder = clauses.chunks[before] if before >= 0 else None
        return [holder] if holder is not None and is_entity(holder) else []
    return []


def _base(chunk: Chunk) -> str:
    verb = chunk.words[0].verb
    return verb.base if verb is not None else "change"


def _colours_after(chunks: Sequence[Chunk]) -> str:
    """ "from green to bright red", or "orange": what stands right after a verb of turning."""
    words: list[str] = []
    colours = 0
    for chunk in chunks:
        lows = [word.low for word in chunk.words]
        if chunk.tag is Tag.COLOUR:
            colours += 1
        elif chunk.is_noun and chunk.low in ("color", "colour", "colors", "colours"):
            if not any(word.colours or word.tag is Tag.COLOUR for word in chunk.words):
                continue  # "changes color from …"
            colours += 1
        elif not (
            (chunk.tag is Tag.PREP and chunk.low in ("from", "to", "into"))
            or (chunk.tag in (Tag.ADJECTIVE, Tag.DET) and not chunk.is_noun)
        ):
            break
        words += lows
    if colours == 0 or (words and words[0] == "from" and colours < 2):
        return ""
    return " ".join(words) if words[-1] not in ("to", "into", "from") else ""


_WAYS = terms("directions")
_SILENT = terms("silent")
"""Verbs that say nothing by themselves."""
_VAGUE = terms("vague")


@dataclass(frozen=True, slots=True)
class _Action:
    agents: tuple[Chunk, ...]
    base: str
    words: str
    """In -ing, or being with a participle."""

    @property
    def passive(self) -> bool:
        return self.words.startswith("being ")

    @property
    def who(self) -> str:
        return " and ".join(the(agent) for agent in self.agents)

    @property
    def be(self) -> str:
        return be(self.agents[0], len(self.agents))

    def asked(self, rest: str = "") -> str:
        """Return the question, with what follows the verb."""
        return " ".join(f"{self.be} {self.who} {self.words} {rest}".split()) + "?"


def actions(draft: Draft, clauses: Clauses) -> None:
    """Every verb with its agents, as attributes and relations."""
    for at, chunk in enumerate(clauses.chunks):
        verb = chunk.words[0].verb
        if chunk.tag not in (Tag.VERB, Tag.PASSIVE) or chunk.negated or verb is None:
            continue
        if spoken_for(clauses, at):
            continue
        agents = tuple(agent for agent in _agents(clauses, at) if is_entity(agent))
        if agents:
            passive = chunk.tag is Tag.PASSIVE or chunk.words[0].low in ("made", "filled")
            answer = f"being {chunk.words[0].text}" if passive else doing(chunk.words[0])
            _act(draft, clauses, at, _Action(agents, verb.base, answer))


def _agents(clauses: Clauses, at: int) -> list[Chunk]:
    """Return who does it; "two deer graze" has a plural that only the verb tells."""
    verb = clauses.chunks[at]
    before = clauses.before(at)
    near = clauses.chunks[before] if before >= 0 else None
    if verb.agents or near is None or not near.is_noun:
        # A material clings to the noun it stands behind: people on roads made of water.
        if near is not None and near.is_noun and verb.words[0].low in ("made", "filled"):
            return [near]
        return verb.agents
    return [near] if near.kind == "animals" else []


def _act(draft: Draft, clauses: Clauses, at: int, action: _Action) -> None:
    subject, kind = draft.entity(action.agents[0]), kind_of_action(action.base)
    manner, after = _manner(clauses, at)
    phrase = following_phrase(clauses, after)
    if phrase is not None and phrase.noun in action.agents:
        phrase = None
    direct = phrase is not None and not phrase.words
    clings = action.base in ("make", "fill", "cover") and action.passive
    placed = action.base in RESTING and action.passive
    if not (direct or clings or placed) and action.base not in _SILENT:
        draft.attribute(subject, action.words, action.asked(), kind)
    if manner and not direct and not clings and action.base not in _SILENT:
        draft.attribute(subject, f"{action.words} {manner}", action.asked(manner), kind)
    if phrase is not None:
        _towards(draft, action, phrase, clings=clings)


def _towards(draft: Draft, action: _Action, phrase: Phrase, *, clings: bool) -> None:
    """Add what is done to something else, or where to."""
    subject, kind = draft.entity(action.agents[0]), kind_of_action(action.base)
    seen = is_entity(phrase.noun)
    if clings:
        participle = action.words.removeprefix("being ")
        kind = Category.MATERIAL
        asked = f"{action.be} {action.who} {participle} {phrase.words} {name_of(phrase.noun)}?"
    elif action.base in _SILENT or (not seen and phrase.first in _VAGUE):
        return
    elif phrase.beside or (action.base in RESTING and phrase.first in PLACES):
        if not action.passive:
            return  # a place, not a deed: asked as such
        kind = Category.SPATIAL
        asked = action.asked(f"{phrase.words} {the(phrase.noun)}")
    else:
        noun = the(phrase.noun) if seen else " ".join(word.text for word in phrase.noun.words)
        asked = action.asked(f"{phrase.words} {noun}")
    words = f"{action.words} {phrase.words}".strip()
    if seen:
        draft.relation(subject, words, draft.entity(phrase.noun), asked, kind)
    else:
        draft.attribute(subject, f"{words} {phrase.noun.name}", asked, kind)


def _manner(clauses: Clauses, at: int) -> tuple[str, int]:
    """Adverbs before a verb, adverbs and directions right after it, and where they end."""
    chunks = clauses.chunks
    words = [chunks[at - 1].low] if at and chunks[at - 1].low.endswith("ly") else []
    here = at + 1
    while here < len(chunks):
        chunk = chunks[here]
        way = chunk.low in _WAYS and not _leads_on(clauses, here)
        if chunk.tag is not Tag.ADVERB and not way:
            break
        words.append(chunk.low)
        here += 1
    return " ".join(words), here


def _leads_on(clauses: Clauses, here: int) -> bool:
    """Return whether a preposition goes on to a noun, or to "the left of" one."""
    after = clauses.chunks[here + 1] if here + 1 < len(clauses.chunks) else None
    return after is not None and (after.is_noun or after.tag in (Tag.DET, Tag.DIRECTION))


NAME = "rules"
VERSION = 1
_COUNTS = terms("counts") - {"zero"}
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
    unread = (f"text after {_MOST:,} characters",) if len(prompt) > _MOST else ()
    return QuestionSet(prompt, tuple(questions), graph, writer=NAME, left_out=unread)


def write_all_by_rules(prompts: Sequence[str]) -> list[Outcome[QuestionSet]]:
    """Return the questions of each prompt, as other writers do; none where it is not English."""
    return [
        Outcome.of(write_by_rules(prompt))
        if is_latin(prompt)
        else Outcome.failed(Reason.NOT_APPLICABLE, "the rules read English only")
        for prompt in prompts
    ]


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
