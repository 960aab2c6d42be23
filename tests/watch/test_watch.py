"""A folder that a training writes into: files still being written, restarts, alarms, hooks."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from screentest import score
from screentest.core import BadOption, RunBusy
from screentest.hooks.contract import Alarm, BaseHook, HookWarning, Logged, playable
from screentest.video.memory import MemoryVideo, held
from screentest.watch import loop
from screentest.watch.alarms import STATE
from screentest.watch.loop import Arrivals, Round, Watch, read_step, step_pattern
from tests.messages import names
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
        self.withdrawn: list[Alarm] = []
        self.logged: list[Logged] = []

    def log(self, logged: Logged) -> None:
        self.steps.append((logged.step, [clip.id for clip in logged.clips]))
        self.logged.append(logged)

    def alarm(self, alarm: Alarm) -> None:
        self.alarms.append(alarm)

    def withdraw(self, alarm: Alarm) -> None:
        self.withdrawn.append(alarm)


class Training:
    """A folder of clips, watched by one metric: 1 for a still clip, 0 for one that moves."""

    def __init__(self, folder: Path, films: dict[str, bytes]) -> None:
        self.folder, self.out, self.films = folder / "clips", folder / "run", films
        self.folder.mkdir()
        self.notes = Notes()
        self.watching: Watch | None = None

    def put(self, *names: str, film: str = "moving") -> None:
        for name in names:
            (self.folder / name).parent.mkdir(exist_ok=True)
            (self.folder / name).write_bytes(self.films[film])

    def begin(self, **options: Any) -> Watch:
        work = {"progress": False}
        options = {"metrics": ["frozen"], "hooks": self.notes, "work": work, **options}
        self.watching = Watch(self.folder, self.out, **options)
        return self.watching

    def look(self) -> Round:
        """Look twice: the first look sees who still grows."""
        watching = self.watching or self.begin()
        watching.look()
        return watching.look()


@pytest.fixture
def training(tmp_path: Path, films: dict[str, bytes]) -> Training:
    return Training(tmp_path, films)


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
    with pytest.raises(BadOption, match=r"frozen.* flicker\n") as error:
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
    hook = ("--hook", "tensorboard:folder=file/boards")
    done = screentest("watch", "clips", "--once", "--metrics", "frozen", "--json", *hook)
    assert done.returncode == 1, done.stderr
    assert re.match(r"warning: .*tensorboard:folder=file/boards", done.stderr)
    assert "Warning: " not in done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert lines[0]["alarm"] == "frozen"
    assert lines[0]["began"] == 2
    assert [line["step"] for line in lines[1:]] == [1, 2]
    assert (tmp_path / "clips-scores" / "run.db").is_file()
    done = screentest("watch", "clips", "--once", "--metrics", "frozen")
    assert done.returncode == 0, done.stderr
    assert re.search(r"nothing new\b.*\b2 clips", done.stdout)
    assert len(done.stdout.splitlines()) == 1


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


@pytest.mark.parametrize("pattern", [r"(abc|it\d+)", r"abc|it(\d+)"])
def test_a_pattern_whose_group_is_no_number_is_refused(
    pattern: str, training: Training, screentest: Screentest
) -> None:
    training.put("abc_1.mp4", "it2.mp4")
    training.begin(pattern=pattern)
    with pytest.raises(BadOption, match="not a number"):
        training.look()
    done = screentest("watch", training.folder, "--once", "--step-pattern", pattern)
    assert done.returncode == 2, done.stderr


def test_one_odd_name_among_many_costs_its_step_alone(training: Training) -> None:
    training.put("it2.mp4")
    training.begin(pattern=r"abc|it(\d+)")
    training.look()
    training.put("abc_1.mp4")
    found = training.look()
    assert found.new == ["abc_1.mp4"]
    assert found.without_step == 1


STEP_1 = ["step_1/0.mp4", "step_1/1.mp4", "step_1/2.mp4"]
STEP_2 = ["step_2/0.mp4", "step_2/1.mp4", "step_2/2.mp4"]


def test_a_step_whose_clips_are_still_to_come_is_not_judged(training: Training) -> None:
    """One of three stands still: below the half that makes an alarm."""
    training.put(*STEP_1)
    training.put(STEP_2[0], film="still")
    assert not training.look().alarms
    training.put(*STEP_2[1:])
    assert training.look().new == STEP_2[1:]
    assert not training.notes.alarms


@pytest.mark.parametrize("why", ["as many clips", "a later step", "patience", "at rest"])
def test_a_step_is_judged_when_it_is_complete(why: str, training: Training) -> None:
    training.begin(at_rest=why == "at rest", patience=0 if why == "patience" else 600)
    training.put(*STEP_1)
    training.put(STEP_2[0], film="still")
    if why == "as many clips":
        training.put(*STEP_2[1:], film="still")
    if why == "a later step":  # which is still being written
        training.put("step_3/0.mp4")
        (training.folder / "step_3/0.mp4").write_bytes(training.films["moving"][:-200])
    assert [(alarm.kind, alarm.step) for alarm in training.look().alarms] == [("frozen", 2)]
    training.put("step_2/9.mp4", film="still")
    found = training.look()  # a step that was judged stays so
    assert (found.alarms, found.withdrawn) == ([], [])


def test_a_folder_that_grows_is_not_at_rest(training: Training) -> None:
    watching = training.begin(at_rest=True)
    training.put(STEP_1[0], film="still")
    watching.look()
    training.put(*STEP_1[1:])
    assert watching.look().new == STEP_1[:1]
    assert watching.look().new == STEP_1[1:]
    assert not training.notes.alarms


def test_patience_ends_without_a_new_clip(training: Training) -> None:
    watching = training.begin(patience=0.5)
    training.put("step_1/0.mp4", film="still")
    looks = [watching.look()]
    for _ in range(100):
        if looks[-1].alarms:
            break
        time.sleep(0.1)
        looks.append(watching.look())
    assert [alarm.step for look in looks for alarm in look.alarms] == [1]
    assert [alarm.step for alarm in training.notes.alarms] == [1]


def test_an_alarm_without_ground_is_withdrawn(training: Training) -> None:
    training.put(STEP_1[0], film="still")
    training.put("step_2/0.mp4")
    assert [alarm.measured for alarm in training.look().alarms] == [1]
    training.put(*STEP_1[1:])
    training.begin()  # it was stopped meanwhile
    found = training.look()
    assert [alarm.step for alarm in training.notes.withdrawn] == [1]
    assert [(alarm.kind, alarm.step) for alarm in found.withdrawn] == [("frozen", 1)]
    assert len(training.notes.alarms) == 1
    training.begin()
    assert not training.look().withdrawn


def test_the_command_tells_of_withdrawn_alarms_and_replaced_clips(
    training: Training, screentest: Screentest
) -> None:
    """At each start half of the clips or more stand still, or fewer."""

    def start(*options: str) -> tuple[int, str]:
        run = ("--out", training.out, "--once", "--metrics", "frozen")
        done = screentest("watch", training.folder, *run, *options)
        return done.returncode, done.stdout

    training.put("step_1/0.mp4", film="still")
    assert start()[0] == 1  # a folder at rest is judged
    training.put("step_1/1.mp4", "step_1/2.mp4")
    code, printed = start("--json")
    lines = [json.loads(line) for line in printed.splitlines()]
    assert code == 0
    assert (lines[0]["withdrawn"], lines[0]["began"]) == ("frozen", 1)
    assert [line["again"] for line in lines[1:]] == [False, False]
    training.put("step_1/1.mp4", film="still")
    code, printed = start("--json")
    lines = [json.loads(line) for line in printed.splitlines()]
    assert code == 1
    assert lines[0]["alarm"] == "frozen"
    (clip,) = lines[1:]
    assert (clip["clip"], clip["step"], clip["again"]) == ("step_1/1.mp4", 1, True)
    assert clip["values"]["frozen"] == 1
    training.put("step_1/1.mp4")
    code, printed = start()
    assert code == 0
    withdrawn, again = printed.splitlines()
    assert names(withdrawn, "WITHDRAWN frozen: ", "2 of 3", "step 1")
    assert names(again, "step 1: ", "1 replaced clip")


@pytest.mark.parametrize(
    "names",
    [("step_5/a.mp4", "step_05/a.mp4"), ("step_5_a.mp4", "step_5_a.mov")],
    ids=["two folders", "two suffixes"],
)
@pytest.mark.parametrize("frozen", [0, 1])
def test_two_clips_of_one_step_are_two(
    names: tuple[str, str], frozen: int, training: Training
) -> None:
    training.put(names[frozen], film="still")
    training.put(names[1 - frozen], "step_6_a.mp4")
    (alarm,) = training.look().alarms
    assert (len(alarm.clips), alarm.measured) == (1, 2)


def test_a_replaced_clip_is_told_again(training: Training) -> None:
    names = ["step_1/0.mp4", "step_1/1.mp4"]
    training.put(*names)
    training.look()
    os.utime(training.folder / names[0])  # another date, the same clip
    training.look()
    assert len(training.notes.logged) == 1
    training.put(names[0], film="still")
    found = training.look()
    assert training.notes.steps == [(1, names), (1, names[:1])]
    assert (found.new, found.again, found.steps) == ([], [names[0]], [1])
    (clip,) = training.notes.logged[1].clips
    assert (clip.id, clip.again, clip.values["frozen"]) == (names[0], True, 1)
    assert training.notes.logged[1].means["frozen"] == 0.5  # of the step: 1 and 0
    training.watching = None  # it is stopped
    training.put(names[1], film="still")
    assert training.look().again == [names[1]]
    assert training.notes.logged[2].means["frozen"] == 1


def test_a_file_that_was_given_up_and_then_completed_is_told_again(training: Training) -> None:
    training.begin(patience=-1)
    part = training.folder / "step_1.mp4"
    part.write_bytes(training.films["moving"][:-200])
    training.look()
    assert [clip.values for clip in training.notes.logged[0].clips] == [{}]
    training.put("step_1.mp4")
    found = training.look()
    assert training.notes.steps == [(1, ["step_1.mp4"])] * 2
    assert found.again == ["step_1.mp4"]
    assert [clip.values["frozen"] for clip in training.notes.logged[1].clips] == [0]


@pytest.mark.parametrize("restart", [False, True])
def test_a_renamed_clip_counts_once(restart: bool, training: Training) -> None:
    training.put("step_1_a.mp4", "step_1_b.mp4", film="still")
    training.put("step_1_b.mp4")
    training.look()
    (training.folder / "step_1_a.mp4").rename(training.folder / "step_1_c.mp4")
    if restart:
        training.watching = None
    found = training.look()
    assert len(training.notes.logged) == 1
    assert not found.new
    assert not found.again
    training.put("step_1_a.mp4")  # another clip takes the free name
    found = training.look()
    assert found.new == ["step_1_a.mp4~"]
    assert found.scores is not None
    files = {item.video.name for item in found.scores.results.items.values()}
    assert files == {"step_1_a.mp4", "step_1_b.mp4", "step_1_c.mp4"}
    assert training.notes.logged[1].means["frozen"] == pytest.approx(1 / 3)


def test_a_clip_is_not_taken_for_another_of_its_name_in_the_run(training: Training) -> None:
    other = training.folder.with_name("other")
    other.mkdir()
    (other / "step_1.mp4").write_bytes(training.films["moving"])
    score(other / "step_1.mp4", out=training.out, metrics="frozen", progress=False)
    training.put("step_1.mp4", film="still")
    training.look()
    ((clip,),) = (logged.clips for logged in training.notes.logged)
    assert clip.values["frozen"] == 1
    training.watching = None
    assert not training.look().new


HOLD = """
import sys
from pathlib import Path
from screentest.run.lease import Lease
lease = Lease.take(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


def test_a_busy_run_costs_one_look(training: Training) -> None:
    training.put("step_1.mp4")
    training.look()
    training.put("step_2.mp4")
    other = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(training.out)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert other.stdout is not None
    assert other.stdout.readline() == b"held\n"
    try:
        assert isinstance(training.look().problem, RunBusy)
    finally:
        other.communicate()
    assert training.watching is not None
    assert training.watching.look().new == ["step_2.mp4"]
    assert training.notes.steps == [(1, ["step_1.mp4"]), (2, ["step_2.mp4"])]


@pytest.mark.parametrize("moment", range(1, 9))
def test_a_clip_may_vanish_at_any_moment_of_a_look(
    moment: int, training: Training, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is removed when its file is asked for the first time, the second…"""
    training.put("step_1_a.mp4", "step_1_b.mp4")
    asked, stat = 0, Path.stat

    def vanishing(path: Path, **options: Any) -> os.stat_result:
        nonlocal asked
        if path.name == "step_1_b.mp4":
            asked += 1
            if asked == moment:
                path.unlink()
        return stat(path, **options)

    # A worker process scores, so that the files are asked for by the watch alone.
    watching = training.begin(work={"workers": 1, "progress": False})
    watching.look()
    monkeypatch.setattr(Path, "stat", vanishing)
    assert "step_1_a.mp4" in watching.look().new


def test_a_name_that_is_not_utf8_is_a_clip_as_any_other(training: Training) -> None:
    odd = os.fsdecode(b"step_1_\xff.mp4")
    training.put(odd, "step_2_b.mp4")
    found = training.look()
    assert found.new == [r"step_1_\udcff.mp4", "step_2_b.mp4"]
    assert [clip.values["frozen"] for clip in training.notes.logged[0].clips] == [0]
    assert training.notes.logged[0].clips[0].video() == training.films["moving"]
    training.watching = None
    assert not training.look().new


@pytest.mark.parametrize("date", [0, 4102444800], ids=["1970", "2100"])
def test_clocks_that_jump_change_nothing(
    date: int, training: Training, monkeypatch: pytest.MonkeyPatch
) -> None:
    training.put("step_1.mp4")
    os.utime(training.folder / "step_1.mp4", (date, date))
    watching = training.begin()
    watching.look()
    monkeypatch.setattr(time, "time", lambda: 0.0)
    monkeypatch.setattr(time, "time_ns", lambda: 0)
    assert watching.look().new == ["step_1.mp4"]
    training.put("step_1.mp4", film="still")
    os.utime(training.folder / "step_1.mp4", (date, date))
    training.look()
    training.look()
    assert training.notes.steps == [(1, ["step_1.mp4"])] * 2


def test_many_clips_are_scored_some_at_a_look(
    training: Training, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"step_{step}_{clip}.mp4" for step in (1, 2, 10) for clip in "ab"]
    training.put(*names)
    monkeypatch.setattr(loop, "MOST", 4)
    looks: list[Round] = []
    assert loop.watch(training.begin(), 0.1, looks.append, looks=2) == 0
    assert [(list(look.new), look.left) for look in looks] == [
        ([], 0),
        (names[:4], 2),
        (names[4:], 0),
    ]
    assert [len(look.scores) for look in looks if look.scores is not None] == [4, 6]
    assert [step for step, _ in training.notes.steps] == [1, 2, 10]


def test_known_clips_are_not_read_again(
    training: Training, monkeypatch: pytest.MonkeyPatch
) -> None:
    training.put("step_1.mp4", "step_2.mp4")
    training.look()
    opened: list[str] = []
    real = loop._is_readable

    def noted(path: Path) -> bool:
        opened.append(path.name)
        return real(path)

    monkeypatch.setattr(loop, "_is_readable", noted)
    training.put("step_3.mp4")
    training.begin()  # it was stopped meanwhile
    assert training.look().new == ["step_3.mp4"]
    assert opened == ["step_3.mp4"]


def test_a_hook_that_hangs_does_not_block_the_watch(training: Training) -> None:
    never, calls = threading.Event(), []

    class Hangs(BaseHook):
        def log(self, logged: Logged) -> None:
            calls.append(logged.step)
            never.wait(20)

    hooks = [Hangs(), training.notes]
    watching = training.begin(hooks=hooks, longest_call=0.01)
    # A busy machine may take longer than that to call the good one.
    watching._hooks.hooks[1].longest = 600
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for step in range(1, 6):
            training.put(f"step_{step}.mp4")
            training.look()
    never.set()
    ours = [one for one in caught if one.category is HookWarning]
    assert len(ours) == 3  # then it is left alone
    assert "TimeoutError" in str(ours[0].message)
    assert [step for step, _ in training.notes.steps] == [1, 2, 3, 4, 5]


def killed() -> None:
    code = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    subprocess.run([sys.executable, "-c", code], check=True)


def leaves() -> None:
    sys.exit(3)


def busy() -> None:
    raise RunBusy("another run of the hook's own")


@pytest.mark.parametrize("ending", [killed, leaves, busy])
def test_a_hook_that_ends_badly_is_a_warning(ending: Any, training: Training) -> None:
    class Ends(BaseHook):
        def log(self, logged: Logged) -> None:
            ending()

    training.put("step_1.mp4")
    training.begin(hooks=[Ends(), training.notes])
    with pytest.warns(HookWarning, match="the hook Ends failed"):
        assert training.look().new == ["step_1.mp4"]
    assert [step for step, _ in training.notes.steps] == [1]


def test_a_step_with_clips_still_to_score_is_not_judged_for_a_later_one(
    training: Training, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of step 1 the first look scores a still clip alone; three that move come with the next."""
    training.put("step_1/a.mp4", film="still")
    training.put("step_1/b.mp4", "step_1/c.mp4", "step_1/d.mp4", "step_2/a.mp4")
    monkeypatch.setattr(loop, "MOST", 1)
    looks = [training.look(), *(training.look() for _ in range(3))]
    assert [alarm for look in looks for alarm in look.alarms] == []
