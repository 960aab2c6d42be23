"""The structured description of a video: what is in it, field by field, and its script.

One class serves as the form that a chat model fills in and as the document that is kept. Every
field is required; a list that is empty, or a None, says that nothing was seen of the kind, and
nothing is made up for it. Lists are in order of time: a second entry is what it changes to.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from screentest.metrics.univ import vocabulary as words

_OPEN = Field(union_mode="left_to_right")  # a term of the list where it is one, else the text

SubjectTerm: TypeAlias = Annotated[words.SubjectClass | str, _OPEN]
SceneTerm: TypeAlias = Annotated[words.SceneClass | str, _OPEN]
ActionTerm: TypeAlias = Annotated[words.ActionClass | str, _OPEN]
HueTerm: TypeAlias = Annotated[words.Hue | str, _OPEN]
SaturationTerm: TypeAlias = Annotated[words.Saturation | str, _OPEN]
ContrastTerm: TypeAlias = Annotated[words.Contrast | str, _OPEN]
DirectionTerm: TypeAlias = Annotated[words.LightDirection | str, _OPEN]
EffectTerm: TypeAlias = Annotated[words.LightEffect | str, _OPEN]
BrightnessTerm: TypeAlias = Annotated[words.Brightness | str, _OPEN]
SizeTerm: TypeAlias = Annotated[words.ShotSize | str, _OPEN]
MotionTerm: TypeAlias = Annotated[words.CameraMotion | str, _OPEN]
HeightTerm: TypeAlias = Annotated[words.CameraHeight | str, _OPEN]
PerspectiveTerm: TypeAlias = Annotated[words.Perspective | str, _OPEN]
AngleTerm: TypeAlias = Annotated[words.CameraAngle | str, _OPEN]
FocusTerm: TypeAlias = Annotated[words.CameraFocus | str, _OPEN]
TechniqueTerm: TypeAlias = Annotated[words.Technique | str, _OPEN]
StyleTerm: TypeAlias = Annotated[words.Style | str, _OPEN]


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Subject(_Form):
    """Someone or something that matters."""

    kind: SubjectTerm
    quality: str
    """How many there are, in which form and state."""
    appearance: str
    enters: str | None
    """When and from where it comes into the picture; None: it is there in the first frame."""


class Action(_Form):
    """Something that happens."""

    kind: ActionTerm
    description: str


class Scene(_Form):
    """A place, with time, weather and surroundings."""

    kind: SceneTerm
    description: str


class Position(_Form):
    """Where subjects are."""

    in_frame: list[str]
    between_subjects: list[str]
    to_camera: list[str]


class Colour(_Form):
    """The colours of the picture as a whole."""

    hue: list[HueTerm]
    saturation: list[SaturationTerm]
    contrast: list[ContrastTerm]


class Lighting(_Form):
    """The light."""

    direction: list[DirectionTerm]
    effect: list[EffectTerm]
    brightness: list[BrightnessTerm]


class Camera(_Form):
    """What the camera is and does."""

    shot_size: list[SizeTerm]
    motion: list[MotionTerm]
    height: list[HeightTerm]
    perspective: list[PerspectiveTerm]
    angle: list[AngleTerm]
    focus: list[FocusTerm]
    techniques: list[TechniqueTerm]


class Description(_Form):
    """One shot, or a video of one shot."""

    subjects: list[Subject]
    position: Position
    actions: list[Action]
    scenes: list[Scene]
    colour: Colour
    lighting: Lighting
    style: StyleTerm | None
    atmosphere: list[str]
    camera: Camera

    def by_subdimension(self) -> Iterator[tuple[str, str]]:
        """Every statement with the sub-dimension it belongs to; atmosphere too."""
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
    """The JSON Schema of a whole document, for other programs."""
    return VideoDescription.model_json_schema()
