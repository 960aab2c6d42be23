"""The script of a video: all that a description says as one text, in a fixed order.

Style and atmosphere, the camera as it starts, the first frame, then what happens in order of
time; between shots stands "Shot cut". What a description leaves open is not mentioned.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from screentest.metrics.univ.schema import Description

CUT = "Shot cut."


def join_shots(texts: Iterable[str]) -> str:
    """One text of several shots.

    >>> join_shots(["First a dog.", "", "Then a cat."])
    'First a dog. Shot cut. Then a cat.'
    """
    return f" {CUT} ".join(text.strip() for text in texts if text.strip())


def write_script(shot: Description) -> str:
    """The plain text of a description, by rule; empty where it says nothing."""
    found = [_opening(shot), _camera(shot), _first_frame(shot), _events(shot)]
    return " ".join(text for text in found if text)


def _opening(shot: Description) -> str:
    parts = []
    if shot.style is not None:
        parts.append(f"is in {shot.style} style")
    if shot.atmosphere:
        parts.append(f"has an atmosphere that is {_then(shot.atmosphere)}")
    return f"The video {' and '.join(parts)}." if parts else ""


def _camera(shot: Description) -> str:
    camera = shot.camera
    start = [
        str(values[0])
        for values in (
            *(camera.shot_size, camera.angle, camera.perspective),
            *(camera.height, camera.focus, camera.techniques),
        )
        if values
    ]
    return f"It is filmed as {_list(start)}." if start else ""


def _first_frame(shot: Description) -> str:
    colour, lighting = shot.colour, shot.lighting
    look = [
        str(values[0])
        for values in (
            *(colour.hue, colour.saturation, colour.contrast),
            *(lighting.direction, lighting.effect, lighting.brightness),
        )
        if values
    ]
    sentences = []
    if shot.scenes:
        sentences.append(f"First it shows {_bare(shot.scenes[0].description)}.")
    if look:
        sentences.append(f"The picture has {_list(look)}.")
    for subject in shot.subjects:
        if subject.enters is None:
            sentences.append(f"There is {_told(subject.quality, subject.appearance)}.")
    position = shot.position
    for text in (*position.in_frame, *position.between_subjects, *position.to_camera):
        sentences.append(f"{_bare(text)}.")
    return " ".join(sentences)


def _events(shot: Description) -> str:
    entering = [
        f"{_told(subject.quality, subject.appearance)} appears: {_bare(subject.enters)}"
        for subject in shot.subjects
        if subject.enters is not None
    ]
    acting = [_bare(action.description) for action in shot.actions]
    moving = [_camera_move(str(term)) for term in shot.camera.motion]
    changing = [
        f"it changes to {_then([str(one) for one in values[1:]])}"
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


def _told(quality: str, appearance: str) -> str:
    return f"{_bare(quality)} ({_bare(appearance)})" if appearance.strip() else _bare(quality)


def _bare(text: str) -> str:
    return text.strip().rstrip(".;, ")


def _list(texts: Sequence[str]) -> str:
    bare = [_bare(text) for text in texts]
    return bare[0] if len(bare) == 1 else f"{', '.join(bare[:-1])} and {bare[-1]}"


def _then(texts: Sequence[str]) -> str:
    return ", then ".join(_bare(text) for text in texts)
