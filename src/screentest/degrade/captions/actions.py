"""Movement and human action, from verbs with their agents."""

from __future__ import annotations

from collections.abc import Iterator

from screentest.degrade.captions.facts import Action
from screentest.language.chunks import Chunk
from screentest.language.clauses import Clauses
from screentest.language.words import Tag, Word

# Places do not move, except those that are water.
_WATERS = frozenset(
    ("stream", "river", "creek", "sea", "ocean", "waterfall", "canal", "lake", "snow")
)
_STATES = frozenset(("seat", "dress", "clothe"))
"""Past participles that say what a person does: is seated, is dressed."""


def movements(clauses: Clauses) -> Iterator[Action]:
    """What moves, the camera apart."""
    for agent, word in _deeds(clauses):
        moves = word.verb is not None and word.verb.motion and word.tag is not Tag.PASSIVE
        if moves and agent.kind not in ("film-term", "abstract") and not _fixed(agent, word):
            yield Action(agent.name, word.text)


def human_actions(clauses: Clauses) -> Iterator[Action]:
    """What people do, hands that are seen alone included."""
    for agent, word in _deeds(clauses):
        if agent.kind == "people" or agent.low in ("hand", "hands"):
            yield Action(agent.name, word.text)


def _fixed(agent: Chunk, word: Word) -> bool:
    if word.verb is not None and word.verb.base in ("lean", "bend"):
        return not agent.animate  # a bicycle that leans against a wall stands still
    return agent.kind == "scenes" and agent.low not in _WATERS


def _deeds(clauses: Clauses) -> Iterator[tuple[Chunk, Word]]:
    for chunk in clauses.chunks:
        if chunk.negated:
            continue
        word = chunk.words[0]
        if chunk.tag is Tag.VERB or (
            chunk.tag is Tag.PASSIVE and word.verb is not None and word.verb.base in _STATES
        ):
            yield from ((agent, word) for agent in chunk.agents)
        elif chunk.is_noun:
            # A verb that is in no list is an attribute here as often as not: "a living room".
            known = (each for each in chunk.words if each.tag is Tag.PARTICIPLE)
            yield from ((chunk, each) for each in known if each.verb and each.verb.base != each.low)
