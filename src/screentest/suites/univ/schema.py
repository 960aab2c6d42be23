"""The structured description of a video: what is in it, field by field, and its script.

One class serves as the form that a chat model fills in and as the document that is kept. Every
field is required; a list that is empty, or a None, says that nothing was seen of the kind, and
nothing is made up for it. Lists are in order of time: a second entry is what it changes to.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
    create_model,
    model_validator,
)

from screentest.core import NoValue, Span, seconds
from screentest.models.ask import Explanation
from screentest.suites.univ.vocabulary import PAPER_NAMES, VOCABULARIES, Dimension


@dataclass(frozen=True, slots=True)
class _Term:
    """Marks a text that is a term of a sub-dimension's list where it is one, else free text."""

    about: str

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        terms = VOCABULARIES[self.about] | str
        return handler.generate_schema(Annotated[terms, Field(union_mode="left_to_right")])


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Subject(_Form):
    """Someone or something that matters."""

    kind: Annotated[str, _Term("subject_category")]
    quality: str
    """How many there are, in which form and state."""
    appearance: str
    enters: str | None
    """When and from where it comes into the picture; None: it is there in the first frame."""


class Action(_Form):
    """Something that happens."""

    kind: Annotated[str, _Term("action_event")]
    description: str


class Scene(_Form):
    """A place, with time, weather and surroundings."""

    kind: Annotated[str, _Term("background_scene")]
    description: str


class Position(_Form):
    """Where subjects are."""

    in_frame: list[str]
    between_subjects: list[str]
    to_camera: list[str]


class Colour(_Form):
    """The colours of the picture as a whole."""

    hue: list[Annotated[str, _Term("colour_hue")]]
    saturation: list[Annotated[str, _Term("colour_saturation")]]
    contrast: list[Annotated[str, _Term("colour_contrast")]]


class Lighting(_Form):
    """The light."""

    direction: list[Annotated[str, _Term("lighting_direction")]]
    effect: list[Annotated[str, _Term("lighting_effect")]]
    brightness: list[Annotated[str, _Term("lighting_brightness")]]


class Camera(_Form):
    """What the camera is and does."""

    shot_size: list[Annotated[str, _Term("camera_shot_size")]]
    motion: list[Annotated[str, _Term("camera_motion")]]
    height: list[Annotated[str, _Term("camera_height")]]
    perspective: list[Annotated[str, _Term("camera_perspective")]]
    angle: list[Annotated[str, _Term("camera_angle")]]
    focus: list[Annotated[str, _Term("camera_focus")]]
    techniques: list[Annotated[str, _Term("camera_techniques")]]


class Description(_Form):
    """One shot, or a video of one shot."""

    subjects: list[Subject]
    position: Position
    actions: list[Action]
    scenes: list[Scene]
    colour: Colour
    lighting: Lighting
    style: Annotated[str, _Term("style_kind")] | None
    atmosphere: list[str]
    camera: Camera

    def by_subdimension(self) -> Iterator[tuple[str, str]]:
        """Yield every statement with the sub-dimension it belongs to; atmosphere too."""
        if self.style is not None:
            yield "style_kind", str(self.style)
        yield from (("atmosphere", text) for text in self.atmosphere)
        for subject in self.subjects:
            yield "subject_category", str(subject.kind)
            yield "subject_quality", subject.quality
            yield "subject_appearance", subject.appearance
        yield from (("action_event", action.description) for action in self.actions)
        yield from (("background_scene", scene.description) for scene in self.scenes)
        for group, part in (
            ("camera", self.camera),
            ("lighting", self.lighting),
            ("colour", self.colour),
        ):
            for name in type(part).model_fields:
                yield from ((f"{group}_{name}", str(text)) for text in getattr(part, name))
        for text in (*self.position.in_frame, *self.position.between_subjects):
            yield "position_layout", text
        yield from (("position_camera", text) for text in self.position.to_camera)


class Overview(_Form):
    """What the whole video is, for whoever describes a piece of it."""

    style: str
    subjects: list[str]
    content: str


