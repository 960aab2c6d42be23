"""``screentest suite``: shown, built, prepared; every mistake ends in a message."""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import numpy as np
import pytest
from typer.testing import CliRunner, Result

from screentest.cli import app
from screentest.core import registry
from screentest.inputs.manifest import read_manifest
from screentest.testing.chat_server import FakeChatServer
from screentest.testing.films import gliding, texture, write_film
from tests.messages import names
from tests.suites.locot2v.answering import answering, chat
from tests.suites.locot2v.construction.test_build import REPLIES
from tests.terminal import fits, invoke

SUB = (
    [],
    ["list"],
    ["show"],
    ["locot2v", "build"],
    ["locot2v"],
    ["locot2v", "upper-bound"],
    ["locot2v", "items"],
    ["locot2v", "correct"],
    ["locot2v", "analyse"],
)


@pytest.fixture(autouse=True)
def api_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")


@pytest.mark.parametrize("command", SUB, ids=lambda words: " ".join(words) or "suite")
def test_help_fits_the_screen_and_has_examples(command: list[str]) -> None:
    result = CliRunner().invoke(app, ["suite", *command, "--help"], env={"COLUMNS": "80"})
    assert result.exit_code == 0
    assert fits(result.output)
    assert "Examples:\n    screentest suite" in result.output


def test_list_and_show() -> None:
    listed = json.loads(invoke("suite", "list", "--json").stdout)
    assert "locot2v" in [one["name"] for one in listed]
    shown = json.loads(invoke("suite", "show", "locot2v", "--json").stdout)
    assert len(shown["metrics"]) == 14
    leaves = [one for one in shown["dimensions"] if not one["parts"]]
    assert len(leaves) == 26
    result = invoke("suite", "show", "locot2v")
    assert result.exit_code == 0
    assert "temporal_quality" in result.stdout


def test_show_of_none() -> None:
    result = invoke("suite", "show", "locot3v")
    assert result.exit_code == 2
    assert "Did you mean 'locot2v'?" in result.stderr


def test_upper_bound_is_the_mean_of_the_best_tenth(tmp_path: Path) -> None:
    """Twenty pictures: the two best count."""
    scores = []
    backend = registry.build("aesthetic", "image_statistics").thing
    for number in range(20):
        picture = texture(number, 40, 60) // (1 + number % 5)
        cv2.imwrite(str(tmp_path / f"{number}.png"), picture[..., ::-1])
        scores.append(float(backend.score([picture])[0]))
    (tmp_path / "broken.png").write_bytes(b"no picture")
    result = invoke(
        *("suite", "locot2v", "upper-bound", tmp_path, "--json"),
        *("--model", "aesthetic=image_statistics"),
    )
    (found,) = json.loads(result.stdout)["upper_bound"]
    assert found["upper_bound"] == pytest.approx(np.mean(sorted(scores)[-2:]))
    assert found["pictures"] == 20
    assert "image_statistics" in found["model"]
    unread = json.loads(result.stdout)["unread"]
    assert [Path(row["file"]).name for row in unread] == ["broken.png"]


def test_upper_bound_of_nothing(tmp_path: Path) -> None:
    assert invoke("suite", "locot2v", "upper-bound", tmp_path).exit_code == 2
    assert invoke("suite", "locot2v", "upper-bound", tmp_path / "none").exit_code == 2


def test_items_with_missing_videos(tmp_path: Path) -> None:
    suite = tmp_path / "suite.json"
    suite.write_text(json.dumps({"food": {f"food_{n}": {"prompt": f"Dish {n}."} for n in (1, 2)}}))
    categories = tmp_path / "categories.json"
    categories.write_text('{"food": "Human Real Life"}')
    videos = tmp_path / "videos"
    videos.mkdir()
    (videos / "food_2.mp4").write_bytes(b"x")
    manifest = tmp_path / "manifest.jsonl"
    result = invoke(
        *("suite", "locot2v", "items", suite, "--videos", videos, "--model-name", "maker"),
        *("--categories", categories, "--out", manifest),
    )
    assert result.exit_code == 0
    assert names(result.stdout, "1 item of 2", "1 missing")
    assert "food_1" in result.stdout
    (item,) = read_manifest(manifest)
    assert item.groups == {
        "prompt_id": "food_2",
        "theme": "food",
        "category": "Human Real Life",
        "model": "maker",
    }


