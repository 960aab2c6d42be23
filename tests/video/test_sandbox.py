"""Workers may die, hang and hoard; their callers get an Outcome and nothing is left behind."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from screentest.core import BadOption, Outcome, Reason
from screentest.video import sandbox
from screentest.video.limits import Limits
from screentest.video.sandbox import Supervisor, supervised
from tests.terminal import WITH_TESTS
from tests.video import tasks

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="signals and limits of POSIX"),
    pytest.mark.usefixtures("workers_from_scratch"),
]

MIB = 1 << 20
BRIEF = Limits(wall_seconds=0.3)
PATIENCE = 300.0
"""Seconds to wait for what must happen at once, on a machine that is busy."""


def reason(outcome: Outcome[object]) -> Reason:
    assert outcome.failure is not None
    assert outcome.failure.detail
    assert outcome.failure.advice
    return outcome.failure.reason


def gone(number: int) -> bool:
    try:
        return psutil.Process(number).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def eventually(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


@pytest.fixture
def one() -> Iterator[Supervisor]:
    with Supervisor() as supervisor:
        yield supervisor


# --- ordinary work ---


def test_a_value_comes_back() -> None:
    assert supervised(tasks.double, 21) == Outcome.of(42)


def test_work_is_done_elsewhere_and_the_worker_stays_warm() -> None:
    first, second = supervised(tasks.process_number), supervised(tasks.process_number)
    assert first == second
    assert first.unwrap() != os.getpid()


def test_relative_paths_mean_the_callers_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    supervised(tasks.working_folder)
    monkeypatch.chdir(tmp_path)
    assert supervised(tasks.working_folder).unwrap() == str(tmp_path)


def test_no_value_is_the_failure_it_describes() -> None:
    outcome: Outcome[object] = supervised(tasks.refuse)
    assert reason(outcome) is Reason.UNDECODABLE
    assert outcome.failure is not None
    assert outcome.failure.advice == "Try another."


def test_what_the_user_must_fix_is_raised() -> None:
    with pytest.raises(BadOption) as caught:
        supervised(tasks.ask_the_user)
    assert caught.value.advice == "Give one that is."


def test_a_bug_is_kept_with_its_traceback() -> None:
    outcome: Outcome[object] = supervised(tasks.stumble)
    assert reason(outcome) is Reason.CRASHED
    assert outcome.failure is not None
    assert "KeyError: 'a bug'" in outcome.failure.detail
    assert "tasks.py" in outcome.failure.detail


@pytest.mark.parametrize("task", [tasks.nothing, tasks.no_number, tasks.unsendable, tasks.leave])
def test_a_task_without_a_proper_result_is_a_bug(task: Callable[[], object]) -> None:
    assert reason(supervised(task)) is Reason.CRASHED


def test_a_function_that_cannot_travel_is_refused_here() -> None:
    with pytest.raises((pickle.PicklingError, AttributeError)):
        supervised(lambda: 1)


def test_a_worker_writes_to_no_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    assert supervised(tasks.write_noise).ok
    assert capfd.readouterr() == ("", "")


# --- death ---


@pytest.mark.parametrize(
    "number", [signal.SIGSEGV, signal.SIGKILL, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE]
)
def test_a_worker_that_dies_of_a_signal(number: signal.Signals, one: Supervisor) -> None:
    outcome: Outcome[object] = one.run(tasks.die_of, number)
    assert reason(outcome) is Reason.DECODER_CRASHED
    assert outcome.failure is not None
    assert number.name in outcome.failure.detail
    assert one.run(tasks.double, 4) == Outcome.of(8)


@pytest.mark.parametrize("code", [0, 1, 3])
def test_a_worker_that_just_ends(code: int, one: Supervisor) -> None:
    assert reason(one.run(tasks.end_with, code)) is Reason.DECODER_CRASHED
    assert one.run(tasks.double, 4) == Outcome.of(8)


def test_a_worker_that_dies_while_idle_is_replaced(one: Supervisor) -> None:
    number = one.run(tasks.process_number).unwrap()
    os.kill(number, signal.SIGKILL)
    assert eventually(lambda: gone(number))
    assert one.run(tasks.double, 4) == Outcome.of(8)
    assert one.run(tasks.process_number).unwrap() != number


def test_a_worker_that_has_done_enough_is_replaced(
    one: Supervisor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "_TASKS_PER_WORKER", 2)
    first, second, third = (one.run(tasks.process_number).unwrap() for _ in range(3))
    assert first == second != third
    assert gone(first)


def test_a_crash_leaves_no_core_dump() -> None:
    assert supervised(tasks.core_dump_limit) == Outcome.of((0, 0))


# --- time ---


def test_a_task_that_sleeps_is_ended(one: Supervisor) -> None:
    assert reason(one.run(tasks.sleep, 1000.0, limits=BRIEF)) is Reason.TIMED_OUT
    assert one.run(tasks.double, 4) == Outcome.of(8)


def test_a_task_that_holds_pythons_lock_is_ended(one: Supervisor) -> None:
    assert reason(one.run(tasks.sleep_with_the_lock, 1000, limits=BRIEF)) is Reason.TIMED_OUT


def test_time_does_not_run_between_tasks(one: Supervisor) -> None:
    for seconds in (0.3, 3.0, 30.0):  # a busy machine may need longer even for so little
        first = one.run(tasks.process_number, limits=Limits(wall_seconds=seconds))
        if first.ok:
            break
    time.sleep(2 * seconds)
    assert one.run(tasks.process_number) == first


@pytest.mark.parametrize(
    ("end", "expected"), [("hang", Reason.TIMED_OUT), ("die", Reason.DECODER_CRASHED)]
)
def test_what_a_worker_started_goes_with_it(
    end: str, expected: Reason, tmp_path: Path, one: Supervisor
) -> None:
    note = tmp_path / "note"
    # One that hangs must have begun by then, one that dies need not be hurried.
    for seconds in (1.0, 10.0, 100.0) if end == "hang" else (PATIENCE,):
        limits = Limits(wall_seconds=seconds)
        assert reason(one.run(tasks.start_a_child_and, note, end, limits=limits)) is expected
        if note.exists() and len(note.read_text().split()) == 2:
            break
    worker, child = map(int, note.read_text().split())
    assert eventually(lambda: gone(worker) and gone(child))


# --- memory ---


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the limit is Linux's")
@pytest.mark.parametrize(
    ("task", "amount"),
    [
        (tasks.fill_memory, 256),
        (tasks.fill_memory_by_numpy, 256),
        (tasks.fill_memory_by_opencv, 16384),  # squared: 256 MiB
    ],
)
def test_a_task_that_hoards_is_stopped(
    task: Callable[[int], int], amount: int, one: Supervisor
) -> None:
    small, enough = Limits(memory=64 * MIB), Limits(memory=1024 * MIB)
    assert reason(one.run(task, amount, limits=small)) is Reason.TOO_LARGE
    assert one.run(task, amount, limits=enough).ok
    assert reason(one.run(task, amount, limits=small)) is Reason.TOO_LARGE


# --- many at once ---


def test_outcomes_keep_the_order_of_items_whoever_dies() -> None:
    with Supervisor(workers=2) as two:
        outcomes = list(two.map(tasks.double_or_die, range(8)))
    assert [outcome.value for outcome in outcomes] == [None, 2, 4, None, 8, 10, None, 14]
    assert {reason(outcomes[place]) for place in (0, 3, 6)} == {Reason.DECODER_CRASHED}


def test_from_many_threads() -> None:
    with Supervisor(workers=2) as two, ThreadPoolExecutor(4) as threads:
        outcomes = list(threads.map(lambda number: two.run(tasks.double, number), range(40)))
    assert [outcome.value for outcome in outcomes] == [2 * number for number in range(40)]


def test_what_nobody_waits_for_is_ended() -> None:
    with Supervisor(workers=2) as two:
        outcomes = two.map(tasks.sleep, [0.0, 1000.0, 1000.0, 1000.0])
        assert next(iter(outcomes)) == Outcome.of(0.0)
        del outcomes  # returns, and does not sleep
        assert two.run(tasks.double, 4) == Outcome.of(8)


def test_closing_ends_what_runs(tmp_path: Path) -> None:
    with Supervisor() as supervisor, ThreadPoolExecutor(1) as threads:
        note = tmp_path / "note"
        waiting = threads.submit(supervisor.run, tasks.start_a_child_and, note, "hang")
        assert eventually(lambda: note.exists() and len(note.read_text().split()) == 2)
        supervisor.close()
        with pytest.raises(CancelledError):
            waiting.result()
    worker, child = map(int, note.read_text().split())
    assert eventually(lambda: gone(worker) and gone(child))


# --- nothing is left behind ---


def test_closing_leaves_no_process_and_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    with Supervisor(workers=2) as two:
        list(two.map(tasks.double_or_die, range(4)))
        two.run(tasks.sleep, 1000.0, limits=BRIEF)

    def left() -> list[str]:
        found = []
        for child in psutil.Process().children(recursive=True):
            try:
                if child.pid not in before and "resource_tracker" not in " ".join(child.cmdline()):
                    found.append(child.name())
            except psutil.ZombieProcess:
                found.append("dead, and nobody has asked how it ended")
            except psutil.NoSuchProcess:
                pass  # it ended while we looked
        return found

    assert eventually(lambda: left() == []), left()
    # Where coverage is measured, a worker leaves its figures in the working folder.
    assert [path for path in tmp_path.iterdir() if not path.name.startswith(".coverage")] == []


PARENT = """
import os, signal, sys
from pathlib import Path
from tests.video import tasks
from screentest.video.sandbox import supervised
if __name__ == "__main__":
    supervised(tasks.start_a_child_and, Path(sys.argv[1]), "hang")
