"""What becomes of a colour ("from green to red"), and what something is shaped like.

Both are said by words that other rules read otherwise: "turns" as a movement, "shaped" as a quality
without content. ``spoken_for`` names the verbs that are asked about here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Sequence

from screentest.english.chunks import Chunk, Clauses
from screentest.english.lexicon import Tag
from screentest.suites.etva.graph import Category
from screentest.suites.etva.rules.phrases import Draft, be, is_entity, is_many, the

_TURNING = frozenset(
    ("turn", "change", "shift", "fade", "transition", "transform", "become", "morph", "ripen")
)
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
    """A cloud shaped like a hand; a cup in the shape of a heart."""
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
