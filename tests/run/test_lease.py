"""One process writes a run; a second one says so, and a killed one is in nobody's way."""

from __future__ import annotations

import os
import socket
import threading
from pathlib import Path

import pytest

from screentest.core import RunBusy
from screentest.run.lease import Lease, holder
from screentest.run.reader import find_runs, read_summary
from screentest.run.store import RunStore
from tests.messages import names
from tests.run.conftest import Children, dump, read_lines


def test_the_second_process_says_who_is_there(tmp_path: Path, children: Children) -> None:
    folder = tmp_path / "run"
    first = children.start(folder, tasks=10, gate=tmp_path / "never")
    read_lines(first, 1)
    code, said = children.finish(folder, tasks=10)
    assert code == 2
    assert said.startswith("RunBusy: ")
    assert names(said, f"process {first.pid} on {socket.gethostname()}", "since 20", "Ctrl-C")
    found = holder(folder)
    assert found is not None
    assert found.pid == first.pid
    assert read_summary(folder).state == "running"
    first.kill()
    first.wait()
    assert holder(folder) is None
    assert read_summary(folder).state == "killed"
    assert children.finish(folder, tasks=10)[0] == 0  # taken over
    assert len(dump(folder)) == 10
    assert read_summary(folder).state == "finished"


def test_the_same_process_twice(tmp_path: Path) -> None:
    first = RunStore(tmp_path, command="test")
    with pytest.raises(RunBusy, match=f"process {os.getpid()}"):
        RunStore(tmp_path, command="test")
    first.close()
    RunStore(tmp_path, command="test").close()


def test_looking_does_not_keep_anybody_out(tmp_path: Path) -> None:
    """`runs` takes the lock for an instant; taking the lease waits that long."""
    lease = Lease.take(tmp_path)
    assert holder(tmp_path) is not None
    lease.release()
    lease.release()
    for _ in range(20):
        assert holder(tmp_path) is None
        Lease.take(tmp_path).release()


def test_half_written_names(tmp_path: Path) -> None:
    lease = Lease.take(tmp_path)
    (tmp_path / "run.lock").write_text('{"pid": 1')
    found = holder(tmp_path)
    assert found is not None
    assert found.pid == 0
    with pytest.raises(RunBusy, match="another process"):
        Lease.take(tmp_path)
    lease.release()


def test_never_written(tmp_path: Path) -> None:
    assert holder(tmp_path) is None
    assert list(find_runs(tmp_path)) == []


def test_waiting_for_a_run_ends(tmp_path: Path) -> None:
    first = Lease.take(tmp_path)
    with pytest.raises(RunBusy, match=f"process {os.getpid()}"):
        RunStore(tmp_path, command="test", wait=0.05)
    threading.Timer(0.2, first.release).start()
    RunStore(tmp_path, command="test", wait=60).close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked on POSIX only")
def test_a_forked_process_does_not_keep_a_run(tmp_path: Path) -> None:
    """Such as one that loads data for a training, and outlives what it was forked in."""
    lease = Lease.take(tmp_path)
    done, still = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(still)
        os.read(done, 1)  # until the parent closes its end
        os._exit(0)
    lease.release()
    try:
        Lease.take(tmp_path).release()
    finally:
        os.close(still)
        os.waitpid(child, 0)
        os.close(done)