def test_items_of_an_empty_folder(tmp_path: Path) -> None:
    suite = tmp_path / "suite.json"
    suite.write_text(json.dumps({"food": {"food_1": {"prompt": "A dish."}}}))
    (tmp_path / "videos").mkdir()
    result = invoke("suite", "locot2v", "items", suite, "--videos", tmp_path / "videos")
    assert result.exit_code == 2
    assert names(result.stderr, f"error: {tmp_path / 'videos'} ", "food_3.mp4")


def build(server: FakeChatServer, videos: Path, out: Path, *more: str) -> tuple[int, str]:
    result = invoke(
        *("suite", "locot2v", "build", "--videos", videos, "--out", out, "--frames", "2"),
        *("--shortest", "1", "--longest", "9", "--model", chat(server), *more),
    )
    return result.exit_code, result.stdout


def test_build_and_go_on(tmp_path: Path) -> None:
    (tmp_path / "films/pets").mkdir(parents=True)
    write_film(tmp_path / "films/pets/dog.mkv", gliding(16, 1))
    out = tmp_path / "out"
    with answering(**REPLIES) as server:
        code, said = build(server, tmp_path / "films", out)
        assert (code, names(said, "7 stages", "0 kept")) == (0, True)
        asked = len(server.asked)
        code, said = build(server, tmp_path / "films", out, "--json")
        assert len(server.asked) == asked
    assert json.loads(said)["records"] == ["pets_dog"]
    # The run beside it keeps what was paid for.
    runs = json.loads(invoke("runs", out, "--json").stdout)
    assert runs[0]["command"] == "suite build"


