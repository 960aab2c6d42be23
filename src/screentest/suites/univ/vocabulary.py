"""The words of a description (closed lists beside free text), and the dimensions they belong to.

A member's value is what is written; ``also`` are other names it goes by. ``classify`` finds which
member a free text is about, so that a corpus can be counted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from typing import Self


class Vocabulary(StrEnum):
    """A list of terms with other names for each."""

    also: tuple[str, ...]

    def __new__(cls, value: str, *also: str) -> Self:
        """Return a term and its other names."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.also = also
        return member


class SubjectClass(Vocabulary):
    """What a subject is."""

    ANIMAL = "animal", "animals"
    HUMAN = "human", "humans", "person"
    THING = "non-living entity", "non-living entities", "thing", "object"
    PLANT = "plant", "plants"
    FICTIONAL = "fictional", "imaginary", "fictional character"
    OTHER = "other"


class SceneClass(Vocabulary):
    """What kind of place the background is."""

    NATURAL = "natural background", "natural", "nature"
    BUILT = "human-built background", "human-built", "built"
    VIRTUAL = "virtual background", "virtual", "computer-generated"
    OTHER = "other"


class ActionClass(Vocabulary):
    """What kind of action it is."""

    EXPRESSION = "human: facial expression", "facial expression"
    DAILY = "human: daily activity", "daily activity"
    SPORT = "human: sport or intense movement", "sport", "intense movement"
    ANIMAL = "animal action", "animal"
    NATURAL = "natural activity", "natural"
    THING = "non-living entity motion", "thing"
    VIRTUAL = "virtual entity action", "virtual"
    OTHER = "other"


class Hue(Vocabulary):
    """The overall tone."""

    WARM = "warm tone", "warm"
    COOL = "cool tone", "cool", "cold"
    NEUTRAL = "neutral tone", "neutral", "black and white"
    MULTI = "multi-color", "multi-colour", "multicolor", "multicoloured", "colorful", "colourful"


class Saturation(Vocabulary):
    """How strong the colours are."""

    HIGH = "high saturation", "high", "vivid"
    MODERATE = "moderate saturation", "moderate", "medium saturation", "medium"
    LOW = "low saturation", "low", "desaturated"


class Contrast(Vocabulary):
    """How far light and dark lie apart."""

    HIGH = "high contrast", "high"
    MEDIUM = "medium contrast", "medium", "moderate contrast", "moderate"
    LOW = "low contrast", "low"


class LightDirection(Vocabulary):
    """Where the light comes from."""

    SIDE_FRONT = "side-front light", "side front light"
    SIDE_BACK = "side-back light", "side back light"
    FRONT = "front light", "frontal light", "front-lit"
    SIDE = "side light", "sidelight", "side-lit"
    BACK = "back light", "backlight", "backlit", "back-lit"
    BOTTOM = "bottom light", "underlight"
    TOP = "top light", "overhead light"


class LightEffect(Vocabulary):
    """What the light does."""

    SOFT = "soft light", "soft"
    HARD = "hard light", "hard"
    TYNDALL = "Tyndall effect", "god rays", "light shafts"
    SPOT = "localized spotlighting", "localised spotlighting", "spotlight"


class Brightness(Vocabulary):
    """How bright it is."""

    HIGH = "high brightness", "high", "bright"
    MODERATE = "moderate brightness", "moderate", "medium brightness", "medium"
    LOW = "low brightness", "low", "dark", "dim"


class ShotSize(Vocabulary):
    """How much of the subject the frame holds."""

    EXTREME_WIDE = "extreme wide shot", "extreme long shot", "ELS", "EWS"
    MEDIUM_LONG = "medium long shot", "medium wide shot", "medium-long shot", "MLS", "MWS"
    LONG = "long shot", "wide shot", "LS", "WS"
    FULL = "full shot", "FS"
    COWBOY = "cowboy shot"
    MEDIUM_CLOSE = "medium close up", "medium close-up", "MCU"
    EXTREME_CLOSE = "extreme close up", "extreme close-up", "ECU"
    MEDIUM = "medium shot", "MS"
    CLOSE = "close up", "close-up", "CU"


