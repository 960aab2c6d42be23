"""The stages, each a function from what is known of a video to what it adds.

collect → draft → evaluate → merge → questions → events → complexity. A stage sees the results
of those it names, so that a correction reaches exactly what depends on it. The forms in which
models answer come first, then what is measured on a source.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field

from screentest.core import (
    Filter,
    FrameRequest,
    Image,
    Item,
    NoValue,
    Reason,
    Resources,
    Size,
    UserError,
)
from screentest.core.outcome import Json
from screentest.models.ask import Explanation, Frames, NonBlank, Query
from screentest.suites.locot2v.data import COMPLEXITIES, DIMENSIONS, Event, PromptRecord
from screentest.suites.locot2v.metrics.herd import (
    POLARITY,
    QUESTIONS,
    Expectations,
    Sixfold,
    dimensions,
    questions_on,
)
from screentest.suites.locot2v.requests import ACTIONS, EVENTS, actions_of, events_of_text, few
from screentest.video.samples import evenly

_LONGEST = 20_000


class Written(BaseModel):
    """A text."""

    text: NonBlank = Field(max_length=_LONGEST)


class Faults(BaseModel):
    """What is wrong with a draft; nothing where it can stay as it is."""

    faults: list[str] = Field(max_length=20)


class EventPrompts(BaseModel):
    """One prompt per event, in order."""

    prompts: list[NonBlank] = Field(max_length=100)


def _one_for_each(slots: Mapping[str, Any], answer: EventPrompts) -> None:
    written, events = len(answer.prompts), len(slots["events"])
    if written != events:
        raise ValueError(f"prompts: {written} were written for {events} events; one for each")


class Graded(BaseModel):
    """A grade with its explanation."""

    explanation: Explanation
    score: int = Field(ge=1, le=10)


class Complexity(BaseModel):
    """The three complexities."""

    semantic: Graded
    structural: Graded
    control: Graded


class SourceFlags(BaseModel):
    """What would make a video a bad source."""

    burnt_in_text: bool
    overlay: bool
    low_quality: bool
    off_theme: bool
    why: str


CHECK = Query("locot2v/source_check", SourceFlags, "chat.watch")
DRAFT = Query("locot2v/draft", Written, "chat.watch")
CRITIQUE = Query("locot2v/critique", Faults, "chat.watch")
REVISE = Query("locot2v/revise", Written, "chat.watch")
WATCH = Query("locot2v/herd_watch", Expectations, "chat.watch")
MERGE = Query("locot2v/merge", Written, "chat.extract")
EVENT_PROMPTS = Query("locot2v/event_prompts", EventPrompts, "chat.extract", check=_one_for_each)
COMPLEXITY = Query("locot2v/complexity", Complexity, "chat.extract")
ALL = (CHECK, DRAFT, CRITIQUE, REVISE, WATCH, MERGE, EVENT_PROMPTS, COMPLEXITY)
ROLES = ("technical", *sorted({query.role for query in ALL}))
"""Whom the stages ask."""


FRAMES, LONG_SIDE = 16, 480
EDGE = 60.0
"""A gradient (Sobel, of 0–255 grey) that counts as an edge."""
STANDS_STILL = 0.9
"""An edge in this share of the frames stands still."""
OVERLAY_LEAST, OVERLAY_MOST = 0.0008, 0.08
"""Shares of the picture between which edges that stand still are an overlay, not a scene."""
MOVING = 0.6
"""At least this share of all edges must come and go, or the scene itself stands still."""
OVERLAY_EXTENT = 0.3
"""An overlay is in one place; a slow scene has edges everywhere."""
TEXT_FRAMES = 0.4
"""Lines of text in this share of the frames are subtitles."""


@dataclass(frozen=True, slots=True)
class Looks:
    """What was measured."""

    text_frames: float
    """The share of frames with a line of text in their lower or upper third."""
    overlay: float
    """The share of the picture whose edges stand still while the rest moves."""
    technical: float | None
    """By the technical role, 0–1; None where nothing could be judged."""

    def flags(self, least_quality: float) -> list[str]:
        result = []
        if self.text_frames >= TEXT_FRAMES:
            result.append("burnt_in_text")
        if self.overlay > 0:
            result.append("overlay")
        if self.technical is not None and self.technical < least_quality:
            result.append("low_quality")
        return result


def look(video: Path, resources: Resources) -> Looks:
    """Measure a video on frames spread over it.

    These are plain measurements that flag; a person decides. They look at a few frames.
    """
    moments = evenly(resources.info(video).span, FRAMES)
    wants = FrameRequest(size=Size(long_side=LONG_SIDE), filter=Filter.AREA)
    images = [frame.image for frame in resources.frames(video, moments, wants)]
    try:
        technical = float(resources.role("technical").score(images))
    except NoValue as error:
        if error.reason is not Reason.NOT_APPLICABLE:
            raise
        technical = None
    text = sum(bool(text_lines(image)) for image in images) / len(images)
    return Looks(text, standing_overlay(images), technical)


def standing_overlay(images: Sequence[Image]) -> float:
    """Return the share of the picture with edges that stand still while others move; 0 for none."""
    import cv2

    if len(images) < 4:
        return 0.0
    edges = []
    for image in images:
        grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY).astype(np.float32)
        across, down = cv2.Sobel(grey, cv2.CV_32F, 1, 0), cv2.Sobel(grey, cv2.CV_32F, 0, 1)
        edges.append(np.hypot(across, down) > EDGE)
    share = np.mean(edges, axis=0)
    still = share >= STANDS_STILL
    ever = int((share > 0).sum())
    if not ever or float(still.mean()) < OVERLAY_LEAST or float(still.mean()) > OVERLAY_MOST:
        return 0.0
    moves = 1 - int(still.sum()) / ever >= MOVING
    return float(still.mean()) if moves and _extent(still) <= OVERLAY_EXTENT else 0.0


def _extent(mask: NDArray[np.bool_]) -> float:
    """Return the share of the picture within the box around nearly all of a mask."""
    rows, columns = np.nonzero(mask)
    across, down = (np.subtract(*np.percentile(places, (98, 2))) for places in (columns, rows))
    return float(across * down / mask.size)


def text_lines(image: Image) -> list[tuple[int, int, int, int]]:
    """Boxes (left, top, width, height) that look like lines of text, not in the middle third.

    Letters are many short strokes side by side: closed along the line they make a bar that is
    wide, low, well filled and of high contrast.
    """
    import cv2

    grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    height, width = grey.shape
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (3, 3))
    strokes = cv2.morphologyEx(grey, cv2.MORPH_GRADIENT, kernel)
    _, strong = cv2.threshold(strokes, 90, 255, cv2.THRESH_BINARY)
    reach = max(5, width // 40)
    bars = cv2.morphologyEx(
        strong, cv2.MORPH_CLOSE, cv2.getStructuringElement(cv2.MORPH_RECT, (reach, 1))
    )
    contours, _ = cv2.findContours(bars, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    result = []
    for contour in contours:
        left, top, across, down = cv2.boundingRect(contour)
        low = 0.02 * height <= down <= 0.12 * height
        wide = across >= max(4 * down, 0.12 * width)
        outer = top + down / 2 >= 2 * height / 3 or top + down / 2 <= height / 3
        if low and wide and outer and _is_lettered(strong[top : top + down, left : left + across]):
            result.append((left, top, across, down))
    return result


def _is_lettered(strokes: NDArray[Any]) -> bool:
    """Return whether strokes fill enough, and change often enough along the line, to be letters."""
    ink = strokes > 0
    changes = np.abs(np.diff(ink.astype(np.int8), axis=1)).sum(axis=1).max()
    return bool(0.3 <= ink.mean() <= 0.95 and changes >= 2 * ink.shape[1] / ink.shape[0])


Document: TypeAlias = dict[str, Json]
"""What a stage made of one video."""
Known: TypeAlias = Mapping[str, Mapping[str, Any]]
"""The documents of the stages before, by name."""


@dataclass(frozen=True, slots=True)
class SourceVideo:
    """A real video to make a prompt from."""

    id: str
    item: Item
    theme: str = ""


@dataclass(frozen=True, slots=True)
class Choices:
    """What a user may set; all of it is an input of the stages that use it."""

    shortest: float = 30.0
    longest: float = 60.0
    least_quality: float = 0.3
    refinements: int = 2
    frames: int = 32
    long_side: int = 512
    questions: Sixfold = "rewordings"
    """Whether the six questions of a dimension are rewordings of one, as in the paper."""

    @property
    def shown(self) -> Frames:
        return few(self.frames, self.long_side)


@dataclass(frozen=True, slots=True)
class Stage:
    """A name, the work, what it builds on, and what its result must hold."""

    name: str
    make: Callable[[SourceVideo, Known, Resources, Choices], Document]
    asks: tuple[Query, ...]
    holds: Mapping[str, type | tuple[type, ...]]
    """What must be in a result, also after somebody has edited it."""
    after: tuple[str, ...] = ()
    watches: bool = False
    """Whether it looks at the video itself."""
    uses: tuple[str, ...] = ()
    """The choices its result depends on."""

    def check(self, result: Mapping[str, Any], path: Path) -> None:
        """Raise UserError where a result was edited into another shape."""
        for key, kind in self.holds.items():
            if not isinstance(result.get(key), kind):
                raise UserError(
                    f"{path}: {key!r} is missing or not what it should be",
                    advice="Fix it, or remove the file to have it made again.",
                )


def _collect(source: SourceVideo, known: Known, resources: Resources, choices: Choices) -> Document:
    """Duration window and flags. Nothing is thrown away: ``use`` is for a person to change."""
    duration = float(resources.info(source.item.video).duration)
    looks = look(source.item.video, resources)
    flags = looks.flags(choices.least_quality)
    if not choices.shortest <= duration <= choices.longest:
        flags.append("duration")
    pictures = choices.shown.show(resources, source.item.video)
    seen = CHECK.one(resources, {"pictures": pictures, "theme": source.theme or "any"})
    named = ("burnt_in_text", "overlay", "low_quality", "off_theme")
    flags += [name for name in named if getattr(seen, name) and name not in flags]
    return {
        "duration": duration,
        "flags": list(flags),
        "measured": asdict(looks),
        "why": seen.why,
        # What is too short or too long is not a source; all else a person decides.
        "use": "duration" not in flags,
    }


def _draft(source: SourceVideo, known: Known, resources: Resources, choices: Choices) -> Document:
    """Describe the video as a prompt, criticised and revised until no fault is left."""
    pictures = choices.shown.show(resources, source.item.video)
    text = DRAFT.one(resources, {"pictures": pictures}).text
    rounds: list[Json] = []
    for _ in range(choices.refinements):
        slots = {"pictures": pictures, "draft": text}
        faults = CRITIQUE.one(resources, slots).faults
        if not faults:
            break
        rounds.append({"draft": text, "faults": list(faults)})
        text = REVISE.one(resources, {**slots, "faults": list(faults)}).text
    return {"text": text.strip(), "rounds": rounds}


def _evaluate(
    source: SourceVideo, known: Known, resources: Resources, choices: Choices
) -> Document:
    """Return what a viewer says of the real video, in each of the seven dimensions."""
    pictures = choices.shown.show(resources, source.item.video)
    answer = WATCH.one(resources, {"pictures": pictures, "dimensions": dimensions()})
    return {name: getattr(answer, name).strip() for name in DIMENSIONS}


def _merge(source: SourceVideo, known: Known, resources: Resources, choices: Choices) -> Document:
    """Return the final prompt: what is to be seen, and how it should come across."""
    slots = {"base": known["draft"]["text"], "evaluation": dict(known["evaluate"])}
    text = MERGE.one(resources, slots).text.strip()
    return {"text": text, "words": len(text.split())}


def _questions(
    source: SourceVideo, known: Known, resources: Resources, choices: Choices
) -> Document:
    """Six questions per dimension, each with its polarity."""
    answer = {name: text for name, text in known["evaluate"].items() if text.strip()}
    return {
        name: [{"question": question.text, "positive": question.positive} for question in questions]
        for name, questions in questions_on(answer, resources, choices.questions).items()
    }


def _events(source: SourceVideo, known: Known, resources: Resources, choices: Choices) -> Document:
    """Events of the base with a prompt each, and human actions of the prompt."""
    base = str(known["draft"]["text"])
    events = events_of_text(base, resources)
    prompt = str(known["merge"]["text"])
    actions = actions_of(PromptRecord(source.id, prompt, base), resources)
    prompts = event_prompts(prompt, events, resources)
    return {
        "events": [
            {**asdict(event), "prompt": text, "subjects": list(event.subjects)}
            for event, text in zip(events, prompts, strict=True)
        ],
        "actions": [asdict(action) for action in actions],
    }


def event_prompts(prompt: str, events: tuple[Event, ...], resources: Resources) -> list[str]:
    """One prompt per event, for generators that take several."""
    if not events:
        return []
    slots = {"prompt": prompt, "events": [event.event for event in events]}
    result: list[str] = EVENT_PROMPTS.one(resources, slots).prompts
    return [item.strip() for item in result]


def _complexity(
    source: SourceVideo, known: Known, resources: Resources, choices: Choices
) -> Document:
    """Return how complex the final prompt is, from 1 to 10 in three respects."""
    return complexity(str(known["merge"]["text"]), resources)


def complexity(prompt: str, resources: Resources) -> Document:
    """Semantic, structural and control complexity of any prompt, their mean, and its length."""
    result = COMPLEXITY.one(resources, {"prompt": prompt})
    scores: dict[str, int] = {name: getattr(result, name).score for name in COMPLEXITIES}
    return {
        **scores,
        "mean": sum(scores.values()) / len(scores),
        "words": len(prompt.split()),
        "explanations": {name: getattr(result, name).explanation for name in scores},
    }


_SEEN = ("frames", "long_side")
_NUMBER = (int, float)
STAGES: tuple[Stage, ...] = (
    Stage(
        "collect",
        _collect,
        (CHECK,),
        {"duration": _NUMBER, "flags": list, "use": bool},
        watches=True,
        uses=("shortest", "longest", "least_quality", *_SEEN),
    ),
    Stage(
        "draft",
        _draft,
        (DRAFT, CRITIQUE, REVISE),
        {"text": str},
        watches=True,
        uses=("refinements", *_SEEN),
    ),
    Stage(
        "evaluate", _evaluate, (WATCH,), dict.fromkeys(DIMENSIONS, str), watches=True, uses=_SEEN
    ),
    Stage("merge", _merge, (MERGE,), {"text": str}, after=("draft", "evaluate")),
    Stage(
        "questions", _questions, (QUESTIONS, POLARITY), {}, after=("evaluate",), uses=("questions",)
    ),
    Stage(
        "events",
        _events,
        (EVENTS, ACTIONS, EVENT_PROMPTS),
        {"events": list, "actions": list},
        after=("draft", "merge"),
    ),
    Stage(
        "complexity", _complexity, (COMPLEXITY,), dict.fromkeys(COMPLEXITIES, _NUMBER), ("merge",)
    ),
)