class ShotDescription(_Form):
    """One shot with its time, as exact ratios of seconds."""

    start: str
    end: str
    description: Description
    script: str


def span_of(shot: ShotDescription) -> Span:
    """Return the time of a shot."""
    return Span(seconds(shot.start), seconds(shot.end))


class VideoDescription(_Form):
    """A video, shot by shot."""

    id: str
    described_by: str
    overview: Overview | None
    """None where there is one shot, or no model to write it."""
    shots: list[ShotDescription]
    script: str
    """All shots in one text, with "Shot cut" between them."""


NOTHING = Description(
    subjects=[],
    position=Position(in_frame=[], between_subjects=[], to_camera=[]),
    actions=[],
    scenes=[],
    colour=Colour(hue=[], saturation=[], contrast=[]),
    lighting=Lighting(direction=[], effect=[], brightness=[]),
    style=None,
    atmosphere=[],
    camera=Camera(
        shot_size=[], motion=[], height=[], perspective=[], angle=[], focus=[], techniques=[]
    ),
)
"""Nothing said about anything; a describer fills in what it knows."""


def description_schema() -> dict[str, Any]:
    """Return the JSON Schema of a whole document, for other programs."""
    return VideoDescription.model_json_schema()


# The forms in which a judge answers. Every field is required, and answers must not contradict
# themselves: one that does is sent back once, and then counts as no answer.

MOST = 10


class Part(StrEnum):
    """The six parts of the checklist."""

    CONTENT = "content_fidelity"
    STYLE = "style_consistency"
    MOTION = "motion_coherence"
    TECHNICAL = "technical_quality"
    ARTISTIC = "artistic_expression"
    RIGHTS = "ip_and_privacy"


_CLOCK = re.compile(r"(?:(?:(\d+):)?(\d+):)?(\d+(?:\.\d+)?) *(?:s|sec|seconds?)?", re.IGNORECASE)


def named(written: object) -> object:
    """Return a part or a dimension by its name here: judges write "Content Fidelity", "Color"."""
    if not isinstance(written, str):
        return written
    plain = " ".join(re.findall(r"[a-z]+", written.casefold()))
    if plain in ("", "none", "null", "none of the eight"):
        return None
    name = PAPER_NAMES["judgements"].get(plain, plain).replace(" ", "_")
    return next((item for item in (*Part, *Dimension) if item.value == name), written)


def _number(written: object) -> object:
    """Return a number that is written as text, and a time in seconds: "0.6", "0:01", "1.5 s"."""
    clock = _CLOCK.fullmatch(written.strip()) if isinstance(written, str) else None
    if clock is None:
        return written
    hours, minutes, rest = (float(part or 0) for part in clock.groups())
    return 3600 * hours + 60 * minutes + rest


Written: TypeAlias = Annotated[float, BeforeValidator(_number), Field(ge=0, strict=True)]


class Finding(_Form):
    """One fault."""

    part: Annotated[Part, BeforeValidator(named)]
    dimension: Annotated[Dimension | None, BeforeValidator(named)]
    """None where it touches none of the eight, such as a logo."""
    start: Annotated[Written, Field(allow_inf_nan=False)]
    end: Annotated[Written, Field(allow_inf_nan=False)]
    kind: str
    description: str
    fix: str
    severity: Annotated[Written, Field(le=1, allow_inf_nan=False)]

    @model_validator(mode="after")
    def _ends_after_it_starts(self) -> Finding:
        if self.end < self.start:
            raise ValueError("a finding ends before it starts")
        return self


class Remarks(_Form):
    """A word on each part of the checklist, so that none is skipped."""

    content_fidelity: str
    style_consistency: str
    motion_coherence: str
    technical_quality: str
    artistic_expression: str
    ip_and_privacy: str


@dataclass(frozen=True, slots=True)
class Unread:
    """A part of an answer that cannot be read, why, and what it says."""

    problem: str
    text: str = ""


