"""All 26 sub-dimensions of a real video, every question answered by a real model made on the spot.

The model is a Qwen2.5-VL of a few thousand numbers: it takes every word and picture through
transformers as a large one does, and then says one of two texts, whatever it was shown. What it
says has a place for every form that the suite asks for, so the numbers are known beforehand.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from screentest.analysis.results import Results
from screentest.analysis.runs import read_results
from screentest.analysis.standings import standings
from screentest.core import Item
from screentest.measure.tasks import score_items
from screentest.models import ModelChoice
from screentest.run.engine import InlineEngine
from screentest.run.session import Settings
from screentest.run.store import RunStore
from screentest.suites.locot2v.suite import suite_in
from screentest.suites.locot2v.tables import ALL, METRICS, item_scores
from tests.suites.locot2v.answering import KINDS, event
from tests.suites.locot2v.films import CLASSICAL

pytest.importorskip("torch")
pytest.importorskip("transformers")

from tests.analysis.judges.speaking import speaking_model
from tests.models.torchvision_here import make_importable

pytestmark = [pytest.mark.models, pytest.mark.filterwarnings("default")]

SMALL = {
    **dict.fromkeys(
        ("overall_alignment", "event_alignment", "human_action", "content_clarity", "herd"),
        "frames=2,long_side=56",
    ),
    "event_consistency": "frames=2,long_side=56,per_event=3",
    "transition_smoothness": "k=4,long_side=128",
}


def spec(metric: str) -> str:
    options = SMALL.get(metric.removeprefix("locot2v_"))
    return f"{metric}:{options}" if options else metric


def everything(points: int) -> str:
    """One object in which each form finds its fields."""
    return json.dumps(
        {
            "pictures_seen": True,
            "events": [event("A bird flies."), event("The bird lands.", action="lands")],
            "actions": [{"subject": "a man", "action": "waves"}],
            "answer": "yes",
            "polarity": "positive",
            "questions": [f"Is it calm, {n}?" for n in range(6)],
            "happens": True,
            "start": 0.0,
            "end": 1.5,
            **dict.fromkeys(KINDS["expect"], "It is calm."),
            **{name: {"reason": "seen", "score": points} for name in KINDS["clarity"]},
        }
    )


@pytest.fixture(scope="module")
def results(ffmpeg: str, sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Two seconds of real film around a cut, scored by all metrics into a run."""
    make_importable()
    folder = tmp_path_factory.mktemp("suite")
    film = folder / "film.mp4"
    subprocess.run(
        [
            *(ffmpeg, "-v", "error", "-ss", "2", "-i", str(sample / "real_5shots_640x360.mp4")),
            *("-t", "2", "-vf", "scale=192:-2", "-an", str(film)),
        ],
        check=True,
    )
    model = speaking_model(
        folder / "model", "<think>It is calm.</think>", everything(2), everything(4)
    )
    chat = ModelChoice("chat", "hf", str(model))
    item = Item("film", film, prompt="A bird flies. Then it lands.", groups={"model": "camera"})
    with RunStore(folder / "run", command="score") as store:
        settings = Settings(models=(chat, *CLASSICAL), device="cpu")
        score_items(store, [item], [spec(one) for one in METRICS], settings, engine=InlineEngine())
        return read_results(store)


def test_every_sub_dimension_has_a_value(results: Results) -> None:
    failures = {value.name: str(value.outcome.failure) for value in results.values}
    failures = {name: why for name, why in failures.items() if why != "None"}
    assert failures == {}
    suite = suite_in(results)
    assert suite is not None
    (one,) = standings(results, suite)
    assert all(level.value is not None for level in one.levels)
    assert (one.top.parts, one.top.of_parts) == (26, 26)


def test_answers_became_the_numbers_they_mean(results: Results) -> None:
    """Yes to all: every action and expectation is met. Points: 2 or 4 of 4 in each round."""
    suite = suite_in(results)
    assert suite is not None
    found = item_scores(suite, results)["film"]
    assert found["human_action"] == 1.0
    assert {found[one.name] for one in ALL if one.metric == "locot2v_herd"} == {1.0}
    rounds = {(a + b + c) / 12 for a in (2, 4) for b in (2, 4) for c in (2, 4)}
    clarity = {found[one.name] for one in ALL if one.metric == "locot2v_content_clarity"}
    assert clarity <= rounds
    assert len(clarity) == 1  # one text has the same points for all four
    # The same events on both sides, in the same order: only fields and texts count, and are equal.
    assert found["event_alignment"] == pytest.approx(1.0)