class CameraAngle(Vocabulary):
    """How the camera is tilted towards the subject."""

    HORIZONTAL = "horizontal angle", "level angle"
    LOW = "low-angle shot", "low angle"
    HIGH = "high-angle shot", "high angle"
    BIRD = "bird's-eye view", "bird's eye view", "top-down"
    AERIAL = "aerial shot", "aerial"
    WORM = "worm's eye view", "worm's-eye view"


class Perspective(Vocabulary):
    """Whose view it is."""

    SHOULDER = "over the shoulder shot", "over-the-shoulder"
    HIP = "over the hip shot", "over-the-hip"
    POINT_OF_VIEW = "point of view shot", "POV", "point-of-view"
    DUTCH = "Dutch angle"


class CameraHeight(Vocabulary):
    """How high the camera stands, where people are in focus."""

    EYE = "eye-level shot", "eye level"
    SHOULDER = "shoulder-level shot", "shoulder level"
    KNEE = "knee-level shot", "knee level"
    GROUND = "ground-level shot", "ground level"


class CameraMotion(Vocabulary):
    """What the camera does."""

    STATIC = "static shot", "static", "fixed camera"
    WHIP_PAN = ("whip pan",)
    WHIP_TILT = ("whip tilt",)
    DOLLY_ZOOM = "dolly-zoom", "dolly zoom", "Hitchcock shot"
    PAN_RIGHT = "pan right", "pans right", "panning right", "pans to the right"
    PAN_LEFT = "pan left", "pans left", "panning left", "pans to the left"
    TILT_UP = "tilt up", "tilts up", "tilting up"
    TILT_DOWN = "tilt down", "tilts down", "tilting down"
    ZOOM_IN = "zoom in", "zooms in", "zooming in", "zoom-in"
    ZOOM_OUT = "zoom out", "zooms out", "zooming out", "zoom-out"
    ROLL = "camera roll", "roll"
    DOLLY_IN = "dolly in", "pushes in", "push in"
    DOLLY_OUT = "dolly out", "pulls back", "pull back", "pull out"
    TRUCK_RIGHT = "truck right", "trucks right"
    TRUCK_LEFT = "truck left", "trucks left"
    PEDESTAL_UP = "pedestal up", "jib up", "camera moves up"
    PEDESTAL_DOWN = "pedestal down", "jib down", "camera moves down"
    FOLLOWING = "following shot", "follows", "tracking shot"
    ARC = "arc shot", "arc"


class CameraFocus(Vocabulary):
    """What is sharp."""

    SHALLOW = "shallow focus shot", "shallow focus", "shallow depth of field"
    DEEP = "deep focus shot", "deep focus", "deep depth of field"
    RACK = ("rack focus",)
    PULL = ("focus pull",)
    SOFT = ("soft focus",)
    TILT_SHIFT = "tilt-shift shot", "tilt-shift"
    SPLIT = "split diopter shot", "split diopter"


class Technique(Vocabulary):
    """Ways of shooting."""

    HANDHELD = "handheld camera", "handheld", "hand-held"
    SLOW_MOTION = "slow motion", "bullet time", "slow-motion"


_STYLES = """
Realistic Sitcom|Realistic BW|Realistic Retro Film|Realistic Documentary|Realistic Punk|Realistic
Cinematic|Lo-fi|Western|Bohemian|Baroque|Rococo|Gothic|Sports Style|Lolita|Streetwear|Preppy
Ethnic|2D Animation|3D Cartoon|American Comic|Japanese Anime|Hand-drawn|Vintage Anime
Ghibli Style|Miniature|Miyazaki Style|Shinkai Style|Pixar Style|Stop Motion|Cute/Moe
Silk Painting|Ukiyo-e|Pastel|Minimalist|Gongbi|Lacquer|Sketch|Picture Book|Watercolor|Ink Wash
Memphis|Impressionist|Retro Poster|Woodblock|Pop Art|Concept Art|Line Art|Chalkboard|Doodle
Children's Illustration|High Saturation/Flat/Thick Line|Guochao|Vector|Motion Graphics|Steampunk
Cyberpunk|Sci-fi|Vaporwave|Surrealism|Wasteland|Felt Animation|Block Style|Claymation
Cloth Animation|Plush Animation|Voxel Animation
"""
STYLE_NAMES = tuple(name for line in _STYLES.strip().splitlines() for name in line.split("|"))
# Members named by their own words; mypy cannot follow names that are computed.
Style = StrEnum("Style", {re.sub(r"\W+", "_", name).upper(): name for name in STYLE_NAMES})  # type: ignore[misc]


