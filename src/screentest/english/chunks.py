"""Chunks of a caption (noun phrases and the words between them), and who does what in it.

>>> chunks = chunks_of("A man in a red jacket waves.")
>>> [chunk.name or chunk.tag.value for chunk in chunks]
['man', 'prep', 'jacket', 'verb', 'stop']
"""

from __future__ import annotations

from dataclasses import dataclass, field

from screentest.english.lexicon import RULE_WORDS, Tag, Word, lexicon
from screentest.english.tagging import tag_words

_OPENERS = (Tag.DET, Tag.POSS, Tag.NUM, Tag.ADJECTIVE, Tag.COLOUR, Tag.PARTICIPLE, Tag.NOUN)
_INSIDE = (Tag.ADJECTIVE, Tag.COLOUR, Tag.PARTICIPLE, Tag.ADVERB)
LONGEST = 30
"""A noun phrase has at most so many words: time stays linear in the text."""
_NOBODY = frozenset(("nobody", "nothing", "none", "neither"))


@dataclass(slots=True)
class Chunk:
    """A noun phrase, a run of colours that ends in no noun, or a single other word."""

    tag: Tag
    words: list[Word]
    name: str = ""
    """The noun with those before it, as written: "flower bud". Empty: no noun phrase."""
    kind: str = ""
    """What kind of noun its last word is; empty: a thing."""
    negated: bool = False
    """no cars, nothing."""
    owned: bool = False
    """his, her, the rabbit's."""
    owner: bool = False
    """What owns the next phrase."""
    plural: bool = False
    concrete: bool = False
    """Whether it can be seen and pointed at."""
    compared: bool = False
    """Only what something else is like."""
    agents: list[Chunk] = field(default_factory=list)
    """Of a verb: who does it."""

    @property
    def low(self) -> str:
        """Its last word in lower case."""
        return self.words[-1].low

    @property
    def is_noun(self) -> bool:
        return bool(self.name)

    @property
    def colours(self) -> list[Word]:
        return [word for word in self.words if word.colours]

    @property
    def animate(self) -> bool:
        return self.kind in ("people", "animals", "body")


def chunks_of(caption: str) -> list[Chunk]:
    """Return the chunks of a caption in order."""
    words = tag_words(caption)
    chunks: list[Chunk] = []
    at = 0
    while at < len(words):
        end = _phrase_end(words, at)
        if end > at:
            chunks.append(_phrase(caption, words[at:end]))
        else:
            end = max(at + 1, _colours_end(words, at))
            word = words[at]
            negated = word.low in _NOBODY
            name = word.text if negated else ""
            kind = lexicon().nouns.get(word.low, "") if word.tag is Tag.ADVERB else ""
            chunks.append(Chunk(word.tag, words[at:end], name, kind, negated))
        if words[at].low == "'s" and len(chunks) > 1 and chunks[-2].is_noun:
            chunks[-2].owner = True
        at = end
    chunks = [chunk for chunk in chunks if chunk.is_noun or chunk.low != "'s"]
    _spread_no(chunks)
    _find_comparisons(chunks)
    return chunks


def _spread_no(chunks: list[Chunk]) -> None:
    """ "No cars or people": the second is absent, too."""
    for number in range(2, len(chunks)):
        joint, item = chunks[number - 1], chunks[number - 2]
        if joint.tag is Tag.AND and joint.low in ("or", "nor") and item.is_noun:
            chunks[number].negated |= item.negated and chunks[number].is_noun


_COUNTED = frozenset(RULE_WORDS["counted"])
"""Nouns that count or measure what follows "of"."""


def _find_comparisons(chunks: list[Chunk]) -> None:
    """Mark what is only compared with, and what only counts something else."""
    lex = lexicon()
    for number, chunk in enumerate(chunks):
        if not chunk.is_noun:
            continue
        following = chunks[number + 1].low if number + 1 < len(chunks) else ""
        if chunk.low in ("pan", "tilt") and len(chunk.words) == 1:
            chunk.concrete &= following not in ("left", "right", "up", "down")  # the camera's
        if following == "of" and lex.singular(chunk.low) in _COUNTED:
            chunk.concrete = False
        before = chunks[number - 1] if number else chunk
        if before.tag is Tag.PREP and before.low == "like":
            holder = chunks[number - 2] if number > 1 else chunk
            chunk.compared = not (holder.is_noun and holder.plural)  # "tools like hammers"
            chunk.concrete &= not chunk.compared


