"""V2T: checklists by hand, aggregation by hand, a scripted judge."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from screentest.core import Item, ManifestError, Reason
from screentest.suites.univ.pieces import SAMPLING
from screentest.suites.univ.schema import match_form
from screentest.suites.univ.text_task import ChecklistEntry, add_up, read_checklist, stands_in
from screentest.suites.univ.vocabulary import ALL_SUBDIMENSIONS, Dimension
from screentest.testing.chat_answers import Answer
from tests.messages import names
from tests.suites.univ.scripted import answering, caption_of, matches, measured
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
    """Putting the mean of seven in the camera's place changes nothing, so ours has none."""
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
    assert len(found) == 3 + 8 + len(ALL_SUBDIMENSIONS) + 1
    assert found["coverage"].unwrap().value == 1


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


BAD: list[Any] = [
    {"score": 0.7},
    {"score": "0.75"},
    {"score": True},
    {"score": "2"},
    {"reason": "  "},
    {"reason": "I'm sorry, I can't help with that."},
    {"score": None},
    None,
]


@pytest.mark.parametrize("bad", BAD)
def test_a_bad_item_is_asked_again_alone(bad: Any, item: Item, truth: Path) -> None:
    asked_about: list[int] = []

    def reply(asked: Any) -> Any:
        good = matches(lambda n: 1.0)(asked)
        asked_about.append(len(good))
        if len(good) == 1:
            assert "item 1 could not" in "".join(asked.texts)
            return {"item_1": good["item_1"] | {"score": "0.5"}}
        if bad is None:
            del good["item_7"]
        else:
            good["item_7"] |= bad
        return good

    with answering(match=reply) as server:
        found = measured(f"univ_v2t:truth={truth}", item, server)
    assert asked_about == [16, 1]
    scores = [1.0] * 16
    scores[6] = 0.5
    expected = add_up(read_checklist(TRUTH), scores)
    assert found["average"].unwrap().value == pytest.approx(expected.average)
    assert found["coverage"].unwrap().value == 1


def test_an_item_that_is_bad_twice_is_left_out_and_counted(item: Item, truth: Path) -> None:
    def reply(asked: Any) -> Any:
        return {
            name: one | ({"score": "0.75"} if len(asked.fields) == 1 or name == "item_7" else {})
            for name, one in matches(lambda n: 1.0)(asked).items()
        }

    with answering(match=reply) as server:
        found = measured(f"univ_v2t:truth={truth}", item, server)
    assert found["coverage"].unwrap().value == pytest.approx(15 / 16)
    average = found["average"].unwrap()
    assert average.value == 1.0
    assert average.details["unanswered"] == 1
    items = average.details["items"]
    assert isinstance(items, list)
    problem = items[6].pop("problem")
    assert items[6] == {"about": "colour_hue", "item": "warm", "score": None}
    assert names(problem, "score: ", "'1', '0.5' or '0'")


@pytest.mark.parametrize("quote", ["a purple elephant", "", "No mention."])
def test_a_quotation_changes_no_score(quote: str, item: Item, truth: Path) -> None:
    """Only scores above 0 have one: to drop those would lower the mean, and nothing raises it."""

    def reply(asked: Any) -> Any:
        good = matches(lambda n: float(n % 2))(asked)
        return good | {name: good[name] | {"quote": quote} for name in ("item_7", "item_8")}

    with answering(match=reply) as server:
        found = measured(f"univ_v2t:truth={truth}", item, server)
        assert len(server.asked) == 1
    assert found["coverage"].unwrap().value == 1
    scores = [float(n % 2) for n in range(1, 17)]
    expected = add_up(read_checklist(TRUTH), scores)
    assert found["average"].unwrap().value == pytest.approx(expected.average)
    # Of the eight ones, the seventh item's quotation is not the caption's.
    assert found["quoted"].unwrap().value == pytest.approx(7 / 8)
    items: Any = found["average"].unwrap().details["items"]
    assert items[6]["quoted"] is False
    assert "quoted" not in items[7]


CAPTION = "A woman -- in a RED coat -- walks along\n the beach.  She's calm; then she waves."


@pytest.mark.parametrize(
    ("quote", "there"),
    [
        ("", True),
        ("none", True),
        ("a woman in a red coat", True),
        ("“A woman – in a red coat”.", True),
        ("walks along the beach. She’s calm", True),
        ("A woman ... the beach", True),
        ("a red coat [...] she waves", True),
        ("She waves … a woman", True),
        ('"red coat", "the beach"', True),
        ("a woman in a blue coat", False),
        ("a woman ... swims", False),
        ("a man", False),
        ("oman in a red", False),
        ("woman walks", False),
        ("There is a woman", False),
    ],
)
def test_quotations_by_hand(quote: str, there: bool) -> None:
    assert stands_in(CAPTION, quote) is there


def test_quotations_of_scripts_without_spaces() -> None:
    assert stands_in("一个穿红色外套的女人走在海滩上。", "红色外套 … 海滩")
    assert not stands_in("一个穿红色外套的女人走在海滩上。", "蓝色外套")


def test_answers_as_the_published_template_has_them(item: Item, truth: Path) -> None:
    def reply(asked: Any) -> Any:
        said = {"item": "x", "is_present": "True", "score": 1, "reasoning": "it says so"}
        said["quote"] = caption_of(asked)
        return dict.fromkeys(asked.fields, said) | {"item_99": said}

    with answering(match=reply) as server:
        found = measured(f"univ_v2t:truth={truth}", item, server)
        assert len(server.asked) == 1
    assert found["average"].unwrap().value == 1.0


def test_more_bad_than_good_is_no_score(item: Item, truth: Path) -> None:
    def reply(asked: Any) -> Any:
        return {name: {"quote": "", "reason": "read", "score": "0.7"} for name in asked.fields}

    with answering(match=reply) as server:
        found = measured(f"univ_v2t:truth={truth}", item, server)
        # Once for all, once more for all: each is bad.
        assert len(server.asked) == 2
    reasons = {outcome.failure.reason for outcome in found.values() if outcome.failure}
    assert reasons == {Reason.UNPARSABLE}
    assert not any(outcome.ok for outcome in found.values())


def test_the_schema_allows_three_scores_and_asks_for_nothing_else() -> None:
    fields = match_form(2).model_json_schema()["$defs"]["Match"]
    assert fields["properties"]["score"]["enum"] == ["1", "0.5", "0"]
    assert fields["required"] == ["quote", "reason", "score"]
    assert match_form(2).model_json_schema()["required"] == ["item_1", "item_2"]


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
