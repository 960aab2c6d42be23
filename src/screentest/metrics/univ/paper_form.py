"""Descriptions in the paper's own JSON: its field names, its ids of classes, its "None".

``read_paper_form`` takes what the published captioning prompt asks a model for;
``paper_form`` writes it, for tools that expect it.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from pydantic import ValidationError

from screentest.core import ManifestError
from screentest.metrics.univ import vocabulary as words
from screentest.metrics.univ.schema import Description

_FIRST_FRAME = "appears in the first frame"
_CAMERA = {
    "shot_size": "shot_size",
    "motion": "camera_motion&speed",
    "height": "camera_height",
    "perspective": "camera_perspective",
    "angle": "camera_angle",
    "focus": "camera_focus",
    "techniques": "shooting_techniques",
}
_LIGHTING = {
    "direction": "lighting_direction",
    "effect": "lighting_effect",
    "brightness": "brightness",
}
_POSITION = {
    "in_frame": "inter_frame_layout",
    "between_subjects": "inter_subject_relation",
    "to_camera": "subject_camera_relation",
}


def read_paper_form(document: Mapping[str, Any]) -> Description:
    """A description from the paper's JSON; what says "None" is absent.

    A description of a subject is one text there: how many and what it looks like are not told
    apart, so all of it is its appearance.
    """
    try:
        return Description.model_validate(
            {
                "subjects": [_subject(one) for one in _rows(document, "subjects")],
                "position": _part(document, "relative_position", _POSITION),
                "actions": [_classed(one, words.ActionClass) for one in _rows(document, "actions")],
                "scenes": [
                    _classed(one, words.SceneClass) for one in _rows(document, "background&scene")
                ],
                "colour": _part(
                    document,
                    "color_info",
                    {"hue": "hue", "saturation": "saturation", "contrast": "contrast"},
                ),
                "lighting": _part(document, "lighting_info", _LIGHTING),
                "style": next(iter(_texts(document.get("video_style"))), None),
                "atmosphere": _texts(document.get("atmosphere")),
                "camera": _part(document, "camera_info", _CAMERA),
            }
        )
    except (ValidationError, TypeError, KeyError) as error:
        told = str(error).splitlines()[0]
        raise ManifestError(f"not a description in the paper's form: {told}") from None


def paper_form(shot: Description, script: str = "") -> dict[str, Any]:
    """A description as the paper writes it."""
    return {
        "subjects": [
            {
                "id": _number(words.SubjectClass, one.kind),
                "description": f"{one.quality} {one.appearance}".strip()
                + f", {one.enters or _FIRST_FRAME}",
            }
            for one in shot.subjects
        ],
        "relative_position": _named(shot.position, _POSITION),
        "actions": [
            {"id": _number(words.ActionClass, one.kind), "description": one.description}
            for one in shot.actions
        ],
        "background&scene": [
            {"id": _number(words.SceneClass, one.kind), "description": one.description}
            for one in shot.scenes
        ],
        "color_info": _named(
            shot.colour, {"hue": "hue", "saturation": "saturation", "contrast": "contrast"}
        ),
        "lighting_info": _named(shot.lighting, _LIGHTING),
        "video_style": "None" if shot.style is None else str(shot.style),
        "atmosphere": shot.atmosphere or ["None"],
        "camera_info": _named(shot.camera, _CAMERA),
        "video_script": script,
    }


def _subject(row: Mapping[str, Any]) -> dict[str, Any]:
    text = str(row["description"]).strip()
    there = _FIRST_FRAME in text.casefold()
    _, comma, entry = text.rpartition(", ")
    return {
        "kind": _member(words.SubjectClass, row.get("id")),
        "quality": "",
        "appearance": text if there or not comma else text.removesuffix(f", {entry}"),
        "enters": None if there or not comma else entry,
    }


def _classed(row: Mapping[str, Any], vocabulary: type[StrEnum]) -> dict[str, Any]:
    return {
        "kind": _member(vocabulary, row.get("id")),
        "description": str(row["description"]).strip(),
    }


def _member(vocabulary: type[StrEnum], number: object) -> str:
    members = list(vocabulary)
    if isinstance(number, int) and 0 <= number < len(members):
        return members[number].value
    return "other"


def _number(vocabulary: type[StrEnum], kind: str) -> int:
    members = list(vocabulary)
    return members.index(vocabulary(kind)) if kind in members else len(members) - 1


def _rows(document: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    rows = document.get(name, [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise TypeError(f"{name} is not a list of objects")
    return rows


def _part(
    document: Mapping[str, Any], name: str, fields: Mapping[str, str]
) -> dict[str, list[str]]:
    part = document.get(name, {})
    if not isinstance(part, dict):
        raise TypeError(f"{name} is not an object")
    return {ours: _texts(part.get(theirs)) for ours, theirs in fields.items()}


def _named(part: Any, fields: Mapping[str, str]) -> dict[str, list[str]]:
    return {
        theirs: [str(one) for one in getattr(part, ours)] or ["None"]
        for ours, theirs in fields.items()
    }


def _texts(value: object) -> list[str]:
    """A text or a list of texts, without those that say there is none."""
    given = value if isinstance(value, list) else [] if value is None else [value]
    found = []
    for text in given:
        if not isinstance(text, str):
            raise TypeError("a field holds something that is not text")
        if text.strip() and text.strip().casefold() != "none":
            found.append(text.strip())
    return found
