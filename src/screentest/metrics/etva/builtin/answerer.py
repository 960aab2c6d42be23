"""The built-in answerer: things its detector knows, counts, colours, sides, camera by flow.

All else it does not answer: such a question is not applicable, and lowers coverage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise

from screentest.core import Frame, Outcome, Reason, Size, Time
from screentest.metrics.etva.answering import Answered, Scene
from screentest.metrics.etva.builtin.camera import Movement, movement, moves
from screentest.metrics.etva.builtin.things import Sightings, is_left_of, look_for
from screentest.metrics.etva.categories import Category
from screentest.metrics.etva.graph import Attribute, Entity, Kind, Relation
from screentest.metrics.etva.questions import Question
from screentest.models.roles import Detector, Flow

Frames = Callable[[Sequence[Time], Size], Iterator[Frame]]
PAIRS = 8
_APART = Fraction(1, 8)
"""Seconds between the two frames whose flow is looked at."""
_SMALL = Size(long_side=256)
_COUNTS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve"),
)


class BuiltinAnswerer:
    """Answers from what a detector and optical flow see."""

    def __init__(self, detector: Detector, flow: Flow, frames: Frames) -> None:
        self._detector = detector
        self._flow = flow
        self._frames = frames
        self._seen: tuple[Scene, dict[str, Sightings]] | None = None
        self._moved: tuple[Scene, list[Movement]] | None = None

    def answer(self, scene: Scene, questions: Sequence[Question]) -> list[Answered]:
        """One for each question; what cannot be seen from here is not applicable."""
        return [Answered(one, *self._answer(scene, one)) for one in questions]

    def _answer(self, scene: Scene, question: Question) -> tuple[Outcome[bool], str]:
        graph = scene.asked.graph
        element = graph.element(question.element) if graph is not None else None
        found: tuple[bool | None, str] = (None, "")
        match element:
            case Entity(kind=Kind.THING, name=name):
                found = self._exists(scene, name)
            case Attribute(entity=entity, value=value) if graph is not None:
                found = self._quality(scene, question, graph.entity(entity), value)
            case Relation(subject=one, name=words, object=two) if graph is not None:
                found = self._side(scene, graph.entity(one).name, words, graph.entity(two).name)
        said, why = found
        if said is None:
            told = why or "the built-in answerer cannot see this"
            return Outcome.failed(Reason.NOT_APPLICABLE, told), ""
        return Outcome.of(said), why

    def _exists(self, scene: Scene, name: str) -> tuple[bool | None, str]:
        mine = self._sightings(scene).get(name)
        if mine is None:
            return None, f"the detector does not know {name!r}"
        return mine.there, f"{name} found in {len(mine.counts)} of {mine.frames} frames"

    def _quality(
        self, scene: Scene, question: Question, entity: Entity, value: str
    ) -> tuple[bool | None, str]:
        if entity.kind is Kind.CAMERA:
            if question.category is not Category.CAMERA:
                return None, ""
            seen = self._movements(scene)
            return moves(value.lower(), seen), f"flow between {len(seen)} pairs of frames"
        mine = self._sightings(scene).get(entity.name)
        if mine is None:
            return None, f"the detector does not know {entity.name!r}"
        if question.category is Category.NUMBER:
            wanted = _count(value)
            if wanted is None:
                return None, ""
            return mine.there and mine.count() == wanted, f"{mine.count()} found in most frames"
        if question.category is Category.COLOR:
            return mine.has_colour(value), f"colours of {entity.name} in its middle"
        return None, ""

    def _side(self, scene: Scene, one: str, words: str, two: str) -> tuple[bool | None, str]:
        sides = {"left", "right"} & set(words.lower().split())
        seen = self._sightings(scene)
        if len(sides) != 1 or one not in seen or two not in seen:
            return None, ""
        left = is_left_of(seen[one], seen[two])
        if left is None:
            return False, f"{one} and {two} are never seen together"
        return left == ("left" in sides), "centres of their boxes compared"

    def _sightings(self, scene: Scene) -> dict[str, Sightings]:
        """Of the things that the detector knows, looked for once per scene."""
        if self._seen is None or self._seen[0] is not scene:
            graph = scene.asked.graph
            entities = graph.entities if graph is not None else ()
            names = [entity.name for entity in entities if entity.kind is Kind.THING]
            known = [name for name, knows in zip(names, self._knows(names), strict=True) if knows]
            found = look_for(known, scene.frames(), self._detector) if known else {}
            self._seen = scene, found
        return self._seen[1]

    def _knows(self, names: Sequence[str]) -> list[bool]:
        """Which names the detector was taught; one that says nothing of that knows all."""
        knows = getattr(self._detector, "knows", None)
        return knows(names) if knows is not None and names else [True] * len(names)

    def _movements(self, scene: Scene) -> list[Movement]:
        if self._moved is None or self._moved[0] is not scene:
            self._moved = scene, list(self._flows(scene))
        return self._moved[1]

    def _flows(self, scene: Scene) -> Iterator[Movement]:
        span = scene.span
        room = span.duration - _APART
        if room <= 0:
            return
        for number in range(PAIRS):
            start = span.start + room * (2 * number + 1) / (2 * PAIRS)
            frames = list(self._frames([start, start + _APART], _SMALL))
            for first, second in pairwise(frames):
                (field,) = self._flow.flow([(first.image, second.image)])
                yield movement(field, float(second.time - first.time))


def _count(value: str) -> int | None:
    low = value.lower()
    if low.isdecimal():
        return int(low)
    return _COUNTS.index(low) if low in _COUNTS else None
