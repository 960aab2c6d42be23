"""Checklists: what a video holds, in the smallest pieces, each with where it counts.

They come from the benchmark's own ground truth (the ``json`` of its caption files) or from a
description made by ``suite univ caption``. The benchmark's has no field for the camera and one
for subjects as a whole: camera then has no items, and nothing is put in their place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from screentest.core import ManifestError, Span, seconds
from screentest.suites.univ.schema import VideoDescription
from screentest.suites.univ.vocabulary import (
    ALL_SUBDIMENSIONS,
    ATMOSPHERE,
    OWNER,
    SUBDIMENSIONS,
    Dimension,
)

_GLOBAL: Mapping[str, str] = {
    "video_style": "style_kind",
    "atmosphere": ATMOSPHERE,
    "background": "background_scene",
    "lighting.lighting_direction": "lighting_direction",
    "lighting.brightness_level": "lighting_brightness",
    "lighting.lighting_effect": "lighting_effect",
    "color.overall_color_tone": "colour_hue",
    "color.contrast": "colour_contrast",
    "color.saturation": "colour_saturation",
    "subject_description": Dimension.SUBJECT.value,
    "relative_position.in_frame_layout": "position_layout",
    "relative_position.inter_frame_layout": "position_layout",
    "relative_position.inter_subject_relation": "position_layout",
    "relative_position.subject_camera_relation": "position_camera",
    # The printed template has these two outside their group.
    "inter_subject_relation": "position_layout",
    "subject_camera_relation": "position_camera",
    # Not in the benchmark; whoever adds the camera's fields has them counted.
    "camera.camera_focus": "camera_focus",
    "camera.shot_size": "camera_shot_size",
    "camera.camera_motion&speed": "camera_motion",
    "camera.camera_perspective": "camera_perspective",
    "camera.camera_angle": "camera_angle",
    "camera.camera_height": "camera_height",
    "camera.shooting_techniques": "camera_techniques",
}


@dataclass(frozen=True, slots=True)
class ChecklistEntry:
    """One thing that a caption should say."""

    about: str
    """A sub-dimension, atmosphere, or ``subject`` where it is not told apart further."""
    text: str
    span: Span | None = None

    @property
    def dimension(self) -> Dimension | None:
        """The dimension it counts in; None for atmosphere."""
        if self.about in OWNER:
            return OWNER[self.about]
        return None if self.about == ATMOSPHERE else Dimension(self.about)


def read_checklist(document: Mapping[str, Any]) -> tuple[ChecklistEntry, ...]:
    """Return the entries of a ground truth, whichever of the two forms it has."""
    if "shots" in document and "described_by" in document:
        try:
            return from_description(VideoDescription.model_validate(document))
        except ValidationError as error:
            problem = error.errors(include_url=False)[0]
            where = ".".join(str(part) for part in problem["loc"])
            raise ManifestError(f"not a description: {where}: {problem['msg']}") from None
    if "global_attribute" not in document and "temporal_actions" not in document:
        raise ManifestError(
            "neither a checklist of the benchmark nor a description",
            advice="Give the `json` of its caption.json, or what `suite univ caption` wrote.",
        )
    return tuple(_benchmark_entries(document))


def from_description(video: VideoDescription) -> tuple[ChecklistEntry, ...]:
    """Return every statement of every shot; what several shots say alike counts once."""
    entries: dict[tuple[str, str], ChecklistEntry] = {}
    for shot in video.shots:
        span = Span(seconds(shot.start), seconds(shot.end))
        for about, text in shot.description.by_subdimension():
            if text.strip():
                entries.setdefault((about, text.casefold()), ChecklistEntry(about, text, span))
    order = (*ALL_SUBDIMENSIONS, ATMOSPHERE)
    return tuple(sorted(entries.values(), key=lambda entry: order.index(entry.about)))


def _benchmark_entries(document: Mapping[str, Any]) -> Iterator[ChecklistEntry]:
    attributes = document.get("global_attribute", {})
    if not isinstance(attributes, dict):
        raise ManifestError("global_attribute is not an object")
    for path, about in _GLOBAL.items():
        group, _, name = path.rpartition(".")
        part = attributes.get(group, {}) if group else attributes
        if isinstance(part, dict):
            yield from (ChecklistEntry(about, text) for text in _texts(part.get(name), path))
    actions = document.get("temporal_actions", [])
    for step in actions if isinstance(actions, list) else [actions]:
        if not isinstance(step, dict):
            raise ManifestError("temporal_actions is not a list of objects")
        for text in _texts(step.get("actions"), "actions"):
            yield ChecklistEntry(SUBDIMENSIONS[Dimension.ACTION][0], text)


def _texts(value: object, where: str) -> Iterator[str]:
    given: Sequence[object] = value if isinstance(value, list) else [value]
    for item in given:
        if item is None:
            continue
        if not isinstance(item, str):
            raise ManifestError(f"{where} holds something that is not text")
        if item.strip() and item.strip().casefold() != "none":
            yield item.strip()
