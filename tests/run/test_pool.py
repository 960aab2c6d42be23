"""The pool: whenever a worker dies, whoever waits for it hears of it."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import forkserver
from multiprocessing.connection import wait
from pathlib import Path

import pytest

from screentest._util.workers import Done, Lost, ProcessWorker, _lives
from screentest.core import ScreentestError, Silent
from screentest.models.chat.costs import MemoryLedger
from screentest.run import engine
from screentest.run.engine import LocalEngine, Pool
from screentest.run.execute import execute
from screentest.run.store import RunStore
from screentest.run.tasks import Stop, Task
from tests import conftest
from tests.run.conftest import PATIENCE
from tests.run.work import task


@pytest.fixture(scope="module", autouse=True)
def _quick_servers() -> Iterator[None]:
    """Have servers that import little: here they are killed and started again."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(conftest, "PRELOADED", [])
        yield
    forkserver._forkserver._stop()  # type: ignore[attr-defined]


@contextmanager
def bell() -> Iterator[Stop]:
    """A stop that rings by itself where a test would otherwise wait for ever."""
    stop = Stop()
    timer = threading.Timer(PATIENCE, stop.request)
    timer.start()
    try:
        yield stop
        assert not stop.requested, "nothing was heard"
    finally:
        timer.cancel()
        timer.join()
        stop.close()


def ready(pool: Pool, count: int, stop: Stop) -> None:
    """Have so many idle workers."""
    while sum(worker.ready for worker in pool._workers) < count and not stop.requested:
        pool.ensure(count)
        pool.wait(stop.wake)


def kill(pool: Pool) -> None:
    """All workers, as the system does when memory is short; returns when they are dead."""
    for worker in pool._workers:
        assert worker.process.pid is not None
        with suppress(ProcessLookupError):  # dead already, and not heard of yet
            os.kill(worker.process.pid, signal.SIGKILL)
        assert wait([worker.process.sentinel], PATIENCE)


def parcel(one: Task) -> bytes:
    return pickle.dumps((one.keys, pickle.dumps((one.function, one.payload))))


@pytest.mark.parametrize("count", [1, 2])
def test_workers_that_died_idle_are_heard_of(count: int) -> None:
    """Whoever could not give a task away waits next: that must not be for nobody."""
    with bell() as stop, Pool(MemoryLedger()) as pool:
        ready(pool, count, stop)
        kill(pool)
        assert not pool.give(task(1), parcel(task(1)), None)
        assert pool.wait(stop.wake) == []


@pytest.mark.parametrize("workers", [1, 2])
def test_workers_that_die_just_before_they_get_their_task(
    workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run once waited for ever, with nobody left to hear from."""
    deaths = iter(range(5))

    class Deadly(Pool):
        def give(self, task: Task, parcel: bytes, timeout: float | None, kind: str = "") -> bool:
            if any(worker.ready for worker in self._workers) and next(deaths, None) is not None:
                kill(self)
            return super().give(task, parcel, timeout, kind)

    monkeypatch.setattr(engine, "Pool", Deadly)
    tasks = [task(item) for item in range(4)]
    with bell() as stop:
        ends = list(LocalEngine(workers).run(tasks, MemoryLedger(), stop))
    assert sum(map(len, ends)) == 4


def test_nobody_is_waited_for_where_nobody_is() -> None:
    with bell() as stop, Pool(MemoryLedger()) as pool:
        assert pool.wait(stop.wake) == []


def kill_server() -> None:
    """Kill the process that forks workers and tells of their end."""
    pid = forkserver._forkserver._forkserver_pid  # type: ignore[attr-defined]
    os.kill(pid, signal.SIGKILL)


def test_the_server_of_workers_is_killed(store: RunStore, tmp_path: Path) -> None:
    """Workers live on without it, and new ones get a new one."""
    log = tmp_path / "log"
    tasks = [task(item, "measure", {"log": str(log)}) for item in range(6)]

    class Unlucky(Silent):
        def advance(self, amount: float = 1, note: str = "") -> None:
            kill_server()

    done = execute(store, tasks, engine=LocalEngine(workers=2), progress=Unlucky())
    assert (done.made, done.failures) == (6, {})
    assert sorted(log.read_text("utf-8").split()) == sorted(one.keys[0].item for one in tasks)


@pytest.mark.parametrize("function", ["dies", "forks_and_dies"])
def test_a_worker_dies_after_its_server(function: str, tmp_path: Path) -> None:
    """Nobody tells of its end, and what it started may outlive it and keep its files open."""
    payload = (signal.SIGKILL, 1, str(tmp_path / "log"))
    one = task(1, function, payload)
    with bell() as stop, Pool(MemoryLedger()) as pool:
        ready(pool, 1, stop)
        kill_server()
        while not pool._workers[0].unwatched and not stop.requested:
            assert pool.wait(stop.wake) == []
        assert pool.give(one, parcel(one), None)
        events: list[Done[Task] | Lost[Task]] = []
        while not events and not stop.requested:
            events = pool.wait(stop.wake)
        (event,) = events
        assert isinstance(event, Lost)
        assert event.exit_code is None


def test_workers_that_cannot_be_started_are_tried_again(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed between being forked and being told what to be: the pipe breaks in our hands."""
    start, breaks = Pool._start, iter([BrokenPipeError, EOFError, ConnectionRefusedError])

    def sometimes(self: Pool) -> ProcessWorker[Task]:
        if kind := next(breaks, None):
            raise kind("as asked")
        return start(self)

    monkeypatch.setattr(Pool, "_start", sometimes)
    assert execute(store, [task(1)], engine=LocalEngine(workers=1)).made == 1

    def never(self: Pool) -> ProcessWorker[Task]:
        raise EOFError("unexpected EOF")

    monkeypatch.setattr(Pool, "_start", never)
    with pytest.raises(ScreentestError, match=r"\(unexpected EOF\)"):
        execute(store, [task(2)], engine=LocalEngine(workers=1))


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs Linux")
def test_a_dead_process_that_is_still_listed_does_not_live() -> None:
    """As in a container whose first process buries nobody."""
    assert _lives(os.getpid())
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    os.kill(child.pid, 0)  # it is still listed
    assert not _lives(child.pid)
    child.wait()
    assert not _lives(child.pid)