def _or_unread(given: Any, read: ValidatorFunctionWrapHandler) -> Any:
    """One part that cannot be read costs that part, not all others of its answer."""
    text = json.dumps(given, ensure_ascii=False)
    try:
        return read(given)
    except ValidationError as error:
        return unread_of(error, given)
    except (ValueError, NoValue) as error:
        return Unread(str(error), text)


def unread_of(error: ValidationError, given: Any) -> Unread:
    """Return an answer that does not fit its form, with its first fault."""
    problem = error.errors()[0]
    place = "".join(f"{step}: " for step in problem["loc"][-1:])
    return Unread(f"{place}{problem['msg']}", json.dumps(given, ensure_ascii=False))


class Inspection(_Form):
    """What a look at the video found."""

    remarks: Remarks
    findings: list[Annotated[Finding, WrapValidator(_or_unread)]]
    approved: bool

    @property
    def readable(self) -> list[Finding]:
        listed: list[Any] = self.findings
        return [item for item in listed if isinstance(item, Finding)]

    @property
    def unread(self) -> list[Unread]:
        """The findings that could not be read; whoever gives points reads their words."""
        listed: list[Any] = self.findings
        return [item for item in listed if isinstance(item, Unread)]

    @model_validator(mode="after")
    def _approved_is_without_findings(self) -> Inspection:
        if self.approved == bool(self.findings):
            raise ValueError("approved means that there are no findings, and only that")
        return self


Points: TypeAlias = Annotated[
    float,
    Field(ge=0, le=MOST, strict=True),
    WithJsonSchema({"type": "integer", "minimum": 0, "maximum": MOST}),
]
"""Whole points are asked for; a judge that writes 6.5 means 6.5."""


class Mark(_Form):
    """Points with a reason; the reason comes first."""

    reason: Explanation
    score: Points


class Marks(_Form):
    """All eight dimensions."""

    subject: Mark
    background: Mark
    action: Mark
    camera: Mark
    colour: Mark
    lighting: Mark
    style: Mark
    position: Mark
    comment: str


class Scripted(_Form):
    """The script of one shot."""

    script: Annotated[str, Field(min_length=1)]


_SCORES = {"0": "0", "0.0": "0", "0.5": "0.5", ".5": "0.5", "1": "1", "1.0": "1"}


def _score(written: object) -> object:
    """Return a score as a number, too: judges write 0.5 where "0.5" is asked for."""
    if isinstance(written, bool):
        return written
    return _SCORES.get(str(written).strip(), written)


class Match(_Form):
    """Whether one item of a checklist is in a caption."""

    quote: str
    """The caption's words that speak of it; empty where there are none."""
    reason: Explanation
    score: Annotated[Literal["1", "0.5", "0"], BeforeValidator(_score)]

    @model_validator(mode="before")
    @classmethod
    def _published_names(cls, given: Any) -> Any:
        """Take the names of the published template; the score tells what is present."""
        if not isinstance(given, dict):
            return given
        available = {"reasoning": "reason", "is_present": "", "present": "", "item": ""}
        return {available.get(k, k): value for k, value in given.items() if available.get(k, k)}

    @property
    def points(self) -> float:
        return float(self.score)

    @property
    def present(self) -> bool:
        return self.points > 0


class _Matches(_Form):
    """The form of a batch: every item under its name."""

    @model_validator(mode="before")
    @classmethod
    def _all_items(cls, given: Any) -> Any:
        """Return an item that is left out is one without an answer; what was not asked for goes."""
        if not isinstance(given, dict) or not given.keys() & cls.model_fields.keys():
            return given
        return {name: given.get(name) for name in cls.model_fields}


@cache
def match_form(count: int) -> type[BaseModel]:
    """Return a form with a Match for each of ``count`` items, or an Unread."""
    kind = Annotated[Match, WrapValidator(_or_unread)]
    fields: dict[str, Any] = {f"item_{number}": (kind, ...) for number in range(1, count + 1)}
    return create_model(f"Matches{count}", __base__=_Matches, **fields)
