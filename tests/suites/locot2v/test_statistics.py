"""Statistics of prompt files: by hand, and as the paper's table and figures have them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from screentest.suites.locot2v.data import (
    COMPLEXITIES,
    Event,
    PromptRecord,
    category_of,
    read_prompt_suite,
    write_prompt_suite,
)
from screentest.suites.locot2v.requests import subjects_of
from screentest.suites.locot2v.statistics import bins
from screentest.testing.chat_answers import Answer
from screentest.testing.chat_server import FakeChatServer
from tests.terminal import invoke

STATISTICS = ("suite", "locot2v", "statistics")


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    grades = {"semantic": 6.0, "structural": 8.0, "control": 4.0}
    records = [
        PromptRecord("space_1", "A red star burns.", complexity=grades, duration=31.0),
        PromptRecord("space_2", "A star fades away slowly.", complexity=grades, duration=44.0),
        PromptRecord("soap_opera_1", "She weeps.", theme="soap_opera"),
        PromptRecord("misc_1", "Nothing much happens here, they say.", theme="misc"),
    ]
    path = tmp_path / "suite.json"
    write_prompt_suite(path, records)
    return path


def test_by_hand(suite: Path, tmp_path: Path) -> None:
    (tmp_path / "plain.txt").write_text("A dog runs.\n\nA cat sits on a mat.\n")
    done = invoke(*STATISTICS, suite, tmp_path / "plain.txt", "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    ours, plain = told["comparison"]
    assert (ours["samples"], ours["words"]) == (4, pytest.approx((4 + 5 + 2 + 6) / 4))
    assert (ours["semantic"], ours["structural"], ours["control"], ours["mean"]) == (6, 8, 4, 6)
    assert (plain["samples"], plain["words"], plain["mean"]) == (2, 4.5, None)
    themes = {row["theme"]: (row["category"], row["count"]) for row in told["themes"]}
    assert themes["space"] == ("Nature Exploration", 2)
    assert themes["misc"] == (None, 1)
    by_category = {row["category"]: row for row in told["categories"]}
    assert by_category["Nature Exploration"]["words"] == 4.5
    assert by_category["Nature Exploration"]["length_share"] == pytest.approx(4.5 / 500)
    seconds = [(row["from"], row["count"]) for row in told["spread"] if row["of"] == "seconds"]
    assert seconds == [(30, 1), (35, 0), (40, 1)]
    words = {row["word"]: row["count"] for row in told["words"] if row["prompts"] == "suite"}
    assert words["star"] == 2
    assert "a" not in words


def test_any_file_of_prompts(tmp_path: Path) -> None:
    """Tables of other tools too: only suites and texts were read."""
    (tmp_path / "a.json").write_text('[{"prompt_en": "A dog runs."}, {"prompt_en": "A cat sits."}]')
    (tmp_path / "b.csv").write_text("prompt,theme\nA dog runs.,pets\nShe eats.,food\n")
    (tmp_path / "c.jsonl").write_text('{"id": "x", "video": "x.mp4", "prompt": "A dog runs."}\n')
    (tmp_path / "d.json").write_text('[{"prompt": "A dog runs."}, {"frames": 3}]')
    done = invoke(
        *STATISTICS, *(tmp_path / name for name in ("a.json", "b.csv", "c.jsonl")), "--json"
    )
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert [(row["samples"], row["words"]) for row in told["comparison"]] == [
        (2, 3),
        (2, 2.5),
        (1, 3),
    ]
    assert {row["theme"]: row["category"] for row in told["themes"]} == {
        "pets": "Nature Exploration",
        "food": "Human Real Life",
    }
    lost = invoke(*STATISTICS, tmp_path / "d.json")
    assert "Problems: 1" in lost.stdout
    (tmp_path / "e.json").write_text('{"a": 1}')
    assert "holds no prompts" in invoke(*STATISTICS, tmp_path / "e.json").stderr


def test_lengths_equal_those_of_table_1(shared_data: Path) -> None:
    """VBench-Long's row of the paper: 946 samples, 7.64 words."""
    done = invoke(*STATISTICS, shared_data / "vbench/VBench_full_info.json", "--json")
    (row,) = json.loads(done.stdout)["comparison"]
    assert (row["samples"], round(row["words"], 2)) == (946, 7.64)