def classify(vocabulary: type[StrEnum], text: str) -> StrEnum | None:
    """Return the member that a text is about: the longest name found in it, the first of equals.

    >>> classify(ShotSize, "A medium close-up showing the face"), classify(Hue, "None")
    (<ShotSize.MEDIUM_CLOSE: 'medium close up'>, None)
    """
    lowered = text.casefold()
    best: tuple[int, int] | None = None
    result = None
    for member, pattern in _patterns(vocabulary):
        hit = pattern.search(lowered)
        if hit is None:
            continue
        # A longer name says more; of two as long, what is said first.
        rank = (hit.end() - hit.start(), -hit.start())
        if best is None or rank > best:
            best, result = rank, member
    return result


@cache
def _patterns(vocabulary: type[StrEnum]) -> list[tuple[StrEnum, re.Pattern[str]]]:
    result: list[tuple[StrEnum, re.Pattern[str]]] = []
    for member in vocabulary:
        for name in (member.value, *getattr(member, "also", ())):
            result.append((member, re.compile(rf"(?<!\w){re.escape(name.casefold())}(?!\w)")))
    return result


class Dimension(StrEnum):
    """What a video is scored in, in the order of the published table."""

    SUBJECT = "subject"
    BACKGROUND = "background"
    ACTION = "action"
    CAMERA = "camera"
    COLOUR = "colour"
    LIGHTING = "lighting"
    STYLE = "style"
    POSITION = "position"


TITLES: Mapping[Dimension, str] = {
    Dimension.SUBJECT: "Subject",
    Dimension.BACKGROUND: "Background",
    Dimension.ACTION: "Action",
    Dimension.CAMERA: "Camera",
    Dimension.COLOUR: "Colour",
    Dimension.LIGHTING: "Lighting",
    Dimension.STYLE: "Video style",
    Dimension.POSITION: "Relative position",
}

ATMOSPHERE = "atmosphere"
"""It has its field in every description and checklist, and is none of the 21 sub-dimensions. It is
counted beside them and enters no average."""

SUBDIMENSIONS: Mapping[Dimension, tuple[str, ...]] = {
    Dimension.SUBJECT: ("subject_category", "subject_quality", "subject_appearance"),
    Dimension.BACKGROUND: ("background_scene",),
    Dimension.ACTION: ("action_event",),
    Dimension.CAMERA: (
        "camera_focus",
        "camera_shot_size",
        "camera_motion",
        "camera_perspective",
        "camera_angle",
        "camera_height",
        "camera_techniques",
    ),
    Dimension.COLOUR: ("colour_hue", "colour_contrast", "colour_saturation"),
    Dimension.LIGHTING: ("lighting_direction", "lighting_brightness", "lighting_effect"),
    Dimension.STYLE: ("style_kind",),
    Dimension.POSITION: ("position_layout", "position_camera"),
}
ALL_SUBDIMENSIONS: tuple[str, ...] = tuple(
    name for names in SUBDIMENSIONS.values() for name in names
)
OWNER: Mapping[str, Dimension] = {
    name: dimension for dimension, names in SUBDIMENSIONS.items() for name in names
}
VOCABULARIES: Mapping[str, type[StrEnum]] = {
    "subject_category": SubjectClass,
    "background_scene": SceneClass,
    "action_event": ActionClass,
    "camera_focus": CameraFocus,
    "camera_shot_size": ShotSize,
    "camera_motion": CameraMotion,
    "camera_perspective": Perspective,
    "camera_angle": CameraAngle,
    "camera_height": CameraHeight,
    "camera_techniques": Technique,
    "colour_hue": Hue,
    "colour_contrast": Contrast,
    "colour_saturation": Saturation,
    "lighting_direction": LightDirection,
    "lighting_brightness": Brightness,
    "lighting_effect": LightEffect,
    "style_kind": Style,
}
"""The closed lists by sub-dimension; the other four are free text alone."""
