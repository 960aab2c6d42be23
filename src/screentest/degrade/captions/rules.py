"""The builtin extractor: lexicon and grammar rules, no model.

>>> facts = read_caption("On the left, a man in a red jacket waves. Behind him is a car.")
>>> facts.color, facts.sides
((Coloured(color='red', object='jacket'),), (Placed(location='left', object='man'),))
>>> facts.background, facts.human_action
(('car',), (Action(agent='man', action='waves'),))
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from screentest.core import Signature
from screentest.degrade.captions.actions import human_actions, movements
from screentest.degrade.captions.facts import CaptionFacts
from screentest.degrade.captions.hues import colours
from screentest.degrade.captions.places import backgrounds, positions
from screentest.language.chunks import Chunk, chunks_of
from screentest.language.clauses import Clauses
from screentest.language.lexicon import lexicon

NAME = "caption_rules"
VERSION = 1

T = TypeVar("T", bound=tuple[str, ...])


def rules_signature() -> Signature:
    """What facts by these rules depend on."""
    return Signature.of(NAME, version=VERSION, lexicon=lexicon().digest)


def read_caption(caption: str) -> CaptionFacts:
    """What a caption says. Every word in it is quoted from the caption, as written there."""
    clauses = Clauses(chunks_of(caption))
    nouns = [chunk for chunk in clauses.chunks if chunk.is_noun and not chunk.negated]
    return CaptionFacts(
        subject=_names(chunk for chunk in nouns if _is_subject(chunk)),
        background=_names(backgrounds(clauses)),
        dynamic_degree=_once(movements(clauses)),
        human_action=_once(human_actions(clauses)),
        color=_once(colours(clauses)),
        spatial_relationship=_once(positions(clauses, caption)),
        scene=tuple(name for (name,) in _once(_scenes(clauses.chunks))),
    )


def _is_subject(chunk: Chunk) -> bool:
    if chunk.low in ("hand", "hands"):
        return not chunk.owned
    return chunk.kind in ("", "people", "animals") and chunk.words[-1].text[0].isalpha()


def _scenes(chunks: list[Chunk]) -> Iterator[tuple[str]]:
    for chunk in chunks:
        if chunk.kind == "scenes" and not chunk.negated:
            yield (chunk.name or chunk.words[0].text,)  # "indoors" is an adverb


def _names(chunks: Iterable[Chunk]) -> tuple[str, ...]:
    return tuple(name for (name,) in _once((chunk.name,) for chunk in chunks))


def _once(found: Iterable[T]) -> tuple[T, ...]:
    """Each once, in order; upper and lower case are the same."""
    seen: dict[tuple[str, ...], T] = {}
    for each in found:
        seen.setdefault(tuple(part.lower() for part in each), each)
    return tuple(seen.values())
