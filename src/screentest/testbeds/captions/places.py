"""Clear positions (left, upper right, above…) and what is said to be in the background."""

from __future__ import annotations

from collections.abc import Iterator

from screentest.english.chunks import Chunk, Clauses
from screentest.english.lexicon import Tag
from screentest.testbeds.captions.facts import Placed

_HEIGHTS = frozenset(("upper", "lower", "top", "bottom"))
_MIDDLES = frozenset(("centre", "center", "middle", "foreground"))
_PARTS = frozenset(("side", "edge", "corner", "half", "third", "part", "end", "portion"))
_AHEAD = 8
"""How many chunks ahead "On the left, …" may name what is there."""


def positions(clauses: Clauses, caption: str) -> Iterator[Placed]:
    """Positions with the object that is there."""
    chunks = clauses.chunks
    skip = 0
    for number, chunk in enumerate(chunks):
        if number < skip:
            continue
        place = _place(chunks, number)
        if place is None:
            continue
        first, last, start, end = place
        skip = last + 1
        location = caption[start:end]
        if chunk.is_noun and first == last and _side_of_thing(chunk):
            if _visible(chunk):
                yield Placed(location, chunk.name)
            continue
        if not _on_a_thing(chunks, last + 1):
            for thing in _there(clauses, first, last + 1):
                if (_visible(thing) or thing.kind == "body") and not thing.negated:
                    yield Placed(location, thing.name)


def _visible(chunk: Chunk) -> bool:
    """Things, beings and places. The left hand is not at the left of the picture."""
    return chunk.concrete or chunk.kind == "scenes" or chunk.tag is Tag.PRONOUN


def _on_a_thing(chunks: list[Chunk], end: int) -> bool:
    """ "On the left corner of its back": a place on a thing, which may be anywhere."""
    if end < len(chunks) and chunks[end].low in _PARTS:
        end += 1
    if end + 1 >= len(chunks) or chunks[end].low != "of":
        return False
    thing = chunks[end + 1]
    return thing.is_noun and (thing.kind == "body" or (thing.owned and thing.kind != "film-term"))


def _place(chunks: list[Chunk], number: int) -> tuple[int, int, int, int] | None:
    """Return the first and last chunk that name a place, and where its word begins and ends."""
    chunk = chunks[number]
    following = chunks[number + 1] if number + 1 < len(chunks) else None
    sides = [word for word in chunk.words if word.tag is Tag.DIRECTION]
    if sides and (chunk.is_noun or chunk.tag is Tag.DIRECTION):
        start, end, last = sides[0].start, sides[-1].end, number
        before = chunks[number - 1] if number else None
        inside = [
            word for word in chunk.words if word.low in _HEIGHTS and word.start < sides[0].start
        ]
        if inside:
            start = inside[0].start
        elif before is not None and before.low in _HEIGHTS:
            start = before.words[-1].start
        to_other = number + 2 < len(chunks) and following is not None and following.low == "to"
        if to_other and chunks[number + 2].tag is Tag.DIRECTION:
            last, end = number + 2, chunks[number + 2].words[-1].end
        if chunk.tag is Tag.DIRECTION and not _anchored(before):
            return None
        return number, last, start, end
    if chunk.is_noun and chunk.low in _MIDDLES and number and chunks[number - 1].tag is Tag.PREP:
        return number, number, chunk.words[-1].start, chunk.words[-1].end
    of_something = following is not None and following.low == "of"
    at_end = chunk.is_noun and chunk.low in ("top", "bottom") and of_something
    if at_end and number and chunks[number - 1].low in ("at", "on"):
        return number, number, chunk.words[-1].start, chunk.words[-1].end
    if chunk.low == "front" and chunk.is_noun and number and chunks[number - 1].low == "in":
        return number, number, chunk.words[-1].start, chunk.words[-1].end
    if chunk.tag is Tag.PREP and chunk.low in ("above", "below"):
        return number, number, chunk.words[0].start, chunk.words[0].end
    return None


