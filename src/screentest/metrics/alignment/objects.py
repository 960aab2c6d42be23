"""Are the things that the prompt names in the picture: which, how many, in which colour, where?

The prompt is read by rules. Its things are looked for by a detector, as far as it was taught them,
and by a classifier that knows labels of whole pictures. What neither knows is not judged: coverage
says how much that is, and where more than half is unknown there is no score.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, median

import numpy as np
from numpy.typing import NDArray

from screentest.core.errors import NoValue
from screentest.core.frames import Filter, FrameRequest, Image, Size
from screentest.core.item import Item, Span
from screentest.core.metric import Level, Resources
from screentest.core.outcome import Outcome, Point, Reason, Score
from screentest.english.things import NamedThing, named_things
from screentest.metrics.curve import declared
from screentest.metrics.functions import metric
from screentest.models.backends.labels import label_words
from screentest.models.pictures import BASIC_COLOURS, basic_colour, name_pixels
from screentest.models.roles import Detection, Detector, Labels
from screentest.video.samples import evenly

PICTURE = FrameRequest(size=Size(long_side=640), filter=Filter.AREA, inside=True)
LIKELY = 0.1
"""The probability of a label that is as good as an even bet: pictures show several things."""
TINGED = 0.1
"""The share of a thing's pixels at which a colour is half seen."""
MIDDLE = 0.2
"""What is cut from each side of a box before its colours are looked at."""
MOST_SHOTS = 16
"""Shots that are looked at; of a longer film as many, evenly."""
PULL = "screentest models pull light, then --models light; or --model detection=NAME."
OUTPUTS = declared("prompt_objects")


@metric(
    summary="the things that the prompt names: there, how many, which colour, where",
    outputs=OUTPUTS,
    level=Level.CLIP,
    roles=("detection", "labels"),
    needs=("text",),
    shots=True,
    inside=True,
)
def prompt_objects(
    item: Item, resources: Resources, *, frames: int = 4, floor: float = 0.5
) -> Mapping[str, Outcome[Score]]:
    """A prompt is looked for in every shot, and each thing counts where it is seen best.

    ``frames`` of each shot are looked at. A script with times, or with a caption for each shot, is
    looked for caption by caption. Below a coverage of ``floor`` there is no score.
    """
    eyes = Eyes.of(resources)
    passages = list(_passages(item, resources))
    available, named = eyes.known(passages)
    share = sum(map(len, available)) / named
    coverage = Score(share, (), {"named": named, "known": sum(map(len, available))})
    if share < floor or not any(available):
        few: Outcome[Score] = Outcome.failed(
            Reason.LOW_COVERAGE,
            f"{coverage.details['known']} of the {named} things that the prompt names are known",
            "Choose a detector that knows more: --model detection=grounding_dino.",
        )
        return dict.fromkeys(OUTPUTS, few) | {"coverage": Outcome.of(coverage)}
    curve: list[Point] = []
    checks: dict[str, list[float]] = {}
    for passage, things in zip(passages, available, strict=True):
        if things:
            looks = [eyes.look(item, resources, span, things, frames) for span in passage.spans]
            result = _judged(looks, things, eyes.boxed(things))
            for name, values in result.items():
                checks.setdefault(name, []).extend(values)
            curve += _points(passage, looks, things)
    every = [value for values in checks.values() for value in values]
    outcomes: dict[str, Outcome[Score]] = {
        "prompt_objects": Outcome.of(Score(fmean(every), tuple(curve), {"checks": len(every)})),
        "coverage": Outcome.of(coverage),
    }
    for name in ("there", "number", "colour", "side"):
        subset = checks.get(name)
        if subset:
            outcomes[name] = Outcome.of(Score(fmean(subset), (), {"checks": len(subset)}))
        else:
            detail = f"the prompt says no {name} of a thing that has a box"
            outcomes[name] = Outcome.failed(Reason.NOT_APPLICABLE, detail)
    return outcomes


