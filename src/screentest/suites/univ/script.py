"""The script of a video: all that a description says as one text; and the paper's own JSON.

Style and atmosphere, the camera as it starts, the first frame, then what happens in order of time;
between shots stands "Shot cut". What a description leaves open is not mentioned.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError

from screentest.core import ManifestError
from screentest.suites.univ.schema import Description
from screentest.suites.univ.vocabulary import PAPER_NAMES, VOCABULARIES

CUT = "Shot cut."


def join_shots(texts: Iterable[str]) -> str:
    """One text of several shots.

    >>> join_shots(["First a dog.", "", "Then a cat."])
    'First a dog. Shot cut. Then a cat.'
    """
    return f" {CUT} ".join(text.strip() for text in texts if text.strip())


def write_script(shot: Description) -> str:
    """Return the plain text of a description, by rule; empty where it says nothing."""
    result = [_opening(shot), _camera(shot), _first_frame(shot), _events(shot)]
    return " ".join(text for text in result if text)


def _opening(shot: Description) -> str:
    parts = []
    if shot.style is not None:
        parts.append(f"is in {shot.style} style")
    if shot.atmosphere:
        parts.append(f"has an atmosphere that is {_then(shot.atmosphere)}")
    return f"The video {' and '.join(parts)}." if parts else ""


def _camera(shot: Description) -> str:
    names = ("shot_size", "angle", "perspective", "height", "focus", "techniques")
    start = _starts(shot.camera, names)
    return f"It is filmed as {_list(start)}." if start else ""


def _starts(part: BaseModel, names: Iterable[str]) -> list[str]:
    """Return the first statement of each field that has one."""
    return [str(values[0]) for name in names if (values := getattr(part, name))]


def _first_frame(shot: Description) -> str:
    look = [
        text
        for part in (shot.colour, shot.lighting)
        for text in _starts(part, type(part).model_fields)
    ]
    sentences = []
    if shot.scenes:
        sentences.append(f"First it shows {_bare(shot.scenes[0].description)}.")
    if look:
        sentences.append(f"The picture has {_list(look)}.")
    for subject in shot.subjects:
        if subject.enters is None:
            sentences.append(f"There is {_phrase(subject.quality, subject.appearance)}.")
    position = shot.position
    for text in (*position.in_frame, *position.between_subjects, *position.to_camera):
        sentences.append(f"{_bare(text)}.")
    return " ".join(sentences)


def _events(shot: Description) -> str:
    entering = [
        f"{_phrase(subject.quality, subject.appearance)} appears: {_bare(subject.enters)}"
        for subject in shot.subjects
        if subject.enters is not None
    ]
    acting = [_bare(action.description) for action in shot.actions]
    moving = [_camera_move(str(term)) for term in shot.camera.motion]
    changing = [
        f"it changes to {_then([str(value) for value in values[1:]])}"
        for values in (
            *(shot.colour.hue, shot.colour.saturation, shot.colour.contrast),
            *(shot.lighting.direction, shot.lighting.effect, shot.lighting.brightness),
            *(shot.camera.shot_size, shot.camera.angle, shot.camera.focus),
        )
        if len(values) > 1
    ]
    changing += [f"the place changes to {_bare(scene.description)}" for scene in shot.scenes[1:]]
    events = [*moving, *entering, *acting, *changing]
    if not events:
        return ""
    if len(events) == 1:
        return f"First, {events[0]}."
    between = "".join(f"; then, {event}" for event in events[1:-1])
    return f"First, {events[0]}{between}; finally, {events[-1]}."


def _camera_move(term: str) -> str:
    return "the camera is still" if term == "static shot" else f"the camera makes a {_bare(term)}"


def _phrase(quality: str, appearance: str) -> str:
    return f"{_bare(quality)} ({_bare(appearance)})" if appearance.strip() else _bare(quality)


def _bare(text: str) -> str:
    return text.strip().rstrip(".;, ")


def _list(texts: Sequence[str]) -> str:
    bare = [_bare(text) for text in texts]
    return bare[0] if len(bare) == 1 else f"{', '.join(bare[:-1])} and {bare[-1]}"


def _then(texts: Sequence[str]) -> str:
    return ", then ".join(_bare(text) for text in texts)


_FIRST_FRAME = "appears in the first frame"


def read_paper_form(document: Mapping[str, Any]) -> Description:
    """Return a description from the JSON that the published captioning prompt asks a model for.

    It has the paper's field names and ids of classes; what says "None" is absent. A description of
    a subject is one text there: how many and what it looks like are not told apart, so all of it is
    its appearance.
    """
    try:
        return Description.model_validate(
            {
                "subjects": [_subject(row) for row in _rows(document, "subjects")],
                "position": _part(document, "relative_position"),
                "actions": [_classed(row, "action_event") for row in _rows(document, "actions")],
                "scenes": [
                    _classed(row, "background_scene") for row in _rows(document, "background&scene")
                ],
                "colour": _part(document, "color_info"),
                "lighting": _part(document, "lighting_info"),
                "style": next(iter(texts_of(document.get("video_style"), "video_style")), None),
                "atmosphere": texts_of(document.get("atmosphere"), "atmosphere"),
                "camera": _part(document, "camera_info"),
            }
        )
    except (ValidationError, TypeError, KeyError) as error:
        message = str(error).splitlines()[0]
        raise ManifestError(f"not a description in the paper's form: {message}") from None


def _subject(row: Mapping[str, Any]) -> dict[str, Any]:
    text = str(row["description"]).strip()
    there = _FIRST_FRAME in text.casefold()
    _, comma, entry = text.rpartition(", ")
    return {
        "kind": _member("subject_category", row.get("id")),
        "quality": "",
        "appearance": text if there or not comma else text.removesuffix(f", {entry}"),
        "enters": None if there or not comma else entry,
    }


def _classed(row: Mapping[str, Any], about: str) -> dict[str, Any]:
    return {"kind": _member(about, row.get("id")), "description": str(row["description"]).strip()}


def _member(about: str, number: object) -> str:
    members = list(VOCABULARIES[about])
    if isinstance(number, int) and 0 <= number < len(members):
        return members[number].value
    return "other"


def _rows(document: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    rows = document.get(name, [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise TypeError(f"{name} is not a list of objects")
    return rows


def _part(document: Mapping[str, Any], name: str) -> dict[str, list[str]]:
    part = document.get(name, {})
    if not isinstance(part, dict):
        raise TypeError(f"{name} is not an object")
    return {ours: texts_of(part.get(theirs), theirs) for ours, theirs in PAPER_NAMES[name].items()}


def texts_of(value: object, where: str) -> list[str]:
    """Return a text or a list of texts, without those that say there is none."""
    given: list[Any] = value if isinstance(value, list) else [value]
    texts = [text for text in given if text is not None]
    if not all(isinstance(text, str) for text in texts):
        raise ManifestError(f"{where} holds something that is not text")
    bare = (text.strip() for text in texts)
    return [text for text in bare if text and text.casefold() != "none"]