def _anchored(before: Chunk | None) -> bool:
    """Return True if a bare left or right is a side: "on the left", "turns left", "upper left"."""
    if before is None:
        return False
    if before.low in _HEIGHTS or before.tag in (Tag.PREP, Tag.DET, Tag.POSS, Tag.ADJECTIVE):
        return True
    return before.tag in (Tag.VERB, Tag.ADVERB)


def _side_of_thing(chunk: Chunk) -> bool:
    """Return the left door, the left hand; not the left side."""
    return chunk.low not in _PARTS and any(word.tag is Tag.DIRECTION for word in chunk.words)


def _there(clauses: Clauses, first: int, end: int) -> list[Chunk]:
    """Find the thing at the place named by the chunks from ``first`` to ``end``."""
    chunks = clauses.chunks
    while first > 0 and chunks[first - 1].tag in (Tag.DET, Tag.ADJECTIVE, Tag.POSS):
        first -= 1
    if first > 0 and chunks[first - 1].low in _HEIGHTS:
        first -= 1
    if first > 0 and chunks[first - 1].tag is Tag.PREP:
        first -= 1
    bare = chunks[first].low in ("above", "below") and chunks[first].tag is Tag.PREP
    end = _complement_end(chunks, end, bare=bare)
    before = clauses.before(first)
    opens = before < 0 or chunks[before].tag in (Tag.STOP, Tag.SUBORDINATE)
    if not opens and chunks[before].tag in (Tag.COMMA, Tag.AND):
        opens = end < len(chunks) and chunks[end].is_noun
        if not opens:
            return clauses.subject_before(before)
    if opens:
        return _next_noun(chunks, end)
    holder = chunks[before]
    if holder.tag in (Tag.VERB, Tag.COPULA, Tag.PASSIVE):
        return holder.agents
    if holder.is_noun:
        if bare:
            return [holder]
        verb = chunks[before - 1] if before else holder
        if verb.tag is Tag.VERB and chunks[first].low in ("from", "to", "toward", "towards"):
            return verb.agents  # "enters the hall from the left"
        root = clauses.root(before)
        return [holder if root.kind in ("abstract", "film-term") else root]
    return clauses.subject_before(first)


def _complement_end(chunks: list[Chunk], end: int, *, bare: bool) -> int:
    """Past "of the frame", or what "above" is said of."""
    if end < len(chunks) and chunks[end].low == "of":
        end += 1
        bare = True
    if bare and end < len(chunks) and (chunks[end].is_noun or chunks[end].tag is Tag.PRONOUN):
        while end < len(chunks) and chunks[end].is_noun and chunks[end].owner:
            end += 1
        end += 1
    return end


def _next_noun(chunks: list[Chunk], at: int) -> list[Chunk]:
    for chunk in chunks[at : at + _AHEAD]:
        if chunk.tag is Tag.STOP:
            return []
        if chunk.is_noun and not chunk.owner:
            return [chunk]
    return []


def backgrounds(clauses: Clauses) -> Iterator[Chunk]:
    """Find things that are behind, in the background, or have something in front of them."""
    chunks = clauses.chunks
    for number, chunk in enumerate(chunks):
        behind: list[Chunk] = []
        if chunk.is_noun and chunk.low in ("background", "backdrop"):
            behind = list(_round_word(clauses, number)) or [chunk]
        elif chunk.tag is Tag.PREP and chunk.low == "behind":
            behind = [each for each in _behind(clauses, number) if not each.animate]
        elif chunk.low == "of" and _in_front(chunks, number):
            behind = [each for each in _listed(chunks, number + 1) if not each.animate]
        elif chunk.tag is Tag.PREP and chunk.low == "against" and not _contrasts(chunks, number):
            behind = [each for each in _listed(chunks, number + 1) if each.kind == "scenes"]
        named = chunk.low in ("background", "backdrop")
        yield from (
            each
            for each in behind
            if each.kind != "abstract"
            and each.kind not in ("people", "animals")
            and not each.negated
            and (each.kind != "film-term" or each.concrete or (named and each is chunk))
        )


