"""ETVA's idea without a chat model: questions by rules, answered as far as small parts can see.

Not ETVA's number: it answers about one question in seven, and coverage says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import compress, pairwise
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from screentest.core.errors import BadOption
from screentest.core.frames import Filter, Frame, FrameRequest, Size
from screentest.core.item import Item, Time
from screentest.core.metric import Level, Measurement, MetricInfo, Resources
from screentest.core.outcome import Outcome, Reason
from screentest.core.registry import register
from screentest.metrics.alignment.objects import Sight, knows
from screentest.models.pictures import BASIC_COLOURS, basic_colour
from screentest.models.roles import Detector, Flow
from screentest.suites.etva.answers import Answered, ShownScene, shown
from screentest.suites.etva.graph import TERMS, Attribute, Category, Entity, EntityKind, Relation
from screentest.suites.etva.metric import FLOOR, OUTPUTS, QuestionMeasurement
from screentest.suites.etva.questions import PromptQuestion, QuestionsFile
from screentest.suites.etva.rules.writer import rules_signature, write_all_by_rules

if TYPE_CHECKING:
    from screentest.models.roles import FlowField


LEAST = 0.02
"""The share of the picture's longer side per second that counts as a movement."""
AGREEING = 0.6
"""The share of looked-at moments that must show it."""


@dataclass(frozen=True, slots=True)
class Movement:
    """Per second and as a share of the longer side: to the right, down, and growing."""

    right: float
    down: float
    growing: float


def movement(field: FlowField, seconds: float) -> Movement:
    """Return what the picture as a whole does; what moves in it is outvoted by the rest.

    >>> flow = np.zeros((40, 60, 2), np.float32)
    >>> flow[..., 0] = 3.0
    >>> movement(flow, 0.5)
    Movement(right=0.1, down=0.0, growing=0.0)

    A camera that turns left lets the picture move to the right; one that comes closer lets it grow.
    """
    height, width = field.shape[:2]
    longer = max(height, width)
    across = np.arange(width, dtype=np.float64) - (width - 1) / 2
    along = (np.arange(height, dtype=np.float64) - (height - 1) / 2)[:, None]
    right, down = float(np.median(field[..., 0])), float(np.median(field[..., 1]))
    radius = np.hypot(across, along)
    outer = radius > 0.25 * longer
    inward = ((field[..., 0] - right) * across + (field[..., 1] - down) * along)[outer]
    growing = float(np.median(inward / radius[outer] ** 2))
    scale = 1.0 / (seconds * longer)
    return Movement(
        round(right * scale, 6), round(down * scale, 6), round(growing / seconds / 2, 6)
    )


_WAYS: Mapping[str, tuple[str, int]] = TERMS["camera"]["flow"]


def moves(value: str, seen: Sequence[Movement]) -> bool | None:
    """Return whether the camera moves as ``value`` says; None where flow cannot tell.

    >>> drift = [Movement(0.1, 0.0, 0.0)] * 4
    >>> moves("pan left", drift), moves("pan right", drift), moves("timelapse", drift)
    (True, False, None)
    """
    words = value.split()
    if not seen:
        return None
    if value == "static shot":
        return all(max(abs(item.right), abs(item.down), abs(item.growing)) < LEAST for item in seen)
    way = next((_WAYS[word] for word in words if word in _WAYS), None)
    if way is None or words[0].startswith(("orbit", "rotat", "circl", "follow")):
        return None
    along, sign = way
    agreeing = sum(sign * float(getattr(item, along)) >= LEAST for item in seen)
    return agreeing >= AGREEING * len(seen)


SEEN = 0.2
"""The share of frames in which a thing must be found to be there."""
COLOURED = 0.2
"""The share of a thing's pixels that must have a colour for it to have that colour."""


class Sightings(Sight):
    """One name in all frames."""

    @property
    def frames(self) -> int:
        return len(self.evidence)

    @property
    def there(self) -> bool:
        return self.frames > 0 and len(self.counts) >= max(1, SEEN * self.frames)

    def count(self) -> int:
        """Return how many there are, in most frames that have any."""
        return round(median(self.counts)) if self.counts else 0

    def has_colour(self, words: str) -> bool | None:
        """Return whether it has a colour; None where the words name none."""
        name = basic_colour(words)
        if name is None:
            return None
        if not self.there:
            return False
        share = float(np.mean([colour[BASIC_COLOURS.index(name)] for colour in self.colours]))
        return share >= COLOURED


def look_for(
    names: Sequence[str], frames: Iterable[Frame], detector: Detector
) -> dict[str, Sightings]:
    """Return every name's sightings in the frames."""
    seen = {name: Sightings() for name in names}
    for number, frame in enumerate(frames):
        for name, sightings in seen.items():
            # One name at a time: of two names for one thing a detector would choose.
            sightings.note(number, frame.image, detector.detect(frame.image, [name]))
    return seen


def is_left_of(one: Sightings, other: Sightings) -> bool | None:
    """Return whether one stands to the left of another; None where they are never seen together."""
    together = one.centres.keys() & other.centres.keys()
    if not together:
        return None
    return median(one.centres[at] - other.centres[at] for at in together) < 0


Frames = Callable[[Sequence[Time], Size], Iterator[Frame]]
PAIRS = 8
_APART = Fraction(1, 8)
"""Seconds between the two frames whose flow is looked at."""
_SMALL = Size(long_side=256)
_COUNTS: Sequence[str] = TERMS["counts"]


