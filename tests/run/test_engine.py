"""Engines: whatever a task does, it gets an outcome and the run goes on."""

from __future__ import annotations

import importlib
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

import psutil
import pytest

from screentest.core import (
    BadOption,
    LedgerClient,
    Reason,
    Score,
    ServiceError,
    Silent,
    registry,
)
from screentest.run import engine as engine_module
from screentest.run import worker as _threads
from screentest.run.engine import InlineEngine, LocalEngine
from screentest.run.execute import execute
from screentest.run.inputs import Stamp
from screentest.run.reader import RunReader
from screentest.run.records import Record
from screentest.run.store import RunStore
from screentest.run.tasks import Engine, Task
from tests.messages import names
from tests.run.canonical import canonical
from tests.run.conftest import PATIENCE, Children
from tests.run.work import key, measure, pays_for_each, task, value_of
from tests.terminal import WITH_TESTS


def only(store: RunStore) -> Record:
    (record,) = store.records()
    return record


def reason(store: RunStore) -> Reason:
    (found,) = only(store).reasons
    return found


def detail(store: RunStore) -> str:
    (outcome,) = only(store).outcomes.values()
    assert outcome.failure is not None
    return outcome.failure.detail


def test_value(store: RunStore) -> None:
    done = execute(store, [task(1)], engine=LocalEngine(workers=1))
    assert (done.total, done.made, done.pending, done.exit_code) == (1, 1, 0, 0)
    value = only(store).outcomes["brightness"].unwrap()
    assert isinstance(value, Score)
    assert value.value == value_of(key(1))


@pytest.mark.parametrize("engine", [LocalEngine(workers=1), InlineEngine()])
@pytest.mark.parametrize(
    ("function", "payload", "expected", "says"),
    [
        ("no_value", "undecodable", Reason.UNDECODABLE, "as asked"),
        ("no_value", "over_budget", Reason.OVER_BUDGET, "as asked"),
        ("raises", None, Reason.CRASHED, "ZeroDivisionError: "),
        ("leaves", None, Reason.CRASHED, "SystemExit: 3"),
        ("wrong_type", None, Reason.CRASHED, "not str"),
        ("forgets", None, Reason.CRASHED, "returned nothing for"),
        ("not_finite", None, Reason.CRASHED, "not JSON compliant"),
        ("is_not_there", None, Reason.CRASHED, "is_not_there"),
    ],
)
def test_every_end_is_an_outcome(
    engine: Engine, function: str, payload: object, expected: Reason, says: str, store: RunStore
) -> None:
    execute(store, [task(1, function, payload)], engine=engine)
    assert reason(store) is expected
    assert says in detail(store)


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGKILL, signal.SIGABRT])
def test_a_task_that_kills_its_worker_is_given_up_and_the_run_goes_on(
    number: signal.Signals, store: RunStore, tmp_path: Path
) -> None:
    log = str(tmp_path / "log")
    bad = task("bad", "dies", (number, 99, log), on_death=Reason.DECODER_CRASHED)
    good = [task(item) for item in range(10)]
    done = execute(store, [bad, *good], engine=LocalEngine(workers=2))
    assert (done.made, done.failures) == (11, {Reason.DECODER_CRASHED: 1})
    records = {record.key.item: record for record in store.records()}
    failure = records["film-bad"].outcomes["brightness"].failure
    assert failure is not None
    assert number.name in failure.detail
    assert records["film-bad"].attempts == 2
    assert Path(log).read_text("utf-8").split() == ["film-bad"] * 2


def test_a_task_that_kills_its_worker_once_is_tried_again(store: RunStore, tmp_path: Path) -> None:
    execute(store, [task(1, "dies", (signal.SIGSEGV, 1, str(tmp_path / "log")))])
    assert not only(store).reasons
    assert only(store).attempts == 2


@pytest.mark.parametrize("function", ["forks_and_goes_on", "floods"])
def test_ways_that_do_no_harm(function: str, tmp_path: Path, children: Children) -> None:
    """A child that comes back from the task must not answer; what is printed is not the run's."""
    child = children.start(tmp_path / "odd", tasks=4, function=function)
    out, err = child.communicate(timeout=PATIENCE)
    assert child.returncode == 0, err
    assert out.split()[0] == "begun"
    assert sorted(out.split()[1:]) == [f"film-{number}" for number in range(4)]
    with RunReader(tmp_path / "odd") as run:
        found = {record.key: record for record in run.records()}
    assert len(found) == 4
    for one, record in found.items():
        value = record.outcomes["brightness"].unwrap()
        assert isinstance(value, Score)
        assert value.value == value_of(one)
        assert record.attempts == 1