def test_a_bad_answer_is_asked_for_again_at_the_next_start(tmp_path: Path) -> None:
    """And nothing else is paid for twice."""
    (tmp_path / "films").mkdir()
    write_film(tmp_path / "films" / "pets_dog.mkv", gliding(16, 1))
    out, bad = tmp_path / "suite", {"prompts": ["only one"]}
    replies = {**REPLIES, "event_prompts": lambda asked: bad if spoilt else good}
    good, spoilt = REPLIES["event_prompts"], True
    with answering(**replies) as server:
        for _ in range(2):
            code, said = build(server, tmp_path / "films", out)
            assert code == 1
            assert "asked again" in said
        before, spoilt = len(server.asked), False
        code, _ = build(server, tmp_path / "films", out)
        assert (code, len(server.asked) - before) == (0, 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["locot2v", "build"], "Missing option '--videos'"),
        (["locot2v", "build", "--videos", "none"], "error: none is not"),
    ],
)
def test_mistakes(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = invoke("suite", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def two_makers(folder: Path) -> Path:
    """A suite of two prompts, and two generators, one of which has made one video."""
    suite = folder / "suite.json"
    suite.write_text(json.dumps({"food": {f"food_{n}": {"prompt": f"Dish {n}."} for n in (1, 2)}}))
    for maker, numbers in (("a", (1, 2)), ("b", (2,))):
        (folder / maker).mkdir()
        for n in numbers:
            write_film(folder / maker / f"food_{n}.mkv", gliding(9, n))
    return suite


def test_a_prompt_suite_and_its_videos_are_scored_in_one_command(tmp_path: Path) -> None:
    """Two generators, a run each; what is missing is told, and is no item."""
    suite = two_makers(tmp_path)
    # A name with a comma is no list of options.
    suite = suite.rename(tmp_path / "my, suite.json")

    def score(maker: str, *more: str) -> Result:
        return invoke(
            *("score", "--suite", "locot2v", "--videos", tmp_path / maker, "--data", suite),
            *("--model-name", maker, "--out", tmp_path / f"run_{maker}", *more),
        )

    told = json.loads(score("a", "--json").stdout)
    assert (told["missing"], told["problems"]) == ([], [])
    second = score("b")
    assert second.exit_code == 0
    assert "Missing: 1" in second.stdout
    assert suite.name not in second.stdout
    assert "food_1" in second.stdout
    runs = tmp_path / "run_a", tmp_path / "run_b"
    found = json.loads(invoke("suite", "locot2v", "analyse", *runs, "--json").stdout)
    assert {row["model"]: row["total"] for row in found["locot2v"]} == {"a": 2, "b": 1}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "nothing to score"),
        (["--videos", "a"], "--videos needs --data"),
        (["a", "--model-name", "x"], "--model-name needs --videos"),
        (["a", "--suite", "core:compat=upstream"], "It takes no options."),
        (["a", "--suite", "locot2v:compat=mine"], "compat"),
        (["a", "--suite", "locot2v:kompat=mine"], "Did you mean 'compat'?"),
        (["a", "--data", "suite.json", "--metrics", "flicker"], "error: --data"),
        (["a", "--data", "suite.json"], "suite core"),
        (
            ["--suite", "locot2v", "--data", "suite.json", "--videos", "none"],
            "error: none is not",
        ),
    ],
)
def test_mistakes_of_score(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    two_makers(tmp_path)
    monkeypatch.chdir(tmp_path)
    result = invoke("score", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert not (tmp_path / "scores").exists()


def told_suite(folder: Path) -> tuple[Path, Path]:
    """A released record with all that is asked, and a folder with its film of four seconds."""
    suite = folder / "suite.json"
    question = {"question": "Is it calm?", "q_pos": "positive"}
    happens = {"event": "A dog runs.", "subject": "dog"}
    record = {
        "prompt": "A dog runs. A man waves.",
        "herd_questions": {"Visual Style": [question] * 6, "Overall Evaluation": [question] * 6},
        "events_info": [happens] * 3,
        "human_actions": [{"subject": "man", "action": "waves"}],
    }
    suite.write_text(json.dumps({"film": {"film_17": record}}))
    (folder / "videos").mkdir()
    write_film(folder / "videos" / "film_17.mkv", gliding(32, 1))
    return suite, folder / "videos"


def test_a_dry_run_counts_what_the_file_asks(tmp_path: Path) -> None:
    """Questions, rounds, events and actions are in the file: nothing was known of them."""
    suite, videos = told_suite(tmp_path)
    done = invoke(
        *("score", "--suite", "locot2v", "--data", suite, "--videos", videos, "--dry-run"),
        *("--model", "chat=openai:none", "--json"),
    )
    assert done.exit_code == 0, done.output
    rows = {row["metric"].partition(":")[0]: row for row in json.loads(done.stdout)}
    assert {name: row["calls"] for name, row in rows.items() if row["calls"]} == {
        "locot2v_overall_alignment": 1,
        "locot2v_event_alignment": 2,  # the description, and its events
        "locot2v_human_action": 4,  # whether, and three questions on how
        "locot2v_event_consistency": 3,
        "locot2v_content_clarity": 3,
        "locot2v_herd": 12,
    }
    # Eight frames of four seconds, and as many for each event; nobody can ask without pictures.
    shown = rows["locot2v_event_consistency"]["tokens"], rows["locot2v_overall_alignment"]["tokens"]
    assert shown[0] == 3 * shown[1]


def test_an_item_that_the_suite_has_not_is_an_error(tmp_path: Path) -> None:
    """Its questions were written anew, by fifty calls that nobody had asked for."""
    suite, videos = told_suite(tmp_path)
    (videos / "film_17.mkv").rename(videos / "film-17.mkv")
    with answering() as server:
        done = invoke(
            *("score", videos, "--suite", f"locot2v:records={suite}", "--model", chat(server)),
            *("--prompt", "Another.", "--out", tmp_path / "run"),
        )
        assert server.asked == []
    assert done.exit_code == 2
    assert names(done.stderr, "film-17", "'film_17'")
    assert not (tmp_path / "run").exists()
