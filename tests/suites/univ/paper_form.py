"""Descriptions in the form of the paper's figures B11 to B13, for tests that read them."""

from __future__ import annotations

from typing import Any

from screentest.suites.univ.schema import Description
from screentest.suites.univ.script import _FIRST_FRAME
from screentest.suites.univ.vocabulary import PAPER_NAMES, VOCABULARIES


def paper_form(shot: Description, script: str = "") -> dict[str, Any]:
    """A description as the paper writes it."""
    return {
        "subjects": [
            {
                "id": _number("subject_category", one.kind),
                "description": f"{one.quality} {one.appearance}".strip()
                + f", {one.enters or _FIRST_FRAME}",
            }
            for one in shot.subjects
        ],
        "relative_position": _named(shot.position, "relative_position"),
        "actions": [
            {"id": _number("action_event", one.kind), "description": one.description}
            for one in shot.actions
        ],
        "background&scene": [
            {"id": _number("background_scene", one.kind), "description": one.description}
            for one in shot.scenes
        ],
        "color_info": _named(shot.colour, "color_info"),
        "lighting_info": _named(shot.lighting, "lighting_info"),
        "video_style": "None" if shot.style is None else str(shot.style),
        "atmosphere": shot.atmosphere or ["None"],
        "camera_info": _named(shot.camera, "camera_info"),
        "video_script": script,
    }


def _number(about: str, kind: str) -> int:
    members = [one.value for one in VOCABULARIES[about]]
    return members.index(kind) if kind in members else len(members) - 1


def _named(part: Any, section: str) -> dict[str, list[str]]:
    return {
        theirs: [str(one) for one in getattr(part, ours)] or ["None"]
        for ours, theirs in PAPER_NAMES[section].items()
    }