@dataclass(slots=True, eq=False)
class BuiltinAnswerer:
    """Answers from what a detector and optical flow see: things, counts, colours, sides, camera.

    All else it does not answer: such a question is not applicable, and lowers coverage.
    """

    detector: Detector
    flow: Flow
    frames: Frames
    _seen: tuple[ShownScene, dict[str, Sightings]] | None = None
    _moved: tuple[ShownScene, list[Movement]] | None = None

    def answer(self, scene: ShownScene, questions: Sequence[PromptQuestion]) -> list[Answered]:
        """One for each question; what cannot be seen from here is not applicable."""
        return [Answered(question, *self._answer(scene, question)) for question in questions]

    def _answer(self, scene: ShownScene, question: PromptQuestion) -> tuple[Outcome[bool], str]:
        graph = scene.asked.graph
        element = graph.element(question.element) if graph is not None else None
        result: tuple[bool | None, str] = (None, "")
        match element:
            case Entity(kind=EntityKind.THING, name=name):
                result = self._exists(scene, name)
            case Attribute(entity=entity, value=value) if graph is not None:
                result = self._quality(scene, question, graph.entity(entity), value)
            case Relation(subject=one, name=words, object=two) if graph is not None:
                result = self._side(scene, graph.entity(one).name, words, graph.entity(two).name)
        answer, why = result
        if answer is None:
            message = why or "the built-in answerer cannot see this"
            return Outcome.failed(Reason.NOT_APPLICABLE, message), ""
        return Outcome.of(answer), why

    def _exists(self, scene: ShownScene, name: str) -> tuple[bool | None, str]:
        mine = self._sightings(scene).get(name)
        if mine is None:
            return None, f"the detector does not know {name!r}"
        return mine.there, f"{name} found in {len(mine.counts)} of {mine.frames} frames"

    def _quality(
        self, scene: ShownScene, question: PromptQuestion, entity: Entity, value: str
    ) -> tuple[bool | None, str]:
        if entity.kind is EntityKind.CAMERA:
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

    def _side(self, scene: ShownScene, one: str, words: str, two: str) -> tuple[bool | None, str]:
        sides = {"left", "right"} & set(words.lower().split())
        seen = self._sightings(scene)
        if len(sides) != 1 or one not in seen or two not in seen:
            return None, ""
        left = is_left_of(seen[one], seen[two])
        if left is None:
            return False, f"{one} and {two} are never seen together"
        return left == ("left" in sides), "centres of their boxes compared"

    def _sightings(self, scene: ShownScene) -> dict[str, Sightings]:
        """Of the things that the detector knows, looked for once per scene."""
        if self._seen is None or self._seen[0] is not scene:
            graph = scene.asked.graph
            entities = graph.entities if graph is not None else ()
            names = [entity.name for entity in entities if entity.kind is EntityKind.THING]
            names = list(compress(names, knows(self.detector, names)))
            self._seen = scene, look_for(names, scene.frames(), self.detector) if names else {}
        return self._seen[1]

    def _movements(self, scene: ShownScene) -> list[Movement]:
        if self._moved is None or self._moved[0] is not scene:
            self._moved = scene, list(self._flows(scene))
        return self._moved[1]

    def _flows(self, scene: ShownScene) -> Iterator[Movement]:
        span = scene.span
        room = span.duration - _APART
        if room <= 0:
            return
        for number in range(PAIRS):
            start = span.start + room * (2 * number + 1) / (2 * PAIRS)
            frames = list(self.frames([start, start + _APART], _SMALL))
            for first, second in pairwise(frames):
                (field,) = self.flow.flow([(first.image, second.image)])
                yield movement(field, float(second.time - first.time))


def _count(value: str) -> int | None:
    low = value.lower()
    if low.isdecimal():
        return int(low)
    return _COUNTS.index(low) if low in _COUNTS else None


_PIXELS = 640 * 360


@register(
    "metric",
    "etva_builtin",
    summary="questions by rules, answered by a small detector and flow; needs no chat model",
    neutral=("questions",),
)
class EtvaBuiltin:
    """Questions about things, counts, colours, sides and camera movements, written by rules.

    ``questions`` is a file that has them already; only those with a scene graph are answered.
    Where less than ``floor`` of them have an answer, there is no score.
    """

    # The same values as ETVA's, of fewer questions.
    info = MetricInfo(OUTPUTS, Level.CLIP, roles=("detection", "flow"), needs=("text",))

    def __init__(
        self,
        *,
        questions: str = "",
        gating: bool = False,
        max_frames: int = 16,
        clips: bool = True,
        floor: float = FLOOR,
    ) -> None:
        if max_frames < 1:
            raise BadOption("etva_builtin looks at one frame at least: max_frames=16")
        self._saved = QuestionsFile(Path(questions)) if questions else None
        self._few = shown(most=max_frames, least=min(4, max_frames), max_pixels=_PIXELS)
        self._gating, self._clips, self._floor = gating, clips, floor

    @property
    def signature_parts(self) -> Mapping[str, object]:
        """The questions themselves where they come from a file, else the rules' lists."""
        if self._saved is not None:
            return {"questions": self._saved.digest}
        return {"rules": rules_signature().digest}

    def start(self, item: Item, resources: Resources) -> Measurement:

        def frames(moments: Sequence[Time], size: Size) -> Iterator[Frame]:
            request = FrameRequest(size=size, filter=Filter.AREA)
            return resources.frames(item.video, moments, request)

        answerer = BuiltinAnswerer(resources.role("detection"), resources.role("flow"), frames)
        write = write_all_by_rules if self._saved is None else self._saved.write
        return QuestionMeasurement(
            item, resources, write, answerer, self._few, self._gating, self._clips, self._floor
        )