def test_a_task_that_closes_its_pipe_is_a_death(store: RunStore) -> None:
    tasks = [task(1, "closes_everything"), task(2), task(3)]
    done = execute(store, tasks, engine=LocalEngine(workers=1, timeout=60.0))
    assert done.made == 3
    assert done.failures == {Reason.CRASHED: 1}


@pytest.mark.slow
def test_a_metric_that_leaks_costs_no_value(store: RunStore) -> None:
    """Its worker is ended when it holds too much; the task is tried again by a fresh one."""
    engine = LocalEngine(workers=1, memory_limit=300_000_000)
    done = execute(store, [task(n, "leaks") for n in range(12)], engine=engine)
    assert (done.made, dict(done.failures)) == (12, {})


def test_a_hungry_task_ends_one_used_worker_and_one_fresh(store: RunStore, tmp_path: Path) -> None:
    """It is not tried by one used worker after the other until there is none."""
    log = tmp_path / "log"
    engine = LocalEngine(workers=2, memory_limit=300_000_000)
    tasks = [task(1), task(2), task(3, "grows", str(log)), *(task(n) for n in range(4, 24))]
    done = execute(store, tasks, engine=engine)
    assert (done.made, dict(done.failures)) == (23, {Reason.TOO_LARGE: 1})
    assert len(log.read_text("utf-8").split()) <= 2


def test_exit_is_a_death(store: RunStore) -> None:
    execute(store, [task(1, "ends")], engine=LocalEngine(workers=1, max_deaths=1))
    assert reason(store) is Reason.CRASHED
    assert "exit code 7" in detail(store)


def test_a_hanging_task_is_ended_with_its_children(store: RunStore, tmp_path: Path) -> None:
    log = tmp_path / "log"
    for seconds in (1.0, 10.0, 100.0):  # on a busy machine it takes a while to begin
        slow = task(1, "hangs", str(log), timeout=seconds)
        done = execute(store, [slow, task(2)], engine=LocalEngine(workers=1))
        assert done.failures == {Reason.TIMED_OUT: 1}
        if log.exists():
            break
    grandchild = int(log.read_text("utf-8").split()[0])
    deadline = time.monotonic() + PATIENCE
    while _is_alive(grandchild) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not _is_alive(grandchild)


def _is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_a_task_may_not_take_all_memory(store: RunStore) -> None:
    engine = LocalEngine(workers=1, memory_limit=400_000_000)
    done = execute(store, [task(1, "grows"), task(2)], engine=engine)
    assert done.failures == {Reason.TOO_LARGE: 1}


def test_each_worker_has_its_part_of_the_memory(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_module, "memory", lambda: 900_000_000)
    done = execute(store, [task(1, "grows"), task(2)], engine=LocalEngine(workers=2))
    assert done.failures == {Reason.TOO_LARGE: 1}


def test_a_payload_that_cannot_be_sent(store: RunStore) -> None:
    tasks = [task(1, "measure", threading.Lock()), task(2)]
    done = execute(store, tasks, engine=LocalEngine(workers=1))
    assert done.failures == {Reason.CRASHED: 1}


def test_a_function_that_workers_do_not_find(store: RunStore) -> None:
    tasks = [task(1, "is_not_there"), task(2)]
    done = execute(store, tasks, engine=LocalEngine(workers=1))
    assert done.failures == {Reason.CRASHED: 1}


def test_a_service_that_turns_calls_away_stops_the_run(store: RunStore) -> None:
    """Not five thousand equal failures: one message, nothing recorded, and it can be resumed."""
    tasks = [task(item, "turned_away") for item in range(50)]
    with pytest.raises(ServiceError) as caught:
        execute(store, tasks, engine=LocalEngine(workers=2))
    assert caught.value.advice == "Set another key."
    assert not list(store.records())


def test_prints_of_evaluators_do_not_reach_stdout(tmp_path: Path, children: Children) -> None:
    child = children.start(tmp_path, tasks=1, function="prints")
    out, err = child.communicate(timeout=PATIENCE)
    assert out == "begun\nfilm-0\n"
    assert err == "untrusted output\n"


def test_workers_may_have_workers(store: RunStore) -> None:
    """A decoder's own supervised processes must neither be forbidden nor delay the end."""
    execute(store, [task(1, "uses_processes")], engine=LocalEngine(workers=1))
    assert not only(store).reasons


def test_workers_live_on_between_tasks(store: RunStore, tmp_path: Path) -> None:
    mine = psutil.Process()
    before = {p.pid for p in mine.children(recursive=True)}
    seen: set[int] = set()

    class Watching(LocalEngine):
        def run(self, tasks: Sequence[Task], ledger: LedgerClient, stop: object) -> object:  # type: ignore[override]
            for together in super().run(tasks, ledger, stop):  # type: ignore[arg-type]
                seen.update(p.pid for p in mine.children(recursive=True))
                yield together

    execute(store, [task(i) for i in range(40)], engine=Watching(workers=2))  # type: ignore[arg-type]
    # Two workers, and where it was not running yet their server and the tracker of both.
    assert len(seen - before) <= 4


