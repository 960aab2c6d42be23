"""The builtin extractor: lexicon and grammar rules, no model.

>>> facts = read_caption("On the left, a man in a red jacket waves. Behind him is a car.")
>>> facts.color, facts.spatial_relationship
((Coloured(color='red', object='jacket'),), (Placed(location='left', object='man'),))
>>> facts.background, facts.human_action
(('car',), (CaptionAction(agent='man', action='waves'),))
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

from screentest.core import Signature
from screentest.english.chunks import Chunk, Clauses, chunks_of
from screentest.english.lexicon import Tag, Word, lexicon
from screentest.testbeds.captions.facts import CaptionAction, CaptionFacts, Coloured
from screentest.testbeds.captions.places import backgrounds, positions

# Movement and human action, from verbs with their agents.

_WORDS: Mapping[str, frozenset[str]] = {
    name: frozenset(words)
    for name, words in tomllib.loads(
        Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    ).items()
}
"""The lists of ``rules.toml``, which says what each is of."""


def movements(clauses: Clauses) -> Iterator[CaptionAction]:
    """List what moves, the camera apart."""
    ideas = {
        id(chunk.words[0])
        for chunk, then in pairwise(clauses.chunks)
        if then.is_noun and not then.concrete and then.kind not in ("scenes", "body")
    }
    for agent, word in _deeds(clauses):
        moves = word.verb is not None and word.verb.motion and word.tag is not Tag.PASSIVE
        if word.verb is not None and word.verb.base in _WORDS["on_ideas"]:
            moves &= id(word) not in ideas
        flows = lexicon().singular(agent.low) in _WORDS["waters"]
        can_move = agent.concrete or agent.animate or flows
        if moves and can_move and not _fixed(agent, word):
            yield CaptionAction(agent.name, word.text)


def human_actions(clauses: Clauses) -> Iterator[CaptionAction]:
    """List what people do, hands that are seen alone included."""
    for agent, word in _deeds(clauses):
        if agent.kind == "people" or agent.low in ("hand", "hands"):
            yield CaptionAction(agent.name, word.text)


def _fixed(agent: Chunk, word: Word) -> bool:
    base = word.verb.base if word.verb is not None else ""
    single = lexicon().singular(agent.low)
    # A bicycle that leans against a wall stands still.
    if not agent.animate and base in _WORDS["lasting"]:
        flows = single in _WORDS["waters"] and base in ("run", "cascade", "drop", "spread")
        return single not in _WORDS["rising"] and not flows
    if base in _WORDS["by_beings"]:
        return not agent.animate
    return agent.kind == "scenes" and single not in _WORDS["waters"]


def _deeds(clauses: Clauses) -> Iterator[tuple[Chunk, Word]]:
    for chunk in clauses.chunks:
        if chunk.negated:
            continue
        word = chunk.words[0]
        base = word.verb.base if word.verb is not None else ""
        if chunk.tag is Tag.VERB or (chunk.tag is Tag.PASSIVE and base in _WORDS["states"]):
            yield from ((agent, word) for agent in chunk.agents)
        elif chunk.is_noun:
            # A verb that is in no list is an attribute here as often as not: "a living room".
            participles = (each for each in chunk.words if each.tag is Tag.PARTICIPLE)
            yield from (
                (chunk, each) for each in participles if each.verb and each.verb.base != each.low
            )


# Colours with the objects that have them.

_PASSED = (Tag.ADVERB, Tag.ADJECTIVE, Tag.DET, Tag.PREP)


def colours(clauses: Clauses) -> Iterator[Coloured]:
    """Yield every colour that an object is said to have."""
    for number, chunk in enumerate(clauses.chunks):
        if chunk.negated or chunk.compared or not chunk.colours:
            continue
        if chunk.is_noun:
            for word in chunk.colours:
                yield from _of(word, chunk)
        else:
            yield from _said_of(clauses, number)


def _of(word: Word, owner: Chunk) -> Iterator[Coloured]:
    if word.colour_of:
        yield from (Coloured(colour, word.colour_of) for colour in word.colours)
    elif owner.concrete or owner.kind not in ("film-term", "abstract"):
        yield from (Coloured(colour, owner.name) for colour in word.colours)


def _said_of(clauses: Clauses, number: int) -> Iterator[Coloured]:
    """Yield a colour after a verb: the car is red, the door is painted a rich brown."""
    chunks = clauses.chunks
    at, negated = number - 1, False
    while at >= 0 and chunks[at].tag in (*_PASSED, Tag.NEGATIVE):
        if chunks[at].tag is Tag.PREP and chunks[at].low != "in":
            return
        negated |= chunks[at].tag is Tag.NEGATIVE
        at -= 1
    if at < 0 or not _links(chunks[at]):
        return
    words = chunks[number].words
    if negated:  # "not blue but white"
        instead = [place for place, word in enumerate(words) if word.low == "but"]
        words = words[instead[0] :] if instead else []
    for agent in chunks[at].agents:
        if not agent.negated:
            for word in words:
                yield from _of(word, agent)


def _links(chunk: Chunk) -> bool:
    if chunk.tag is Tag.COPULA:
        return True
    base = verb.base if (verb := chunk.words[0].verb) is not None else ""
    return chunk.tag in (Tag.VERB, Tag.PASSIVE) and base in _WORDS["linking"]


NAME = "caption_rules"
VERSION = 1

T = TypeVar("T", bound=tuple[str, ...])


def rules_signature() -> Signature:
    """Return the signature of facts by these rules."""
    return Signature.of(NAME, version=VERSION, lexicon=lexicon().digest)


def read_caption(caption: str) -> CaptionFacts:
    """Read a caption. Every word in it is quoted from the caption, as written there."""
    clauses = Clauses(chunks_of(caption))
    nouns = [chunk for chunk in clauses.chunks if chunk.is_noun and not chunk.negated]
    scenes = [
        (chunk.name or chunk.words[0].text,)  # "indoors" is an adverb
        for chunk in clauses.chunks
        if chunk.kind == "scenes" and not chunk.negated
    ]
    return CaptionFacts(
        subject=_names(chunk for chunk in nouns if _is_subject(chunk)),
        background=_names(backgrounds(clauses)),
        dynamic_degree=_once(movements(clauses)),
        human_action=_once(human_actions(clauses)),
        color=_once(colours(clauses)),
        spatial_relationship=_once(positions(clauses, caption)),
        scene=tuple(name for (name,) in _once(scenes)),
    )


def _is_subject(chunk: Chunk) -> bool:
    if chunk.low in ("hand", "hands"):
        return not chunk.owned
    return chunk.concrete and chunk.words[-1].text[0].isalpha()


def _names(chunks: Iterable[Chunk]) -> tuple[str, ...]:
    return tuple(name for (name,) in _once((chunk.name,) for chunk in chunks))


def _once(values: Iterable[T]) -> tuple[T, ...]:
    """Return each once, in order; upper and lower case are the same."""
    seen: dict[tuple[str, ...], T] = {}
    for each in values:
        seen.setdefault(tuple(part.lower() for part in each), each)
    return tuple(seen.values())
