"""V2T: checklists by hand, aggregation by hand, a scripted judge."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from screentest.core import Item, ManifestError, Reason
from screentest.suites.univ.checklist import ChecklistEntry, read_checklist
from screentest.suites.univ.requests import SAMPLING
from screentest.suites.univ.text_task import add_up
from screentest.suites.univ.vocabulary import ALL_SUBDIMENSIONS, Dimension
from screentest.testing.chat_answers import Answer
from tests.suites.univ.scripted import answering, matches, measured
from tests.suites.univ.test_schema import DOG

TRUTH: dict[str, Any] = {
    "global_attribute": {
        "video_style": "Realistic",
        "atmosphere": ["calm"],
        "background": ["a meadow", "a lake"],
        "lighting": {
            "lighting_direction": ["side light"],
            "brightness_level": ["high brightness"],
            "lighting_effect": ["None"],
        },
        "color": {"overall_color_tone": ["warm"], "contrast": [], "saturation": ["low"]},
        "subject_description": ["a dog", "a man"],
        "relative_position": {"in_frame_layout": ["dog on the left"]},
        "inter_subject_relation": ["man behind dog"],
        "subject_camera_relation": ["dog faces camera"],
    },
    "temporal_actions": [{"actions": ["dog walks"]}, {"actions": ["man waves", "dog sits"]}],
}
"""The layout of figure F14, with the two misplaced fields of F20."""


@pytest.fixture
def truth(tmp_path: Path) -> Path:
    place = tmp_path / "1"
    place.mkdir()
    (place / "gt.json").write_text(json.dumps(TRUTH))
    return tmp_path


def test_the_benchmark_s_checklist_becomes_entries() -> None:
    entries = read_checklist(TRUTH)
    counts = {about: sum(e.about == about for e in entries) for about in {e.about for e in entries}}
    assert counts == {
        "style_kind": 1,
        "atmosphere": 1,
        "background_scene": 2,
        "lighting_direction": 1,
        "lighting_brightness": 1,
        "colour_hue": 1,
        "colour_saturation": 1,
        "subject": 2,
        "position_layout": 2,
        "position_camera": 1,
        "action_event": 3,
    }


def test_adding_up_by_hand() -> None:
    entries = [
        ChecklistEntry("colour_hue", "a"),  # 1 and 0: the hue has 0.5
        ChecklistEntry("colour_hue", "b"),
        ChecklistEntry("colour_contrast", "c"),  # 1; so the colour has 0.75
        ChecklistEntry("action_event", "d"),  # 0.5
        ChecklistEntry("subject", "e"),  # 1: not told apart
        ChecklistEntry("atmosphere", "f"),  # counts nowhere
    ]
    levels = add_up(entries, [1, 0, 1, 0.5, 1, 0])
    assert levels.by_about["colour_hue"] == 0.5
    assert levels.dimensions == {
        Dimension.COLOUR: 0.75,
        Dimension.ACTION: 0.5,
        Dimension.SUBJECT: 1.0,
    }
    assert levels.average == 0.75
    assert add_up([ChecklistEntry("atmosphere", "f")], [1]).average is None


def test_an_imputed_camera_would_leave_the_average_as_it_is() -> None:
    """The published V2T rows have the mean of seven in the camera's place: so has ours none."""
    seven = [one for one in Dimension if one is not Dimension.CAMERA]
    abouts = ["subject", "background_scene", "action_event", "colour_hue", "lighting_effect"]
    abouts += ["style_kind", "position_camera"]
    scores = [1, 0.5, 0, 1, 1, 0.5, 0]
    levels = add_up([ChecklistEntry(about, "x") for about in abouts], scores)
    assert set(levels.dimensions) == set(seven)
    imputed = [*levels.dimensions.values(), sum(levels.dimensions.values()) / 7]
    assert levels.average == pytest.approx(sum(imputed) / 8)


