"""The eight dimensions and 21 sub-dimensions of UniV-Eval, and where vocabularies belong.

Atmosphere has its field in every description and checklist, and is none of the 21. It is
counted beside them and enters no average.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from screentest.metrics.univ import vocabulary as words


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
    "subject_category": words.SubjectClass,
    "background_scene": words.SceneClass,
    "action_event": words.ActionClass,
    "camera_focus": words.CameraFocus,
    "camera_shot_size": words.ShotSize,
    "camera_motion": words.CameraMotion,
    "camera_perspective": words.Perspective,
    "camera_angle": words.CameraAngle,
    "camera_height": words.CameraHeight,
    "camera_techniques": words.Technique,
    "colour_hue": words.Hue,
    "colour_contrast": words.Contrast,
    "colour_saturation": words.Saturation,
    "lighting_direction": words.LightDirection,
    "lighting_brightness": words.Brightness,
    "lighting_effect": words.LightEffect,
    "style_kind": words.Style,
}
"""The closed lists by sub-dimension; the other four are free text alone."""