"""


@pytest.mark.parametrize("blow", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_workers_do_not_outlive_their_parent(blow: signal.Signals, tmp_path: Path) -> None:
    script, note = tmp_path / "parent.py", tmp_path / "note"
    script.write_text(PARENT)
    parent = subprocess.Popen(
        [sys.executable, str(script), str(note)],
        env={**os.environ, "PYTHONPATH": WITH_TESTS},
        stderr=subprocess.PIPE,
        text=True,
    )

    def begun() -> bool:
        assert parent.poll() is None, parent.communicate()
        return note.exists() and len(note.read_text().split()) == 2

    assert eventually(begun)
    worker, child = map(int, note.read_text().split())
    parent.send_signal(blow)
    _, told = parent.communicate(timeout=PATIENCE)
    assert eventually(lambda: gone(worker) and gone(child))
    if blow is signal.SIGINT:
        assert told.strip().endswith("KeyboardInterrupt")


FORKING = """
import os
from tests.video import tasks
from screentest.video.sandbox import supervised
if __name__ == "__main__":
    assert supervised(tasks.double, 1).value == 2
    child = os.fork()
    if child == 0:
        os._exit(0 if supervised(tasks.double, 2).value == 4 else 1)
    _, status = os.waitpid(child, 0)
    assert status == 0, status
    assert supervised(tasks.double, 3).value == 6
"""


def test_a_forked_process_gets_workers_of_its_own(tmp_path: Path) -> None:
    script = tmp_path / "forking.py"
    script.write_text(FORKING)
    environment = {**os.environ, "PYTHONPATH": WITH_TESTS}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(script)], env=environment, timeout=PATIENCE
    )
    assert done.returncode == 0
