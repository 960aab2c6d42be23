"""A folder that a training writes into: files still being written, restarts, alarms, hooks."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from screentest.core import BadOption
from screentest.hooks.contract import Alarm, BaseHook, Logged, playable
from screentest.video.memory import MemoryVideo, held
from screentest.watch.alarms import STATE
from screentest.watch.loop import Arrivals, Watch, read_step, step_pattern
from tests.terminal import Screentest
from tests.test_frames import RATE, moving


@pytest.fixture(scope="module")
def films() -> dict[str, bytes]:
    """A clip that moves, and one that stands still."""
    found = {}
    still = np.stack([moving()[0]] * 24)
    for name, frames in {"moving": moving(), "still": still}.items():
        with held(MemoryVideo(frames, RATE)) as path:
            found[name] = playable(path)
    return found


class Notes(BaseHook):
    def __init__(self) -> None:
        self.steps: list[tuple[int | None, list[str]]] = []
        self.alarms: list[Alarm] = []

    def log(self, logged: Logged) -> None:
        self.steps.append((logged.step, [clip.id for clip in logged.clips]))

    def alarm(self, alarm: Alarm) -> None:
        self.alarms.append(alarm)


def test_a_file_that_is_still_being_written_waits(tmp_path: Path, films: dict[str, bytes]) -> None:
    whole, part = tmp_path / "a.mp4", tmp_path / "b.mp4"
    whole.write_bytes(films["moving"])
    part.write_bytes(films["moving"][:-200])
    arrivals = Arrivals(tmp_path)
    assert arrivals.look() == ([], [whole, part])  # nobody knows yet whether they grow
    assert arrivals.look() == ([whole], [part])  # unchanged, and its end is missing
    part.write_bytes(films["moving"])
    assert arrivals.look() == ([whole], [part])
    assert arrivals.look() == ([whole, part], [])
    (tmp_path / ".c.mp4.part").write_bytes(b"")
    (tmp_path / "notes.txt").write_text("no video")
    assert arrivals.look() == ([whole, part], [])


def test_a_file_that_stays_broken_is_given_up(tmp_path: Path, films: dict[str, bytes]) -> None:
    part = tmp_path / "b.mp4"
    part.write_bytes(films["moving"][:-200])
    arrivals = Arrivals(tmp_path, patience=-1)
    arrivals.look()
    assert arrivals.look() == ([part], [])


def test_scored_as_they_appear_with_alarms_and_over_restarts(
    tmp_path: Path, films: dict[str, bytes]
) -> None:
    folder, out, notes = tmp_path / "clips", tmp_path / "run", Notes()
    folder.mkdir()

    def put(name: str, film: str) -> None:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(films[film])

    def begin() -> Watch:
        return Watch(folder, out, metrics=["frozen"], hooks=notes, work={"workers": 1})

    put("step_1/0.mp4", "moving")
    watching = begin()
    assert not watching.look().new
    assert watching.look().new == ["step_1/0.mp4"]
    assert not watching.look().new  # nothing new, and nothing is done
    put("step_2/0.mp4", "still")
    (folder / "step_1/0.mp4").unlink()  # trainings clean up
    watching = begin()  # it was killed, and begins anew
    watching.look()
    found = watching.look()
    assert found.new == ["step_2/0.mp4"]
    assert [(one.kind, one.step) for one in found.alarms] == [("frozen", 2)]
    assert found.scores is not None
    assert len(found.scores) == 2
    assert notes.steps == [(1, ["step_1/0.mp4"]), (2, ["step_2/0.mp4"])]
    assert [(one.clips, one.measured) for one in notes.alarms] == [(("step_*/0",), 1)]
    with pytest.raises(BadOption, match=r"was watched with frozen, not with flicker\n") as error:
        Watch(folder, out, metrics=["flicker"])
    assert "give `metrics=frozen`" in str(error.value)
    (out / STATE).write_text("{")
    with pytest.raises(BadOption, match=r"watch\.json cannot be read"):
        begin()


def test_the_command(tmp_path: Path, films: dict[str, bytes], screentest: Screentest) -> None:
    for step in (1, 2):
        clip = tmp_path / "clips" / f"step-{step}.mp4"
        clip.parent.mkdir(exist_ok=True)
        clip.write_bytes(films["still" if step == 2 else "moving"])
    (tmp_path / "file").touch()  # where a folder cannot be made, whether there is a tracker or not
    hook = ("--hook", "tensorboard:folder=file/boards", "--workers", "1")
    done = screentest("watch", "clips", "--once", "--metrics", "frozen", "--json", *hook)
    assert done.returncode == 1, done.stderr
    assert done.stderr.startswith("warning: the hook tensorboard:folder=file/boards failed: ")
    assert "Warning: " not in done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert lines[0]["alarm"] == "frozen"
    assert lines[0]["began"] == 2
    assert [line["step"] for line in lines[1:]] == [1, 2]
    assert (tmp_path / "clips-scores" / "run.db").is_file()
    done = screentest("watch", "clips", "--once", "--metrics", "frozen", "--workers", "1")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "nothing new: 2 clips known\n"


@pytest.mark.parametrize(
    ("name", "step", "clip"),
    [
        ("global_step1200_prompt3.mp4", 1200, "global_step*_prompt3"),
        ("epoch=5/a.mp4", 5, "epoch=*/a"),
        ("run/ckpt_000100/b.mp4", 100, "run/ckpt_*/b"),
        ("iter-7.gif", 7, "iter-*"),
        ("0/x.mp4", 0, "*/x"),
        ("sample_3.mp4", None, None),
        ("num_steps_50.mp4", None, None),
        ("bit24.mp4", None, None),
    ],
)
def test_steps_in_names(name: str, step: int | None, clip: str | None) -> None:
    found = read_step(Path(name))
    assert (found and found.number, found and found.clip) == (step, clip)


def test_steps_by_a_pattern() -> None:
    found = read_step(Path("v/a_0042_x.mp4"), step_pattern(r"_(\d+)_"))
    assert found is not None
    assert (found.number, found.clip) == (42, "v/a_*_x")
    for wrong in ("(", "x"):
        with pytest.raises(BadOption, match="invalid `step_pattern`"):
            step_pattern(wrong)
