"""Who does what: the agents of every verb, clause by clause."""

from __future__ import annotations

from screentest.language.chunks import Chunk
from screentest.language.words import Tag

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
        for number, chunk in enumerate(chunks):
            if chunk.tag in _SAYING_VERBS:
                chunk.agents = self._agents(number)
                chunk.negated |= any(agent.negated for agent in chunk.agents)
            elif chunk.is_noun and number and chunks[number - 1].tag is Tag.VERB:
                chunk.negated |= chunks[number - 1].negated  # "is not wearing shoes"
            if chunk.is_noun:
                self._remember(chunk)

    def before(self, number: int) -> int:
        """The chunk before, adverbs left out; -1 where there is none."""
        number -= 1
        while number >= 0 and self.chunks[number].tag is Tag.ADVERB:
            number -= 1
        return number

    def root(self, number: int) -> Chunk:
        """The noun phrase that a chain of prepositions hangs on: the man of "a man in a hat"."""
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
            elif (
                holder.tag in _SAYING_VERBS
                and holder.agents
                and holder.agents[0].kind != "abstract"
            ):
                return holder.agents[0]
            else:
                return chunk
        return self.chunks[number]

    def subject_before(self, number: int) -> list[Chunk]:
        """The subject of the clause that a chunk stands in."""
        return self._scan(number, "", agrees=False)

    def _remember(self, chunk: Chunk) -> None:
        if chunk.kind == "people":
            self._person = chunk
        elif chunk.kind in ("animals", ""):
            self._thing = chunk
        if chunk.plural:
            self._many = chunk

    def _agents(self, number: int) -> list[Chunk]:
        verb = self.chunks[number]
        form = verb.words[0].verb.form if verb.words[0].verb else ""
        at, helped = number - 1, False
        while at >= 0 and self.chunks[at].tag in _BETWEEN:
            verb.negated |= self.chunks[at].tag is Tag.NEGATIVE or self.chunks[at].low.endswith(
                "n't"
            )
            helped |= self.chunks[at].tag in (Tag.AUXILIARY, Tag.COPULA)
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
        """Whom a participle right after a noun is about: "a man in a coat running"."""
        near = self.chunks[at]
        if at and self.chunks[at - 1].tag is Tag.COPULA and len(near.words) == 1:
            return self.chunks[at - 1].agents  # "a person is ice skating"
        root = self.root(at)
        if form == "past" and root is near:
            return self._with_partners(at) if near.kind != "film-term" else []
        chosen = near if near.animate or not root.animate else root
        return [chosen] if chosen.kind != "film-term" else []

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
            elif chunk.is_noun and at and self.chunks[at - 1].tag is Tag.VERB:
                shown = [chunk]
            elif chunk.is_noun and not chunk.owner and not self._is_object(at):
                if agrees and not self._agrees(at, form):
                    continue
                return [] if chunk.kind == "film-term" else self._with_partners(at)
        return []

    def _is_object(self, at: int) -> bool:
        """Whether a noun phrase belongs to a preposition or to a verb before it."""
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
        if before.tag is Tag.AND and self.chunks[at].kind not in ("people", "animals"):
            # "with a hat and glasses": the second hangs where the first does.
            partner = self.before(start)
            holder = self._start(partner) if partner >= 0 and self.chunks[partner].is_noun else -1
            before = self.chunks[holder] if holder >= 0 else before
            return before.tag is Tag.PREP
        return before.tag in (Tag.VERB, Tag.INFINITIVE, Tag.PASSIVE)

    def _start(self, at: int) -> int:
        """What stands before a noun phrase and the one that owns it."""
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
            return chunk.plural or joined or chunk.kind == "people"
        return True

    def _with_partners(self, at: int) -> list[Chunk]:
        """A noun phrase and the one that "and" joins to it."""
        found = [self.chunks[at]]
        joint = self._start(at)
        if joint > 0 and self.chunks[joint].tag is Tag.AND and self.chunks[joint].low == "and":
            other = self.before(joint)
            if other >= 0 and self.chunks[other].is_noun and not self._is_object(other):
                found.insert(0, self.chunks[other])
        return found

    def _meant(self, pronoun: Chunk) -> list[Chunk]:
        """Whom a pronoun stands for; itself where nobody was named before."""
        if pronoun.low == "it":
            return [self._thing] if self._thing is not None else []
        chosen = self._many or self._person if pronoun.low == "they" else self._person
        if chosen is not None:
            return [chosen]
        return [Chunk(Tag.PRONOUN, pronoun.words, pronoun.words[0].text, "people")]
