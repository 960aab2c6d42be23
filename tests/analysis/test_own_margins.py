"""Margins that are measured on the clips of a run, encoded anew."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import screentest
from screentest.analysis.models.margins import FEWEST_CLIPS, clips_to_encode
from screentest.analysis.results import ORIGINAL, REENCODED
from screentest.analysis.runs import read_results
from screentest.core import Item
from screentest.run.reader import RunReader
from screentest.sample import sample_videos
from screentest.video.edit.encode import EncoderSettings
from screentest.video.edit.normalize import normalize
from tests.metrics.films import filtered

HELD = "select='not(eq(mod(n,7),3))',fps=24"
"""Every seventh frame is gone, and the one before it is shown again."""


@pytest.fixture(scope="module")
def clips(ffmpeg: str, tmp_path_factory: pytest.TempPathFactory) -> list[Item]:
    """Ten moving clips, whole, and with every seventh frame held."""
    folder = tmp_path_factory.mktemp("models")
    # The newsreel has frames that are shown twice.
    films = [video.item.video for video in sample_videos() if "1906" not in video.item.id]
    items = []
    for place in range(10):
        film, start = films[place % len(films)], 0.5 + place // len(films)
        for model, change in (("whole", "null"), ("held", HELD)):
            path = folder / model / f"{place}.mp4"
            path.parent.mkdir(exist_ok=True)
            filtered(ffmpeg, film, path, f"fps=24,scale=160:-2,{change}", start=start)
            name = f"{model}/{place}"
            items.append(Item(name, path, f"prompt {place}", groups={"model": model}))
    return items


@pytest.fixture(scope="module")
def run(clips: list[Item], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run") / "scores"
    screentest.score(clips, metrics="steadiness,sharpness", out=folder)
    return folder


def test_the_margin_is_the_upper_end_of_the_mean_change(run: Path, tmp_path: Path) -> None:
    """The changes are measured again, on copies that are encoded here; the end is scipy's."""
    with RunReader(run) as reader:
        results = read_results(reader)
    with RunReader(run / REENCODED) as reader:
        copied = {item.groups[ORIGINAL] for item in reader.items().values()}
    assert len({results.items[name].text for name in copied}) == len(copied) == 10
    assert {results.items[name].groups["model"] for name in copied} == {"whole", "held"}
    changes = []
    for name in copied:
        before = results.of_item(name)["sharpness"].number
        assert before is not None
        after = []
        for crf in (18, 26):
            path = tmp_path / f"{name.replace('/', '-')}-{crf}.mp4"
            settings = EncoderSettings(crf=crf, preset="veryfast")
            normalize(results.items[name].video, path, settings=settings)
            after.append(screentest.score(path, metrics="sharpness", out=tmp_path / path.stem))
        changes.append(max(abs(scores.means["sharpness"] - before) for scores in after))
    mean, error = np.mean(changes), stats.sem(changes)
    margin = results.margins["sharpness", "worst"]
    assert margin.films == 10
    assert margin.value == pytest.approx(stats.t.interval(0.9, 9, mean, error)[1])


def test_held_frames_are_shown_on_ten_prompts(run: Path) -> None:
    found = screentest.compare(run).models
    assert found is not None
    assert found.winner == "whole"
    row = next(row for row in found.rows if row.name == "steadiness.uneven")
    assert row.margin is not None
    assert row.margin.run == str(run / REENCODED)
    assert (row.pairs[0].better, row.pairs[0].significant) == ("whole", True)


def test_the_same_command_measures_nothing_again(run: Path, clips: list[Item]) -> None:
    with RunReader(run / REENCODED) as reader:
        before = list(reader.records())
    screentest.score(clips, metrics="steadiness,sharpness", out=run)
    with RunReader(run / REENCODED) as reader:
        assert list(reader.records()) == before


def test_chat_models_are_not_asked_again(clips: list[Item], tmp_path: Path) -> None:
    metrics = "sharpness,locot2v_human_action"
    screentest.score(clips, metrics=metrics, out=tmp_path / "run")
    with RunReader(tmp_path / "run" / REENCODED) as reader:
        assert {key.evaluator for key in reader.plan()} == {"sharpness"}


def test_nothing_is_encoded_where_no_models_or_few_prompts_are_compared(
    clips: list[Item], tmp_path: Path
) -> None:
    for name, some in (("one", clips[::2]), ("few", clips[: 2 * (FEWEST_CLIPS - 1)])):
        scores = screentest.score(some, metrics="sharpness", out=tmp_path / name)
        assert clips_to_encode(scores.results) == []
        assert not (tmp_path / name / REENCODED).exists()
    screentest.score(clips, metrics="sharpness", out=tmp_path / "off", own_margins=False)
    assert not (tmp_path / "off" / REENCODED).exists()