class Killer(Silent):
    """Kills workers of this process. Each record that is written waits for one more round of it.

    So both get their turns on a busy machine: the killer by that, and the workers since nobody
    is killed while the dead are far ahead of the records.
    """

    def __init__(self, seed: int) -> None:
        self.killed = 0
        self._dice = random.Random(seed)
        self._records = 0.0
        self._rounds = 0
        self._round_over = threading.Condition()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._go_round, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._thread.join()

    def advance(self, amount: float = 1, note: str = "") -> None:
        with self._round_over:
            self._records += amount
            seen = self._rounds
            assert self._round_over.wait_for(lambda: self._rounds > seen, PATIENCE)

    def _go_round(self) -> None:
        while not self._over.wait(self._dice.uniform(0.001, 0.03)):
            for process in psutil.Process().children(recursive=True):
                if self.killed > self._records + 5:
                    continue
                with suppress(ProcessLookupError, psutil.NoSuchProcess):
                    # A worker leads a session; the server that forks them does not.
                    if os.getsid(process.pid) == process.pid and self._dice.random() < 0.5:
                        process.kill()
                        self.killed += 1
            with self._round_over:
                self._rounds += 1
                self._round_over.notify_all()


@pytest.mark.parametrize("workers", [1, 2])
def test_workers_killed_from_outside_at_any_moment(workers: int, store: RunStore) -> None:
    """As the system does when memory is short: idle, starting, half-way through an answer."""
    killer = Killer(seed=workers)
    # Answers larger than a pipe holds, so that many die while they send.
    tasks = [task(item, "measure", {"bytes": 200_000}) for item in range(30)]
    engine = LocalEngine(workers, max_deaths=1000)
    done = execute(store, tasks, engine=engine, progress=killer)
    assert killer.killed > 3
    assert (done.made, done.failures) == (30, {})


@pytest.mark.parametrize("engine", [LocalEngine(1), LocalEngine(2), LocalEngine(3), InlineEngine()])
def test_workers_and_order_change_nothing(
    engine: Engine, tmp_path: Path, expected: list[str]
) -> None:
    tasks = mixed_tasks(tmp_path)
    random.Random(repr(engine)).shuffle(tasks)
    with RunStore(tmp_path / "run", command="test") as store:
        execute(store, tasks, engine=engine)
        assert list(canonical(store.records())) == expected


def mixed_tasks(folder: Path) -> list[Task]:
    """Tasks with one key and with several, that succeed and that fail."""
    several = [
        Task(tuple(key(item, name) for name in ("flicker", "sharpness")), measure)
        for item in range(10)
    ]
    failing = [task(f"bad-{why}", "no_value", why) for why in ("undecodable", "refused")]
    others = [task("paid", "pays", ("1", 3)), task("bug", "raises")]
    return [*(task(item) for item in range(10)), *several, *failing, *others]


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("expected")
    with RunStore(folder, command="test") as store:
        execute(store, mixed_tasks(folder), engine=LocalEngine(workers=2))
        return list(canonical(store.records()))


@pytest.mark.parametrize("engine", [LocalEngine(workers=1), InlineEngine()])
def test_each_record_has_its_own_calls(engine: Engine, store: RunStore) -> None:
    keys = (key(1, "flicker"), key(1, "sharpness"))
    execute(store, [Task(keys, pays_for_each)], engine=engine)
    assert {record.key.evaluator: record.requests for record in store.records()} == {
        "flicker": ("flicker", "shared"),
        "sharpness": ("shared", "sharpness"),
    }


def share(store: RunStore, workers: int, tasks: int) -> Mapping[str, object]:
    """What the environment of a worker says of threads."""
    wanted = [task(item, "tells_threads") for item in range(tasks)]
    execute(store, wanted, engine=LocalEngine(workers))
    (told, *others) = [one.outcomes["brightness"].unwrap() for one in store.records()]
    assert isinstance(told, dict)
    assert all(other == told for other in others)
    return told