def _phrase_end(words: list[Word], at: int) -> int:
    """Return where the noun phrase that begins here ends; ``at`` where none does."""
    first = words[at]
    if first.tag not in _OPENERS and not (first.tag is Tag.ADVERB and _inside(words, at + 1)):
        return at
    noun = at
    here = at
    while here < len(words) and here - at < LONGEST:
        tag = words[here].tag
        if tag is Tag.NOUN:
            here += 1
            noun = here
            if here < len(words) and words[here].tag is not Tag.NOUN:
                break
        elif tag in _INSIDE or _continues(words, at, here):
            here += 1
        else:
            break
    return noun


def _continues(words: list[Word], at: int, here: int) -> bool:
    """Return whether a word, no noun or attribute, goes on with the phrase begun at ``at``."""
    match words[here].tag:
        case Tag.DET | Tag.POSS | Tag.NUM:
            return here == at or (here - at < 3 and words[here].low != "'s")
        case Tag.DIRECTION:
            return here > at and _inside(words, here + 1)
        case Tag.COMMA | Tag.AND:
            return here > at and _joins(words, here)
    return False


def _inside(words: list[Word], at: int) -> bool:
    return at < len(words) and words[at].tag in (*_INSIDE, Tag.NOUN)


def _joins(words: list[Word], at: int) -> bool:
    """Return whether a comma or "and" joins two attributes of one noun: red and white scarf."""
    attributes = (Tag.ADJECTIVE, Tag.COLOUR)
    if words[at - 1].tag not in attributes or at + 1 >= len(words):
        return False
    then = at + 1
    if words[at].tag is Tag.COMMA and words[then].tag is Tag.AND and then + 1 < len(words):
        then += 1
    return words[then].tag in (*attributes, Tag.AND)


def _colours_end(words: list[Word], at: int) -> int:
    """Return where a list of colours ends that no noun follows: "is red, blue and yellow"."""
    end = at
    while end < len(words):
        joint = end > at and words[end].tag in (Tag.COMMA, Tag.AND) and _joins(words, end)
        if words[end].tag is not Tag.COLOUR and not joint:
            break
        end += 1
    return end


def _phrase(caption: str, words: list[Word]) -> Chunk:
    lex = lexicon()
    first = len(words) - 1
    while first > 0 and words[first - 1].tag is Tag.NOUN:
        first -= 1
    head = words[-1].low
    thing = _is_thing(words)
    kind = "" if thing else lex.kind(head)
    if head in ("floor", "floors", "line") and len(words) > 1:
        kind = lex.kind(words[-2].low) if lex.kind(words[-2].low) == "scenes" else kind
    return Chunk(
        Tag.NOUN,
        words,
        name=caption[words[first].start : words[-1].end],
        kind=kind,
        negated=any(word.low == "no" for word in words),
        owned=words[0].tag is Tag.POSS,
        plural=_is_plural(head),
        concrete=thing or (kind != "scenes" and lex.concrete(head) and not _is_name(words)),
    )


def _is_name(words: list[Word]) -> bool:
    """Return whether it ends in a name or a title: a capital that no sentence begins with."""
    last = words[-1]
    listed = lexicon().singular(last.low) in lexicon().own_things
    return not listed and last.start > 0 and last.text[0].isupper() and not last.opens


def _is_plural(head: str) -> bool:
    ends = head.endswith("s") and not head.endswith(("ss", "us", "is"))
    return ends or lexicon().singular(head) != head or head in ("people", "cattle")


_SHAPES = frozenset(RULE_WORDS["shapes"])
"""What is drawn where it has a colour, and else says how others stand or move."""


def _is_thing(words: list[Word]) -> bool:
    """Return whether its attributes make it a thing: a red top, a golden frame, a white circle."""
    head = words[-1].low
    before = words[-2] if len(words) > 1 else words[-1]
    if head in ("light", "lights"):
        return head == "lights" or before.low in ("traffic", "street")
    if head in ("camera", "cameras"):  # the camera shows; a camera is shown
        return len(words) > 1 and words[0].low != "the"
    if words[-1].text.islower() and lexicon().singular(head) in _SHAPES:  # not "Red Square"
        return any(word.tag is Tag.COLOUR for word in words) or lexicon().concrete(head)
    described = any(word.tag in (Tag.COLOUR, Tag.ADJECTIVE) for word in words)
    return (head == "top" and described) or (head == "frame" and bool(before.colours))


FARTHEST = 40
"""A verb's subject is looked for this many chunks back: time stays linear in the text."""
_BETWEEN = (Tag.ADVERB, Tag.AUXILIARY, Tag.COPULA, Tag.NEGATIVE, Tag.ADJECTIVE)
_SAYING_VERBS = (Tag.VERB, Tag.COPULA, Tag.PASSIVE)
_OBJECT_PRONOUNS = frozenset(("him", "her", "them", "us", "me"))
_GROUPS = frozenset(("one", "pair", "group", "piece", "number", "row", "lot", "couple", "some"))


