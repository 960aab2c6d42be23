"""Kill it at any moment: what was finished stays finished, and is not done again."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from screentest.core import RunError
from screentest.run.reader import RunReader
from tests.conftest import ROOT
from tests.run.conftest import PATIENCE, Children, dump, many_children, read_lines
from tests.terminal import CLEAN, WITH_TESTS

TASKS = 40
KILLS = 10
RUNS = 1
SLOW_RUNS = 5  # times KILLS makes 50 points


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What a run gives that nobody disturbs."""
    folder = tmp_path_factory.mktemp("reference") / "run"
    with many_children() as children:
        code, said = children.finish(folder, tasks=TASKS)
    assert code == 0, said
    return dump(folder)


def recorded(folder: Path) -> set[str]:
    """What a killed run holds; seen in a copy, so that the next start finds it as it was left."""
    copy = folder.with_name("copy")
    shutil.rmtree(copy, ignore_errors=True)
    copy.mkdir()
    for file in folder.glob("run.db*"):
        shutil.copy(file, copy)
    try:
        with RunReader(copy) as run:
            return {record.key.item for record in run.records(current=False)}
    except RunError:  # killed before the database was there
        return set()


@pytest.mark.parametrize(
    "seed",
    [*range(RUNS), *(pytest.param(n, marks=pytest.mark.slow) for n in range(RUNS, SLOW_RUNS))],
)
def test_killed_ten_times_and_resumed(
    seed: int, tmp_path: Path, children: Children, uninterrupted: list[str]
) -> None:
    kill_and_resume(seed, 2, tmp_path, children, uninterrupted)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 120))
def test_killed_ten_times_under_eight_workers(
    seed: int, tmp_path: Path, children: Children, uninterrupted: list[str]
) -> None:
    kill_and_resume(seed, 8, tmp_path, children, uninterrupted)


def kill_and_resume(
    seed: int, workers: int, tmp_path: Path, children: Children, uninterrupted: list[str]
) -> None:
    rng = random.Random(seed)
    folder, log = tmp_path / "run", tmp_path / "log"
    log.touch()
    options = {"tasks": TASKS, "workers": workers, "seconds": 0.002, "log": log}
    before: set[str] = set()
    begun = 0
    for _ in range(KILLS):
        child = children.start(folder, **options)
        # Some kills fall before the first record, most in the middle of writing some.
        read_lines(child, rng.randrange(6))
        time.sleep(rng.random() * 0.01)
        child.send_signal(signal.SIGKILL)
        child.wait()
        lines = log.read_text("utf-8").split()
        assert before.isdisjoint(lines[begun:]), "a finished task was done again"
        begun = len(lines)
        after = recorded(folder)
        assert before <= after, "a finished record was lost"
        before = after
    code, said = children.finish(folder, **options)
    assert code == 0, said
    lines = log.read_text("utf-8").split()
    assert before.isdisjoint(lines[begun:])
    assert dump(folder) == uninterrupted
    # Only what was in flight at a kill, one task for each worker, is done more than once.
    assert len(lines) <= TASKS + workers * KILLS
    assert len(Counter(lines)) == TASKS


def test_killed_while_resuming_three_times(
    tmp_path: Path, children: Children, uninterrupted: list[str]
) -> None:
    folder = tmp_path / "run"
    child = children.start(folder, tasks=TASKS, gate=tmp_path / "never", free=12)
    read_lines(child, 8)
    child.kill()
    child.wait()
    first = recorded(folder)
    assert 0 < len(first) < TASKS
    for delay in (0.05, 0.15, 0.25):  # while it starts, opens the store, starts workers
        child = children.start(folder, tasks=TASKS, seconds=0.002)
        time.sleep(delay)
        child.kill()
        child.wait()
        assert first <= recorded(folder)
    assert children.finish(folder, tasks=TASKS)[0] == 0
    assert dump(folder) == uninterrupted


def test_nothing_is_left_of_a_killed_parent(tmp_path: Path, children: Children) -> None:
    folder = tmp_path / "run"
    child = children.start(folder, tasks=4, seconds=600)
    assert child.stdout is not None
    child.stdout.readline()
    mine = psutil.Process(child.pid)
    deadline = time.monotonic() + PATIENCE
    while len(_workers(mine)) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    workers = _workers(mine)
    assert len(workers) == 2
    child.kill()
    child.wait()
    _gone, alive = psutil.wait_procs(workers, timeout=PATIENCE)
    assert not alive
    # What the run needs stays; the temporary files of Python's process server do not.
    assert not list(children.temporary.iterdir())


def _workers(parent: psutil.Process) -> list[psutil.Process]:
    """Grandchildren: a server forks the workers. Each is the leader of its own session."""
    found = []
    for process in parent.children(recursive=True):
        with suppress(ProcessLookupError):
            if os.getsid(process.pid) == process.pid:
                found.append(process)
    return found


def test_a_log_cut_anywhere_opens_with_a_beginning_of_what_was_written(
    tmp_path: Path, children: Children
) -> None:
    """What a power cut leaves: the write-ahead log up to some byte. SQLite's promise, with ours:
    every record is there or not, and those that are there are the first that were written."""
    folder = tmp_path / "run"
    child = children.start(folder, tasks=TASKS, gate=tmp_path / "never", free=32)
    read_lines(child, 30)
    child.kill()
    child.wait()
    database, log = (folder / "run.db").read_bytes(), (folder / "run.db-wal").read_bytes()
    order = _in_order(folder)
    assert len(order) >= 29
    lengths = set()
    rng = random.Random(1)
    for number in range(40):
        copy = tmp_path / f"copy-{number}"
        copy.mkdir()
        (copy / "run.db").write_bytes(database)
        (copy / "run.db-wal").write_bytes(log[: rng.randrange(len(log) // 2, len(log))])
        found = _in_order(copy)
        assert found == order[: len(found)]
        lengths.add(len(found))
    assert len(lengths) > 5


def _in_order(folder: Path) -> list[str]:
    with RunReader(folder) as run:
        return [r.key.item for r in sorted(run.records(), key=lambda record: record.written)]


@pytest.mark.parametrize("seconds", [0.0, 0.005, 0.1])
def test_temporary_folders_of_killed_runs_are_removed(seconds: float, tmp_path: Path) -> None:
    """Killed with its whole group, before a worker lives that could clean up."""
    # The name of a socket, which goes in there, must be short.
    with tempfile.TemporaryDirectory(prefix="st") as temporary:
        options: dict[str, Any] = {
            "cwd": ROOT,
            "env": CLEAN | {"TMPDIR": temporary, "PYTHONPATH": WITH_TESTS},
            "stdout": subprocess.DEVNULL,
        }
        for start in range(100):  # on a busy machine it may be done before the kill
            run = str(tmp_path / f"run{start}")
            command = [sys.executable, "-m", "tests.run.child", run, "--tasks", "2"]
            with subprocess.Popen(command, start_new_session=True, **options) as child:
                while child.poll() is None and not list(Path(temporary).iterdir()):
                    time.sleep(0.001)
                time.sleep(seconds)
                os.killpg(child.pid, signal.SIGKILL)
            if list(Path(temporary).iterdir()):
                break
        assert list(Path(temporary).iterdir())
        subprocess.run(command, check=True, timeout=PATIENCE, **options)
        assert not list(Path(temporary).iterdir())