def test_end_to_end(item: Item, truth: Path) -> None:
    with answering(match=matches(lambda n: (0.0, 0.5, 1.0)[n % 3])) as server:
        found = measured(f"univ_v2t:truth={truth}", item, server)
        (asked,) = server.asked
    scores = [(0.0, 0.5, 1.0)[n % 3] for n in range(1, 17)]
    entries = read_checklist(TRUTH)
    expected = add_up(entries, scores)
    assert found["average"].unwrap().value == pytest.approx(expected.average)
    assert found["action"].unwrap().value == pytest.approx(expected.dimensions[Dimension.ACTION])
    told = found["average"].unwrap().details
    assert told["dimensions"] == {"had": 7, "of": 8}
    items = told["items"]
    assert isinstance(items, list)
    assert len(items) == 16
    assert not asked.picture_sizes
    for name in ("camera", "camera_motion", "lighting_effect", "subject_category"):
        failure = found[name].failure
        assert failure is not None
        assert failure.reason is Reason.NOT_APPLICABLE
    assert len(found) == 1 + 8 + len(ALL_SUBDIMENSIONS) + 1


def test_our_own_description_measures_the_camera_too(item: Item, tmp_path: Path) -> None:
    shots = [
        {"start": "0", "end": "1", "description": DOG, "script": "x"},
        {"start": "1", "end": "2", "description": DOG | {"atmosphere": ["tense"]}, "script": "y"},
    ]
    whole = {"id": "1", "described_by": "x", "overview": None, "shots": shots, "script": "x y"}
    path = tmp_path / "captions.jsonl"
    path.write_text(json.dumps(whole) + "\n")
    with answering(match=matches(lambda n: 1.0)) as server:
        found = measured(f"univ_v2t:truth={path},batch=10", item, server)
        # Nineteen statements of the first shot and one more of the second, by tens.
        assert len(server.asked) == 3
    assert found["camera"].unwrap().value == 1
    assert found["camera_shot_size"].unwrap().value == 1
    assert [float(p.span.end) for p in found["average"].unwrap().curve] == [1, 2]


@pytest.mark.parametrize(
    "bad",
    [
        {"present": True, "score": 0.7},
        {"present": False, "score": 1.0},
        {"present": True, "score": 0.0},
        {"present": "yes", "score": 2},
        None,
    ],
)
def test_one_bad_match_and_there_is_no_score(bad: Any, item: Item, truth: Path) -> None:
    def reply(asked: Any) -> Any:
        good = matches(lambda n: 1.0)(asked)
        if bad is None:
            del good["item_7"]
        else:
            good["item_7"] |= bad
        return good

    with answering(match=reply) as server:
        found = measured(f"univ_v2t:truth={truth}", item, server)
    reasons = {outcome.failure.reason for outcome in found.values() if outcome.failure}
    assert reasons == {Reason.UNPARSABLE}
    assert len([o for o in found.values() if o.ok]) == 0


def test_refusals_and_unknown_items(item: Item, truth: Path) -> None:
    with answering(match=Answer(None, refusal="no")) as server:
        found = measured(f"univ_v2t:truth={truth}", item, server)
        assert found["average"].failure is not None
        assert found["average"].failure.reason is Reason.REFUSED
        other = replace(item, id="9", groups={"case": "9"})
        lost = measured(f"univ_v2t:truth={truth}", other, server)
        assert len(server.asked) == 1
    assert lost["average"].failure is not None
    assert lost["average"].failure.reason is Reason.NOT_APPLICABLE


def test_documents_that_are_no_checklist() -> None:
    for wrong in ({}, {"global_attribute": []}, {"temporal_actions": ["run"]}):
        with pytest.raises(ManifestError):
            read_checklist(wrong)
    with pytest.raises(ManifestError):
        read_checklist({"global_attribute": {"background": [3]}})


def test_sampled_as_the_papers_judge() -> None:
    assert (SAMPLING.temperature, SAMPLING.max_tokens) == (0.0001, 32768)