@dataclass(frozen=True, slots=True)
class Passage:
    """A text and when it should be seen."""

    things: tuple[NamedThing, ...]
    spans: tuple[Span, ...]
    """Of the shots in which it is looked for."""


def _passages(item: Item, resources: Resources) -> Iterator[Passage]:
    shots = tuple(shot.span for shot in resources.shots(item.video))
    every = max(1, -(-len(shots) // MOST_SHOTS))
    clips = [clip for clip in item.script.clips if clip.caption.strip()] if item.script else []
    if not clips:
        yield Passage(tuple(named_things(item.text)), shots[::every])
    for place, clip in enumerate(clips):
        spans = shots[::every]
        if clip.span is not None:
            spans = (clip.span,)
        elif len(clips) == len(shots):
            spans = (shots[place],)
        yield Passage(tuple(named_things(clip.caption)), spans)


@dataclass(slots=True)
class Sight:
    """One thing in the frames of one shot."""

    evidence: list[float] = field(default_factory=list)
    """How surely it is in each frame."""
    counts: list[int] = field(default_factory=list)
    """How many boxes, in frames that have any."""
    centres: dict[int, float] = field(default_factory=dict)
    """Frame → where the best one is, from 0 (left) to 1 (right)."""
    colours: list[NDArray[np.float64]] = field(default_factory=list)
    """The share of each basic colour in the best one."""

    @property
    def there(self) -> float:
        return fmean(self.evidence) if self.evidence else 0.0

    def note(self, number: int, image: Image, found: list[Detection], likely: float = 0.0) -> None:
        """Add one frame, with what a detector found there, best first."""
        self.evidence.append(max(likely, found[0].score if found else 0.0))
        if found:
            best = found[0].box
            self.counts.append(len(found))
            self.centres[number] = (best[0] + best[2]) / 2 / image.shape[1]
            self.colours.append(_colours_in(image, best))


@dataclass(frozen=True, slots=True)
class Eyes:
    """A detector, and a classifier where there is one."""

    detector: Detector
    labels: Labels | None
    words: Mapping[str, tuple[int, ...]]

    @classmethod
    def of(cls, resources: Resources) -> Eyes:
        """Raises NoValue where nothing here reads a word."""
        detector: Detector = resources.role("detection")
        try:
            labels: Labels | None = resources.role("labels")
        except NoValue:
            labels = None
        if labels is None and not any(knows(detector, ["person"])):
            raise NoValue(
                Reason.MISSING_MODEL,
                "no text-aware detector is selected",
                advice=f"Select one: {PULL}",
            )
        return cls(detector, labels, label_words(labels.names) if labels is not None else {})

    def known(self, passages: Sequence[Passage]) -> tuple[list[list[NamedThing]], int]:
        """Return the things of each passage that can be looked for, and how many are named."""
        named = sum(len(passage.things) for passage in passages)
        if not named:
            raise NoValue(Reason.NOT_APPLICABLE, "the prompt names nothing that can be pointed at")
        return [
            [
                thing
                for thing, seen in zip(item.things, self.boxed(item.things), strict=True)
                if seen or self._labels_of(thing)
            ]
            for item in passages
        ], named

    def look(
        self,
        item: Item,
        resources: Resources,
        span: Span,
        things: Sequence[NamedThing],
        frames: int,
    ) -> dict[str, Sight]:
        """Return what is seen of each thing in some frames of a shot."""
        sights = {thing.key: Sight() for thing in things}
        boxed = self.boxed(things)
        for number, frame in enumerate(resources.frames(item.video, evenly(span, frames), PICTURE)):
            odds = None if self.labels is None else self.labels.probabilities(frame.image)
            for thing, has_box in zip(things, boxed, strict=True):
                # One name at a time: of two names for one thing a detector would choose.
                result = self.detector.detect(frame.image, [thing.name]) if has_box else []
                labels = self._labels_of(thing)
                likely = 0.0
                if odds is not None and labels:
                    share = float(odds[list(labels)].sum())
                    likely = share / (share + LIKELY)
                sights[thing.key].note(number, frame.image, result, likely)
        return sights

    def boxed(self, things: Sequence[NamedThing]) -> list[bool]:
        """Return which of them the detector looks for, with a box around each."""
        return knows(self.detector, [thing.name for thing in things])

    def _labels_of(self, thing: NamedThing) -> tuple[int, ...]:
        return self.words.get(thing.name.casefold()) or self.words.get(thing.key) or ()


def knows(detector: Detector, names: Sequence[str]) -> list[bool]:
    """Return which names the detector was taught; one that says nothing of that knows all."""
    taught = getattr(detector, "knows", None)
    return taught(names) if taught is not None and names else [True] * len(names)


def _colours_in(image: Image, box: tuple[float, float, float, float]) -> NDArray[np.float64]:
    left, top, right, bottom = box
    inset_x, inset_y = (right - left) * MIDDLE, (bottom - top) * MIDDLE
    rows = slice(int(top + inset_y), max(int(bottom - inset_y), int(top + inset_y) + 1))
    columns = slice(int(left + inset_x), max(int(right - inset_x), int(left + inset_x) + 1))
    names = name_pixels(image[rows, columns])
    return np.bincount(names.ravel(), minlength=len(BASIC_COLOURS)) / max(1, names.size)


def _judged(
    looks: Sequence[Mapping[str, Sight]], things: Sequence[NamedThing], boxed: Sequence[bool]
) -> dict[str, list[float]]:
    """Return what is right of each thing, in the shot in which it is seen best.

    Of what a classifier sees without a box, nothing is known but that it is there.
    """
    checks: dict[str, list[float]] = {"there": []}
    for thing, has_box in zip(things, boxed, strict=True):
        best = max(looks, key=lambda look: look[thing.key].there)
        sight = best[thing.key]
        checks["there"].append(sight.there)
        if not has_box:
            continue
        if thing.number is not None and thing.number > 1:
            seen = median(sight.counts) if sight.counts else 0
            near = min(seen, thing.number) / max(seen, thing.number)
            checks.setdefault("number", []).append(float(near))
        colours = [name for words in thing.colours if (name := basic_colour(words))]
        if colours:
            shares = np.mean(sight.colours or [np.zeros(len(BASIC_COLOURS))], axis=0)
            share = float(sum(shares[BASIC_COLOURS.index(name)] for name in set(colours)))
            checks.setdefault("colour", []).append(share / (share + TINGED))
        if thing.side:
            checks.setdefault("side", []).append(_side(thing, sight, best))
    return checks


def _side(thing: NamedThing, sight: Sight, look: Mapping[str, Sight]) -> float:
    """1 where it is on its side, 0 on the other or where it is not seen."""
    if not sight.centres:
        return 0.0
    away = {at: centre - 0.5 for at, centre in sight.centres.items()}
    if thing.beside:
        other = look.get(NamedThing(thing.beside).key)
        together = away.keys() & (other.centres.keys() if other else ())
        if other is None or not together:
            return 0.0
        away = {at: sight.centres[at] - other.centres[at] for at in together}
    return float((median(away.values()) < 0) == (thing.side == "left"))


def _points(
    passage: Passage, looks: Sequence[Mapping[str, Sight]], things: Sequence[NamedThing]
) -> Iterator[Point]:
    """Yield a point for each shot: how surely the things are seen in it, and which are not."""
    for span, look in zip(passage.spans, looks, strict=True):
        unseen = [thing.name for thing in things if look[thing.key].there < LIKELY]
        note = f"not seen: {', '.join(unseen)}" if unseen else ""
        yield Point(span, fmean(sight.there for sight in look.values()), note)
