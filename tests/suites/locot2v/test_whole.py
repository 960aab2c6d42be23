"""The whole suite on real generated videos: two methods on one prompt, into a run, and read out."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from screentest.analysis.results import Results
from screentest.analysis.runs import read_results
from screentest.analysis.standings import standings
from screentest.analysis.suites import read_suite
from screentest.core import Reason
from screentest.measure.tasks import score_items
from screentest.models import ModelChoice
from screentest.run.engine import InlineEngine
from screentest.run.session import Settings
from screentest.run.store import RunStore
from screentest.suites.locot2v.data import (
    Event,
    ExpectationQuestion,
    HumanAction,
    PromptRecord,
    items_of_suite,
    read_prompt_suite,
    write_prompt_suite,
)
from screentest.suites.locot2v.suite import suite_in
from screentest.suites.locot2v.tables import ALL, item_scores
from screentest.testing.chat_server import FakeChatServer
from tests.suites.locot2v.answering import chat
from tests.suites.locot2v.films import CLASSICAL
from tests.terminal import invoke

STORY = (
    "Red panda is moving in the forest.",
    "The red panda spots a treasure chest.",
    "The red panda finds a map inside the treasure chest.",
)
QUESTIONS = tuple(ExpectationQuestion(f"Is it calm, {n}?", n % 2 == 0) for n in range(6))
STREAMING = (
    *("aesthetic_quality", "technical_quality", "dynamic_degree", "motion_smoothness"),
    *("warping_error", "semantic_consistency", "temporal_flickering"),
)


@pytest.fixture(autouse=True)
def api_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")


@pytest.fixture
def suite_file(tmp_path: Path) -> Path:
    """The red panda's story as a record of a suite."""
    record = PromptRecord(
        "panda_20",
        " ".join(STORY),
        theme="panda",
        category="Nature Exploration",
        events=tuple(Event(text, "the red panda", "a forest", "looks", "static") for text in STORY),
        questions={"themes": QUESTIONS, "visual_style": QUESTIONS},
        actions=(HumanAction("a hand", "opens the chest"),),
        complexity={"semantic": 4, "structural": 3, "control": 2},
    )
    path = tmp_path / "suite.json"
    write_prompt_suite(path, [record])
    return path


def scored(
    ffmpeg: str, shared_data: Path, suite_file: Path, run: Path, *models: ModelChoice
) -> tuple[Results, int]:
    """Both methods' videos, named by the prompt's id in a folder of each."""
    suite = read_prompt_suite(suite_file)
    items = []
    for method in ("baseline", "talc"):
        folder = suite_file.parent / method
        folder.mkdir(exist_ok=True)
        link = folder / "panda_20.mp4"
        if not link.exists():
            # Half as wide: nothing here depends on the size, and flow and cuts take a quarter.
            source = shared_data / f"video/ai_generated/talc_20_{method}.mp4"
            small = ["-vf", "scale=128:-2", "-c:v", "libx264", "-crf", "18", "-loglevel", "error"]
            subprocess.run([ffmpeg, "-i", source, *small, link], check=True)
        found, missing = items_of_suite(suite, folder, method)
        assert missing == []
        items += found
    metrics = read_suite(f"locot2v:records={suite_file}").metrics
    with RunStore(run, command="score") as store:
        settings = Settings(models=(*models, *CLASSICAL))
        done = score_items(store, items, metrics, settings, engine=InlineEngine())
        return read_results(store), done.pending


def test_without_a_chat_model(
    ffmpeg: str, shared_data: Path, suite_file: Path, tmp_path: Path
) -> None:
    """What needs none is scored; what needs one says so; the total counts what it has."""
    results, pending = scored(ffmpeg, shared_data, suite_file, tmp_path / "run")
    assert pending == 0
    reasons = {value.outcome.failure.reason for value in results.values if value.outcome.failure}
    assert reasons == {Reason.MISSING_MODEL, Reason.NOT_APPLICABLE}  # one film has no cut
    suite = suite_in(results)
    assert suite is not None
    found = standings(results, suite, "model")
    assert {one.group for one in found} == {"baseline", "talc"}
    for one in found:
        levels = {level.path[-1]: level for level in one.levels}
        assert all(levels[name].value is not None for name in STREAMING)
        dimensions = [level for level in one.levels if len(level.path) == 2]
        assert sum(level.value is not None for level in dimensions) == 2
        assert one.top.value is not None
        assert all(0 <= level.value <= 1 for level in one.levels if level.value is not None)


def test_with_every_answer_from_a_server(
    ffmpeg: str, shared_data: Path, suite_file: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    with FakeChatServer() as server:
        results, pending = scored(
            ffmpeg, shared_data, suite_file, run, ModelChoice.parse(chat(server))
        )
        asked = len(server.asked)
        again, _ = scored(ffmpeg, shared_data, suite_file, run, ModelChoice.parse(chat(server)))
        assert len(server.asked) == asked  # nothing is asked twice
    assert pending == 0
    assert [value.outcome for value in again.values] == [value.outcome for value in results.values]
    suite = suite_in(results)
    assert suite is not None
    names = {one.name for one in ALL}
    found = {name for some in item_scores(suite, results).values() for name in names & some.keys()}
    # Made-up answers may be unclear or find no event, but most of the 26 are there.
    assert len(found) >= 15
    assert {"theme_clarity", "overall_alignment", "event_alignment", "human_action"} <= found
    asked_for = {"character_development", "narrative_flow"} & found
    assert not asked_for  # the suite asks nothing on these
    assert len(results.values) == 2 * len(ALL)

    charts = tmp_path / "charts"
    result = invoke(
        *("suite", "locot2v", "analyse", run, "--charts", charts, "--json"),
    )
    assert result.exit_code == 0
    told = json.loads(result.stdout)
    assert {row["model"] for row in told["locot2v"]} == {"baseline", "talc"}
    names = ["complexity.svg", "radar.svg", "radar_by_category.svg"]
    assert sorted(path.name for path in charts.iterdir()) == names
    assert {(row["category"], row["model"]) for row in told["locot2v_categories"]} == {
        ("Nature Exploration", "baseline"),
        ("Nature Exploration", "talc"),
    }
    plain = invoke("suite", "locot2v", "analyse", run)
    assert "what goes together" in plain.stdout
    assert "panda" in plain.stdout
    assert "human_action" in plain.stdout


def test_analysing_another_run(tmp_path: Path) -> None:
    with RunStore(tmp_path / "run", command="score"):
        pass
    result = invoke("suite", "locot2v", "analyse", tmp_path / "run")
    assert result.exit_code == 2
    assert "nothing to report" in result.stderr
