"""Alarms: what raises them, from which step on, and how seldom a steady training does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import screentest
from screentest.core import OutputInfo
from screentest.hooks.contract import Alarm, playable
from screentest.video.memory import MemoryVideo, held
from screentest.watch.alarms import COLLAPSES, alarms
from screentest.watch.loop import Watch
from tests.messages import names
from tests.test_frames import RATE, moving

STEADY = {"frozen": 0.0, "flicker": 3.0, "contrast.exposure": 0.95, "motion": 0.2}


def training(steps: int, seed: int = 0) -> dict[int, dict[str, dict[str, float]]]:
    """Two clips of each step that vary by a tenth."""
    rng = np.random.default_rng(seed)
    return {
        100 * step: {
            clip: {name: value * rng.uniform(0.95, 1.05) for name, value in STEADY.items()}
            for clip in ("a", "b")
        }
        for step in range(1, steps + 1)
    }


@pytest.mark.parametrize("rule", COLLAPSES, ids=lambda rule: rule.metric)
def test_collapse_is_told_at_once_with_the_step_it_began(rule: object) -> None:
    assert isinstance(rule, type(COLLAPSES[0]))
    series = training(3)
    for step in (200, 300):
        series[step]["a"][rule.metric] = rule.limit
    (found,) = alarms(series)
    assert (found.kind, found.step, found.seen) == (rule.kind, 200, 200)
    assert found.clips == ("a",)


def test_a_few_bad_clips_are_no_collapse() -> None:
    series = training(3)
    for number in range(8):
        series[200][f"more {number}"] = dict(STEADY)
    series[200]["a"]["frozen"] = 1.0
    assert not alarms(series)


def test_a_sudden_change_takes_two_steps_and_is_dated_to_the_first() -> None:
    series = training(12)
    for step in (900, 1000, 1100):
        for values in series[step].values():
            values["motion"] = 0.02
    found = [one for one in alarms(series) if one.kind == "change"]
    assert [(one.metric, one.step, one.seen) for one in found] == [("motion", 900, 1000)]
    assert not alarms({step: clips for step, clips in series.items() if step <= 900})


def test_one_odd_step_and_slow_drift_raise_nothing() -> None:
    series = training(30)
    for values in series[1500].values():
        values["motion"] = 5.0
    for number, clips in enumerate(series.values()):
        for values in clips.values():
            values["flicker"] = 3.0 * 1.01**number
    assert not alarms(series)


def test_clips_that_come_later_do_not_look_like_a_change() -> None:
    """The mean of another set of clips is another one; clips are compared with themselves."""
    series = training(12)
    for step in range(900, 1300, 100):
        series[step]["new"] = {"motion": 9.0}
    assert not alarms(series)


@pytest.mark.parametrize("value", [0.02, 0.4])
def test_what_was_zero_at_most_steps_may_stir(value: float) -> None:
    """Twice in a row is soon chance there; it has a rule."""
    series = training(12)
    for step in (900, 1000):
        for values in series[step].values():
            values["frozen"] = value
    assert not alarms(series, {"frozen": OutputInfo("share")})


def test_a_black_clip_is_one_alarm() -> None:
    """Not one for each value that says so, and none for all that changes with it."""
    series = training(12)
    for clips in series.values():
        for values in clips.values():
            values |= {"contrast.tonal_range": 0.8, "sharpness": 0.4}
    for step in range(900, 1300, 100):
        for values in series[step].values():
            values |= {"contrast.exposure": 0.0, "contrast.tonal_range": 0.0}
            values |= {"sharpness": 0.0, "motion": 0.0}
    (found,) = alarms(series)
    assert (found.kind, found.step) == ("saturated", 900)
    assert (len(found.clips), found.measured) == (2, 2)
    assert names(found.message, "2 of 2", "step 900")


def test_values_that_change_at_one_step_are_told_together() -> None:
    series = training(12)
    for step in range(900, 1300, 100):
        for values in series[step].values():
            values |= {"motion": 0.02, "flicker": 9.0}
    (found,) = alarms(series)
    assert (found.kind, found.metric, found.step) == ("change", "flicker", 900)
    assert found.others == ("motion",)
    assert found.values[1:] == (9.0, 9.0)


def test_clips_are_named_in_the_order_of_their_numbers() -> None:
    series = {1: {f"clip {number}": {"frozen": 1.0} for number in (10, 9, 1)}}
    (found,) = alarms(series)
    assert found.clips == ("clip 1", "clip 9", "clip 10")


def steps_of(kind: str, rng: np.random.Generator, shape: tuple[int, int]) -> NDArray[np.float64]:
    if kind == "normal":
        return rng.normal(size=shape)
    if kind == "heavy tails":
        return rng.standard_t(3, size=shape)
    if kind == "skewed":
        return np.exp(rng.normal(size=shape))
    if kind == "mostly 0":
        return np.where(rng.random(shape) < 0.15, rng.uniform(0.5, 1, size=shape), 0)
    noise, found = rng.normal(size=shape), np.empty(shape)
    found[:, 0] = noise[:, 0]
    for step in range(1, shape[1]):
        found[:, step] = 0.5 * found[:, step - 1] + np.sqrt(0.75) * noise[:, step]
    return found


@pytest.mark.parametrize("kind", ["normal", "heavy tails", "skewed", "memory", "mostly 0"])
def test_steady_trainings_have_hardly_any_false_alarm(kind: str) -> None:
    """Ten values over a hundred steps: docs/watch.md says fewer than one training in twenty."""
    rng = np.random.default_rng(20)
    trainings, false = 100, 0
    for _ in range(trainings):
        values = steps_of(kind, rng, (10, 100))
        series = {
            step: {"clip": {f"value {n}": float(values[n, step]) for n in range(10)}}
            for step in range(100)
        }
        false += bool(alarms(series))
    assert false < trainings / 20


def test_frames_of_a_training_have_the_alarms_of_a_folder(tmp_path: Path) -> None:
    """The second step stands still: both clips of it."""
    good = np.stack([moving(), moving(1)])
    bad = np.stack([np.stack([clip[0]] * len(clip)) for clip in good])
    found: list[list[Alarm]] = []
    clips = tmp_path / "clips"
    clips.mkdir()
    for step, batch in enumerate((good, bad, good), start=1):
        scores = screentest.score_frames(
            batch, fps=RATE, step=step, metrics="frozen", out=tmp_path / "run"
        )
        found.append(list(scores.alarms))
        for number, clip in enumerate(batch):
            with held(MemoryVideo(clip, RATE)) as path:
                (clips / f"step-{step}-{number}.mp4").write_bytes(playable(path))
    work = {"progress": False}
    watching = Watch(clips, tmp_path / "watched", metrics=["frozen"], work=work)
    watching.look()
    (alarm,) = watching.look().alarms
    assert (alarm.kind, alarm.step, alarm.seen) == ("frozen", 2, 2)
    assert alarm.clips == ("step-*-0", "step-*-1")
    assert found == [[], [alarm], [alarm]]
    assert screentest.score_frames(bad, fps=RATE, step=4, metrics="frozen").alarms == ()