def test_the_chart_and_what_is_no_file_of_prompts(suite: Path, tmp_path: Path) -> None:
    done = invoke(*STATISTICS, suite, "--chart", tmp_path / "statistics.svg")
    assert done.exit_code == 0, done.output
    assert "<svg" in (tmp_path / "statistics.svg").read_text()
    (tmp_path / "empty.txt").write_text("\n")
    assert invoke(*STATISTICS, tmp_path / "empty.txt").exit_code == 2
    assert invoke(*STATISTICS, suite, "--chart", tmp_path / "statistics.doc").exit_code == 2


def test_grades_of_prompts_that_have_none(
    suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    grade = {"explanation": "it is short", "score": 2}
    said = json.dumps(dict.fromkeys(("semantic", "structural", "control"), grade))
    with FakeChatServer(lambda _: Answer(said)) as server:
        model = f"chat=openai:fake,base_url={server.url}"
        done = invoke(
            *STATISTICS, suite, "--grade", "--model", model, "--json", "--run", tmp_path / "graded"
        )
        assert done.exit_code == 0, done.output
        # Only the two that the file does not grade.
        assert len(server.asked) == 2
    (row,) = json.loads(done.stdout)["comparison"]
    assert row["mean"] == pytest.approx(4.0)
    # The grades are kept where `analyse --records` reads them: they were asked for and thrown away.
    kept = read_prompt_suite(tmp_path / "graded" / suite.name)
    before = read_prompt_suite(suite).records
    assert all(set(record.complexity) == set(COMPLEXITIES) for record in kept.records.values())
    for name, record in kept.records.items():
        assert (record.prompt, record.theme) == (before[name].prompt, before[name].theme)


def test_two_files_of_one_name_keep_apart(suite: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = Path(shutil.copy(suite, tmp_path / "other"))
    done = invoke(*STATISTICS, suite, other, "--json")
    rows = json.loads(done.stdout)["comparison"]
    assert len({row["prompts"] for row in rows}) == 2


def test_categories_of_ones_own(suite: Path, tmp_path: Path) -> None:
    """For `statistics` too, and not for `items` alone."""
    file = tmp_path / "categories.json"
    file.write_text('{"misc": "Mine"}')
    done = invoke(*STATISTICS, suite, "--categories", file, "--json")
    told = json.loads(done.stdout)["categories"]
    assert "Mine" in {row["category"] for row in told}


def test_categories_and_bins() -> None:
    assert category_of("space") == "Nature Exploration"
    assert category_of("film") == "Virtual Entertainment"
    assert category_of("") == ""
    # Ids of the paper's cases, and a theme whose first word is of another category.
    assert category_of("minivlog") == "Human Real Life"
    assert category_of("science_fiction") == "Virtual Entertainment"
    assert bins([], 5) == {}


@pytest.mark.parametrize(
    ("text", "subjects"),
    [
        ("A woman, tall and blond, in a red dress", 1),
        ("chef wearing a white, double-breasted jacket", 1),
        ("one adult elephant and baby elephant", 2),
        ("a man, a woman and their dog", 3),
        ("a black and white cat", 1),
        ("", 0),
        # As the released file has them: lists without an article.
        ("greenish planet, asteroids, moons", 3),
        ("coastal landscape, giant planet", 2),
        ("Earth, galaxy", 2),
        ("nebula, stars", 2),
        ("wobbegong shark, silvery fish", 2),
        ("sea anemones, colorful fish", 2),
        ("soldiers, sandworm-like creatures, helicopter-like vehicles", 3),
        ("people, animals and plants", 3),
        ("woman in a pink dress", 1),
        ("dog, black and white cat", 2),
    ],
)
def test_subjects_of_files_that_have_one_text(text: str, subjects: int) -> None:
    assert len(subjects_of(Event("", text))) == subjects
    # A list is taken as it is.
    listed = Event("", text, subjects=("a tall, blond woman", "a dog"))
    assert subjects_of(listed) == ("a tall, blond woman", "a dog")
