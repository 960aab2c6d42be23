"""Ctrl-C once finishes what is in flight, twice stops now; both leave a run that goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from screentest.run.engine import InlineEngine
from screentest.run.execute import execute
from screentest.run.reader import RunReader
from screentest.run.store import RunStore
from screentest.run.tasks import Stop
from tests.run.conftest import PATIENCE, Children, dump, read_lines
from tests.run.work import task


@pytest.mark.parametrize(
    ("number", "code"),  # 128 and the signal's number, as shells have it
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)],
)
def test_once_finishes_what_is_in_flight(
    number: signal.Signals, code: int, tmp_path: Path, children: Children
) -> None:
    folder, log, gate = tmp_path / "run", tmp_path / "log", tmp_path / "gate"
    child = children.start(folder, tasks=20, log=log, gate=gate, free=3)
    read_lines(child, 1 + 3)
    os.killpg(child.pid, number)  # as a terminal does it: to everybody in the group
    gate.touch()
    child.communicate(timeout=PATIENCE)
    assert child.returncode == code
    with RunReader(folder) as run:
        done = {record.key.item for record in run.records()}
        assert run.starts()[-1].ending == "interrupted"
        assert run.coverage().pending == 20 - len(done) >= 15
    assert done == set(log.read_text("utf-8").split()), "something begun was not finished"


def test_twice_stops_now(tmp_path: Path, children: Children) -> None:
    folder, log = tmp_path / "run", tmp_path / "log"
    child = children.start(folder, tasks=3, seconds=600, log=log)
    read_lines(child, 1)
    while not log.exists():
        time.sleep(0.01)
    child.send_signal(signal.SIGINT)
    with pytest.raises(subprocess.TimeoutExpired):
        child.communicate(timeout=0.5)  # it waits for what is in flight
    # Another signal: of two that are the same, a busy machine may deliver one.
    child.send_signal(signal.SIGTERM)
    child.communicate(timeout=PATIENCE)
    assert child.returncode == 130
    with RunReader(folder) as run:
        assert run.coverage().pending == 3


def test_stopped_and_resumed_is_the_same_run(tmp_path: Path, children: Children) -> None:
    whole, stopped, gate = tmp_path / "whole", tmp_path / "stopped", tmp_path / "gate"
    assert children.finish(whole, tasks=30)[0] == 0
    child = children.start(stopped, tasks=30, gate=gate, free=5)
    read_lines(child, 1 + 5)
    child.send_signal(signal.SIGTERM)
    gate.touch()
    child.communicate(timeout=PATIENCE)
    assert 5 <= len(dump(stopped)) < 30
    assert children.finish(stopped, tasks=30)[0] == 0
    assert dump(stopped) == dump(whole)


def test_a_reader_that_goes_away_ends_the_run_cleanly(tmp_path: Path, children: Children) -> None:
    """As with ``| head``: writing the progress fails, what is recorded stays."""
    folder, gate = tmp_path / "run", tmp_path / "gate"
    child = children.start(folder, tasks=20, gate=gate, free=2)
    read_lines(child, 1 + 2)
    assert child.stdout is not None
    child.stdout.close()
    gate.touch()
    assert child.wait(PATIENCE) != 0
    assert children.finish(folder, tasks=20)[0] == 0
    assert len(dump(folder)) == 20


def test_signals_mean_again_what_they_meant(store: RunStore) -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    execute(store, [task(1)], engine=InlineEngine())
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_a_thread_leaves_signals_alone(store: RunStore) -> None:
    """Only the main thread may set handlers; elsewhere a run works without."""
    done = []
    thread = threading.Thread(
        target=lambda: done.append(execute(store, [task(1)], engine=InlineEngine()))
    )
    thread.start()
    thread.join()
    assert done[0].made == 1


def test_nohup_stays_nohup() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    stop = Stop()
    try:
        with stop.listening():
            os.kill(os.getpid(), signal.SIGHUP)
        assert not stop.requested
    finally:
        stop.close()
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("watched", [True, False])
def test_who_watches_hears_once_that_it_stops(
    watched: bool, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "isatty", lambda descriptor: watched)
    stop = Stop()
    with closing(stop), stop.listening():
        for _ in range(2):
            signal.raise_signal(signal.SIGINT)
        assert stop.now
    assert capfd.readouterr().err.count("Stopping") == watched