def _in_front(chunks: list[Chunk], number: int) -> bool:
    """ "In front of", not "to the front of"."""
    return number > 1 and chunks[number - 1].low == "front" and chunks[number - 2].low == "in"


def _contrasts(chunks: list[Chunk], number: int) -> bool:
    """Return True if "against" compares colours, or is where a thing hits: against a cliff."""
    before = chunks[number - 1] if number else chunks[number]
    verb = before.words[0].verb
    return verb is not None and (verb.base == "contrast" or verb.motion)


def _round_word(clauses: Clauses, number: int) -> Iterator[Chunk]:
    """Yield the thing that a mention of the background names."""
    chunks = clauses.chunks
    following = chunks[number + 1] if number + 1 < len(chunks) else None
    if following is not None and following.low == "of":
        yield from _listed(chunks, number + 2)
        return
    before = chunks[number - 1] if number else None
    if before is not None and before.tag is Tag.VERB:  # "shelves form the backdrop"
        yield from before.agents
        return
    if before is None or before.tag is not Tag.PREP:
        if following is not None and following.tag is Tag.VERB:
            yield from _rest(chunks, number + 2)
        elif following is not None and following.tag is Tag.COPULA:
            yield from _listed(chunks, number + 2)
        return
    if before.low == "on":
        return  # letters on a red background are not in it
    outer = clauses.before(number - 1)
    while outer > 0 and chunks[outer].tag in (Tag.ADJECTIVE, Tag.PASSIVE):
        outer = clauses.before(outer)  # "trees visible in the background"
    opens = outer < 0 or chunks[outer].tag in (Tag.STOP, Tag.SUBORDINATE)
    if not opens and chunks[outer].tag in (Tag.COMMA, Tag.AND):
        opens = following is not None and following.is_noun
    if opens:
        yield from _rest(chunks, number + 1)
    elif chunks[outer].tag in (Tag.VERB, Tag.COPULA, Tag.PASSIVE):
        yield from chunks[outer].agents
    else:
        yield from _listed_before(chunks, outer)


def _behind(clauses: Clauses, number: int) -> Iterator[Chunk]:
    chunks = clauses.chunks
    before = clauses.before(number)
    end = number + 1
    if end < len(chunks) and (chunks[end].is_noun or chunks[end].tag is Tag.PRONOUN):
        end = _complement_end(chunks, end, bare=True)
    if before >= 0 and chunks[before].tag is Tag.PREP:
        return  # seen from behind
    if before < 0 or chunks[before].tag in (Tag.STOP, Tag.SUBORDINATE):
        if end > number + 1:
            yield from _rest(chunks, end)
    elif chunks[before].is_noun:
        leaving = clauses.before(before)
        verb = chunks[leaving].words[0].verb if leaving >= 0 else None
        if verb is None or verb.base != "leave":
            alone = end == number + 1
            yield from _listed_before(chunks, before) if alone else (chunks[before],)
    elif chunks[before].tag is Tag.VERB:
        yield from chunks[before].agents


def _rest(chunks: list[Chunk], at: int) -> Iterator[Chunk]:
    """Yield the noun phrases of the rest of the clause."""
    ahead = chunks[at : at + 2 * _AHEAD]
    for place, chunk in enumerate(ahead):
        if chunk.tag in (Tag.STOP, Tag.SUBORDINATE):
            return
        if chunk.tag is Tag.COMMA and place and ahead[place - 1].is_noun and place > 2:
            return
        if chunk.is_noun and not chunk.owner:
            yield chunk


def _listed(chunks: list[Chunk], at: int) -> Iterator[Chunk]:
    """Yield a noun phrase and those joined to it."""
    for chunk in chunks[at : at + _AHEAD]:
        if chunk.is_noun:
            if not chunk.owner:
                yield chunk
        elif chunk.tag is not Tag.AND:
            return


def _listed_before(chunks: list[Chunk], at: int) -> Iterator[Chunk]:
    result = []
    for place in range(at, max(-1, at - _AHEAD), -1):
        chunk = chunks[place]
        if chunk.is_noun:
            result.append(chunk)
        elif chunk.tag is not Tag.AND:
            break
    yield from reversed(result)
