"""The same tasks on a real Ray cluster of two nodes, one of which is killed.

Both nodes have addresses of the loopback interface. The driver is a process of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

import psutil
import pytest

from screentest.core import Reason, StorageError
from screentest.run.engine import LocalEngine
from screentest.run.execute import execute
from screentest.run.reader import RunReader
from screentest.run.store import RunStore
from screentest.testbeds.testbed import read_testbed
from tests.conftest import ROOT
from tests.run.conftest import PATIENCE, dump, fill, read_lines
from tests.run.work import task
from tests.terminal import WITH_TESTS

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'screentest[ray]'")

pytestmark = pytest.mark.filterwarnings("default")  # other people's libraries warn of their own

TASKS = 12


class Nodes:
    """A head, where drivers run, and nodes beside it."""

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster

        self._cluster: Any = Cluster(
            initialize_head=True,
            head_node_args={
                "num_cpus": 1,
                "node_ip_address": "127.0.0.2",  # Ray takes 127.0.0.1 for another name
                "include_dashboard": False,
                "object_store_memory": 80_000_000,
            },
        )
        self._second: Any = None
        self.address: str = self._cluster.address

    def add_second(self) -> None:
        if self._second is None:
            self._second = self._cluster.add_node(
                num_cpus=1,
                num_gpus=1,  # a number that Ray goes by; what runs there is not asked
                node_ip_address="127.0.0.3",
                object_store_memory=80_000_000,
            )

    def kill_second(self) -> None:
        """As when it loses power: all of its processes, at once."""
        self._kill(self._second)
        self._cluster.remove_node(self._second, allow_graceful=False)
        self._second = None

    def kill_head(self) -> None:
        """The cluster is gone with it."""
        self._kill(self._cluster.head_node)

    def _kill(self, node: Any) -> None:
        found = [one[0].process.pid for one in node.all_processes.values()]
        whole = [psutil.Process(pid) for pid in found]
        whole += [child for one in whole for child in one.children(recursive=True)]
        for process in whole:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(whole, timeout=PATIENCE)

    def close(self) -> None:
        self._cluster.shutdown()


@pytest.fixture(scope="module")
def nodes() -> Iterator[Nodes]:
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    made = Nodes()
    yield made
    made.close()


Drive = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def drive(nodes: Nodes) -> Iterator[Drive]:
    """Starts a driver, and leaves none behind."""
    nodes.add_second()
    started = []

    def start(folder: Path, *flags: str, **options: Any) -> subprocess.Popen[str]:
        arguments = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
        command = [sys.executable, "-m", "tests.run.ray_child", nodes.address, str(folder)]
        child = subprocess.Popen(
            [*command, *flags, *arguments],
            cwd=ROOT,
            # Workers import the tasks of these tests by name.
            env=os.environ | {"PYTHONPATH": WITH_TESTS},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(child)
        return child

    yield start
    for child in started:
        if child.poll() is None:
            child.kill()
        child.communicate()


def finish(child: subprocess.Popen[str]) -> None:
    _, said = child.communicate(timeout=PATIENCE)
    assert child.returncode == 0, said


def locally(folder: Path, **payload: int) -> list[str]:
    """What this machine's own engine makes of the same tasks."""
    tasks = [task(n, payload=payload) for n in range(TASKS)]
    with RunStore(folder, command="test") as store:
        execute(store, tasks, engine=LocalEngine(workers=1))
    return dump(folder)


@pytest.mark.slow
def test_a_disk_that_fills_up_ends_the_run_and_loses_nothing(
    drive: Drive, small_disk: Path, tmp_path: Path
) -> None:
    """Each of the twelve records takes 100 kB of a disk on which 512 kB are kept back."""
    log, gate, size = tmp_path / "log", tmp_path / "gate", 100_000
    options = {"tasks": TASKS, "log": log, "gate": gate, "free": 4, "bytes": size}
    child = drive(small_disk / "run", **options)
    read_lines(child, 1 + 4)
    fill(small_disk / "ballast")
    gate.touch()
    _, said = child.communicate(timeout=PATIENCE)
    assert child.returncode == StorageError.exit_code, said
    with RunReader(small_disk / "run") as run:
        assert 4 <= len(list(run.records())) < TASKS
    (small_disk / "ballast").unlink()
    finish(drive(small_disk / "run", **options))
    assert dump(small_disk / "run") == locally(tmp_path / "local", bytes=size)


def test_a_killed_node_loses_nothing_and_doubles_nothing(
    nodes: Nodes, drive: Drive, tmp_path: Path
) -> None:
    """Every task but the first four waits at a gate: one is on each node when the second dies."""
    log, gate = tmp_path / "log", tmp_path / "gate"
    log.touch()
    child = drive(tmp_path / "run", tasks=TASKS, log=log, gate=gate, free=4)
    read_lines(child, 1 + 4)
    while len(log.read_text("utf-8").split()) < 6 and child.poll() is None:
        pass  # two wait at the gate, one on each node
    nodes.kill_second()
    gate.touch()
    finish(child)
    assert dump(tmp_path / "run") == locally(tmp_path / "local")
    begun = Counter(log.read_text("utf-8").split())
    assert set(begun) == {f"film-{number}" for number in range(TASKS)}
    assert sum(begun.values()) == TASKS + 1  # what was on the node that died, once more
    with RunReader(tmp_path / "run") as run:
        records = list(run.records())
    assert len(records) == TASKS
    assert sorted(record.attempts for record in records) == [1] * (TASKS - 1) + [2]


