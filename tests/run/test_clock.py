"""The clock on the wall jumps while a run is at work: no result, timeout or lease depends on it."""

from __future__ import annotations

import time
from datetime import datetime, timedelta, tzinfo
from itertools import cycle
from pathlib import Path

import pytest

from screentest.core import RunBusy
from screentest.run import records
from screentest.run.engine import LocalEngine
from screentest.run.execute import execute
from screentest.run.reader import RunReader, read_summary
from screentest.run.repair import repair
from screentest.run.store import RunStore
from tests.run.conftest import dump
from tests.run.work import item, task

YEARS = 10 * 365 * 86_400


@pytest.fixture
def jumping(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every look at the clock finds it ten years ahead, or ten years behind."""
    jumps = cycle((0, YEARS, -YEARS, 3600, -3600))

    class Jumping(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            return datetime.now(tz) + timedelta(seconds=next(jumps))

    seconds, nanoseconds = time.time, time.time_ns
    monkeypatch.setattr(records, "datetime", Jumping)
    monkeypatch.setattr(time, "time", lambda: seconds() + next(jumps))
    monkeypatch.setattr(time, "time_ns", lambda: nanoseconds() + next(jumps) * 10**9)


@pytest.fixture
def calm(tmp_path: Path) -> list[str]:
    folder = tmp_path / "calm"
    with RunStore(folder, command="test") as store:
        execute(store, [task(n) for n in range(8)], engine=LocalEngine(workers=2))
    return dump(folder)


def test_a_run_while_the_clock_jumps(calm: list[str], jumping: None, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    for made in (8, 0):
        with RunStore(folder, command="test") as store:
            store.keep_items([item(n, prompt=f"{made}") for n in range(8)])
            with pytest.raises(RunBusy):
                RunStore(folder, command="test")
            done = execute(store, [task(n) for n in range(8)], engine=LocalEngine(workers=2))
            assert done.made == made
    assert dump(folder) == calm
    assert read_summary(folder).coverage.pending == 0
    repair(folder)
    assert dump(folder) == calm
    with RunReader(folder) as run:
        assert {one.prompt for one in run.items().values()} == {"0"}, "the latest, by starts"


def test_a_timeout_while_the_clock_jumps(jumping: None, store: RunStore, tmp_path: Path) -> None:
    hanging = task(1, "hangs", str(tmp_path / "log"), timeout=1.0)
    done = execute(store, [hanging, task(2)], engine=LocalEngine(workers=1))
    assert done.made == 2
    assert {reason.value: count for reason, count in done.failures.items()} == {"timed_out": 1}