def test_workers_share_the_processors(store: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_threads, "processors", lambda: 8)
    monkeypatch.delenv("SCREENTEST_THREADS", raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", "7")  # as a user may have
    assert share(store, workers=3, tasks=4) == {
        "SCREENTEST_THREADS": "2",
        "OMP_NUM_THREADS": "7",
        "OPENBLAS_NUM_THREADS": "2",
        "models": 2,
        "opencv": 2,
    }


def test_a_lone_task_has_all_processors(store: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_threads, "processors", lambda: 8)
    monkeypatch.delenv("SCREENTEST_THREADS", raising=False)
    assert share(store, workers=4, tasks=1)["models"] == 8


def test_threads_as_the_user_says(store: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCREENTEST_THREADS", "3")
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    told = share(store, workers=2, tasks=2)
    assert (told["models"], told["OPENBLAS_NUM_THREADS"], told["opencv"]) == (3, "3", 3)


def test_a_file_that_changes_while_it_is_read(store: RunStore, tmp_path: Path) -> None:
    """What was measured belongs to neither version of the file: it is not kept."""
    film = tmp_path / "film.mp4"
    film.write_bytes(b"before")
    stamp = Stamp.of(film)
    assert stamp is not None
    film.write_bytes(b"afterwards")
    done = execute(store, [task(1, files=(stamp,)), task(2)], engine=InlineEngine())
    assert (done.made, done.changed, done.pending) == (1, 1, 1)


@pytest.mark.parametrize("hidden", [False, True])
def test_a_file_that_is_only_linked_meanwhile_is_the_same(
    store: RunStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hidden: bool
) -> None:
    """A link or other rights change nothing in it; bytes that change under an old date do."""
    now = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: now() + 86_400 * 10**9)
    film = tmp_path / "film.mp4"
    film.write_bytes(b"before")
    store.inputs.of_file(film)
    stamp = Stamp.of(film)
    assert stamp is not None
    (tmp_path / "copy.mp4").hardlink_to(film)
    film.chmod(0o400)
    if hidden:
        film.chmod(0o600)
        film.write_bytes(b"beyond")
        os.utime(film, ns=(stamp.mtime_ns, stamp.mtime_ns))
    assert not stamp.current
    done = execute(store, [task(1, files=(stamp,)), task(2)], engine=InlineEngine())
    assert (done.made, done.changed) == ((1, 1) if hidden else (2, 0))


def run_script(folder: Path, task_made: str) -> subprocess.CompletedProcess[str]:
    """A script without the guard that executes one task."""
    script = folder / "script.py"
    script.write_text(
        "from dataclasses import replace\n"
        "from pathlib import Path\n"
        "from screentest.run.execute import execute\nfrom screentest.run.store import RunStore\n"
        "from tests.run.work import task\n"
        "def own(job): return {}\n"
        "print('begun')\n"
        f"with RunStore(Path({str(folder / 'run')!r}), command='test') as store:\n"
        f"    print(execute(store, [{task_made}]).made)\n"
    )
    return subprocess.run(
        [sys.executable, str(script)],
        env=os.environ | {"PYTHONPATH": WITH_TESTS},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


def test_workers_do_not_run_the_script_again(tmp_path: Path) -> None:
    done = run_script(tmp_path, "task(1)")
    assert done.stdout.split() == ["begun", "1"], done.stderr


def test_workers_that_cannot_begin(tmp_path: Path) -> None:
    """A task of the script itself needs the script, which would start itself again in each
    worker: one message, not for ever."""
    done = run_script(tmp_path, "replace(task(1), function=own)")
    assert done.returncode == 1
    assert names(done.stderr, "ScreentestError: ", "(exit code 1)")
    assert "if __name__" in done.stderr.splitlines()[-1]


def test_processes_that_cannot_be_had(tmp_path: Path, children: Children) -> None:
    """A socket's name may have some hundred letters; TMPDIR here is longer."""
    children.temporary = tmp_path / ("long" * 30)
    children.temporary.mkdir()
    code, said = children.finish(tmp_path / "run", tasks=1)
    assert code == 1
    assert re.match("ScreentestError: .*worker process", said)
    assert "TMPDIR" in said


def test_no_workers() -> None:
    with pytest.raises(BadOption) as refused:
        LocalEngine(workers=0)
    assert refused.value.param == "workers"


def test_two_tasks_for_one_record(store: RunStore) -> None:
    with pytest.raises(ValueError, match="same record"):
        execute(store, [task(1), task(1)])


def test_workers_know_what_a_module_of_the_users_registers(
    store: RunStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my_metrics_for_a_test.py").write_text(
        "from screentest.core import register\n"
        "@register('metric', 'mine_for_a_test')\n"
        "def mine() -> object:\n"
        "    return object()\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("my_metrics_for_a_test")
    try:
        execute(store, [task(1, "known_metrics", "mine_for_a_test")], engine=LocalEngine(workers=1))
    finally:
        registry._entries.pop(("metric", "mine_for_a_test"))
    assert only(store).outcomes["brightness"].unwrap() == Score(1.0)