@pytest.mark.slow
def test_a_killed_head_ends_the_run_and_loses_nothing(tmp_path: Path) -> None:
    """A driver without a cluster ends; started again, here without one, it has what was made."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    alone = Nodes()
    log, gate = tmp_path / "log", tmp_path / "gate"
    log.touch()
    command = [sys.executable, "-m", "tests.run.ray_child", alone.address, str(tmp_path / "run")]
    child = subprocess.Popen(
        [*command, f"--tasks={TASKS}", f"--log={log}", f"--gate={gate}", "--free=4"],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": WITH_TESTS},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        read_lines(child, 1 + 4)
        alone.kill_head()
        _, said = child.communicate(timeout=PATIENCE)
    finally:
        child.kill()
        alone.close()
    assert child.returncode not in (0, 70), said
    with RunStore(tmp_path / "run", command="test") as store:
        assert len(list(store.records())) == 4
        tasks = [task(n, payload={}) for n in range(TASKS)]
        assert execute(store, tasks, engine=LocalEngine(workers=1)).made == TASKS - 4
    assert dump(tmp_path / "run") == locally(tmp_path / "local")


@pytest.mark.slow
def test_trouble_on_a_cluster(drive: Drive, tmp_path: Path) -> None:
    """One task kills its worker once, one pays half a unit twice, one would wait for ever.

    Then the same run goes on with the local engine, for which one task is new.
    """
    log = tmp_path / "log"
    log.touch()
    finish(drive(tmp_path / "run", "--trouble", tasks=2, log=log))
    with RunReader(tmp_path / "run") as run:
        records = {record.key.item: record for record in run.records()}
        spending = run.spending()
    assert records["film-dies"].attempts == 2
    assert records["film-dies"].reasons == frozenset()
    assert records["film-hangs"].reasons == {Reason.TIMED_OUT}
    assert (spending.calls, spending.answered, spending.cost) == (2, 2, Decimal(1))
    with RunStore(tmp_path / "run", command="test") as store:
        tasks = [task(number, payload={}) for number in range(3)]
        done = execute(store, tasks, engine=LocalEngine(workers=1))
    assert (done.reused, done.made) == (2, 1)


def score(folder: Path, *arguments: str) -> list[str]:
    """Run the command, and give its records."""
    command = [sys.executable, "-m", "screentest", "score", *arguments, "--out", str(folder)]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=ROOT, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr
    return dump(folder)


def smallest(sample: Path, count: int) -> list[Path]:
    return sorted(sample.glob("*.mp4"), key=lambda film: film.stat().st_size)[:count]


def test_metrics_give_the_same_records_byte_for_byte(
    nodes: Nodes, sample: Path, tmp_path: Path
) -> None:
    nodes.add_second()
    films = [str(film) for film in smallest(sample, 2)]
    what = [*films, "--metrics", "sharpness,flicker,noise", "--workers", "2"]
    on_ray = score(tmp_path / "ray", *what, "--engine", "ray", "--address", nodes.address)
    assert len(on_ray) == 6
    assert on_ray == score(tmp_path / "local", *what)


@pytest.mark.slow
def test_models_are_lent_by_a_host_with_a_gpu(nodes: Nodes, sample: Path, tmp_path: Path) -> None:
    """The backend is an external worker, which notes whose child it is."""
    nodes.add_second()
    film = str(smallest(sample, 1)[0])
    worker = f"{sys.executable} {ROOT / 'tests/run/noting_worker.py'} {tmp_path / 'seen'}"
    what = [film, "--prompt", "a film", "--metrics", "clipscore"]
    what += ["--model", f"image_text=external:{worker}"]
    on_ray = score(tmp_path / "ray", *what, "--engine", "ray", "--address", nodes.address)
    parents = set((tmp_path / "seen").read_text("utf-8").splitlines())
    assert len(parents) == 1  # one host filled the role for the driver and for the worker
    assert "RayHost" in parents.pop()
    assert on_ray == score(tmp_path / "local", *what)


@pytest.mark.slow
def test_a_testbed_is_the_same_where_its_models_were_lost(nodes: Nodes, tmp_path: Path) -> None:
    """The node with the models is killed while they work, and another one comes.

    The models are a scripted external worker, which notes whose child it is.
    """
    nodes.add_second()
    script = ROOT / "tests/run/building_worker.py"
    films = tmp_path / "films"
    command = [sys.executable, "-m", "screentest"]
    options: dict[str, Any] = {"cwd": ROOT, "env": os.environ | {"PYTHONPATH": WITH_TESTS}}
    subprocess.run([*command, "sample", "copy", str(films)], check=True, **options)
    (tmp_path / "chosen").write_text("real_5shots\n")
    seen = tmp_path / "seen"
    worker = f"external:{sys.executable} {script} {seen}"
    what = [str(films / "films.jsonl"), "--films", str(tmp_path / "chosen"), "--min-clips", "1"]
    what += ["--operators", "object_integrity,aesthetics", "--check", "off", "--workers", "2"]
    for role in ("detection", "segmentation", "inpainting"):
        what += ["--model", f"{role}={worker}"]
    build = [*command, "build", *what, "--out"]
    on_ray = ["--engine", "ray", "--address", nodes.address]
    with subprocess.Popen([*build, str(tmp_path / "ray"), *on_ray], **options) as child:
        while not seen.exists() and child.poll() is None:
            time.sleep(0.01)
        assert "RayHost" in seen.read_text("utf-8")
        nodes.kill_second()
        nodes.add_second()
        assert child.wait(PATIENCE) == 0
    assert seen.read_text("utf-8").count("RayHost") > 1
    subprocess.run([*build, str(tmp_path / "local")], check=True, **options)
    made = read_testbed(tmp_path / "ray")
    assert len(made.pairs) == 2
    assert made == read_testbed(tmp_path / "local")  # hashes of all files are in it
