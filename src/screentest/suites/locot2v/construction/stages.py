"""The stages, each a function from what is known of a video to what it adds.

collect → draft → evaluate → merge → questions → events → complexity. A stage sees the results
of those it names, so that a correction reaches exactly what depends on it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from screentest.core import Item, Resources, UserError
from screentest.models.ask import Frames, Query
from screentest.suites.locot2v.construction.forms import (
    CHECK,
    COMPLEXITY,
    CRITIQUE,
    DRAFT,
    EVENT_PROMPTS,
    MERGE,
    REVISE,
    WATCH,
    look,
)
from screentest.suites.locot2v.data import COMPLEXITIES, DIMENSIONS, Event, PromptRecord
from screentest.suites.locot2v.metrics.herd import (
    POLARITY,
    QUESTIONS,
    Sixfold,
    dimensions,
    questions_on,
)
from screentest.suites.locot2v.requests import ACTIONS, EVENTS, actions_of, events_of_text, few

if TYPE_CHECKING:
    from screentest.core.outcome import Json

Document: TypeAlias = "dict[str, Json]"
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
    ask_about_source: bool = True
    """Whether a chat model also looks for text, overlays, poor quality and another theme."""

    @property
    def shown(self) -> Frames:
        """Return how a model is shown a video."""
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
    summary: str = ""

    @property
    def templates(self) -> tuple[str, ...]:
        """The prompt templates it sends."""
        return tuple(ask.template for ask in self.asks)

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
    why = ""
    if choices.ask_about_source:
        pictures = choices.shown.show(resources, source.item.video)
        seen = CHECK.one(resources, {"pictures": pictures, "theme": source.theme or "any"})
        why = seen.why
        named = ("burnt_in_text", "overlay", "low_quality", "off_theme")
        flags += [name for name in named if getattr(seen, name) and name not in flags]
    return {
        "duration": duration,
        "flags": list(flags),
        "measured": asdict(looks),
        "why": why,
        # What is too short or too long is not a source; all else a person decides.
        "use": "duration" not in flags,
    }


def _draft(source: SourceVideo, known: Known, resources: Resources, choices: Choices) -> Document:
    """Return a description of the video as a prompt, criticised and revised until nothing is
    left."""
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
        uses=("shortest", "longest", "least_quality", "ask_about_source", *_SEEN),
        summary="duration, and what makes a bad source",
    ),
    Stage(
        "draft",
        _draft,
        (DRAFT, CRITIQUE, REVISE),
        {"text": str},
        watches=True,
        uses=("refinements", *_SEEN),
        summary="the prompt's base, with self-refine",
    ),
    Stage(
        "evaluate",
        _evaluate,
        (WATCH,),
        dict.fromkeys(DIMENSIONS, str),
        watches=True,
        uses=_SEEN,
        summary="what a viewer says of the real video",
    ),
    Stage(
        "merge",
        _merge,
        (MERGE,),
        {"text": str},
        after=("draft", "evaluate"),
        summary="the final prompt",
    ),
    Stage(
        "questions",
        _questions,
        (QUESTIONS, POLARITY),
        {},
        after=("evaluate",),
        uses=("questions",),
        summary="six questions per dimension, with polarity",
    ),
    Stage(
        "events",
        _events,
        (EVENTS, ACTIONS, EVENT_PROMPTS),
        {"events": list, "actions": list},
        after=("draft", "merge"),
        summary="events, a prompt for each, human actions",
    ),
    Stage(
        "complexity",
        _complexity,
        (COMPLEXITY,),
        dict.fromkeys(COMPLEXITIES, _NUMBER),
        after=("merge",),
        summary="complexity and length of the prompt",
    ),
)
