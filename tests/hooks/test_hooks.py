"""Hooks: what they are handed, that a failing one harms nothing, and the four trackers for real."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import screentest
from screentest.core import UnknownName, UserError
from screentest.core.registry import registry
from screentest.hooks.contract import Alarm, BaseHook, HookWarning, Logged, open_hooks
from tests.test_frames import CLIP

ROOT = Path(__file__).parents[2]


class Notes(BaseHook):
    def __init__(self) -> None:
        self.logged: list[Logged] = []
        self.films: list[bytes] = []

    def log(self, logged: Logged) -> None:
        self.logged.append(logged)
        self.films += [clip.video() for clip in logged.clips]  # while they are in memory


class Broken(BaseHook):
    calls = 0

    def log(self, logged: Logged) -> None:
        self.calls += 1
        raise ConnectionError("the tracker is away")


def test_a_hook_is_handed_scores_and_videos() -> None:
    notes = Notes()
    found = screentest.score_frames(
        np.stack([CLIP, CLIP[::-1]]),
        fps=12,
        prompt=["a", "b"],
        metrics="flicker",
        step=7,
        hooks=[notes],
    )
    (logged,) = notes.logged
    assert logged.step == 7
    assert logged.means == found.means
    assert [(clip.prompt, clip.values) for clip in logged.clips] == [
        ("a", found[0].numbers),
        ("b", found[1].numbers),
    ]
    assert all(film[4:8] == b"ftyp" for film in notes.films)


def test_a_hook_that_fails_warns_and_is_left_alone_after_three_times() -> None:
    broken, notes = Broken(), Notes()
    hooks = open_hooks([broken, notes])
    scores = screentest.score_frames(CLIP, fps=12, metrics="flicker")
    for number in range(3):
        with pytest.warns(HookWarning, match="the tracker is away") as caught:
            hooks.log(scores, [], number)
        assert ("not called again" in str(caught[0].message)) == (number == 2)
        assert caught[0].filename == __file__  # where hooks were given, not inside of ours
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hooks.log(scores, [], 4)
        hooks.alarm(Alarm("frozen", "frozen", 1, 2, ["a"], 1))
        hooks.close()
    assert broken.calls == 3
    assert len(notes.logged) == 4


def test_failures_of_an_object_count_from_call_to_call() -> None:
    broken = Broken()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for step in range(5):
            screentest.score_frames(CLIP[:4], fps=12, metrics="contrast", step=step, hooks=broken)
    assert broken.calls == len(caught) == 3
    assert "not called again" in str(caught[-1].message)


def test_a_tracker_that_is_not_installed_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mlflow", None)
    monkeypatch.setattr("screentest.hooks.contract._open", {})
    with pytest.warns(HookWarning, match=r"pip install 'screentest\[mlflow\]'"):
        found = screentest.score_frames(CLIP, fps=12, metrics="flicker", hooks="mlflow")
    assert found.means


def test_names_and_options_are_checked_at_once() -> None:
    assert {"mlflow", "tensorboard", "trackio", "wandb"} <= set(registry.names("hook"))
    with pytest.raises(UnknownName, match="hook 'wandbb'"):
        open_hooks("wandbb")
    with pytest.raises(UserError, match="has no option 'projet'"):
        open_hooks("wandb:projet=x")


def test_a_hook_of_ones_own_by_name() -> None:
    made: list[str] = []

    @screentest.hook(name="named")
    class Named(BaseHook):
        """Keeps what it is called with."""

        def __init__(self, *, word: str = "") -> None:
            made.append(word)

    for _ in range(2):
        screentest.score_frames(CLIP, fps=12, metrics="flicker", hooks="named:word=x")
    assert made == ["x"]  # it stays open from call to call


def with_trackers(module: str, out: Path) -> subprocess.CompletedProcess[str]:
    """Run a module that uses the trackers' packages, and has an empty folder."""
    for package in ("wandb", "tensorboard", "mlflow", "trackio"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    done = subprocess.run(
        [sys.executable, "-m", f"tests.hooks.{module}", str(out)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture(scope="module")
def read_back(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the four trackers wrote, read with their own packages where they can."""
    done = with_trackers("trackers", tmp_path_factory.mktemp("trackers"))
    assert "HookWarning" not in done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    held: dict[str, Any] = json.loads(lines[-1])
    return held


@pytest.mark.slow
def test_a_tracker_that_is_away_is_warned_of_once(tmp_path: Path) -> None:
    """W&B online and MLflow, with nobody at their addresses: scores come all the same."""
    done = with_trackers("unreachable", tmp_path)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    held = json.loads(lines[-1])
    assert held["scores"] == 4
    (wandb, mlflow) = sorted(held["warnings"])
    assert wandb.startswith("W&B cannot be reached")
    assert "`wandb sync`" in wandb
    assert mlflow.startswith("the hook mlflow:")
    assert "not called again" in mlflow
    assert held["kept"] == 4


@pytest.mark.parametrize("tracker", ["tensorboard", "wandb", "mlflow", "trackio"])
def test_the_real_tracker_has_values_videos_worst_moments_and_the_alarm(
    tracker: str, read_back: dict[str, Any]
) -> None:
    found = read_back[tracker]
    assert "error" not in found, found
    assert [step for step, _ in found["values"]] == [10, 20]
    for (_, value), (_, expected) in zip(found["values"], read_back["expected"], strict=True):
        assert value == pytest.approx(expected, rel=1e-6)  # TensorBoard keeps 32 bits
    assert found["videos"] == [10, 20]
    assert found["film"] == ("GIF" if tracker == "tensorboard" else 24)
    assert found["worst"] > 0
    assert found["alarm"] == Alarm("frozen", "frozen", 20, 20, ["a", "b"], 2).message
    assert found["raised"] == [1, 0]  # and withdrawn
