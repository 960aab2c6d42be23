"""The description: enumerations that take free text, the exported schema, the paper's form."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from screentest.core import ManifestError
from screentest.models.chat.messages import json_schema
from screentest.suites.univ.schema import NOTHING, Description, VideoDescription, description_schema
from screentest.suites.univ.script import join_shots, read_paper_form, write_script
from screentest.suites.univ.vocabulary import (
    ALL_SUBDIMENSIONS,
    ATMOSPHERE,
    SUBDIMENSIONS,
    VOCABULARIES,
    Dimension,
    classify,
)
from tests.suites.univ.paper_form import paper_form

BEHIND = "The man is behind the dog"
FIRST_FRAME = "appears in the first frame"
"""As the paper's form has it."""
DOG: dict[str, Any] = {
    "subjects": [
        {
            "kind": "animal",
            "quality": "one standing dog",
            "appearance": "a white Labrador with a brown collar",
            "enters": None,
        },
        {"kind": "human", "quality": "a man", "appearance": "in blue", "enters": "from the right"},
    ],
    "position": {
        "in_frame": ["The dog is on the left"],
        "between_subjects": [BEHIND],
        "to_camera": ["The dog faces the camera"],
    },
    "actions": [{"kind": "animal action", "description": "the dog walks to the man"}],
    "scenes": [{"kind": "natural background", "description": "a meadow by day, sunny"}],
    "colour": {"hue": ["warm tone"], "saturation": ["a bit pale"], "contrast": []},
    "lighting": {"direction": ["side light"], "effect": [], "brightness": ["high brightness"]},
    "style": "Realistic",
    "atmosphere": ["calm"],
    "camera": {
        "shot_size": ["long shot", "medium shot"],
        "motion": ["pan left"],
        "height": [],
        "perspective": [],
        "angle": ["horizontal angle"],
        "focus": ["deep focus shot"],
        "techniques": [],
    },
}


def test_there_are_8_dimensions_and_21_subdimensions() -> None:
    """1 + 3 + 1 + 1 + 7 + 3 + 3 + 2, as section 3.1 of the paper counts them."""
    counts = {dimension.value: len(names) for dimension, names in SUBDIMENSIONS.items()}
    assert counts == {
        "style": 1,
        "subject": 3,
        "action": 1,
        "background": 1,
        "camera": 7,
        "lighting": 3,
        "colour": 3,
        "position": 2,
    }
    assert len(set(ALL_SUBDIMENSIONS)) == 21
    assert len(Dimension) == 8
    # No name may stand for two values of one metric.
    assert not {*ALL_SUBDIMENSIONS, ATMOSPHERE} & {one.value for one in Dimension}


def test_the_classes_are_as_many_as_the_captioning_prompt_numbers() -> None:
    """Subjects 0 to 5, scenes 0 to 3, actions 0 to 7; nine shot sizes, six angles."""
    names = ("subject_category", "background_scene", "action_event", "camera_shot_size")
    assert [len(VOCABULARIES[one]) for one in (*names, "camera_angle")] == [6, 4, 8, 9, 6]


def test_a_term_becomes_a_member_and_free_text_stays() -> None:
    found = Description.model_validate(DOG)
    assert found.colour.hue == ["warm tone"]
    assert isinstance(found.colour.hue[0], VOCABULARIES["colour_hue"])
    assert found.colour.saturation == ["a bit pale"]
    assert not isinstance(found.colour.saturation[0], VOCABULARIES["colour_saturation"])


def test_nothing_is_filled_in_for_a_model() -> None:
    for name in DOG:
        lacking = {key: value for key, value in DOG.items() if key != name}
        with pytest.raises(ValidationError):
            Description.model_validate(lacking)
    json_schema(Description)  # raises where a field has a default


def test_the_exported_schema_is_a_schema_and_takes_what_we_write() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = description_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    shot = {"start": "0", "end": "3/2", "description": DOG, "script": "A dog."}
    whole = {"id": "a", "described_by": "x", "overview": None, "shots": [shot], "script": "A dog."}
    written = VideoDescription.model_validate(whole).model_dump(mode="json")
    jsonschema.validate(written, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**written, "shots": [{**shot, "description": {}}]}, schema)


def test_every_subdimension_has_its_statements() -> None:
    told = list(Description.model_validate(DOG).by_subdimension())
    assert ("camera_shot_size", "medium shot") in told
    assert ("colour_hue", "warm tone") in told
    assert ("position_layout", BEHIND) in told
    assert {about for about, _ in told} <= {*ALL_SUBDIMENSIONS, ATMOSPHERE}
    assert not list(NOTHING.by_subdimension())


@pytest.mark.parametrize(
    ("name", "text", "member"),
    [
        ("camera_motion", "The camera slowly pushes in", "dolly in"),
        ("camera_motion", "a dolly-zoom", "dolly-zoom"),
        ("camera_shot_size", "Medium long shot, the legs are seen", "medium long shot"),
        ("camera_shot_size", "close-up showing facial details", "close up"),
        ("colour_hue", "Neutral tone (black, white, gray)", "neutral tone"),
        ("lighting_direction", "side-back light from the window", "side-back light"),
        ("lighting_brightness", "None", None),
        ("colour_saturation", "highlander", None),
        ("style_kind", "realistic documentary", "Realistic Documentary"),
    ],
)
def test_free_text_is_classified(name: str, text: str, member: object) -> None:
    assert classify(VOCABULARIES[name], text) == member


def test_the_script_has_the_paper_s_order() -> None:
    text = write_script(Description.model_validate(DOG))
    order = ["Realistic style", "calm", "long shot", "a meadow", "warm tone", "one standing dog"]
    order += ["on the left", "First, the camera makes a pan left", "a man (in blue) appears"]
    order += ["finally, it changes to medium shot"]
    places = [text.index(words) for words in order]
    assert places == sorted(places)
    assert write_script(NOTHING) == ""
    assert join_shots(["One.", "Two."]).count("Shot cut") == 1


def test_the_paper_s_own_form_is_read_and_written() -> None:
    """Field names and ids as in figures B11 to B13."""
    theirs = paper_form(Description.model_validate(DOG), "A dog.")
    assert theirs["camera_info"]["camera_motion&speed"] == ["pan left"]
    assert theirs["camera_info"]["camera_height"] == ["None"]
    assert theirs["subjects"][0]["id"] == 0
    assert theirs["subjects"][0]["description"].endswith(FIRST_FRAME)
    again = read_paper_form(json.loads(json.dumps(theirs)))
    assert again.camera == Description.model_validate(DOG).camera
    assert again.subjects[0].enters is None
    assert again.subjects[1].enters == "from the right"
    assert again.subjects[1].kind == "human"
    for wrong in ({"subjects": "a dog"}, {"camera_info": []}, {"atmosphere": [3]}):
        with pytest.raises(ManifestError):
            read_paper_form(wrong)
