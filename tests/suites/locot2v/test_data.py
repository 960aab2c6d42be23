"""Both editions of the prompt suite, one's own files, and files that are none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screentest.core import Item, ManifestError
from screentest.suites.locot2v.data import (
    DIMENSIONS,
    Event,
    ExpectationQuestion,
    HumanAction,
    PromptRecord,
    category_of,
    items_of_suite,
    read_prompt_suite,
    write_prompt_suite,
)
from screentest.suites.locot2v.requests import subjects_of
from tests.messages import names

GREETING, ON_A_ROOF = "A man greets a woman.", "A man greets a woman on a roof."
WITH_PLACE = "On a roof a man greets a woman."
COOK = "A cook cuts bread. Warm light."
FIRST: dict[str, Any] = {
    "soap_opera": {
        "soap_opera_4": {
            "main_content": ON_A_ROOF,
            "summary": "A party.",
            "evaluation": {"Narrative Structure and Pacing": "It flows."},
            "herd_questions": {
                "Overall Evaluation": [
                    {"question": "Is it good?", "q_pos": "positive"},
                    {"question": "Is it dull?", "q_pos": "negative"},
                ]
            },
            "events_info": [
                {
                    "event": GREETING,
                    "subject": "a man",
                    "setting": "a roof",
                    "action": "greets",
                    "camera motion": "static",
                    "prompt": WITH_PLACE,
                }
            ],
            "prompt": "A man greets a woman on a roof. It should feel warm.",
            "frame_num_ref": 900,
            "duration_ref": 36.5,
            "human_actions": [{"subject": "a man", "action": "greets a woman"}],
        }
    }
}
SECOND: list[dict[str, Any]] = [
    {
        "id": "food_3",
        "source_description": "A cook at work.",
        "prompt": COOK,
        "purified_prompt": "A cook cuts bread.",
        "duration_ref": 41,
        "character_infos": {
            "Ann Lee": {
                "concept": "woman",
                "description": "A cook in a white coat with short hair.",
                "attributes": {"hair": "short hair"},
                "sam_prompt": "cook in white coat",
            }
        },
        "background_infos": {
            "Background_1": {"description": "A tiled kitchen.", "type": "kitchen"},
        },
        "scene_infos": [
            {
                "prompt": "A cook cuts bread in a kitchen.",
                "summary": "Cutting bread.",
                "character_mapping": {"Ann Lee": ["cuts bread", "looks up"], "Bob": []},
                "background_mapping": "Background_1",
                "camera_movement": "zoom in",
            },
            {
                "prompt": "Steam rises.",
                "summary": "Steam.",
                "character_mapping": {},
                "background_mapping": "Background_2",
                "camera_movement": "static",
            },
        ],
        "herd_expectations": {"Emotional Response": "Warmth."},
    }
]


def written(folder: Path, content: Any) -> Path:
    path = folder / "suite.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_the_first_edition(tmp_path: Path) -> None:
    suite = read_prompt_suite(written(tmp_path, FIRST))
    record = suite.records["soap_opera_4"]
    assert suite.problems == ()
    assert (record.theme, record.duration) == ("soap_opera", 36.5)
    assert record.content == ON_A_ROOF
    assert record.prompt.endswith("It should feel warm.")
    assert record.events == (
        Event(
            GREETING,
            "a man",
            "a roof",
            "greets",
            "static",
            WITH_PLACE,
        ),
    )
    assert record.questions == {
        "overall_impression": (
            ExpectationQuestion("Is it good?", True),
            ExpectationQuestion("Is it dull?", False),
        )
    }
    assert record.expectations == {"narrative_flow": "It flows."}
    assert record.actions == (HumanAction("a man", "greets a woman"),)


@pytest.mark.parametrize("keyed", [False, True])
def test_the_second_edition(keyed: bool, tmp_path: Path) -> None:
    content = {one["id"]: one for one in SECOND} if keyed else SECOND
    record = read_prompt_suite(written(tmp_path, content)).records["food_3"]
    assert (record.theme, record.content, record.duration) == ("food", "A cook cuts bread.", 41)
    cutting, steam = record.events
    assert (cutting.event, cutting.setting, cutting.action, cutting.camera) == (
        *("Cutting bread.", "A tiled kitchen.", "cuts bread, looks up", "zoom in"),
    )
    assert subjects_of(cutting) == ("cook in white coat", "Bob")
    assert (subjects_of(steam), steam.setting, steam.action) == ((), "Background_2", "")
    assert record.actions is None
    assert record.expectations == {"emotional_response": "Warmth."}


RELEASED = (
    *("space", "landscape", "marine", "wildlife", "pets", "natural_phenomena", "human_nature"),
    *("food", "street", "local_culture", "minivlog", "technology", "soap_opera"),
    *("film", "animation", "game", "sci_fi"),
)
"""Themes of the released file."""


def test_released_themes_have_a_category_and_others_are_told(tmp_path: Path) -> None:
    """Five of them had none, and their videos were in no table."""
    assert all(map(category_of, RELEASED))
    assert category_of("marine") == category_of("natural_phenomena") == "Nature Exploration"
    assert category_of("sci_fi") == "Virtual Entertainment"
    suite = read_prompt_suite(
        written(tmp_path, {"zzz": {f"zzz_{n}": {"prompt": "A dish."} for n in range(3)}})
    )
    (told,) = suite.warnings
    assert names(told, "zzz", 3)


def test_categories_are_given_by_theme(tmp_path: Path) -> None:
    suite = read_prompt_suite(
        written(tmp_path, FIRST), categories={"soap_opera": "Virtual Entertainment"}
    )
    assert suite.records["soap_opera_4"].category == "Virtual Entertainment"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "wrong JSON"),
        ("[]", "no prompts"),
        ('{"a": {"b": 3}}', "no prompts"),
        ('{"a": 1, "a": 2}', "given twice"),
        ('"text"', "no prompts"),
    ],
)
def test_files_that_are_none(content: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match=message):
        read_prompt_suite(written(tmp_path, content))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match="is not there"):
        read_prompt_suite(tmp_path / "none.json")


def test_what_cannot_be_read_is_reported(tmp_path: Path) -> None:
    broken = json.loads(json.dumps(FIRST))
    record = broken["soap_opera"]["soap_opera_4"]
    record["herd_questions"]["Sound"] = []
    record["herd_questions"]["Visual Style"] = [{"question": "Nice?", "q_pos": "maybe"}]
    record["events_info"].append({"subject": "nobody"})
    record["human_actions"].append({"subject": "nobody"})
    broken["soap_opera"]["soap_opera_5"] = {"main_content": "no prompt"}
    suite = read_prompt_suite(written(tmp_path, broken))
    assert list(suite.records) == ["soap_opera_4"]
    told = "\n".join(str(problem) for problem in suite.problems)
    for words in (
        "'Sound', which is no",
        "no polarity",
        "no description",
        "human action",
        "no prompt",
    ):
        assert words in told


def test_items_and_what_is_missing(tmp_path: Path) -> None:
    suite = read_prompt_suite(written(tmp_path, {**FIRST, "food_3": SECOND[0]}))
    videos = tmp_path / "videos"
    videos.mkdir()
    (videos / "food_3.mp4").write_bytes(b"x")
    (videos / "notes.txt").write_text("x")
    items, missing = items_of_suite(suite, videos, "maker")
    assert missing == ["soap_opera_4"]
    (item,) = items
    assert (item.id, item.prompt) == ("maker/food_3", COOK)
    life = {"category": "Human Real Life"}
    assert item.groups == {"prompt_id": "food_3", "theme": "food", "model": "maker", **life}
    assert suite.record_of(item) is suite.records["food_3"]
    with pytest.raises(ManifestError):
        items_of_suite(suite, tmp_path / "none")


def test_records_are_found_by_group_id_or_prompt(tmp_path: Path) -> None:
    suite = read_prompt_suite(written(tmp_path, FIRST))
    record = suite.records["soap_opera_4"]
    for item in (
        Item("soap_opera_4", Path("a.mp4")),
        Item("soap_opera_4.mp4", Path("a.mp4")),
        Item("x", Path("a.mp4"), groups={"prompt_id": "soap_opera_4"}),
        Item("x", Path("a.mp4"), prompt=record.prompt),
    ):
        assert suite.record_of(item) is record
    assert suite.record_of(Item("x", Path("a.mp4"))) is None
    assert suite.record_of(Item("x", Path("a.mp4"), prompt="another")) is None


words = st.text(st.characters(codec="utf-8", categories=("L", "Nd")), min_size=1, max_size=12)
records = st.builds(
    PromptRecord,
    id=words.map(lambda word: f"{word}_1"),
    prompt=words,
    base=words,
    category=st.one_of(st.just(""), words),
    events=st.lists(st.builds(Event, *[words] * 6), max_size=3).map(tuple),
    questions=st.dictionaries(
        st.sampled_from(list(DIMENSIONS)),
        st.lists(st.builds(ExpectationQuestion, words, st.booleans()), max_size=3).map(tuple),
    ),
    expectations=st.dictionaries(st.sampled_from(list(DIMENSIONS)), words),
    actions=st.one_of(
        st.none(), st.lists(st.builds(HumanAction, words, words), max_size=3).map(tuple)
    ),
    complexity=st.dictionaries(st.sampled_from(["semantic", "control"]), st.floats(1, 10)),
    duration=st.one_of(st.none(), st.floats(1, 100)),
)


@given(st.lists(records, min_size=1, max_size=4, unique_by=lambda one: one.id))
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, given: list[PromptRecord]
) -> None:
    path = tmp_path_factory.mktemp("suite") / "suite.json"
    write_prompt_suite(path, given)
    suite = read_prompt_suite(path)
    assert suite.problems == ()
    for record in given:
        again = suite.records[record.id]
        assert again.theme == record.id.rpartition("_")[0]
        for name in ("prompt", "base", "events", "questions", "expectations", "actions"):
            assert getattr(again, name) == getattr(record, name)
        assert (again.complexity, again.duration, again.category) == (
            *(record.complexity, record.duration),
            record.category or category_of(again.theme),
        )