class Clauses:
    """The chunks of a caption with the agents of their verbs."""

    def __init__(self, chunks: list[Chunk]) -> None:
        self.chunks = chunks
        self._person: Chunk | None = None
        self._thing: Chunk | None = None
        self._many: Chunk | None = None
        self._actor: Chunk | None = None
        for number, chunk in enumerate(chunks):
            if chunk.tag in _SAYING_VERBS:
                chunk.agents = self._agents(number)
                for agent in chunk.agents:
                    thing = agent.kind in ("animals", "") and agent.concrete and not agent.plural
                    self._actor = agent if thing else self._actor
                chunk.negated |= any(agent.negated for agent in chunk.agents)
            elif chunk.is_noun and number and chunks[number - 1].tag is Tag.VERB:
                chunk.negated |= chunks[number - 1].negated  # "is not wearing shoes"
            if chunk.is_noun:
                self._remember(chunk)

    def before(self, number: int) -> int:
        """Return the chunk before, adverbs left out; -1 where there is none."""
        number -= 1
        while number >= 0 and self.chunks[number].tag is Tag.ADVERB:
            number -= 1
        return number

    def root(self, number: int) -> Chunk:
        """Return what a chain of prepositions hangs on: the man of "a man in a hat"."""
        for _ in range(FARTHEST):
            chunk = self.chunks[number]
            at = self._start(number)
            if at < 0 or self.chunks[at].tag is not Tag.PREP:
                return chunk
            at = self.before(at)
            if at < 0:
                return chunk
            holder = self.chunks[at]
            if holder.is_noun and holder.kind not in ("film-term", "abstract"):
                number = at
            else:
                agents = holder.agents if holder.tag in _SAYING_VERBS else []
                return agents[0] if agents and agents[0].kind != "abstract" else chunk
        return self.chunks[number]

    def subject_before(self, number: int) -> list[Chunk]:
        """Return the subject of the clause that a chunk stands in."""
        return self._scan(number, "", agrees=False)

    def _remember(self, chunk: Chunk) -> None:
        if chunk.kind == "people":
            self._person = chunk
        elif chunk.kind in ("animals", ""):
            self._thing = chunk
        if chunk.plural and (chunk.kind in ("people", "animals") or self._person is None):
            self._many = chunk  # "the person … they": of people, also of one

    def _agents(self, number: int) -> list[Chunk]:
        verb = self.chunks[number]
        form = verb.words[0].verb.form if verb.words[0].verb else ""
        at, helped = number - 1, False
        while at >= 0 and self.chunks[at].tag in _BETWEEN:
            helper = self.chunks[at]
            verb.negated |= helper.tag is Tag.NEGATIVE or helper.low.endswith("n't")
            helped |= helper.tag in (Tag.AUXILIARY, Tag.COPULA)
            at -= 1
        if at < 0:
            return []
        near = self.chunks[at]
        if near.tag is Tag.RELATIVE:
            return self._antecedent(at)
        participle = form in ("ing", "past") and not helped
        if participle and verb.tag is not Tag.COPULA and near.is_noun and not near.owner:
            return self._holder(at, form)
        return self._scan(at + 1, "" if helped else form, agrees=not helped)

    def _antecedent(self, relative: int) -> list[Chunk]:
        at = self.before(relative)
        if at >= 0 and self.chunks[at].tag is Tag.COMMA:
            at = self.before(at)
        if at < 0 or not self.chunks[at].is_noun:
            return []
        near = self.chunks[at]
        if self.chunks[relative].low == "who" and near.kind != "people":
            return [self.root(at)]
        return [near]

    def _holder(self, at: int, form: str) -> list[Chunk]:
        """Return whom a participle right after a noun is about: "a man in a coat running"."""
        near = self.chunks[at]
        if at and self.chunks[at - 1].tag is Tag.COPULA and len(near.words) == 1:
            return self.chunks[at - 1].agents  # "a person is ice skating"
        root = self.root(at)
        if form == "past" and root is near:
            return self._with_partners(at) if near.kind != "film-term" else []
        being = root.kind in ("people", "animals")
        # "a woman with long hair walking" is not walking hair, "a hand reaching" is a hand.
        selected = near.kind in ("people", "animals") or (near.animate and not being)
        chosen = near if selected or not root.animate else root
        if chosen.kind == "film-term":
            return []
        return self._with_partners(at) if chosen is near and selected else [chosen]

    def _scan(self, number: int, form: str, *, agrees: bool) -> list[Chunk]:
        shown: list[Chunk] = []
        for at in range(number - 1, max(-1, number - FARTHEST), -1):
            chunk = self.chunks[at]
            if chunk.tag is Tag.STOP:
                return []
            if chunk.tag is Tag.SUBORDINATE:
                if form != "ing" and self.chunks[at].low != "then":
                    return []
            elif chunk.tag is Tag.PRONOUN:
                if chunk.low not in _OBJECT_PRONOUNS and not self._is_object(at):
                    return self._meant(chunk)
            elif chunk.tag in _SAYING_VERBS and (chunk.agents or chunk.tag is Tag.VERB):
                # "The clip shows a man, smiling": it is he who smiles.
                return chunk.agents or (shown if form == "ing" else [])
            elif chunk.is_noun and at and self.chunks[at - 1].tag in (Tag.VERB, Tag.INFINITIVE):
                shown = [chunk]
            elif chunk.is_noun and not chunk.owner and not self._is_object(at):
                if agrees and not self._agrees(at, form):
                    continue
                return [] if chunk.kind == "film-term" else self._with_partners(at)
        return []

    def _is_object(self, at: int) -> bool:
        """Return whether a noun phrase belongs to a preposition or to a verb before it."""
        start = self._start(at)
        if start < 0:
            return False
        before = self.chunks[start]
        if before.tag is Tag.PREP:
            holder = self.before(start)
            # "close-up of a hand", "one of the boards": the second noun is what it is about.
            about = before.low == "of" and holder >= 0 and self.chunks[holder].is_noun
            named = self.chunks[holder] if about else None
            return named is None or not (named.kind == "film-term" or named.low in _GROUPS)
        listed = before.tag in (Tag.AND, Tag.COMMA) and self.chunks[at].is_noun
        if listed and self.chunks[at].kind not in ("people", "animals") and not self._acts(at):
            # "with a hat and glasses": the second hangs where the first does.
            partner = self.before(start)
            holder = self._start(partner) if partner >= 0 and self.chunks[partner].is_noun else -1
            before = self.chunks[holder] if holder >= 0 else before
            return before.tag is Tag.PREP
        return before.tag in (Tag.VERB, Tag.INFINITIVE, Tag.PASSIVE)

    def _acts(self, at: int) -> bool:
        """Return whether a verb follows that agrees: "in the sea, and the boat is moving"."""
        noun = self.chunks[at]
        at += 1
        while at < len(self.chunks) and self.chunks[at].tag is Tag.ADVERB:
            at += 1
        if at >= len(self.chunks):
            return False
        verb, tag = self.chunks[at].words[0].verb, self.chunks[at].tag
        if tag is Tag.COPULA:
            return noun.plural == (self.chunks[at].low in ("are", "were"))
        many = {"s": False, "base": True}.get(verb.form) if verb is not None else None
        return tag is Tag.VERB and many == noun.plural

    def _start(self, at: int) -> int:
        """Return what stands before a noun phrase and the one that owns it."""
        at = self.before(at)
        while at >= 0 and self.chunks[at].is_noun and self.chunks[at].owner:
            at = self.before(at)
        return at

    def _agrees(self, at: int, form: str) -> bool:
        chunk = self.chunks[at]
        if form == "s":
            return not chunk.plural
        if form == "base":
            joined = len(self._with_partners(at)) > 1
            return chunk.plural or joined or chunk.kind in ("people", "animals")  # "deer leap"
        return True

    def _with_partners(self, at: int) -> list[Chunk]:
        """Return a noun phrase and the one that "and" joins to it."""
        result = [self.chunks[at]]
        joint = self._start(at)
        if joint > 0 and self.chunks[joint].tag is Tag.AND and self.chunks[joint].low == "and":
            other = self.before(joint)
            if other >= 0 and self.chunks[other].is_noun and not self._is_object(other):
                result.insert(0, self.chunks[other])
        return result

    def _meant(self, pronoun: Chunk) -> list[Chunk]:
        """Return whom a pronoun stands for; itself where nobody was named before."""
        if pronoun.low == "it":
            meant = self._actor or self._thing  # "A dog sleeps on the couch, then it gets up"
            return [meant] if meant is not None else []
        chosen = self._many or self._person if pronoun.low == "they" else self._person
        if chosen is not None:
            return [chosen]
        return [Chunk(Tag.PRONOUN, pronoun.words, pronoun.words[0].text, "people")]
